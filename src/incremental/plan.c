/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning a refresh (rules R1 to R7 of the coverage model, restricted to NO_OP and complete
 * techniques): what the definition asks of the table, the program, the state to record.
 */
#include "incremental/incremental_int.h"

/* ---- the target's definition ----------------------------------------------------------------- */

static const tg_property *find_property(const tg_property *properties, size_t count, tg_str key)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ieq(properties[i].key, key)) {
            return &properties[i];
        }
    }
    return NULL;
}

static const tg_column_def *declared_column(const tg_refresh_input *input, tg_str name)
{
    for (size_t i = 0; i < input->column_count; i++) {
        if (tg_str_ieq(input->columns[i].name.text, name)) {
            return &input->columns[i];
        }
    }
    return NULL;
}

/* A column that the definition lists has the comment it says there, none included. */
static tg_field with_declared_comment(const tg_refresh_input *input, tg_field field)
{
    const tg_column_def *column = declared_column(input, field.name);
    field.comment = column ? column->comment : field.comment;
    return field;
}

static bool definition_matches_table(const tg_refresh_input *input)
{
    for (size_t i = 0; i < input->target.schema.count; i++) {
        const tg_field field = input->target.schema.fields[i];
        if (!tg_str_eq(with_declared_comment(input, field).comment, field.comment)) {
            return false;
        }
    }
    for (size_t i = 0; i < input->property_count; i++) {
        const tg_property *wanted = &input->properties[i];
        const tg_property *have =
            find_property(input->target.properties, input->target.property_count, wanted->key);
        if (!have || !tg_str_eq(have->value, wanted->value)) {
            return false;
        }
    }
    for (size_t i = 0; i < input->unwanted_count; i++) {
        tg_str key = input->unwanted_properties[i];
        if (find_property(input->target.properties, input->target.property_count, key) &&
            !find_property(input->properties, input->property_count, key)) {
            return false;
        }
    }
    return tg_str_eq(input->comment, input->target.comment);
}

static bool is_unwanted(const tg_refresh_input *input, tg_str key)
{
    for (size_t i = 0; i < input->unwanted_count; i++) {
        if (tg_str_ieq(input->unwanted_properties[i], key)) {
            return true;
        }
    }
    return false;
}

static void merge_properties(const tg_refresh_input *input, tg_arena *arena,
                             tg_program_target *target)
{
    TG_VEC(tg_property) merged = {0};
    for (size_t i = 0; i < input->target.property_count; i++) {
        tg_str key = input->target.properties[i].key;
        if (!find_property(input->properties, input->property_count, key) &&
            !is_unwanted(input, key)) {
            TG_VEC_PUSH(arena, &merged, input->target.properties[i]);
        }
    }
    for (size_t i = 0; i < input->property_count; i++) {
        TG_VEC_PUSH(arena, &merged, input->properties[i]);
    }
    target->properties = merged.items;
    target->property_count = merged.count;
}

/* ---- quick plan ------------------------------------------------------------------------------ */

static void set_no_op(tg_refresh_plan *plan, const tg_window *window, tg_str fingerprint,
                      tg_arena *arena)
{
    tg_plan_piece *piece = TG_NEW(arena, tg_plan_piece);
    *piece = (tg_plan_piece){.where = window->text, .treatment = "NO_OP"};
    *plan = (tg_refresh_plan){
        .technique = "NO_OP",
        .window = window->predicate ? window->text : TG_S(""),
        .pieces = piece,
        .piece_count = 1,
        .advanced = tg_region_none(),
        .whole = tg_arena_memdup(arena, window, sizeof(*window)),
        .fingerprint = fingerprint,
    };
}

