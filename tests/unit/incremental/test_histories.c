/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories of refreshes, source changes, outside DML, lost logs and races: after each
 * refresh the target must be what the rules say (rows where the predicate is TRUE are the query's,
 * all others stay), however the planner cut the work.
 *
 *   TIDEGATE_SEED=7 TIDEGATE_HISTORIES=100000 unit_incremental_histories
 */
#include "world.h"

#include "sql/sql.h"

enum { STEPS = 14, VERSIONS_MAX = 64 };

typedef struct version {
    bag rows;
    tg_digest digest;
} version;

typedef struct commit {
    bag rows; /* after it */
    tg_commit_fact fact;
    bool is_own;
    unsigned removed[ROWS_MAX]; /* ids */
    size_t removed_count;
} commit;

typedef struct world {
    tg_arena *arena;
    version sources[SOURCES][VERSIONS_MAX];
    size_t source_count[SOURCES];
    commit commits[COMMITS_MAX];
    size_t commit_count;
    size_t cleaned; /* log files below are gone */
    size_t last_own;
    unsigned next_id, salts;
    uint64_t next_digest;
    int today, query, property, table_property;
    const pred *predicate;
    const tg_zone *zone;
    bool has_changed; /* since the last refresh ended */
} world;

typedef struct refresh {
    const pred *predicate;
    tg_str text;
    int today, query;
    bool is_override, is_full, keeps_newer;
    unsigned salt;        /* of this evaluation: microseconds of its clock */
    size_t pins[SOURCES]; /* versions */
    tg_pin pin_list[SOURCES];
    tg_table tables[SOURCES];
    tg_bound_query bound;
    tg_refresh_input input;
    tg_refresh_plan plan;
    size_t planned_at; /* number of commits */
} refresh;

static struct {
    unsigned long kept_newer, refreshes, no_op, partial, whole, state_only, rebased, again, quick,
        slipped, told_ranges, recommitted;
} hits;

static unsigned long current_seed;

static void act(world *w, int depth);
static void refresh_now(world *w, int depth);

/* ---- sources and other writers --------------------------------------------------------------- */

static void push_version(world *w, size_t source, const bag *rows)
{
    version *v = &w->sources[source][w->source_count[source]++];
    *v = (version){.rows = *rows, .digest = {.high = source + 1, .low = ++w->next_digest}};
}

static void change_source(world *w, size_t source)
{
    if (w->source_count[source] == VERSIONS_MAX) {
        return;
    }
    bag rows = w->sources[source][w->source_count[source] - 1].rows;
    for (unsigned n = 1 + pick(3); n > 0; n--) {
        unsigned what = rows.count < 4 ? 0 : pick(3);
        if (what == 0 && rows.count < 14) {
            bag_add(&rows, random_row());
        } else if (rows.count > 0 && what == 1) {
            rows.rows[pick((unsigned)rows.count)] = random_row();
        } else if (rows.count > 0) {
            rows.rows[pick((unsigned)rows.count)] = rows.rows[rows.count - 1];
            rows.count--;
        }
    }
    push_version(w, source, &rows);
}

static commit *new_commit(world *w)
{
    assert_true(w->commit_count < COMMITS_MAX);
    commit *c = &w->commits[w->commit_count];
    *c = (commit){.fact = {.version = (int64_t)w->commit_count}};
    if (w->commit_count > 0) {
        c->rows = w->commits[w->commit_count - 1].rows;
    }
    w->commit_count++;
    return c;
}

/* Takes row i out; touched gets it. */
static void remove_row(commit *c, size_t i, bag *touched)
{
    bag_add(touched, c->rows.rows[i]);
    c->removed[c->removed_count++] = c->rows.rows[i].id;
    c->rows.rows[i] = c->rows.rows[--c->rows.count];
}

