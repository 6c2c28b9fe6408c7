/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FROM event_log('pipeline') and FROM event_log(TABLE(table)). What its rows are is the resolver's to
 * say. Table functions that there are not are refused here.
 */
#include "sql/bind_int.h"

static tg_code refuse_function(const tg_relation *relation, tg_error *err)
{
    static const tg_str NAMES[] = {{"event_log", 9}, {"table_changes", 13}};
    const tg_name *name = &relation->call->call->name;
    tg_str word = name->parts[name->count - 1].text;
    tg_code code = tg_fn_at(relation->span, err,
                            TG_ERR(err, UNSUPPORTED_FEATURE,
                                   "table functions are not available in this release, but for "
                                   "event_log and table_changes"));
    tg_str nearest = tg_str_nearest(word, NAMES, sizeof(NAMES) / sizeof(NAMES[0]));
    return nearest.len ? tg_error_hint(err, "Did you mean %.*s?", TG_SARG(nearest)) : code;
}

/* 'pipeline', or TABLE(name), which is parsed as a call. */
static bool read_argument(const tg_expr *argument, tg_event_log_source *out)
{
    *out = (tg_event_log_source){.span = argument->span};
    if (argument->kind == TG_EXPR_LITERAL && !argument->literal.is_null &&
        argument->literal.type->kind == TG_TYPE_STRING) {
        out->pipeline = argument->literal.as.bytes;
        return true;
    }
    bool is_call = argument->kind == TG_EXPR_CALL && argument->arg_count == 1 &&
                   argument->call->name.count == 1 && !argument->call->distinct &&
                   !argument->call->over && !argument->call->filter;
    if (is_call && tg_str_ieq(argument->call->name.parts[0].text, TG_S("table")) &&
        argument->args[0]->kind == TG_EXPR_NAME) {
        out->table = &argument->args[0]->name;
        return true;
    }
    return false;
}

static bool is_event_log(const tg_relation *relation)
{
    const tg_name *name = &relation->call->call->name;
    return name->count == 1 && tg_str_ieq(name->parts[0].text, TG_S("event_log"));
}

tg_code tg_bind_event_log(tg_binder *b, const tg_relation *relation, tg_resolved *out,
                          tg_error *err)
{
    if (!is_event_log(relation)) {
        return refuse_function(relation, err);
    }
    const tg_resolver *resolver = b->options->resolver;
    if (!resolver || !resolver->event_log || relation->is_stream) {
        (void)tg_fn_at(relation->span, err,
                       TG_ERR(err, UNSUPPORTED_FEATURE, "event_log cannot be read %s",
                              relation->is_stream ? "as a stream" : "in a pipeline's own flows"));
        return tg_error_hint(err, "Read it with: tidegate sql -e \"SELECT * FROM event_log(...)\"");
    }
    const tg_expr *call = relation->call;
    tg_event_log_source source;
    if (call->arg_count != 1) {
        return tg_fn_at(
            call->span, err,
            TG_ERR(err, WRONG_NUM_ARGS, "event_log takes 1 argument, not %zu", call->arg_count));
    }
    if (!read_argument(call->args[0], &source)) {
        (void)tg_fn_at(call->args[0]->span, err,
                       TG_ERR(err, DATATYPE_MISMATCH,
                              "event_log takes the id or name of a pipeline as a string literal, "
                              "or TABLE(name)"));
        return tg_error_hint(err, "Write event_log('my_pipeline') or event_log(TABLE(my_table)).");
    }
    tg_code code = resolver->event_log(resolver->self, &source, b->arena, out, err);
    if (code != TG_OK && err && !err->has_span && !err->place.line) {
        (void)tg_error_at(err, source.span);
    }
    return code;
}