bool tg_plan_quick(const tg_refresh_input *input, tg_arena *arena, tg_refresh_plan *out_plan)
{
    tg_flow_state state;
    if (!input->target.exists || !input->state.has_txn ||
        !tg_flow_state_from_json(input->state.state, arena, &state) ||
        state.query_has_time_function ||
        !tg_str_eq(state.definition, tg_digest_text(arena, input->definition)) ||
        !definition_matches_table(input)) {
        return false;
    }
    tg_window window;
    tg_coverage left;
    if (tg_window_bind(input, input->target.schema, arena, &window, NULL) != TG_OK) {
        return false;
    }
    window.is_indivisible = state.query_depends_on_order;
    tg_coverage_load(input, &state, arena, &left);
    tg_coverage_take_changes(input, input->commits, input->commit_count, input->state.state_version,
                             arena, &left);
    if (!tg_cut_is_covered(input, &left, &window, state.fingerprint, arena)) {
        return false;
    }
    set_no_op(out_plan, &window, state.fingerprint, arena);
    return true;
}

/* ---- what a definition says ------------------------------------------------------------------ */

/* Lengths go before the texts, so that no value can pass for two. */
static void put_counted(tg_str text, tg_buf *out)
{
    tg_buf_addf(out, " %zu:%.*s", text.len, TG_SARG(text));
}

/*
 * How the files of a source become rows. A Delta table says that itself; elsewhere format and
 * options do, and the files' identity does not know them.
 */
static void put_reading(tg_str name, tg_table_format format, const tg_property *options,
                        size_t option_count, tg_buf *out)
{
    if (format == TG_FORMAT_DELTA) {
        return;
    }
    tg_buf_addf(out, "\n%.*s files", TG_SARG(tg_catalog_format_word(format)));
    put_counted(name, out);
    for (size_t i = 0; i < option_count; i++) {
        put_counted(options[i].key, out);
        put_counted(options[i].value, out);
    }
}

/* ---- full plan ------------------------------------------------------------------------------- */

/* Declared columns must be the query's: same names, storable types. */
static tg_code check_declared(const tg_refresh_input *input, tg_schema query, tg_error *err)
{
    for (size_t i = 0; i < input->column_count; i++) {
        const tg_column_def *column = &input->columns[i];
        ptrdiff_t at = tg_schema_find(query, column->name.text);
        if (at < 0 || (column->type && !tg_sql_can_store(query.fields[at].type, column->type))) {
            TG_FAIL(err, USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE,
                    "the declared columns of %.*s do not fit its query: column `%.*s` %s",
                    TG_SARG(input->target_name), TG_SARG(column->name.text),
                    at < 0 ? "is not in the query's output" : "has another type there");
        }
    }
    for (size_t i = 0; input->column_count > 0 && i < query.count; i++) {
        bool is_declared = false;
        for (size_t j = 0; j < input->column_count && !is_declared; j++) {
            is_declared = tg_str_ieq(input->columns[j].name.text, query.fields[i].name);
        }
        if (!is_declared) {
            TG_FAIL(err, USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE,
                    "the declared columns of %.*s do not fit its query: its column `%.*s` is not "
                    "declared",
                    TG_SARG(input->target_name), TG_SARG(query.fields[i].name));
        }
    }
    return TG_OK;
}

/* The schema that a refresh leaves behind. */
typedef struct planned_schema {
    tg_schema schema;
    bool is_changed;
    bool needs_new_rows;   /* files as they are would not do: a column went or has another type */
    const tg_str *dropped; /* columns that the query gives no more, and that stay */
    size_t dropped_count;
} planned_schema;

static tg_field declared_field(const tg_refresh_input *input, tg_field field)
{
    const tg_column_def *column = declared_column(input, field.name);
    if (column) {
        field.name = column->name.text;
        field.type = column->type ? column->type : field.type;
        field.comment = column->comment;
    }
    field.nullable = true; /* this release writes no NOT NULL constraint */
    return field;
}

static tg_code query_field(const tg_refresh_input *input, tg_field from, tg_field *out,
                           tg_error *err)
{
    *out = declared_field(input, from);
    if (out->type->kind == TG_TYPE_VOID) {
        TG_FAIL(err, DATATYPE_MISMATCH,
                "column `%.*s` of %.*s has type void: a table cannot hold it", TG_SARG(out->name),
                TG_SARG(input->target_name));
    }
    return TG_OK;
}