static void outside_dml(world *w)
{
    commit *c = new_commit(w);
    bag touched = {0};
    c->fact.changes_data = true;
    for (unsigned n = 1 + pick(3); n > 0; n--) {
        if (c->rows.count > 0 && one_in(2)) {
            remove_row(c, pick((unsigned)c->rows.count), &touched);
        } else if (c->rows.count < 60) {
            row item = random_row();
            item.id = ++w->next_id;
            bag_add(&c->rows, item);
            bag_add(&touched, item);
        }
    }
    c->fact.hull = hull_of(&touched, w->arena);
    w->has_changed = true;
}

static void restore(world *w)
{
    commit *c = new_commit(w);
    bag touched = {0};
    while (c->rows.count > 0) {
        remove_row(c, c->rows.count - 1, &touched);
    }
    bag old = w->commits[pick((unsigned)w->commit_count - 1)].rows;
    for (size_t i = 0; i < old.count; i++) {
        old.rows[i].id = ++w->next_id;
        bag_add(&c->rows, old.rows[i]);
        bag_add(&touched, old.rows[i]);
    }
    c->fact.changes_data = true;
    c->fact.hull = hull_of(&touched, w->arena);
    w->has_changed = true;
}

static void compact(world *w)
{
    commit *c = new_commit(w);
    c->fact.hull = tg_region_all();
    for (size_t i = 0; i < c->rows.count; i++) {
        c->removed[c->removed_count++] = c->rows.rows[i].id;
        c->rows.rows[i].id = ++w->next_id;
    }
}

