/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backfill from its request to the chunks that are left to run: the flow, its column, what is open,
 * whether the sources are still there. backfill_run.c runs the chunks.
 */
#include "api/backfill_int.h"

/* ---- plans ----------------------------------------------------------------------------------- */

/* What is planned with: the user's clock and zone, or those that the backfill was begun with. */
typedef struct plan_setting {
    tg_str now, timezone;
    const tg_pin *pins;
    size_t pin_count;
} plan_setting;

static const char *pin_remedy(tg_backfill_run *b)
{
    return tg_arena_printf(b->api->arena,
                           "Begin anew over what is there now: tidegate backfill %.*s --from ... "
                           "--restart (with --missing: only what is not up to date then)",
                           TG_SARG(b->request->flow));
}

/* The flow as a plan sees it; NULL: see diags. is_cut: chunks replace its window. */
static const tg_flow_result *plan(tg_backfill_run *b, const plan_setting *setting, bool is_cut,
                                  tg_update_result *result)
{
    tg_override *override = TG_NEW(b->api->arena, tg_override);
    *override =
        (tg_override){.flow = b->request->flow, .predicate = TG_S("true"), .origin = "FLOW"};
    const tg_update_options options = {.is_dry_run = true,
                                       .is_plan = true,
                                       .tells_intervals = !is_cut,
                                       .selection_name = "FLOW",
                                       .refresh = &b->request->flow,
                                       .refresh_count = 1,
                                       .overrides = override,
                                       .override_count = is_cut ? 1 : 0,
                                       .now = setting->now,
                                       .timezone = setting->timezone,
                                       .pins = setting->pins,
                                       .pin_count = setting->pin_count,
                                       .pin_remedy = pin_remedy(b)};
    const tg_update_context context = {
        .fs = b->api->fs, .env = &b->api->own_env, .engine = b->api->engine};
    b->code = tg_update_run(&context, b->graph, &options, b->api->arena, result, b->diags);
    for (size_t i = 0; b->code == TG_OK && i < result->flow_count; i++) {
        if (result->flows[i].technique) {
            return &result->flows[i];
        }
    }
    b->code = b->code == TG_OK ? TG_CANCELLED : b->code;
    return NULL;
}

static bool refuse(tg_backfill_run *b, tg_error *err)
{
    b->code = err->code;
    tg_diags_add(b->diags, err);
    return false;
}

/* ---- what is open ---------------------------------------------------------------------------- */

static bool is_same_bound(tg_backfill_run *b, tg_str given, tg_str recorded, const char *option)
{
    tg_value mine, old;
    tg_arena *arena = b->api->arena;
    return !given.len ||
           (tg_backfill_bound(given, option, &b->column, b->zone, arena, &mine, NULL) == TG_OK &&
            tg_backfill_bound(recorded, option, &b->column, b->zone, arena, &old, NULL) == TG_OK &&
            tg_value_cmp(mine, old) == 0);
}

static bool is_same_setting(const tg_backfill_run *b, const tg_backfill_head *head)
{
    const tg_backfill_request *request = b->request;
    for (size_t i = 0; i < request->param_count; i++) {
        const tg_param *given = &request->params[i];
        bool is_found = false;
        for (size_t j = 0; j < head->param_count && !is_found; j++) {
            is_found = tg_str_eq(given->name, head->params[j].name) &&
                       tg_str_eq(given->value, head->params[j].value);
        }
        if (!is_found) {
            return false;
        }
    }
    return (!head->catalog.len || tg_str_ieq(head->catalog, b->graph->spec->catalog)) &&
           (!head->schema.len || tg_str_ieq(head->schema, b->graph->spec->schema));
}

/* Does the request ask for what is open, as far as it says anything? */
static bool is_same_work(tg_backfill_run *b, const tg_backfill_head *head)
{
    const tg_backfill_request *request = b->request;
    tg_backfill_step mine = {0}, old = {0};
    if (request->every.len && (tg_backfill_step_parse(request->every, &mine, NULL) != TG_OK ||
                               tg_backfill_step_parse(head->every, &old, NULL) != TG_OK)) {
        return false;
    }
    return mine.count == old.count && mine.unit == old.unit &&
           is_same_bound(b, request->from, head->from, "--from") &&
           is_same_bound(b, request->to, head->to, "--to") &&
           (!request->column.len || tg_str_ieq(request->column, head->column)) &&
           is_same_setting(b, head) &&
           (!b->api->zone_text.len || tg_str_ieq(b->api->zone_text, head->timezone)) &&
           (!b->api->has_now || b->api->now_us == head->now_us);
}

