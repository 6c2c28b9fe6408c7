/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: which columns a name may mean, by Spark's rules (qualifier.column first, then column.field). */
#include "sql/bind_int.h"

tg_code tg_bind_enter(tg_binder *b, tg_span span, tg_error *err)
{
    if (b->depth >= TG_LIMIT_EXPRESSION_DEPTH) {
        return tg_fn_at(span, err,
                        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
                               "the query is nested deeper than %d levels",
                               (int)TG_LIMIT_EXPRESSION_DEPTH));
    }
    b->depth++;
    return TG_OK;
}

tg_column tg_bind_column(tg_binder *b, tg_str name, const tg_type *type, bool nullable)
{
    return (tg_column){.id = b->next_id++, .name = name, .type = type, .nullable = nullable};
}

tg_rel *tg_bind_over(tg_binder *b, tg_rel_kind kind, tg_rel *input, tg_span span)
{
    tg_rel *rel = TG_NEW(b->arena, tg_rel);
    *rel = (tg_rel){.kind = kind,
                    .span = span,
                    .columns = input->columns,
                    .column_count = input->column_count,
                    .input = input};
    return rel;
}

tg_scope *tg_bind_scope_of(tg_binder *b, const tg_rel *rel, const tg_scope *parent,
                           const tg_str *qualifier, size_t count)
{
    tg_scope *scope = TG_NEW(b->arena, tg_scope);
    scope->parent = parent;
    scope->count = rel->column_count;
    scope->columns = TG_NEW_ARRAY(b->arena, tg_scope_column, rel->column_count);
    for (size_t i = 0; i < rel->column_count; i++) {
        scope->columns[i] = (tg_scope_column){.column = rel->columns[i],
                                              .qualifier = qualifier,
                                              .qualifier_count = count,
                                              .in_star = true};
    }
    return scope;
}

bool tg_bind_qualifier_matches(const tg_scope_column *column, const tg_ident *parts, size_t count)
{
    if (count > column->qualifier_count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!tg_str_ieq(column->qualifier[column->qualifier_count - count + i], parts[i].text)) {
            return false;
        }
    }
    return true;
}

tg_scope *tg_bind_joined_scope(tg_binder *b, const tg_scope *left, const tg_scope *right,
                               const tg_scope *parent)
{
    tg_scope *scope = TG_NEW(b->arena, tg_scope);
    scope->parent = parent;
    scope->count = left->count + right->count;
    scope->columns = TG_NEW_ARRAY(b->arena, tg_scope_column, scope->count);
    tg_copy_bytes(scope->columns, left->columns, left->count * sizeof(*scope->columns));
    tg_copy_bytes(scope->columns + left->count, right->columns,
                  right->count * sizeof(*scope->columns));
    return scope;
}

void tg_bind_scope_find(const tg_scope *scope, const tg_ident *parts, size_t count,
                        size_t *out_matches, size_t *out_first, size_t *out_used)
{
    *out_matches = 0;
    size_t longest = count - 1 < 3 ? count - 1 : 3;
    for (size_t qualifiers = longest + 1; qualifiers-- > 0 && *out_matches == 0;) {
        for (size_t i = 0; i < scope->count; i++) {
            const tg_scope_column *column = &scope->columns[i];
            bool reachable = qualifiers > 0 || column->in_star;
            if (reachable && tg_str_ieq(column->column.name, parts[qualifiers].text) &&
                tg_bind_qualifier_matches(column, parts, qualifiers)) {
                if ((*out_matches)++ == 0) {
                    *out_first = i;
                    *out_used = qualifiers + 1;
                }
            }
        }
    }
}

tg_str tg_bind_name_text(tg_arena *arena, const tg_name *name)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (size_t i = 0; i < name->count; i++) {
        tg_buf_addf(&text, "%s`%.*s`", i > 0 ? "." : "", TG_SARG(name->parts[i].text));
    }
    return tg_buf_take(&text, arena);
}

