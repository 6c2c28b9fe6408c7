/* SPDX-License-Identifier: Apache-2.0 */
/* CLUSTER BY of a table: its rows are sorted in what is written; kept as a table property. */
#include "api/api_int.h"

static tg_code unknown_column(const tg_ident *name, tg_schema schema, tg_arena *arena,
                              tg_error *err)
{
    tg_str *known = TG_NEW_ARRAY(arena, tg_str, schema.count);
    for (size_t i = 0; i < schema.count; i++) {
        known[i] = schema.fields[i].name;
    }
    (void)TG_ERR(err, UNRESOLVED_COLUMN, "clustering column `%.*s` is not a column of the table",
                 TG_SARG(name->text));
    tg_str near = tg_str_nearest(name->text, known, schema.count);
    if (near.len) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near));
    }
    return tg_error_at(err, name->span);
}

tg_code tg_api_clustering_columns(tg_execution *ex, tg_schema schema, const tg_ident *names,
                                  size_t count, const tg_str **out_columns, tg_error *err)
{
    tg_str *columns = TG_NEW_ARRAY(ex->arena, tg_str, count);
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t at = tg_schema_find(schema, names[i].text);
        if (at < 0) {
            return unknown_column(&names[i], schema, ex->arena, err);
        }
        const tg_type *type = schema.fields[at].type;
        columns[i] = schema.fields[at].name;
        if (tg_str_is_in(columns[i], columns, i)) {
            (void)TG_ERR(err, DELTA_DUPLICATE_COLUMNS_FOUND,
                         "clustering column `%.*s` is named twice", TG_SARG(columns[i]));
            return tg_error_at(err, names[i].span);
        }
        if (tg_type_is_nested(type) || type->kind == TG_TYPE_BINARY ||
            type->kind == TG_TYPE_VARIANT || type->kind == TG_TYPE_BOOLEAN) {
            (void)TG_ERR(err, DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED,
                         "CLUSTER BY cannot take column `%.*s` of type %.*s", TG_SARG(columns[i]),
                         TG_SARG(tg_type_text(ex->arena, type)));
            return tg_error_at(err, names[i].span);
        }
    }
    *out_columns = columns;
    return TG_OK;
}

tg_code tg_api_clustered_properties(tg_execution *ex, tg_schema schema,
                                    const tg_property **out_properties, size_t *out_count,
                                    tg_error *err)
{
    const tg_dataset_clauses *clauses = &ex->stmt->clauses;
    *out_properties = clauses->properties;
    *out_count = clauses->property_count;
    if (!clauses->cluster_count) {
        return TG_OK; /* AUTO: nothing is known yet that could choose columns */
    }
    tg_ident *names = TG_NEW_ARRAY(ex->arena, tg_ident, clauses->cluster_count);
    for (size_t i = 0; i < clauses->cluster_count; i++) {
        const tg_expr *expr = clauses->cluster_by[i];
        if (expr->kind != TG_EXPR_NAME || expr->name.count != 1) {
            TG_ERR(err, UNSUPPORTED_FEATURE, "CLUSTER BY takes columns of the table");
            return tg_error_at(err, expr->span);
        }
        names[i] = expr->name.parts[0];
    }
    const tg_str *columns = NULL;
    TG_TRY(tg_api_clustering_columns(ex, schema, names, clauses->cluster_count, &columns, err));
    tg_property *properties = TG_NEW_ARRAY(ex->arena, tg_property, clauses->property_count + 1);
    for (size_t i = 0; i < clauses->property_count; i++) {
        properties[i] = clauses->properties[i];
    }
    properties[clauses->property_count] = (tg_property){
        .key = TG_S(TG_PROPERTY_CLUSTER_BY),
        .value = tg_program_clustering_value(columns, clauses->cluster_count, ex->arena)};
    *out_properties = properties;
    *out_count = clauses->property_count + 1;
    return TG_OK;
}