static bool check_same_work(tg_backfill_run *b, const tg_backfill_head *head)
{
    if (is_same_work(b, head)) {
        return true;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, TIDEGATE_BACKFILL_OPEN,
                 "another backfill of flow %.*s is not finished: `%.*s` from %.*s to %.*s every "
                 "%.*s (clock %.*s, zone %.*s)",
                 TG_SARG(head->flow), TG_SARG(head->column), TG_SARG(head->from), TG_SARG(head->to),
                 TG_SARG(head->every), TG_SARG(tg_instant_text(b->api->arena, head->now_us)),
                 TG_SARG(head->timezone));
    (void)tg_error_hint(&err,
                        "Go on with it: tidegate backfill %.*s. Or add --restart to forget it.",
                        TG_SARG(b->request->flow));
    return refuse(b, &err);
}

static bool check_definition(tg_backfill_run *b, const tg_flow_result *flow)
{
    const tg_backfill_head *head = &b->out->head;
    if (flow->definition.high == head->definition.high &&
        flow->definition.low == head->definition.low) {
        return true;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(
        &err, TIDEGATE_BACKFILL_OPEN,
        "the query of flow %.*s was changed while its backfill was not finished: its chunks "
        "would not be of one query",
        TG_SARG(head->flow));
    (void)tg_error_hint(&err,
                        "Begin anew: tidegate backfill %.*s --from %.*s --to %.*s --every \"%.*s\" "
                        "--restart (with --missing: only what is not up to date)",
                        TG_SARG(b->request->flow), TG_SARG(head->from), TG_SARG(head->to),
                        TG_SARG(head->every));
    return refuse(b, &err);
}

/* Log files are asked for by the plan; of data files only the disk knows. */
static bool check_source_files(tg_backfill_run *b)
{
    tg_engine *engine = b->api->engine;
    const tg_backfill_head *head = &b->out->head;
    for (size_t i = 0; i < head->pin_count && engine->missing_files; i++) {
        const tg_pin *pin = &head->pins[i];
        tg_auto_error tg_error err = TG_ERROR_INIT;
        size_t missing = 0;
        tg_str first = {0};
        if (pin->version >= 0 &&
            engine->missing_files(engine->self, pin->path, pin->version, b->api->arena, &missing,
                                  &first, &err) != TG_OK) {
            return refuse(b, &err);
        }
        if (missing) {
            (void)TG_ERR(&err, TIDEGATE_PINNED_SOURCE_GONE,
                         "%zu data file%s of version %lld of source %.*s, which the backfill was "
                         "begun with, %s gone: `%.*s`",
                         missing, missing == 1 ? "" : "s", (long long)pin->version,
                         TG_SARG(pin->name), missing == 1 ? "is" : "are", TG_SARG(first));
            (void)tg_error_hint(&err, "%s", pin_remedy(b));
            return refuse(b, &err);
        }
    }
    return true;
}

/* ---- the chunks ------------------------------------------------------------------------------ */

static bool cut(tg_backfill_run *b)
{
    tg_backfill_result *out = b->out;
    tg_arena *arena = b->api->arena;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_backfill_step step;
    tg_value from, to;
    tg_backfill_chunk *chunks;
    if (tg_backfill_step_parse(out->head.every, &step, &err) != TG_OK ||
        tg_backfill_bound(out->head.from, "--from", &b->column, b->zone, arena, &from, &err) !=
            TG_OK ||
        tg_backfill_bound(out->head.to, "--to", &b->column, b->zone, arena, &to, &err) != TG_OK ||
        tg_backfill_cut(&b->column, from, to, step, b->zone, arena, &chunks, &out->chunk_count,
                        &err) != TG_OK) {
        return refuse(b, &err);
    }
    out->chunks = TG_NEW_ARRAY(arena, tg_backfill_chunk_result, out->chunk_count);
    for (size_t i = 0; i < out->chunk_count; i++) {
        out->chunks[i] = (tg_backfill_chunk_result){
            .chunk = chunks[i],
            .from = tg_backfill_bound_text(arena, chunks[i].from, b->zone),
            .to = tg_backfill_bound_text(arena, chunks[i].to, b->zone),
            .record = {.committed_version = -1, .rows_written = -1},
            .duration_ms = -1};
    }
    return true;
}

/* --missing: what coverage holds over the sources as they are pinned. */
static bool skip_covered(tg_backfill_run *b, tg_schema output)
{
    tg_backfill_head *head = &b->out->head;
    tg_arena *arena = b->api->arena;
    if (!head->only_missing) {
        return true;
    }
    tg_update_result result;
    const plan_setting setting = {.now = tg_instant_text(arena, head->now_us),
                                  .timezone = head->timezone,
                                  .pins = head->pins,
                                  .pin_count = head->pin_count};
    const tg_flow_result *flow = plan(b, &setting, /* is_cut= */ false, &result);
    if (!flow) {
        return false;
    }
    tg_region covered = tg_backfill_covered(flow->intervals, flow->interval_count, output,
                                            head->now_us, b->zone, arena);
    for (size_t i = 0; i < b->out->chunk_count; i++) {
        tg_region region = tg_backfill_region(&b->column, &b->out->chunks[i].chunk, arena);
        if (tg_region_contains(covered, region)) {
            b->out->chunks[i].record.status = TG_CHUNK_COVERED;
        }
    }
    return true;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static const tg_param *find_param(const tg_param *params, size_t count, tg_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(params[i].name, name)) {
            return &params[i];
        }
    }
    return NULL;
}