/* Design 4.11: new columns are added, dropped ones stay and read NULL, another type is an error. */
static tg_code evolve_schema(const tg_refresh_input *input, tg_schema query, tg_arena *arena,
                             planned_schema *out, tg_error *err)
{
    TG_VEC(tg_field) fields = {0};
    TG_VEC(tg_str) dropped = {0};
    const tg_schema table = input->target.schema;
    out->is_changed = !input->target.exists;
    for (size_t i = 0; i < table.count; i++) {
        TG_VEC_PUSH(arena, &fields, with_declared_comment(input, table.fields[i]));
        if (tg_schema_find(query, table.fields[i].name) < 0) {
            TG_VEC_PUSH(arena, &dropped, table.fields[i].name);
        }
    }
    for (size_t i = 0; i < query.count; i++) {
        tg_field field;
        TG_TRY(query_field(input, query.fields[i], &field, err));
        ptrdiff_t at = tg_schema_find(table, field.name);
        if (at < 0) {
            TG_VEC_PUSH(arena, &fields, field);
            out->is_changed = true;
        } else if (!tg_type_equal(table.fields[at].type, field.type)) {
            TG_ERR(err, DELTA_FAILED_TO_MERGE_FIELDS,
                   "column `%.*s` of %.*s is %.*s, but the query gives %.*s", TG_SARG(field.name),
                   TG_SARG(input->target_name), TG_SARG(tg_type_text(arena, table.fields[at].type)),
                   TG_SARG(tg_type_text(arena, field.type)));
            return tg_error_hint(
                err,
                "Cast the column in the query to the table's type, give it another name, or "
                "compute "
                "the table anew with its new type: %.*s.",
                TG_SARG(input->full_words.len ? input->full_words : TG_S("--full-refresh")));
        }
    }
    out->schema = (tg_schema){.fields = fields.items, .count = fields.count};
    out->dropped = dropped.items;
    out->dropped_count = dropped.count;
    return TG_OK;
}

/*
 * A view, and what is computed anew, holds the answer of its query and nothing else: its columns are
 * the query's, in its order, of its types. What is in the table already stays as the table writes it.
 */
static tg_code follow_query(const tg_refresh_input *input, tg_schema query, tg_arena *arena,
                            planned_schema *out, tg_error *err)
{
    tg_schema table = input->target.schema;
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, query.count);
    bool differs = query.count != table.count;
    for (size_t i = 0; i < query.count; i++) {
        TG_TRY(query_field(input, query.fields[i], &fields[i], err));
        ptrdiff_t at = tg_schema_find(table, fields[i].name);
        bool is_same = at >= 0 && tg_type_equal(table.fields[at].type, fields[i].type);
        if (is_same) {
            fields[i] = with_declared_comment(input, table.fields[at]);
        } else if (at >= 0) {
            fields[i].name = table.fields[at].name;
        }
        differs = differs || !is_same || at != (ptrdiff_t)i;
    }
    out->schema = (tg_schema){.fields = fields, .count = query.count};
    out->is_changed = differs || !input->target.exists;
    out->needs_new_rows = out->is_changed;
    return TG_OK;
}

static bool same_partitioning(const tg_refresh_input *input)
{
    if (input->partition_count != input->target.partition_count) {
        return false;
    }
    for (size_t i = 0; i < input->partition_count; i++) {
        if (!tg_str_ieq(input->partition_columns[i], input->target.partition_columns[i])) {
            return false;
        }
    }
    return true;
}

tg_code tg_plan_check_partitioning(const tg_refresh_input *input, tg_error *err)
{
    if (!input->target.exists || input->is_blank || same_partitioning(input)) {
        return TG_OK;
    }
    TG_ERR(err, CANNOT_UPDATE_PARTITION_COLUMNS, "the partition columns of %.*s cannot be changed",
           TG_SARG(input->target_name));
    return tg_error_hint(
        err, "Keep the table's PARTITIONED BY columns, or define the table under a new name.");
}

