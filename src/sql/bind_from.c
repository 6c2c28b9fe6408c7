/* SPDX-License-Identifier: Apache-2.0 */
/* FROM: tables, views, common table expressions, subqueries, VALUES, joins. */
#include "sql/bind_int.h"

enum {
    RELATIONS_MAX = 10000
}; /* views and CTEs may multiply: more than this is no query that a person wrote */

tg_rel *tg_bind_one_row(tg_binder *b, tg_span span)
{
    tg_rel *rel = TG_NEW(b->arena, tg_rel);
    *rel = (tg_rel){.kind = TG_R_ONE_ROW, .span = span};
    return rel;
}

/* ---- tables and views ------------------------------------------------------------------------ */

tg_rel *tg_sql_scan(const tg_table *table, uint32_t first_id, tg_arena *arena)
{
    tg_rel *rel = TG_NEW(arena, tg_rel);
    tg_column *columns = TG_NEW_ARRAY(arena, tg_column, table->schema.count);
    size_t *fields = TG_NEW_ARRAY(arena, size_t, table->schema.count);
    for (size_t i = 0; i < table->schema.count; i++) {
        const tg_field *field = &table->schema.fields[i];
        columns[i] = (tg_column){.id = first_id + (uint32_t)i,
                                 .name = field->name,
                                 .type = field->type,
                                 .nullable = true};
        fields[i] = i;
    }
    *rel = (tg_rel){.kind = TG_R_SCAN,
                    .columns = columns,
                    .column_count = table->schema.count,
                    .table = table,
                    .scan_fields = fields};
    return rel;
}

static const tg_str *qualifier_of(tg_binder *b, const tg_relation *relation, const tg_name *name,
                                  size_t *out_count)
{
    if (relation->alias.text.len > 0) {
        tg_str *one = TG_NEW(b->arena, tg_str);
        *one = relation->alias.text;
        *out_count = 1;
        return one;
    }
    if (!name) {
        *out_count = 0;
        return NULL;
    }
    tg_str *parts = TG_NEW_ARRAY(b->arena, tg_str, name->count);
    for (size_t i = 0; i < name->count; i++) {
        parts[i] = name->parts[i].text;
    }
    *out_count = name->count;
    return parts;
}

static tg_code check_aliases(const tg_relation *relation, size_t columns, tg_error *err)
{
    if (relation->column_alias_count > 0 && relation->column_alias_count != columns) {
        return tg_fn_at(relation->span, err,
                        TG_ERR(err, ASSIGNMENT_ARITY_MISMATCH,
                               "%zu column aliases are given for %zu columns",
                               relation->column_alias_count, columns));
    }
    return TG_OK;
}

/* rel with a scope of the relation's alias and column names. */
static tg_code name_relation(tg_binder *b, const tg_relation *relation, const tg_name *name,
                             tg_rel *rel, const tg_query_env *env, tg_bind_source *out,
                             tg_error *err)
{
    size_t count;
    const tg_str *qualifier = qualifier_of(b, relation, name, &count);
    TG_TRY(check_aliases(relation, rel->column_count, err));
    tg_scope *scope = tg_bind_scope_of(b, rel, env->outer, qualifier, count);
    for (size_t i = 0; i < relation->column_alias_count; i++) {
        scope->columns[i].column.name = relation->column_aliases[i].text;
    }
    *out = (tg_bind_source){.rel = rel, .scope = scope};
    return TG_OK;
}

static tg_cte_frame *find_cte(const tg_query_env *env, const tg_name *name)
{
    for (tg_cte_frame *frame = name->count == 1 ? env->ctes : NULL; frame; frame = frame->next) {
        if (tg_str_ieq(frame->cte->name.text, name->parts[0].text)) {
            return frame;
        }
    }
    return NULL;
}