/* The values that hold: what was given, and the spec's own. */
static void keep_params(tg_backfill_run *b)
{
    const tg_spec *spec = b->graph->spec;
    TG_VEC(tg_param) kept = {0};
    for (size_t i = 0; i < spec->param_count; i++) {
        TG_VEC_PUSH(b->api->arena, &kept, spec->params[i]);
    }
    for (size_t i = 0; i < spec->parameter_count; i++) {
        const tg_property *own = &spec->parameters[i];
        if (!find_param(spec->params, spec->param_count, own->key)) {
            TG_VEC_PUSH(b->api->arena, &kept, ((tg_param){.name = own->key, .value = own->value}));
        }
    }
    b->out->head.params = kept.items;
    b->out->head.param_count = kept.count;
}

/* ---- beginning and going on ------------------------------------------------------------------ */

/* Would the flow be cut by a column of numbers? */
static bool is_cut_by_numbers(tg_backfill_run *b, const tg_update_result *planned,
                              const tg_flow_result *flow)
{
    tg_backfill_column column;
    return tg_backfill_choose_column(flow->flow, flow->output, b->request->column, planned->now_us,
                                     b->zone, b->api->arena, &column, NULL) == TG_OK &&
           tg_type_is_integer(column.type);
}

static bool check_request(tg_backfill_run *b, const tg_update_result *planned,
                          const tg_flow_result *flow)
{
    const tg_backfill_request *request = b->request;
    tg_str flow_name = flow->flow->full_name;
    const char *missing = !request->from.len ? "--from" : !request->to.len ? "--to" : "--every";
    if (request->from.len && request->to.len && request->every.len) {
        return true;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    bool is_bare = !request->from.len && !request->to.len && !request->every.len;
    (void)TG_ERR(&err, TIDEGATE_INVALID_OPTION,
                 is_bare ? "no backfill of flow %.*s is open to go on with; %s is missing"
                         : "to backfill flow %.*s, %s is missing",
                 TG_SARG(flow_name), missing);
    (void)tg_error_hint(&err, "For example: tidegate backfill %.*s %s", TG_SARG(request->flow),
                        is_cut_by_numbers(b, planned, flow)
                            ? "--from 0 --to 10000 --every 1000"
                            : "--from 2024-01-01 --to 2024-02-01 --every 7 DAYS");
    return refuse(b, &err);
}

static bool begin(tg_backfill_run *b, const tg_update_result *planned, const tg_flow_result *flow)
{
    const tg_backfill_request *request = b->request;
    tg_arena *arena = b->api->arena;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    char id[37];
    if (!check_request(b, planned, flow)) {
        return false;
    }
    if (tg_backfill_choose_column(flow->flow, flow->output, request->column, planned->now_us,
                                  b->zone, arena, &b->column, &err) != TG_OK) {
        return refuse(b, &err);
    }
    b->api->env->uuid(b->api->env->self, id);
    b->out->head = (tg_backfill_head){.id = tg_str_copy(arena, tg_str_from(id)),
                                      .flow = flow->flow->full_name,
                                      .column = b->column.name,
                                      .from = request->from,
                                      .to = request->to,
                                      .every = request->every,
                                      .timezone = planned->zone_name,
                                      .now_us = planned->now_us,
                                      .only_missing = request->only_missing,
                                      .definition = flow->definition,
                                      .pins = flow->pins,
                                      .pin_count = flow->pin_count,
                                      .catalog = b->graph->spec->catalog,
                                      .schema = b->graph->spec->schema};
    keep_params(b);
    if (!cut(b)) {
        return false;
    }
    b->out->head.chunk_count = (int64_t)b->out->chunk_count;
    return skip_covered(b, flow->output);
}

static bool go_on(tg_backfill_run *b, const tg_flow_result *now, const tg_backfill_head *head)
{
    tg_arena *arena = b->api->arena;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    b->out->head = *head;
    b->out->is_resumed = true;
    if (tg_zone_load(head->timezone, arena, &b->zone, &err) != TG_OK ||
        tg_backfill_choose_column(now->flow, now->output, head->column, head->now_us, b->zone,
                                  arena, &b->column, &err) != TG_OK) {
        return refuse(b, &err);
    }
    const plan_setting setting = {.now = tg_instant_text(arena, head->now_us),
                                  .timezone = head->timezone,
                                  .pins = head->pins,
                                  .pin_count = head->pin_count};
    tg_update_result result;
    if (!check_same_work(b, head)) {
        return false;
    }
    const tg_flow_result *then = plan(b, &setting, /* is_cut= */ true, &result);
    return then && check_source_files(b) && check_definition(b, then) && cut(b);
}

/* Under the lock: what is open, and is it still what was planned with? */
static bool load_records(tg_backfill_run *b)
{
    tg_arena *arena = b->api->arena;
    tg_backfill_result *out = b->out;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_backfill_head *head;
    tg_chunk_record *records = TG_NEW_ARRAY(arena, tg_chunk_record, out->chunk_count);
    tg_code code = tg_journal_read(b->api->spec, b->api->fs, out->head.flow, arena, &head, records,
                                   out->chunk_count, &err);
    if (code != TG_OK && !b->request->restart) {
        return refuse(b, &err);
    }
    bool is_same =
        out->is_resumed ? head && tg_str_eq(head->id, out->head.id) : !head || b->request->restart;
    if (!is_same || (out->is_resumed && head->chunk_count != (int64_t)out->chunk_count)) {
        tg_error_clear(&err);
        (void)TG_ERR(&err, TIDEGATE_BACKFILL_OPEN,
                     "the backfill of flow %.*s was changed by another process meanwhile",
                     TG_SARG(out->head.flow));
        (void)tg_error_hint(&err, "Run it again.");
        return refuse(b, &err);
    }
    for (size_t i = 0; out->is_resumed && i < out->chunk_count; i++) {
        out->chunks[i].record = records[i];
    }
    return true;
}

static bool write_journal(tg_backfill_run *b)
{
    tg_backfill_result *out = b->out;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (out->is_resumed) {
        return true;
    }
    size_t *chunks = TG_NEW_ARRAY(b->api->arena, size_t, out->chunk_count);
    tg_chunk_record *records = TG_NEW_ARRAY(b->api->arena, tg_chunk_record, out->chunk_count);
    size_t count = 0;
    for (size_t i = 0; i < out->chunk_count; i++) {
        if (out->chunks[i].record.status == TG_CHUNK_COVERED) {
            chunks[count] = i;
            records[count++] = out->chunks[i].record;
        }
    }
    if (tg_journal_begin(b->journal, &out->head, &err) != TG_OK ||
        tg_journal_add(b->journal, chunks, records, count, &err) != TG_OK) {
        return refuse(b, &err);
    }
    return true;
}

static bool prepare(tg_backfill_run *b)
{
    tg_api *api = b->api;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_update_result planned;
    const plan_setting now = {.now = api->now_text, .timezone = api->zone_text};
    const tg_flow_result *flow = plan(b, &now, /* is_cut= */ true, &planned);
    if (!flow) {
        return false;
    }
    const tg_backfill_head *head = NULL;
    if (!b->request->restart && tg_journal_read(api->spec, api->fs, flow->flow->full_name,
                                                api->arena, &head, NULL, 0, &err) != TG_OK) {
        return refuse(b, &err);
    }
    if (!(head ? go_on(b, flow, head) : begin(b, &planned, flow))) {
        return false;
    }
    if (tg_journal_open(api->spec, api->fs, b->out->head.flow, api->arena, &b->journal, &err) !=
        TG_OK) {
        return refuse(b, &err);
    }
    return load_records(b) && write_journal(b);
}

/* ---- the graph -------------------------------------------------------------------------------- */

/*
 * Before any file is read: parameters stand in the files, so that what is open has to be known by its
 * name alone. A full name finds it in its own environment too. Damaged journals are told later.
 */
static const tg_backfill_head *find_open(tg_backfill_run *b)
{
    tg_api *api = b->api;
    tg_name name;
    tg_str full;
    const tg_backfill_head *head = NULL;
    tg_auto_error tg_error later = TG_ERROR_INIT;
    if (b->request->restart ||
        tg_sql_parse_name(b->request->flow, api->arena, &name, NULL) != TG_OK ||
        tg_catalog_qualify(&api->catalog, &name, api->arena, &full, NULL) != TG_OK ||
        tg_journal_read(api->spec, api->fs, full, api->arena, &head, NULL, 0, &later) != TG_OK) {
        return NULL;
    }
    return head;
}

static tg_code build_graph(tg_backfill_run *b)
{
    tg_api *api = b->api;
    const tg_backfill_request *request = b->request;
    const tg_backfill_head *head = find_open(b);
    const tg_spec *spec = api->spec;
    const tg_param *params = request->params;
    size_t count = request->param_count;
    if (head) {
        /* Another environment was asked for: is_same_setting tells it. */
        bool is_moved = !tg_str_ieq(spec->catalog, spec->declared_catalog) ||
                        !tg_str_ieq(spec->schema, spec->declared_schema);
        spec = is_moved ? spec : tg_spec_in(spec, head->catalog, head->schema, api->arena);
        params = head->params;
        count = head->param_count;
    }
    TG_TRY(tg_spec_with_params(spec, params, count, api->arena, &spec, b->diags));
    return tg_graph_build(spec, api->fs, api->arena, &b->graph, b->diags);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Options are the command line's to explain. */
static int status_of_refusal(const tg_backfill_run *b)
{
    for (size_t i = 0; i < b->diags->count; i++) {
        if (b->diags->items[i].cls == TG_E_TIDEGATE_INVALID_OPTION &&
            !b->diags->items[i].place.file) {
            return TG_STATUS_USAGE;
        }
    }
    return tg_api_status(b->code, /* nothing_touched= */ true);
}

int tg_api_backfill(tg_api *api, const tg_backfill_request *request, tg_backfill_result *out_result,
                    tg_diags *diags)
{
    tg_backfill_run b = {
        .api = api, .request = request, .out = out_result, .diags = diags, .zone = api->zone};
    int64_t started_ns = api->env->monotonic_ns(api->env->self);
    *out_result = (tg_backfill_result){0};
    b.code = build_graph(&b);
    if (b.code != TG_OK) {
        tg_diags_sort(diags);
        return status_of_refusal(&b);
    }
    int status = prepare(&b) ? tg_backfill_run_chunks(&b) : status_of_refusal(&b);
    out_result->duration_ms = (api->env->monotonic_ns(api->env->self) - started_ns) / 1000000;
    tg_journal_close(b.journal);
    return status;
}

tg_code tg_api_open_backfills(tg_api *api, tg_arena *arena, tg_open_backfill **out_items,
                              size_t *out_count, tg_error *err)
{
    return tg_journal_list(api->spec, api->fs, arena, out_items, out_count, err);
}