/* Column v goes and comes back: no file changes, but its values are gone. */
static void alter(world *w)
{
    commit *c = new_commit(w);
    c->fact.changes_schema = true;
    c->fact.hull = tg_region_none();
    for (size_t i = 0; i < c->rows.count; i++) {
        c->rows.rows[i].v = NONE;
    }
    w->has_changed = true;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static tg_code resolve(void *self, const tg_relation *relation, tg_arena *arena, tg_resolved *out,
                       tg_error *err)
{
    (void)arena;
    (void)err;
    const refresh *r = self;
    *out = (tg_resolved){.table = &r->tables[relation->name.parts[0].text.ptr[0] == 'm']};
    return TG_OK;
}

static void pin(world *w, refresh *r)
{
    for (size_t i = 0; i < SOURCES; i++) {
        tg_str name = i == 0 ? TG_S("f") : TG_S("m");
        r->pins[i] = w->source_count[i] - 1;
        r->tables[i] = (tg_table){.name = name,
                                  .format = TG_FORMAT_DELTA,
                                  .path = name,
                                  .schema = world_schema(),
                                  .version = (int64_t)r->pins[i]};
        r->pin_list[i] = (tg_pin){.name = name,
                                  .path = name,
                                  .version = (int64_t)r->pins[i],
                                  .digest = w->sources[i][r->pins[i]].digest,
                                  .table = &r->tables[i]};
    }
}

/* As pipelines gather them: the newest commit of the flow has the state, if its log file is there. */
static void gather(world *w, refresh *r)
{
    static const tg_str id = TG_S("11111111-1111-4111-8111-111111111111");
    tg_refresh_input *in = &r->input;
    static tg_property have;
    have = (tg_property){.key = TG_S("p"), .value = w->table_property ? TG_S("1") : TG_S("0")};
    in->new_table_id = id;
    in->target = (tg_table_facts){.exists = w->commit_count > 0,
                                  .version = (int64_t)w->commit_count - 1,
                                  .table_id = id,
                                  .schema = world_schema(),
                                  .properties = &have,
                                  .property_count = 1};
    in->state = (tg_state_facts){.state_version = -1};
    in->commits = NULL;
    in->commit_count = 0;
    r->planned_at = w->commit_count;
    if (w->commit_count == 0) {
        in->target.schema = (tg_schema){0};
        return;
    }
    in->state.has_txn = true;
    if (w->last_own < w->cleaned) {
        return;
    }
    in->state.state_version = (int64_t)w->last_own;
    in->state.state = w->commits[w->last_own].fact.state;
    size_t from = (size_t)(tg_plan_read_version(&in->state, w->arena) + 1);
    tg_commit_fact *facts = TG_NEW_ARRAY(w->arena, tg_commit_fact, w->commit_count);
    for (size_t i = from; i < w->commit_count; i++) {
        facts[in->commit_count++] =
            i < w->cleaned ? (tg_commit_fact){.version = (int64_t)i, .is_missing = true}
                           : w->commits[i].fact;
    }
    in->commits = facts;
    in->newer = NULL;
    in->newer_count = 0;
    if (r->keeps_newer) { /* every version of a source is the same table's here */
        in->newer =
            tg_plan_newer_sources(&in->state, in->pins, in->pin_count, w->arena, &in->newer_count);
    }
}

static void begin(world *w, refresh *r)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    r->today = w->today;
    r->query = w->query;
    pred_print(r->predicate, &text);
    r->text = tg_buf_take(&text, w->arena);
    pin(w, r);
    tg_expr *expr;
    assert_ok(tg_sql_parse_expression(r->text, w->arena, &expr, &err), &err);
    tg_query *ast;
    assert_ok(tg_sql_parse_query(tg_str_from(queries[r->query].text), w->arena, &ast, &err), &err);
    r->salt = ++w->salts;
    int64_t now_us = (FIRST_DAY + (int64_t)w->today) * TG_US_PER_DAY + TG_US_PER_DAY / 2 + r->salt;
    const tg_resolver resolver = {.resolve = resolve, .self = r};
    const tg_bind_options options = {
        .resolver = &resolver, .now_us = now_us, .zone = w->zone, .in_flow = true};
    assert_ok(tg_sql_bind_query(ast, &options, w->arena, &r->bound, &err), &err);
    const tg_definition definition = {.query = ast, .zone_name = tg_zone_name(w->zone)};
    tg_property *wanted = TG_NEW(w->arena, tg_property);
    *wanted = (tg_property){.key = TG_S("p"), .value = w->property ? TG_S("1") : TG_S("0")};
    r->input = (tg_refresh_input){.kind = TG_FLOW_REPLACE_WHERE,
                                  .flow_name = TG_S("main.default.t"),
                                  .target_name = TG_S("main.default.t"),
                                  .target_path = TG_S("/t"),
                                  .update_id = TG_S("u"),
                                  .now_us = now_us,
                                  .zone = w->zone,
                                  .predicate = expr,
                                  .predicate_text = r->text,
                                  .is_override = r->is_override,
                                  .is_full = r->is_full,
                                  .definition = tg_definition_digest(&definition, w->arena),
                                  .pins = r->pin_list,
                                  .pin_count = queries[r->query].reads_keys ? 2 : 1,
                                  .properties = wanted,
                                  .property_count = 1};
}

/* ---- what must be ---------------------------------------------------------------------------- */

static void answer(const world *w, const refresh *r, bag *out)
{
    bag sources[SOURCES];
    for (size_t i = 0; i < SOURCES; i++) {
        sources[i] = w->sources[i][r->pins[i]].rows;
    }
    query_answer(r->query, sources, r->today, r->salt, out);
}

static bool text_holds(const world *w, tg_str text, const row *item);

/* A piece of no older sources than mine that holds the row. */
static bool is_in_newer_piece(const world *w, const refresh *r, const row *item)
{
    tg_flow_state state;
    if (!tg_flow_state_from_json(r->input.state.state, w->arena, &state)) {
        return false;
    }
    for (size_t i = 0; i < state.piece_count; i++) {
        bool is_newer = true;
        for (size_t j = 0; j < state.pieces[i].source_count; j++) {
            size_t source = (size_t)state.pieces[i].sources[j].digest.high - 1;
            is_newer = is_newer && state.pieces[i].sources[j].version >= (int64_t)r->pins[source];
        }
        if (is_newer && text_holds(w, state.pieces[i].where, item)) {
            return true;
        }
    }
    return false;
}

