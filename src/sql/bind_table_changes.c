/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FROM table_changes('table', from [, to]): the change data feed of a Delta table. Bounds are versions
 * (numbers) or times (anything else); what they mean is the resolver's to say.
 */
#include "sql/bind_int.h"

bool tg_bind_table_changes_is(const tg_relation *relation)
{
    const tg_name *name = &relation->call->call->name;
    return name->count == 1 && tg_str_ieq(name->parts[0].text, TG_S("table_changes"));
}

static tg_code check_bound(const tg_expr *bound, tg_error *err)
{
    if (bound->kind == TG_EXPR_LITERAL && bound->literal.is_null) {
        return tg_fn_at(bound->span, err,
                        TG_ERR(err, DELTA_CDC_READ_NULL_RANGE_BOUNDARY,
                               "a bound of table_changes cannot be NULL"));
    }
    return TG_OK;
}

static tg_code read_arguments(const tg_expr *call, tg_arena *arena, tg_table_changes_source *out,
                              tg_error *err)
{
    if (call->arg_count == 1) {
        (void)tg_fn_at(call->span, err,
                       TG_ERR(err, DELTA_NO_START_FOR_CDC_READ,
                              "table_changes needs the version or time to begin with"));
        return tg_error_hint(err, "Write table_changes('table', 0).");
    }
    if (call->arg_count < 2 || call->arg_count > 3) {
        return tg_fn_at(call->span, err,
                        TG_ERR(err, WRONG_NUM_ARGS, "table_changes takes 2 or 3 arguments, not %zu",
                               call->arg_count));
    }
    const tg_expr *name = call->args[0];
    *out = (tg_table_changes_source){.from = call->args[1],
                                     .to = call->arg_count > 2 ? call->args[2] : NULL,
                                     .span = name->span};
    if (name->kind != TG_EXPR_LITERAL || name->literal.is_null ||
        name->literal.type->kind != TG_TYPE_STRING) {
        (void)tg_fn_at(name->span, err,
                       TG_ERR(err, DATATYPE_MISMATCH,
                              "table_changes takes the name of a table as a string literal"));
        return tg_error_hint(err, "Write table_changes('my_schema.my_table', 0).");
    }
    tg_auto_error tg_error reason = TG_ERROR_INIT;
    if (tg_sql_parse_name(name->literal.as.bytes, arena, &out->name, &reason) != TG_OK) {
        return tg_fn_at(name->span, err,
                        TG_ERR(err, PARSE_SYNTAX_ERROR, "'%.*s' is not the name of a table",
                               TG_SARG(name->literal.as.bytes)));
    }
    TG_TRY(check_bound(out->from, err));
    return out->to ? check_bound(out->to, err) : TG_OK;
}

tg_code tg_bind_table_changes(tg_binder *b, const tg_relation *relation, tg_resolved *out,
                              tg_error *err)
{
    const tg_resolver *resolver = b->options->resolver;
    if (!resolver || !resolver->table_changes || relation->is_stream) {
        (void)tg_fn_at(relation->span, err,
                       TG_ERR(err, UNSUPPORTED_FEATURE, "table_changes cannot be read %s",
                              relation->is_stream ? "as a stream" : "in a pipeline's own flows"));
        return tg_error_hint(err,
                             "Read it with: tidegate sql -e \"SELECT * FROM table_changes(...)\"");
    }
    tg_table_changes_source source;
    TG_TRY(read_arguments(relation->call, b->arena, &source, err));
    tg_code code = resolver->table_changes(resolver->self, &source, b->arena, out, err);
    if (code != TG_OK && err && !err->has_span && !err->place.line) {
        (void)tg_error_at(err, source.span);
    }
    return code;
}