/* A CTE is bound anew at each reference: every reference has columns of its own. */
static tg_code bind_cte(tg_binder *b, tg_cte_frame *frame, const tg_relation *relation,
                        const tg_query_env *env, tg_bind_source *out, tg_error *err)
{
    tg_rel *rel;
    tg_query_env inner = {.ctes = frame->next, .outer = frame->outer};
    size_t random = b->random_count;
    TG_TRY(tg_bind_query(b, frame->cte->query, &inner, /* keep_order= */ false, &rel, err));
    if (b->random_count > random && ++frame->reference_count > 1) {
        return tg_fn_at(
            relation->span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE,
                   "a common table expression with a random function can be read once only"));
    }
    if (frame->cte->column_alias_count > 0) {
        tg_relation named = {.span = relation->span,
                             .column_aliases = frame->cte->column_aliases,
                             .column_alias_count = frame->cte->column_alias_count};
        TG_TRY(check_aliases(&named, rel->column_count, err));
        tg_rel *renamed = tg_arena_memdup(b->arena, rel, sizeof(*rel));
        tg_column *columns =
            tg_arena_memdup(b->arena, renamed->columns, renamed->column_count * sizeof(*columns));
        for (size_t i = 0; i < named.column_alias_count; i++) {
            columns[i].name = named.column_aliases[i].text;
        }
        renamed->columns = columns;
        rel = renamed;
    }
    return name_relation(b, relation, &relation->name, rel, env, out, err);
}

/*
 * A bound tree has one time zone. A view that was written in another one means something else here
 * wherever its rows depend on the zone.
 */
static tg_code check_zone(const tg_binder *b, const tg_resolved *resolved,
                          const tg_relation *relation, tg_error *err)
{
    if (!resolved->view_zone || !(b->fn.used_zone || b->has_time_function) ||
        tg_str_ieq(tg_zone_name(resolved->view_zone), tg_zone_name(b->fn.zone))) {
        return TG_OK;
    }
    tg_str name = tg_zone_name(resolved->view_zone);
    TG_ERR(err, TIDEGATE_VIEW_TIME_ZONE,
           "view %.*s was made in time zone %.*s, on which its rows depend; here it is %.*s",
           TG_SARG(resolved->view_name), TG_SARG(name), TG_SARG(tg_zone_name(b->fn.zone)));
    (void)tg_error_hint(err,
                        "Use time zone %.*s (--timezone, SET TIME ZONE), or make the view anew.",
                        TG_SARG(name));
    return tg_error_span(err, relation->name.span.offset, relation->name.span.len);
}

static tg_code bind_view(tg_binder *b, const tg_resolved *resolved, const tg_relation *relation,
                         tg_rel **out, tg_error *err)
{
    for (const tg_view_frame *frame = b->views; frame; frame = frame->next) {
        if (tg_str_ieq(frame->name, resolved->view_name)) {
            return tg_fn_at(relation->name.span, err,
                            TG_ERR(err, RECURSIVE_VIEW, "view %.*s refers to itself",
                                   TG_SARG(resolved->view_name)));
        }
    }
    tg_view_frame frame = {.name = resolved->view_name, .next = b->views};
    tg_query_env env = {0};
    b->views = &frame;
    bool outer_zone = b->fn.used_zone, outer_time = b->has_time_function;
    b->fn.used_zone = false;
    b->has_time_function = false;
    tg_code code = tg_bind_query(b, resolved->view, &env, /* keep_order= */ false, out, err);
    b->views = frame.next;
    if (code == TG_OK) {
        code = check_zone(b, resolved, relation, err);
        b->fn.used_zone = b->fn.used_zone || outer_zone;
        b->has_time_function = b->has_time_function || outer_time;
        return code;
    }
    if (code != TG_OK && err) {
        /* its place is in the view's own text */
        tg_error_locate(err, resolved->view_file, resolved->view_text);
        if (!err->place.line) {
            (void)tg_error_context(err, "in view %.*s", TG_SARG(resolved->view_name));
        }
    }
    return code;
}

static const tg_table *remember_table(tg_binder *b, const tg_table *table)
{
    for (size_t i = 0; i < b->tables.count; i++) {
        if (b->tables.items[i] == table ||
            (tg_str_eq(b->tables.items[i]->path, table->path) &&
             b->tables.items[i]->version == table->version && !table->is_changes &&
             !b->tables.items[i]->is_changes)) {
            return b->tables.items[i];
        }
    }
    TG_VEC_PUSH(b->arena, &b->tables, table);
    return table;
}