/* Rows that a newer refresh left are right as they are; what the state claims of them is checked. */
static bool is_left_alone(const world *w, const refresh *r, const row *item)
{
    for (size_t i = 0; r->keeps_newer && r->input.newer_count && i < r->plan.piece_count; i++) {
        if (strcmp(r->plan.pieces[i].treatment, "NO_OP") == 0 &&
            text_holds(w, r->plan.pieces[i].where, item)) {
            return is_in_newer_piece(w, r, item);
        }
    }
    return false;
}

static void simulate(const world *w, const refresh *r, const bag *before, bag *out)
{
    bag now;
    *out = (bag){0};
    answer(w, r, &now);
    for (size_t i = 0; i < before->count && !r->is_full; i++) {
        if (pred_eval(r->predicate, &before->rows[i], r->today) != 1 ||
            is_left_alone(w, r, &before->rows[i])) {
            bag_add(out, before->rows[i]);
        }
    }
    for (size_t i = 0; i < now.count; i++) {
        if (pred_eval(r->predicate, &now.rows[i], r->today) == 1 &&
            !is_left_alone(w, r, &now.rows[i])) {
            bag_add(out, now.rows[i]);
        }
    }
}

/* Nothing was done: then the rows are of one evaluation, whichever it was. */
static bool is_of_one_evaluation(const world *w, const refresh *r, const bag *rows)
{
    refresh other = *r;
    for (other.salt = 1; other.salt <= w->salts; other.salt++) {
        bag expected;
        simulate(w, &other, rows, &expected);
        if (bag_equal(&expected, rows)) {
            return true;
        }
    }
    return false;
}

static void check(const world *w, const refresh *r, const bag *before, const bag *after)
{
    bag expected;
    simulate(w, r, before, &expected);
    if (r->query == TIED && before == after && is_of_one_evaluation(w, r, after)) {
        return;
    }
    if (!bag_equal(&expected, after)) {
        for (size_t i = 0; i < expected.count; i++) {
            const row *x = &expected.rows[i];
            print_message("expected (%d, %d, %d)\n", x->d, x->k, x->v);
        }
        for (size_t i = 0; i < after->count; i++) {
            const row *x = &after->rows[i];
            print_message("found    (%d, %d, %d)\n", x->d, x->k, x->v);
        }
        for (size_t i = 0; i < r->plan.piece_count; i++) {
            print_message("%s %s: %.*s\n", r->plan.pieces[i].treatment,
                          r->plan.pieces[i].reason ? r->plan.pieces[i].reason : "",
                          TG_SARG(r->plan.pieces[i].where));
        }
        fail_msg("seed %lu: today %d, query %d, %.*s%s%s; state %.*s", current_seed, r->today,
                 r->query, TG_SARG(r->text), r->is_full ? ", full" : "",
                 r->is_override ? ", override" : "", TG_SARG(r->input.state.state));
    }
}

/* ---- what states claim ----------------------------------------------------------------------- */

/* Which query and day a fingerprint stands for. */
static struct {
    char text[33];
    int query, today;
} prints[512];
static size_t print_count;

static void remember_fingerprint(const refresh *r)
{
    tg_str text = r->plan.state.fingerprint;
    for (size_t i = 0; i < print_count; i++) {
        if (tg_str_eq(text, tg_str_from(prints[i].text))) {
            prints[i].today = r->today; /* where the day matters, the fingerprint is another one */
            return;
        }
    }
    assert_true(print_count < TG_COUNT(prints) && text.len == 32);
    memcpy(prints[print_count].text, text.ptr, 32);
    prints[print_count].query = r->query;
    prints[print_count++].today = r->today;
}