tg_code tg_bind_unresolved_(tg_binder *b, const tg_scope *scope, const tg_name *name,
                            const tg_str *more, size_t more_count, tg_error *err)
{
    TG_VEC(tg_str) candidates = {0};
    for (size_t i = 0; scope && i < scope->count; i++) {
        TG_VEC_PUSH(b->arena, &candidates, scope->columns[i].column.name);
    }
    for (size_t i = 0; i < more_count; i++) {
        TG_VEC_PUSH(b->arena, &candidates, more[i]);
    }
    tg_str near =
        tg_str_nearest(name->parts[name->count - 1].text, candidates.items, candidates.count);
    TG_ERR(err, UNRESOLVED_COLUMN,
           "a column, variable or function parameter with name %.*s cannot be resolved",
           TG_SARG(tg_bind_name_text(b->arena, name)));
    if (near.len > 0) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near));
    } else if (candidates.count > 0) {
        tg_auto_buf tg_buf list = TG_BUF_INIT;
        for (size_t i = 0; i < candidates.count && i < 5; i++) {
            tg_buf_addf(&list, "%s`%.*s`", i > 0 ? ", " : "", TG_SARG(candidates.items[i]));
        }
        (void)tg_error_hint(err, "Columns here are %s%s.", tg_buf_cstr(&list),
                            candidates.count > 5 ? ", ..." : "");
    }
    return tg_error_span(err, name->span.offset, name->span.len);
}

static tg_code field_of_struct(tg_binder *b, tg_bexpr *base, const tg_ident *field, tg_span span,
                               tg_bexpr **out, tg_error *err)
{
    const tg_type *type = base->type;
    size_t found = SIZE_MAX, matches = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        if (tg_str_ieq(type->fields[i].name, field->text)) {
            found = i;
            matches++;
        }
    }
    if (matches == 0) {
        return tg_fn_at(span, err,
                        TG_ERR(err, FIELD_NOT_FOUND, "no struct field has the name `%.*s`",
                               TG_SARG(field->text)));
    }
    if (matches > 1) {
        return tg_fn_at(span, err,
                        TG_ERR(err, AMBIGUOUS_REFERENCE_TO_FIELDS,
                               "several fields have the name `%.*s`", TG_SARG(field->text)));
    }
    *out = tg_bexpr_field(b->arena, base, found, span);
    return TG_OK;
}

/* An array of structs: the array of one field of each, as transform(base, s -> s.field) gives. */
static tg_code fields_of_array(tg_binder *b, tg_bexpr *base, const tg_ident *field, tg_span span,
                               tg_bexpr **out, tg_error *err)
{
    uint32_t *id = TG_NEW(b->arena, uint32_t);
    *id = b->next_id++;
    tg_bexpr *element = TG_NEW(b->arena, tg_bexpr);
    *element = (tg_bexpr){.kind = TG_B_LAMBDA_VAR,
                          .type = base->type->element,
                          .nullable = base->type->contains_null,
                          .span = span,
                          .column_id = *id};
    tg_bexpr *lambda = TG_NEW(b->arena, tg_bexpr);
    *lambda = (tg_bexpr){
        .kind = TG_B_LAMBDA, .span = span, .arg_count = 1, .params = id, .param_count = 1};
    lambda->args = TG_NEW_ARRAY(b->arena, tg_bexpr *, 1);
    TG_TRY(field_of_struct(b, element, field, span, &lambda->args[0], err));
    lambda->type = lambda->args[0]->type;
    lambda->nullable = lambda->args[0]->nullable;
    return tg_bind_apply(b, "transform", (tg_bexpr *[]){base, lambda}, 2, span, out, err);
}

tg_code tg_bind_field(tg_binder *b, tg_bexpr *base, const tg_ident *field, tg_span span,
                      tg_bexpr **out, tg_error *err)
{
    if (base->type->kind == TG_TYPE_STRUCT) {
        return field_of_struct(b, base, field, span, out, err);
    }
    if (base->type->kind == TG_TYPE_MAP) {
        tg_bexpr *args[2] = {
            base, tg_bexpr_literal(b->arena,
                                   tg_value_bytes(tg_type_of(TG_TYPE_STRING), field->text), span)};
        return tg_bind_apply(b, "element", args, 2, span, out, err);
    }
    if (base->type->kind == TG_TYPE_ARRAY && base->type->element->kind == TG_TYPE_STRUCT) {
        return fields_of_array(b, base, field, span, out, err);
    }
    return tg_fn_at(span, err,
                    TG_ERR(err, INVALID_EXTRACT_BASE_FIELD_TYPE,
                           "`%.*s` cannot be taken from a value of type %.*s", TG_SARG(field->text),
                           TG_SARG(tg_type_text(b->arena, base->type))));
}