static tg_code bind_resolved(tg_binder *b, const tg_resolved *resolved, const tg_relation *relation,
                             tg_rel **out, tg_error *err)
{
    if (resolved->view) {
        return bind_view(b, resolved, relation, out, err);
    }
    const tg_table *table = remember_table(b, resolved->table);
    tg_rel *rel = tg_sql_scan(table, b->next_id, b->arena);
    rel->span = relation->span;
    b->next_id += (uint32_t)table->schema.count;
    *out = rel;
    return TG_OK;
}

static tg_code bind_table(tg_binder *b, const tg_relation *relation, const tg_query_env *env,
                          tg_bind_source *out, tg_error *err)
{
    tg_cte_frame *cte = find_cte(env, &relation->name);
    if (cte) {
        return bind_cte(b, cte, relation, env, out, err);
    }
    if (relation->is_stream) {
        return tg_fn_at(relation->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE, "STREAM cannot be read by a batch query"));
    }
    if (!b->options->resolver) {
        return tg_fn_at(relation->span, err,
                        TG_ERR(err, TABLE_OR_VIEW_NOT_FOUND, "no table can be read here"));
    }
    tg_resolved resolved = {0};
    tg_code code = b->options->resolver->resolve(b->options->resolver->self, relation, b->arena,
                                                 &resolved, err);
    if (code != TG_OK) {
        if (err && !err->has_span && !err->place.line) {
            (void)tg_error_span(err, relation->name.span.offset, relation->name.span.len);
        }
        return code;
    }
    tg_rel *rel;
    TG_TRY(bind_resolved(b, &resolved, relation, &rel, err));
    return name_relation(b, relation, &relation->name, rel, env, out, err);
}

tg_code tg_bind_table_name(tg_binder *b, const tg_name *name, tg_span span, const tg_query_env *env,
                           tg_rel **out, tg_error *err)
{
    tg_relation relation = {.kind = TG_REL_TABLE, .span = span, .name = *name};
    tg_bind_source source;
    TG_TRY(bind_table(b, &relation, env, &source, err));
    *out = source.rel;
    return TG_OK;
}

/* ---- VALUES ---------------------------------------------------------------------------------- */

tg_code tg_bind_values(tg_binder *b, const tg_query_body *body, const tg_query_env *env,
                       tg_rel **out, tg_error *err)
{
    size_t width = body->row_lens[0], height = body->row_count;
    tg_expr_ctx ctx = {.b = b, .env = env, .clause = "VALUES", .no_subqueries = true};
    tg_bexpr ***rows = TG_NEW_ARRAY(b->arena, tg_bexpr **, height);
    for (size_t i = 0; i < height; i++) {
        if (body->row_lens[i] != width) {
            return tg_fn_at(body->span, err,
                            TG_ERR(err, INVALID_INLINE_TABLE_NUM_COLUMNS,
                                   "row %zu of VALUES has %zu columns, the first has %zu", i + 1,
                                   body->row_lens[i], width));
        }
        rows[i] = TG_NEW_ARRAY(b->arena, tg_bexpr *, width);
        for (size_t j = 0; j < width; j++) {
            TG_TRY(tg_bind_expr(&ctx, body->rows[i][j], &rows[i][j], err));
        }
    }
    tg_column *columns = TG_NEW_ARRAY(b->arena, tg_column, width);
    tg_bexpr **cells = TG_NEW_ARRAY(b->arena, tg_bexpr *, height);
    for (size_t j = 0; j < width; j++) {
        const tg_type *type;
        bool nullable = false;
        for (size_t i = 0; i < height; i++) {
            cells[i] = rows[i][j];
        }
        TG_TRY(tg_sql_unify(&b->fn, cells, height, body->span, "VALUES", &type, err));
        for (size_t i = 0; i < height; i++) {
            rows[i][j] = cells[i];
            nullable = nullable || cells[i]->nullable;
        }
        columns[j] = tg_bind_column(b, tg_str_printf(b->arena, "col%zu", j + 1), type, nullable);
    }
    tg_rel *rel = TG_NEW(b->arena, tg_rel);
    *rel = (tg_rel){.kind = TG_R_VALUES,
                    .span = body->span,
                    .columns = columns,
                    .column_count = width,
                    .rows = rows,
                    .row_count = height};
    *out = rel;
    return TG_OK;
}

/* ---- joins ----------------------------------------------------------------------------------- */