/* The table's own; of a new one those asked for, as its columns spell them. */
static const tg_str *partition_names(const tg_refresh_input *input, tg_schema schema,
                                     tg_arena *arena)
{
    if (input->target.exists && !input->is_blank) {
        return input->target.partition_columns;
    }
    tg_str *names = TG_NEW_ARRAY(arena, tg_str, input->partition_count);
    tg_assert(schema.fields); /* no table is without columns */
    for (size_t i = 0; i < input->partition_count; i++) {
        ptrdiff_t at = tg_schema_find(schema, input->partition_columns[i]);
        names[i] = at < 0 ? input->partition_columns[i] : schema.fields[at].name;
    }
    return names;
}

static tg_code plan_target(const tg_refresh_input *input, tg_schema query, tg_arena *arena,
                           tg_program_target *target, tg_refresh_plan *plan, tg_error *err)
{
    planned_schema planned = {0};
    TG_TRY(check_declared(input, query, err));
    TG_TRY(tg_plan_check_partitioning(input, err));
    TG_TRY(input->kind == TG_FLOW_COMPLETE || input->is_full
               ? follow_query(input, query, arena, &planned, err)
               : evolve_schema(input, query, arena, &planned, err));
    target->schema = planned.schema;
    target->name = input->target_name;
    target->path = input->target_path;
    target->read_version = input->target.exists ? input->target.version : -1;
    target->table_id = input->target.exists ? input->target.table_id : input->new_table_id;
    target->partition_columns = partition_names(input, target->schema, arena);
    target->partition_count = input->partition_count;
    target->comment = input->comment;
    merge_properties(input, arena, target);
    target->changes_metadata = planned.is_changed || !definition_matches_table(input);
    plan->needs_new_rows = planned.needs_new_rows;
    plan->dropped_columns = planned.dropped;
    plan->dropped_count = planned.dropped_count;
    return TG_OK;
}

/* The predicate must name columns of the query's output, not only of the table (a dropped column
 * would never match again). */
static tg_code check_predicate_columns(const tg_refresh_input *input, tg_schema query,
                                       tg_arena *arena, tg_error *err)
{
    tg_window window;
    return tg_window_bind(input, query, arena, &window, err);
}

static tg_str fingerprint_of(const tg_refresh_input *input, const tg_bound_query *query,
                             tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addf(&text, "semantics %d\n", TG_SEMANTICS_VERSION);
    if (query->uses_zone) {
        tg_buf_addf(&text, "zone %.*s\n", TG_SARG(tg_zone_name(input->zone)));
    }
    for (size_t i = 0; i < query->rel->column_count; i++) {
        const tg_column *column = &query->rel->columns[i];
        tg_buf_addf(&text, "%.*s %.*s\n", TG_SARG(column->name),
                    TG_SARG(tg_type_text(arena, column->type)));
    }
    tg_sql_canonical_rel(query->rel, &text);
    for (size_t i = 0; i < query->table_count; i++) {
        const tg_table *table = query->tables[i];
        put_reading(table->name, table->format, table->options, table->option_count, &text);
    }
    return tg_digest_text(arena, tg_digest_of(tg_buf_str(&text)));
}

static const tg_source_identity *identities(const tg_refresh_input *input, tg_arena *arena)
{
    tg_source_identity *sources = TG_NEW_ARRAY(arena, tg_source_identity, input->pin_count);
    for (size_t i = 0; i < input->pin_count; i++) {
        sources[i] = tg_identity_of_pin(&input->pins[i]);
    }
    return sources;
}

/* The piece that this refresh makes; none where the rows would differ next time. */
static tg_coverage *own_coverage(const tg_refresh_input *input, const tg_bound_query *query,
                                 const tg_window *window, tg_str fingerprint, tg_arena *arena)
{
    tg_coverage *coverage = TG_NEW(arena, tg_coverage);
    const tg_cover cover = {.piece = {.where = window->text,
                                      .fingerprint = fingerprint,
                                      .sources = identities(input, arena),
                                      .source_count = input->pin_count,
                                      .clock_us = input->now_us},
                            .region = window->region};
    if (window->is_deterministic && query->is_deterministic) {
        TG_VEC_PUSH(arena, coverage, cover);
    }
    return coverage;
}