static void answer_of_piece(const world *w, const tg_piece *piece, bag *out)
{
    bag sources[SOURCES] = {0};
    for (size_t i = 0; i < piece->source_count; i++) {
        const tg_source_identity *identity = &piece->sources[i];
        size_t source = (size_t)identity->digest.high - 1;
        const version *v = &w->sources[source][identity->version];
        assert_int_equal(v->digest.low, identity->digest.low);
        sources[source] = v->rows;
    }
    for (size_t i = 0; i < print_count; i++) {
        if (tg_str_eq(piece->fingerprint, tg_str_from(prints[i].text))) {
            unsigned salt = (unsigned)(piece->clock_us % TG_US_PER_SECOND);
            query_answer(prints[i].query, sources, prints[i].today, salt, out);
            return;
        }
    }
    fail_msg("a piece has a fingerprint that nobody made");
}

static const tg_bexpr *bind_text(const world *w, tg_str text)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_bind_options options = {.zone = w->zone};
    tg_expr *expr;
    tg_bexpr *predicate;
    bool has_time, is_stable;
    assert_ok(tg_sql_parse_expression(text, w->arena, &expr, &err), &err);
    assert_ok(tg_sql_bind_predicate(expr, world_schema(), NULL, 0, &options, w->arena, &predicate,
                                    &has_time, &is_stable, &err),
              &err);
    assert_true(!has_time && is_stable);
    return predicate;
}

static bool text_holds(const world *w, tg_str text, const row *item)
{
    return bound_eval(bind_text(w, text), item) == 1;
}