/* Semi and anti joins give the left side's columns only. */
static bool gives_left_only(const tg_relation *join)
{
    return join->join == TG_JOIN_LEFT_SEMI || join->join == TG_JOIN_LEFT_ANTI;
}

static tg_rel *join_rel(tg_binder *b, const tg_relation *relation, tg_rel *left, tg_rel *right,
                        tg_bexpr *condition)
{
    size_t count = left->column_count + (gives_left_only(relation) ? 0 : right->column_count);
    tg_column *columns = TG_NEW_ARRAY(b->arena, tg_column, count);
    for (size_t i = 0; i < count; i++) {
        bool from_left = i < left->column_count;
        columns[i] = from_left ? left->columns[i] : right->columns[i - left->column_count];
        bool padded =
            relation->join == TG_JOIN_FULL ||
            (from_left ? relation->join == TG_JOIN_RIGHT : relation->join == TG_JOIN_LEFT);
        columns[i].nullable = columns[i].nullable || padded;
    }
    tg_rel *rel = TG_NEW(b->arena, tg_rel);
    *rel = (tg_rel){.kind = TG_R_JOIN,
                    .span = relation->span,
                    .columns = columns,
                    .column_count = count,
                    .input = left,
                    .right = right,
                    .join = relation->join,
                    .condition = condition};
    if (rel->join == TG_JOIN_INNER && !condition) {
        rel->join = TG_JOIN_CROSS;
    }
    return rel;
}

static const tg_scope_column *visible_column(const tg_scope *scope, tg_str name,
                                             size_t *out_matches)
{
    const tg_scope_column *found = NULL;
    *out_matches = 0;
    for (size_t i = 0; i < scope->count; i++) {
        if (scope->columns[i].in_star && tg_str_ieq(scope->columns[i].column.name, name)) {
            found = found ? found : &scope->columns[i];
            (*out_matches)++;
        }
    }
    return found;
}

typedef struct using_key {
    const tg_scope_column *left, *right;
    tg_column column; /* what the key's name means behind the join */
} using_key;

static tg_code find_key(const tg_ident *name, const tg_scope *left, const tg_scope *right,
                        using_key *out, tg_error *err)
{
    size_t left_matches, right_matches;
    out->left = visible_column(left, name->text, &left_matches);
    out->right = visible_column(right, name->text, &right_matches);
    if (!out->left || !out->right) {
        return tg_fn_at(name->span, err,
                        TG_ERR(err, UNRESOLVED_USING_COLUMN,
                               "the USING column `%.*s` is not on the %s side of the join",
                               TG_SARG(name->text), out->left ? "right" : "left"));
    }
    if (left_matches > 1 || right_matches > 1) {
        return tg_fn_at(name->span, err,
                        TG_ERR(err, AMBIGUOUS_REFERENCE, "the USING column `%.*s` is ambiguous",
                               TG_SARG(name->text)));
    }
    return TG_OK;
}

static void natural_keys(tg_binder *b, const tg_scope *left, const tg_scope *right,
                         const tg_ident **out, size_t *out_count)
{
    TG_VEC(tg_ident) names = {0};
    for (size_t i = 0; i < left->count; i++) {
        size_t matches;
        if (left->columns[i].in_star &&
            visible_column(right, left->columns[i].column.name, &matches)) {
            TG_VEC_PUSH(b->arena, &names, ((tg_ident){.text = left->columns[i].column.name}));
        }
    }
    *out = names.items;
    *out_count = names.count;
}

/* The scope behind a USING join: keys first, then the other columns; each side's own key stays
 * reachable by its qualifier. */
static tg_scope *using_scope(tg_binder *b, const tg_scope *joined, const using_key *keys,
                             size_t key_count, const tg_query_env *env)
{
    tg_scope *scope = TG_NEW(b->arena, tg_scope);
    scope->parent = env->outer;
    scope->columns = TG_NEW_ARRAY(b->arena, tg_scope_column, joined->count + key_count);
    for (size_t i = 0; i < key_count; i++) {
        scope->columns[scope->count++] =
            (tg_scope_column){.column = keys[i].column, .in_star = true};
    }
    for (size_t i = 0; i < joined->count; i++) {
        tg_scope_column column = joined->columns[i];
        for (size_t j = 0; j < key_count; j++) {
            bool is_key = column.column.id == keys[j].left->column.id ||
                          column.column.id == keys[j].right->column.id;
            column.in_star = column.in_star && !is_key;
        }
        scope->columns[scope->count++] = column;
    }
    return scope;
}