/* An override's clock, and one that widened nothing, does not make later ones forgotten. */
static int64_t latest_clock(const tg_refresh_input *input, tg_arena *arena)
{
    const char *missing;
    const tg_flow_state *state = tg_plan_recorded_state(input, arena, &missing);
    bool is_later = state && !input->forgets_later_clock && state->latest_clock_us > input->now_us;
    return is_later ? state->latest_clock_us : input->now_us;
}

static tg_flow_state new_state(const tg_refresh_input *input, const tg_bound_query *query,
                               const tg_window *window, tg_str fingerprint, const char *technique,
                               tg_arena *arena)
{
    return (tg_flow_state){
        .flow = input->flow_name,
        .update_id = input->update_id,
        .technique = tg_str_from(technique),
        .predicate = window->predicate ? input->predicate_text : TG_S(""),
        .window = window->text,
        .zone = tg_zone_name(input->zone),
        .clock_us = input->now_us,
        .latest_clock_us = latest_clock(input, arena),
        .definition = tg_digest_text(arena, input->definition),
        .fingerprint = fingerprint,
        .query_has_time_function = query->has_time_function,
        .query_depends_on_order = query->depends_on_order,
        .predicate_is_deterministic = window->is_deterministic,
        .read_version = input->target.exists ? input->target.version : -1,
    };
}

static tg_code build_program(const tg_refresh_input *input, const tg_bound_query *query,
                             const tg_window *window, const tg_program_target *target,
                             tg_arena *arena, const tg_program **out_program, tg_error *err)
{
    tg_rel *rel = query->rel;
    TG_TRY(tg_sql_project_by_name(rel, target->schema, arena, &rel, err));
    if (window->predicate) {
        rel = tg_sql_filter_output(rel, window->predicate, arena);
    }
    tg_step *steps = TG_NEW_ARRAY(arena, tg_step, input->pin_count + 2);
    for (size_t i = 0; i < input->pin_count; i++) {
        steps[i] = (tg_step){.kind = TG_STEP_PIN, .pin = &input->pins[i]};
    }
    steps[input->pin_count] = (tg_step){.kind = TG_STEP_REPLACE,
                                        .predicate = input->is_full ? NULL : window->predicate,
                                        .region = input->is_full ? tg_region_all() : window->region,
                                        .rel = rel};
    steps[input->pin_count + 1] = (tg_step){.kind = TG_STEP_COMMIT};
    tg_property *parameters = TG_NEW_ARRAY(arena, tg_property, 2);
    parameters[0] = (tg_property){.key = TG_S("mode"), .value = TG_S("Overwrite")};
    parameters[1] = (tg_property){.key = TG_S("predicate"), .value = window->text};
    tg_program *program = TG_NEW(arena, tg_program);
    *program = (tg_program){
        .target = *target,
        .steps = steps,
        .step_count = input->pin_count + 2,
        .operation = TG_S("WRITE"),
        .parameters = parameters,
        .parameter_count = window->predicate && !input->is_full ? 2 : 1,
        .app_id = tg_flow_app_id(arena, target->table_id, input->flow_name),
        .zone = input->zone,
        .now_us = input->now_us,
    };
    *out_program = program;
    return TG_OK;
}

/* A changed property or comment over rows that are up to date: a metadata commit, which keeps the
 * coverage. */