static void keep_piece(const tg_bexpr *predicate, bag *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (bound_eval(predicate, &rows->rows[i]) == 1) {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
}

/* The rows of each piece are its query's, over its versions of the sources. */
static void check_claims(const world *w, tg_str text, const bag *rows)
{
    tg_flow_state state;
    assert_true(tg_flow_state_from_json(text, w->arena, &state));
    for (size_t i = 0; i < state.piece_count; i++) {
        const tg_bexpr *predicate = bind_text(w, state.pieces[i].where);
        bag found = *rows, expected;
        answer_of_piece(w, &state.pieces[i], &expected);
        keep_piece(predicate, &found);
        keep_piece(predicate, &expected);
        if (!bag_equal(&expected, &found)) {
            fail_msg("seed %lu: %zu rows are in the piece %.*s, %zu should be; state %.*s",
                     current_seed, found.count, TG_SARG(state.pieces[i].where), expected.count,
                     TG_SARG(text));
        }
    }
}

/* ---- refreshes ------------------------------------------------------------------------------- */

static const tg_step *replace_step(const tg_refresh_plan *plan)
{
    for (size_t i = 0; i < plan->program->step_count; i++) {
        if (plan->program->steps[i].kind == TG_STEP_REPLACE) {
            return &plan->program->steps[i];
        }
    }
    return NULL;
}

static bool is_replaced(const tg_step *step, const row *item)
{
    return !step->predicate || bound_eval(step->predicate, item) == 1;
}

/* Did somebody remove a row that this program removes? Engines find that by files. */
static bool lost_rows(const world *w, const refresh *r, const tg_step *step)
{
    if (!step || r->planned_at == 0) {
        return false;
    }
    const bag *base = &w->commits[r->planned_at - 1].rows;
    for (size_t i = 0; i < base->count; i++) {
        for (size_t v = r->planned_at; v < w->commit_count; v++) {
            for (size_t j = 0; j < w->commits[v].removed_count; j++) {
                if (w->commits[v].removed[j] == base->rows[i].id &&
                    is_replaced(step, &base->rows[i])) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* What others committed since the plan was made. */
static size_t winners_of(const world *w, const refresh *r, tg_commit_fact **out_facts)
{
    size_t count = w->commit_count - r->planned_at;
    tg_commit_fact *facts = TG_NEW_ARRAY(w->arena, tg_commit_fact, count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t v = r->planned_at + i;
        facts[i] = v < w->cleaned ? (tg_commit_fact){.version = (int64_t)v, .is_missing = true}
                                  : w->commits[v].fact;
    }
    *out_facts = facts;
    return count;
}

static void write_rows(world *w, const refresh *r, const tg_step *step, commit *c)
{
    bag touched = {0}, now;
    for (size_t i = c->rows.count; i-- > 0;) {
        if (is_replaced(step, &c->rows.rows[i])) {
            remove_row(c, i, &touched);
        }
    }
    answer(w, r, &now);
    for (size_t i = 0; i < now.count; i++) {
        if (step->predicate ? is_replaced(step, &now.rows[i])
                            : pred_eval(r->predicate, &now.rows[i], r->today) == 1) {
            now.rows[i].id = ++w->next_id;
            bag_add(&c->rows, now.rows[i]);
            bag_add(&touched, now.rows[i]);
        }
    }
    c->fact.changes_data = touched.count > 0;
    c->fact.hull = hull_of(&touched, w->arena);
}

/* An engine that cannot rebuild the state while it races: winners are tested after the commit. */
static bool slips(void)
{
    return one_in(4);
}

/* False: the race was lost for good, plan again. */
static bool attempt(world *w, refresh *r)
{
    const tg_step *step = replace_step(&r->plan);
    tg_commit_fact *facts;
    size_t winners = winners_of(w, r, &facts);
    for (size_t i = 0; i < winners; i++) {
        if (w->commits[r->planned_at + i].fact.changes_schema) {
            return false; /* the engine's own answer */
        }
    }
    if ((r->planned_at == 0 && winners > 0) || lost_rows(w, r, step)) {
        return false;
    }
    tg_str state, old_state;
    bool holds = tg_plan_rebase(&r->plan, &r->input, (int64_t)w->commit_count - 1, facts, winners,
                                w->arena, &state);
    bool is_slipped = winners > 0 && slips();
    if (is_slipped) {
        assert_true(tg_plan_rebase(&r->plan, &r->input, (int64_t)r->planned_at - 1, NULL, 0,
                                   w->arena, &old_state));
        state = old_state;
        hits.slipped++;
    } else if (!holds) {
        return false;
    }
    hits.rebased += winners > 0;
    bag before = w->commit_count ? w->commits[w->commit_count - 1].rows : (bag){0};
    commit *c = new_commit(w);
    c->is_own = true;
    c->fact.app_id = TG_S("app");
    c->fact.state = state;
    c->fact.hull = tg_region_none();
    if (step) {
        write_rows(w, r, step, c);
    }
    w->table_property = tg_str_eq(r->input.properties[0].value, TG_S("1"));
    w->last_own = w->commit_count - 1;
    remember_fingerprint(r);
    if (holds && step) {
        check(w, r, &before, &c->rows);
    }
    if (is_slipped && one_in(3)) {
        w->cleaned = w->last_own; /* what it had not seen cannot be looked at any more */
    }
    if (!is_slipped) { /* else what had come between is tested when the state is read */
        check_claims(w, state, &c->rows);
    }
    return holds;
}

/* What the user asked for is done, however sure the planner is that it changes nothing. */
static void check_asked(const refresh *r)
{
    bool is_asked = r->is_override || r->is_full;
    assert_true(!is_asked || (r->plan.program && !r->plan.program->is_state_only));
}

/*
 * What the intervals tell of the window is what the plan does with it: covered is kept, the rest is
 * recomputed, part by part with the same reasons.
 */
static void check_intervals(const world *w, const refresh *r)
{
    size_t count, in_window = 0, covered = 0;
    const tg_plan_interval *told = tg_plan_intervals(&r->input, &r->plan, w->arena, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strcmp(told[i].status, "COVERED") == 0, told[i].reason == NULL);
        if (told[i].place != TG_PLACE_WINDOW) {
            continue;
        }
        if (r->plan.is_partial) {
            assert_true(in_window < r->plan.piece_count);
            const tg_plan_piece *piece = &r->plan.pieces[in_window];
            assert_true(tg_str_eq(piece->where, told[i].where));
            if (told[i].reason) {
                assert_string_equal(piece->reason, told[i].reason);
            } else { /* up to date, but it may not be possible to leave it out */
                assert_true(!piece->reason || strcmp(piece->reason, "CANNOT_PUSH_PREDICATE") == 0);
            }
        }
        in_window++;
        covered += !told[i].reason;
    }
    if (strcmp(r->plan.technique, "NO_OP") == 0) {
        assert_int_equal(covered, in_window);
    }
    hits.told_ranges += count > 1;
}

static void plan(world *w, refresh *r)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    gather(w, r);
    if (tg_plan_quick(&r->input, w->arena, &r->plan)) {
        hits.quick++;
        tg_refresh_plan slow;
        assert_ok(tg_plan_refresh(&r->input, &r->bound, w->arena, &slow, &err), &err);
        assert_null(slow.program);
        check_intervals(w, r);
        return;
    }
    assert_ok(tg_plan_refresh(&r->input, &r->bound, w->arena, &r->plan, &err), &err);
    check_asked(r);
    check_intervals(w, r);
}

static void count(const refresh *r)
{
    hits.refreshes++;
    hits.no_op += !r->plan.program;
    hits.state_only += r->plan.program && r->plan.program->is_state_only;
    hits.partial += r->plan.is_partial;
    hits.kept_newer += r->keeps_newer && r->input.newer_count > 0;
    hits.whole += r->plan.program && !r->plan.program->is_state_only && !r->plan.is_partial;
}

static void run(world *w, refresh *r, int depth)
{
    w->has_changed = false;
    begin(w, r);
    if (depth < 2 && one_in(3)) {
        act(w, depth + 1);
    }
    if (depth == 0 && one_in(6)) { /* a faster update with newer sources */
        change_source(w, one_in(2) ? 1 : 0);
        refresh_now(w, depth + 1);
    }
    for (;;) {
        plan(w, r);
        const bag *rows = w->commit_count ? &w->commits[w->commit_count - 1].rows : NULL;
        if (rows && (!r->plan.program || r->plan.program->is_state_only)) {
            check(w, r, rows, rows);
        }
        if (!r->plan.program) {
            break;
        }
        if (depth < 2 && one_in(3)) {
            act(w, depth + 1);
        }
        if (attempt(w, r)) {
            break;
        }
        hits.again++;
    }
    count(r);
}

static void refresh_now(world *w, int depth)
{
    /* Two refreshes at once are mostly of different windows. */
    bool other = depth > 0 ? !one_in(3) : one_in(5);
    refresh r = {.predicate = other ? pred_random(w->arena) : w->predicate};
    r.is_override = r.predicate != w->predicate;
    r.is_full = !r.is_override && one_in(15);
    r.keeps_newer = one_in(2);
    run(w, &r, depth);
    if (!r.is_override && depth == 0 && !w->has_changed && r.plan.program && w->cleaned == 0) {
        /* Nothing happened since: nothing is to be done. */
        size_t before = w->commit_count;
        refresh again = {.predicate = r.predicate};
        bool same = w->today == r.today && w->query == r.query && w->property == w->table_property;
        for (size_t i = 0; i < SOURCES; i++) {
            same = same && w->source_count[i] - 1 == r.pins[i];
        }
        if (same && w->predicate == r.predicate && before == r.planned_at + 1) {
            run(w, &again, 2);
            if (again.plan.program) {
                fail_msg("seed %lu: nothing to do, but %s of %.*s; state %.*s", current_seed,
                         again.plan.pieces[0].reason, TG_SARG(again.plan.pieces[0].where),
                         TG_SARG(again.input.state.state));
            }
        }
    }
}

/* Our own log cleanup: the state once more, then the log below it goes. */
static void recommit(world *w)
{
    refresh r = {.predicate = w->predicate};
    tg_str state;
    begin(w, &r);
    gather(w, &r);
    if (!tg_plan_recommit(&r.input, w->arena, &state)) {
        assert_true(w->last_own < w->cleaned);
        return;
    }
    commit *c = new_commit(w);
    c->is_own = true;
    c->fact.app_id = TG_S("app");
    c->fact.state = state;
    c->fact.hull = tg_region_none();
    w->last_own = w->cleaned = w->commit_count - 1;
    check_claims(w, state, &c->rows);
    hits.recommitted++;
}

/* ---- histories ------------------------------------------------------------------------------- */

static void act(world *w, int depth)
{
    unsigned what = pick(20);
    if (what < 7) {
        refresh_now(w, depth);
    } else if (what < 11) {
        change_source(w, one_in(4) ? 1 : 0);
    } else if (what < 13) {
        w->today = one_in(6) && w->today > 0 ? w->today - 1 : w->today + 1;
    } else if (what < 14) {
        w->query = (int)pick(QUERIES);
    } else if (what < 15) {
        w->predicate = pred_random(w->arena);
    } else if (what < 16) {
        w->property = !w->property;
    } else if (w->commit_count == 0) {
        refresh_now(w, depth);
    } else if (what < 18) {
        outside_dml(w);
    } else if (what < 19) {
        compact(w);
    } else if (one_in(4)) {
        recommit(w);
    } else if (one_in(3)) { /* mostly just below the state */
        w->cleaned = one_in(3) ? pick((unsigned)w->commit_count + 1) : w->last_own;
    } else if (one_in(3)) {
        alter(w);
    } else {
        restore(w);
    }
}

static void history(world *w)
{
    w->source_count[0] = w->source_count[1] = w->commit_count = w->cleaned = w->last_own = 0;
    w->next_id = w->salts = 0;
    w->today = (int)pick(5);
    w->query = (int)pick(QUERIES);
    w->property = w->table_property = 0;
    w->predicate = pred_random(w->arena);
    w->zone = tg_zone_utc();
    for (size_t source = 0; source < SOURCES; source++) {
        push_version(w, source, &(bag){0});
        change_source(w, source);
    }
    for (int step = 0; step < STEPS; step++) {
        act(w, 0);
    }
}

static unsigned long number_from(const char *name, unsigned long fallback)
{
    const tg_env *env = tg_env_system();
    const char *text = env->getenv(env->self, name);
    int64_t value;
    return text && tg_str_to_i64(tg_str_from(text), &value) ? (unsigned long)value : fallback;
}

static void histories_end_as_the_rules_say(void **state)
{
    (void)state;
    unsigned long seed = number_from("TIDEGATE_SEED", 20240101);
    unsigned long count = number_from("TIDEGATE_HISTORIES", 3000);
    static world w;
    w.arena = tg_arena_new();
    print_message("%lu histories from seed %lu\n", count, seed);
    for (unsigned long i = 0; i < count; i++) {
        chance_seed(seed + i);
        current_seed = seed + i;
        history(&w);
        tg_arena_reset(w.arena);
    }
    tg_arena_free(w.arena);
    print_message("%lu refreshes: %lu NO_OP (%lu quick), %lu partial, %lu whole, %lu state only; "
                  "%lu found newer rows; races: %lu rebased, %lu slipped, %lu planned again\n",
                  hits.refreshes, hits.no_op, hits.quick, hits.partial, hits.whole, hits.state_only,
                  hits.kept_newer, hits.rebased, hits.slipped, hits.again);
    assert_true(hits.no_op && hits.partial && hits.whole && hits.state_only && hits.rebased &&
                hits.slipped && hits.again && hits.told_ranges && hits.recommitted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(histories_end_as_the_rules_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