/* left.key = right.key, coalesce(left.key, right.key) */
static tg_code apply_to_key(tg_binder *b, const char *function, const using_key *key, tg_span span,
                            tg_bexpr **out, tg_error *err)
{
    tg_bexpr *pair[2] = {tg_bexpr_column(b->arena, &key->left->column, span),
                         tg_bexpr_column(b->arena, &key->right->column, span)};
    return tg_bind_apply(b, function, pair, 2, span, out, err);
}

/* FULL: the key is whichever side has it, so a projection adds coalesce(left, right). */
static tg_code project_keys(tg_binder *b, const tg_relation *relation, tg_rel *join,
                            using_key *keys, size_t count, tg_rel **out, tg_error *err)
{
    size_t total = join->column_count + count;
    tg_bexpr **exprs = TG_NEW_ARRAY(b->arena, tg_bexpr *, total);
    tg_column *columns = TG_NEW_ARRAY(b->arena, tg_column, total);
    for (size_t i = 0; i < join->column_count; i++) {
        columns[i] = join->columns[i];
        exprs[i] = tg_bexpr_column(b->arena, &join->columns[i], relation->span);
    }
    for (size_t i = 0; i < count; i++) {
        tg_bexpr **expr = &exprs[join->column_count + i];
        TG_TRY(apply_to_key(b, "coalesce", &keys[i], relation->span, expr, err));
        keys[i].column = tg_bind_column(b, keys[i].left->column.name, (*expr)->type, true);
        columns[join->column_count + i] = keys[i].column;
    }
    *out = tg_sql_rel_project(b->arena, join, exprs, columns, total);
    return TG_OK;
}

static tg_code bind_using(tg_binder *b, const tg_relation *relation, const tg_bind_source *left,
                          const tg_bind_source *right, const tg_query_env *env, tg_bind_source *out,
                          tg_error *err)
{
    const tg_ident *names = relation->using_columns;
    size_t count = relation->using_count;
    if (relation->natural) {
        natural_keys(b, left->scope, right->scope, &names, &count);
    }
    using_key *keys = TG_NEW_ARRAY(b->arena, using_key, count);
    tg_bexpr **terms = TG_NEW_ARRAY(b->arena, tg_bexpr *, count);
    for (size_t i = 0; i < count; i++) {
        TG_TRY(find_key(&names[i], left->scope, right->scope, &keys[i], err));
        TG_TRY(apply_to_key(b, "=", &keys[i], relation->span, &terms[i], err));
    }
    tg_bexpr *condition = tg_sql_conjunction(b->arena, terms, count);
    tg_rel *join = join_rel(b, relation, left->rel, right->rel, condition);
    if (gives_left_only(relation)) {
        *out = (tg_bind_source){.rel = join, .scope = left->scope};
        return TG_OK;
    }
    tg_scope *joined = tg_bind_joined_scope(b, left->scope, right->scope, env->outer);
    for (size_t i = 0; i < joined->count; i++) {
        joined->columns[i].column.nullable = true;
    }
    if (relation->join == TG_JOIN_FULL) {
        TG_TRY(project_keys(b, relation, join, keys, count, &join, err));
    } else {
        for (size_t i = 0; i < count; i++) {
            keys[i].column =
                relation->join == TG_JOIN_RIGHT ? keys[i].right->column : keys[i].left->column;
            keys[i].column.name = keys[i].left->column.name;
        }
    }
    *out = (tg_bind_source){.rel = join, .scope = using_scope(b, joined, keys, count, env)};
    return TG_OK;
}

static tg_code bind_one(tg_binder *b, const tg_relation *relation, const tg_query_env *env,
                        tg_bind_source *out, tg_error *err);