static const tg_program *metadata_program(const tg_refresh_input *input,
                                          const tg_program_target *target, tg_arena *arena)
{
    tg_step *step = TG_NEW(arena, tg_step);
    *step = (tg_step){.kind = TG_STEP_COMMIT};
    tg_program *program = TG_NEW(arena, tg_program);
    *program = (tg_program){
        .target = *target,
        .steps = step,
        .step_count = 1,
        .operation = TG_S("SET TBLPROPERTIES"),
        .app_id = tg_flow_app_id(arena, target->table_id, input->flow_name),
        .is_state_only = true,
        .zone = input->zone,
        .now_us = input->now_us,
    };
    return program;
}

static void add_issue(tg_refresh_plan *plan, const char *type, const char *sub_type,
                      const char *expression, tg_arena *arena)
{
    tg_plan_issue *issues = TG_NEW_ARRAY(arena, tg_plan_issue, plan->issue_count + 1);
    tg_copy_bytes(issues, plan->issues, plan->issue_count * sizeof(*issues));
    issues[plan->issue_count++] =
        (tg_plan_issue){.issue_type = type, .sub_type = sub_type, .expression = expression};
    plan->issues = issues;
}

static void add_query_issues(tg_refresh_plan *plan, const tg_refresh_input *input,
                             const tg_bound_query *query, tg_arena *arena)
{
    if (!query->is_deterministic) {
        add_issue(plan, "PLAN_NOT_DETERMINISTIC", "NON_DETERMINISTIC_EXPRESSION",
                  query->random_function, arena);
    } else if (query->has_time_function) {
        add_issue(plan, "PLAN_NOT_DETERMINISTIC", "TIME_FUNCTION", query->time_function, arena);
    }
    for (size_t i = 0; i < input->pin_count; i++) {
        if (input->pins[i].version < 0) {
            add_issue(plan, "INPUT_NOT_IN_DELTA", NULL, NULL, arena);
            return;
        }
    }
}

static void add_part_issues(tg_refresh_plan *plan, tg_arena *arena)
{
    for (size_t i = 0; i < plan->piece_count; i++) {
        const char *reason = plan->pieces[i].reason;
        bool is_new = reason != NULL;
        for (size_t j = 0; j < plan->issue_count && is_new; j++) {
            is_new = strcmp(plan->issues[j].issue_type, reason) != 0;
        }
        if (is_new) {
            add_issue(plan, reason, NULL, NULL, arena);
        }
    }
}

const tg_flow_state *tg_plan_recorded_state(const tg_refresh_input *input, tg_arena *arena,
                                            const char **out_missing)
{
    *out_missing = "CHANGE_SET_MISSING";
    if (!input->target.exists || !input->state.has_txn) {
        return NULL;
    }
    tg_flow_state *state = TG_NEW(arena, tg_flow_state);
    if (tg_flow_state_from_json(input->state.state, arena, state)) {
        return state;
    }
    if (input->kind == TG_FLOW_REPLACE_WHERE) {
        *out_missing = "PRIOR_REPLACE_WHERE_PREDICATE_MISSING";
    }
    return NULL;
}

/* Rows are up to date, but the table's definition is not: everything recorded stays as it is. */
static void plan_metadata(const tg_refresh_input *input, const tg_program_target *target,
                          tg_cut *cut, tg_arena *arena, tg_refresh_plan *plan)
{
    plan->technique = "NO_OP";
    plan->advanced = tg_region_none();
    plan->state.technique = TG_S("NO_OP");
    plan->state.advanced = TG_S("false");
    plan->mine = TG_NEW(arena, tg_coverage);
    plan->carried = tg_arena_memdup(arena, &cut->left, sizeof(cut->left));
    plan->program = metadata_program(input, target, arena);
}