static tg_code bind_join(tg_binder *b, const tg_relation *relation, const tg_bind_source *left,
                         const tg_query_env *env, tg_bind_source *out, tg_error *err)
{
    tg_bind_source right;
    if (relation->right->lateral) {
        return tg_fn_at(
            relation->span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE, "LATERAL joins are not available in this release"));
    }
    TG_TRY(bind_one(b, relation->right, env, &right, err));
    if (relation->natural || relation->using_count > 0) {
        return bind_using(b, relation, left, &right, env, out, err);
    }
    tg_scope *scope = tg_bind_joined_scope(b, left->scope, right.scope, env->outer);
    tg_bexpr *condition = NULL;
    if (relation->on) {
        tg_expr_ctx ctx = {.b = b,
                           .scope = scope,
                           .env = env,
                           .clause = "the join condition",
                           .no_subqueries = true};
        TG_TRY(tg_bind_condition(&ctx, relation->on, &condition, err));
    }
    tg_rel *join = join_rel(b, relation, left->rel, right.rel, condition);
    if (gives_left_only(relation)) {
        *out = (tg_bind_source){.rel = join, .scope = left->scope};
        return TG_OK;
    }
    for (size_t i = 0; i < scope->count; i++) {
        const tg_column *column = tg_sql_rel_column(join, scope->columns[i].column.id);
        scope->columns[i].column.nullable = column ? column->nullable : true;
    }
    *out = (tg_bind_source){.rel = join, .scope = scope};
    return TG_OK;
}

static tg_code refuse_forms(const tg_relation *relation, tg_error *err)
{
    const char *what = relation->has_sample               ? "TABLESAMPLE is"
                       : relation->kind == TG_REL_PIVOT   ? "PIVOT is"
                       : relation->kind == TG_REL_UNPIVOT ? "UNPIVOT is"
                       : relation->lateral                ? "LATERAL subqueries are"
                                                          : NULL;
    if (what) {
        return tg_fn_at(relation->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE, "%s not available in this release", what));
    }
    return TG_OK;
}

static tg_code bind_one(tg_binder *b, const tg_relation *relation, const tg_query_env *env,
                        tg_bind_source *out, tg_error *err)
{
    if (relation->kind == TG_REL_JOIN) {
        return tg_bind_from(b, relation, env, out, err);
    }
    TG_TRY(refuse_forms(relation, err));
    if (++b->relation_count > RELATIONS_MAX) {
        return tg_fn_at(relation->span, err,
                        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
                               "the query reads more than %d relations once its views are expanded",
                               RELATIONS_MAX));
    }
    if (relation->kind == TG_REL_TABLE) {
        return bind_table(b, relation, env, out, err);
    }
    tg_rel *rel;
    if (relation->kind == TG_REL_FUNCTION) {
        tg_resolved resolved = {0};
        TG_TRY(tg_bind_table_changes_is(relation)
                   ? tg_bind_table_changes(b, relation, &resolved, err)
                   : tg_bind_event_log(b, relation, &resolved, err));
        TG_TRY(bind_resolved(b, &resolved, relation, &rel, err));
        return name_relation(b, relation, &relation->call->call->name, rel, env, out, err);
    }
    if (relation->kind == TG_REL_VALUES) {
        TG_TRY(tg_bind_values(b, relation->query->body, env, &rel, err));
    } else {
        TG_TRY(tg_bind_query(b, relation->query, env, /* keep_order= */ false, &rel, err));
    }
    return name_relation(b, relation, NULL, rel, env, out, err);
}

/* A tree of joins is left-deep: bound bottom up in a loop. */
tg_code tg_bind_from(tg_binder *b, const tg_relation *relation, const tg_query_env *env,
                     tg_bind_source *out, tg_error *err)
{
    TG_VEC(const tg_relation *) spine = {0};
    while (relation->kind == TG_REL_JOIN) {
        TG_VEC_PUSH(b->arena, &spine, relation);
        relation = relation->left;
    }
    if (spine.count > TG_LIMIT_EXPRESSION_DEPTH) {
        return tg_fn_at(relation->span, err,
                        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
                               "the query joins more than %d relations",
                               (int)TG_LIMIT_EXPRESSION_DEPTH));
    }
    TG_TRY(tg_bind_enter(b, relation->span, err));
    tg_bind_source source;
    TG_TRY(bind_one(b, relation, env, &source, err));
    for (size_t i = spine.count; i-- > 0;) {
        TG_TRY(bind_join(b, spine.items[i], &source, env, &source, err));
    }
    tg_bind_leave(b);
    *out = source;
    return TG_OK;
}