tg_code tg_plan_refresh(const tg_refresh_input *input, const tg_bound_query *query, tg_arena *arena,
                        tg_refresh_plan *out_plan, tg_error *err)
{
    tg_schema query_schema;
    TG_TRY(tg_sql_output_schema(query->rel, arena, &query_schema, err));
    TG_TRY(check_predicate_columns(input, query_schema, arena, err));
    tg_program_target target = {0};
    tg_refresh_plan schema_plan = {0};
    TG_TRY(plan_target(input, query_schema, arena, &target, &schema_plan, err));
    bool needs_new_rows = schema_plan.needs_new_rows;
    tg_window window;
    TG_TRY(tg_window_bind(input, target.schema, arena, &window, err));
    window.is_indivisible = query->depends_on_order;

    tg_str fingerprint = fingerprint_of(input, query, arena);
    const char *missing;
    const tg_flow_state *state = tg_plan_recorded_state(input, arena, &missing);
    if (needs_new_rows) {
        missing = state ? "QUERY_FINGERPRINT_CHANGED" : missing;
        state = NULL; /* declared types are no part of the fingerprint: no piece holds */
    }
    tg_cut cut;
    tg_cut_window(input, state, missing, &window, fingerprint, arena, &cut);
    if (cut.is_covered && !target.changes_metadata) {
        set_no_op(out_plan, &window, fingerprint, arena);
        return TG_OK;
    }
    const char *technique =
        input->kind == TG_FLOW_COMPLETE ? "COMPLETE_RECOMPUTE" : "COMPLETE_REPLACE_WHERE";
    tg_refresh_plan plan = {
        .technique = technique,
        .window = window.predicate ? window.text : TG_S(""),
        .pieces = cut.pieces,
        .piece_count = cut.piece_count,
        .is_partial = cut.is_partial,
        .advanced = input->is_full ? tg_region_all() : cut.own.region,
        .whole = tg_arena_memdup(arena, &window, sizeof(window)),
        .fingerprint = fingerprint,
        .needs_new_rows = needs_new_rows,
        .replaces_window = !input->is_full && tg_str_eq(cut.stale.text, window.text),
        .dropped_columns = schema_plan.dropped_columns,
        .dropped_count = schema_plan.dropped_count,
        .mine = own_coverage(input, query, &cut.own, fingerprint, arena),
        .carried = tg_arena_memdup(arena, &cut.carried, sizeof(cut.carried)),
        .state = new_state(input, query, &window, fingerprint, technique, arena)};
    plan.state.advanced = input->is_full ? TG_S("true") : cut.own.text;
    if (cut.is_covered) {
        plan_metadata(input, &target, &cut, arena, &plan);
    } else {
        add_part_issues(&plan, arena);
        add_query_issues(&plan, input, query, arena);
        TG_TRY(build_program(input, query, &cut.stale, &target, arena, &plan.program, err));
    }
    *out_plan = plan;
    return TG_OK;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static tg_digest digest_query(const tg_definition *definition)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addf(&text, "semantics %d zone %.*s\n", TG_SEMANTICS_VERSION,
                TG_SARG(definition->zone_name));
    tg_sql_print_query(definition->query, /* pretty= */ false, &text);
    for (size_t i = 0; i < definition->view_count; i++) {
        tg_buf_addc(&text, '\n');
        tg_sql_print_query(definition->views[i], /* pretty= */ false, &text);
    }
    return tg_digest_of(tg_buf_str(&text));
}

/* A definition of nothing but queries has their digest alone, as states of older releases do. */
tg_digest tg_definition_digest(const tg_definition *definition, tg_arena *arena)
{
    tg_digest queries = digest_query(definition);
    tg_auto_buf tg_buf rest = TG_BUF_INIT;
    for (size_t i = 0; i < definition->column_count; i++) {
        const tg_column_def *column = &definition->columns[i];
        tg_str type = column->type ? tg_type_text(arena, column->type) : TG_S("");
        tg_buf_addf(&rest, "\n%.*s %.*s", TG_SARG(column->name.text), TG_SARG(type));
    }
    for (size_t i = 0; i < definition->source_count; i++) {
        const tg_location *source = definition->sources[i];
        put_reading(source->full_name, source->format, source->options, source->option_count,
                    &rest);
    }
    if (rest.len == 0) {
        return queries;
    }
    return tg_digest_of(tg_str_printf(arena, "%.*s%.*s", TG_SARG(tg_digest_text(arena, queries)),
                                      TG_SARG(tg_buf_str(&rest))));
}
