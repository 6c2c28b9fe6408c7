/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coverage model's own histories, replayed: dump_model.py tells the facts that the model plans
 * from, and what it decides; the planner must come to the same parts, verdicts of lost races, and
 * recorded pieces. States are the planner's own: each is read back by later plans.
 *
 *   TIDEGATE_SEED=7 TIDEGATE_HISTORIES=100000 unit_incremental_model_replay     (histories: steps)
 *
 * Skipped, loudly, where the model's folder is not beside the golden folder.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include "sql/sql.h"

enum { POINTS = 32, RUNS_MAX = 256, VERSIONS = 256, PRINTS_MAX = 512, PIECES_MAX = 128 };
enum { KEPT, OTHER_QUERY, OTHER_SOURCES, OUTSIDE, NEVER, TREATMENTS };

static const char *const QUERY_TEXTS[][2] = {
    {"SELECT d, k, v FROM f WHERE v <> 3", "SELECT d, k, v + 10 AS v FROM f WHERE v <> 3"},
    {"SELECT f.d, f.k, m.v FROM f JOIN m ON f.k = m.k",
     "SELECT f.d, f.k, m.v + 10 AS v FROM f JOIN m ON f.k = m.k"},
    {"SELECT f.d, f.k, m.v FROM f LEFT JOIN m ON f.k = m.k",
     "SELECT f.d, f.k, m.v + 10 AS v FROM f LEFT JOIN m ON f.k = m.k"},
    {"SELECT d, k, CAST(count(*) AS INT) AS v FROM f GROUP BY d, k",
     "SELECT d, k, CAST(count(*) AS INT) + 10 AS v FROM f GROUP BY d, k"},
    {"SELECT max(d) AS d, k, CAST(count(*) AS INT) AS v FROM f GROUP BY k",
     "SELECT max(d) AS d, k, CAST(count(*) AS INT) + 10 AS v FROM f GROUP BY k"},
    {"SELECT d, k, v FROM f WHERE k IN (SELECT k FROM m)",
     "SELECT d, k, v + 10 AS v FROM f WHERE k IN (SELECT k FROM m)"},
    {"SELECT d, k, CASE WHEN d = current_date() THEN 1 ELSE 0 END AS v FROM f",
     "SELECT d, k, CASE WHEN d = current_date() THEN 1 ELSE 0 END + 10 AS v FROM f"},
};

typedef struct source {
    char name;
    long version, hash;
} source;

typedef struct known_piece {
    unsigned mask;
    int print;
    int count;
    source sources[SOURCES];
} known_piece;

typedef struct run {
    tg_refresh_input input;
    tg_refresh_plan plan;
    tg_pin pins[SOURCES];
    tg_table tables[SOURCES];
    tg_bound_query bound;
    tg_str rebased; /* the state after a lost race that could go on */
} run;

typedef struct replay {
    FILE *in;
    tg_arena *arena;
    const tg_zone *zone;
    char line[65536];
    char *rest; /* of the line */
    run runs[RUNS_MAX];
    tg_str states[VERSIONS];
    char prints[PRINTS_MAX][33]; /* what the planner calls the model's fingerprints */
    long history;
    unsigned long plans, covered, partial, races, again, writes, slipped, newer, steps;
} replay;

/* ---- reading --------------------------------------------------------------------------------- */

static bool next_line(replay *r)
{
    if (!fgets(r->line, sizeof(r->line), r->in)) {
        return false;
    }
    r->line[strcspn(r->line, "\n")] = '\0';
    r->rest = r->line;
    return true;
}

static const char *word(replay *r)
{
    char *start = r->rest + strspn(r->rest, " ");
    size_t len = strcspn(start, " ");
    r->rest = start + len + (start[len] != '\0');
    start[len] = '\0';
    return start;
}

static long number(replay *r)
{
    return strtol(word(r), NULL, 10);
}

static unsigned mask(replay *r)
{
    return (unsigned)strtoul(word(r), NULL, 16);
}

static void expect(replay *r, const char *name)
{
    assert_true(next_line(r));
    assert_string_equal(word(r), name);
}

static source read_source(replay *r)
{
    source s = {.name = word(r)[0]};
    s.version = number(r);
    s.hash = number(r);
    return s;
}

static tg_str source_name(char name)
{
    return name == 'f' ? TG_S("f") : TG_S("m");
}

static tg_source_identity identity_of(source s)
{
    return (tg_source_identity){.name = source_name(s.name),
                                .path = source_name(s.name),
                                .version = s.version,
                                .digest = {.high = s.name == 'f' ? 1 : 2, .low = (uint64_t)s.hash}};
}

/* ---- points: d is NULL, 0 to 6; k is NULL, 0 to 2 ----------------------------------------------- */

static row point(int i)
{
    return (row){.d = i / 4 - 1, .k = i % 4 - 1, .v = 0};
}

static tg_region points_region(tg_arena *arena, unsigned points)
{
    if (points == ~0u) {
        return tg_region_all();
    }
    bag touched = {0};
    for (int i = 0; i < POINTS; i++) {
        if (points >> i & 1u) {
            bag_add(&touched, point(i));
        }
    }
    return region_of_points(&touched, arena);
}

static unsigned text_points(replay *r, tg_str text)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_bind_options options = {.zone = r->zone};
    tg_expr *expr;
    tg_bexpr *predicate;
    bool has_time, is_stable;
    assert_ok(tg_sql_parse_expression(text, r->arena, &expr, &err), &err);
    assert_ok(tg_sql_bind_predicate(expr, world_schema(), NULL, 0, &options, r->arena, &predicate,
                                    &has_time, &is_stable, &err),
              &err);
    unsigned found = 0;
    for (int i = 0; i < POINTS; i++) {
        row item = point(i);
        found |= bound_eval(predicate, &item) == 1 ? 1u << i : 0;
    }
    return found;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static tg_commit_fact read_commit(replay *r, const char *name)
{
    expect(r, name);
    tg_commit_fact fact = {.version = number(r)};
    fact.is_missing = number(r);
    fact.changes_data = number(r);
    fact.changes_schema = number(r);
    if (number(r)) {
        fact.app_id = TG_S("app");
        fact.state = r->states[fact.version];
    }
    fact.hull = points_region(r->arena, mask(r));
    if (fact.is_missing) {
        fact = (tg_commit_fact){.version = fact.version, .is_missing = true};
    }
    return fact;
}

static const tg_commit_fact *read_commits(replay *r, const char *name, size_t count)
{
    tg_commit_fact *facts = TG_NEW_ARRAY(r->arena, tg_commit_fact, count + 1);
    for (size_t i = 0; i < count; i++) {
        facts[i] = read_commit(r, name);
    }
    return facts;
}

static tg_code resolve(void *self, const tg_relation *relation, tg_arena *arena, tg_resolved *out,
                       tg_error *err)
{
    (void)arena;
    (void)err;
    const run *one = self;
    *out = (tg_resolved){.table = &one->tables[relation->name.parts[0].text.ptr[0] == 'm']};
    return TG_OK;
}

static void set_pin(run *one, size_t i, source s)
{
    tg_source_identity identity = identity_of(s);
    one->pins[i] = (tg_pin){.name = identity.name,
                            .path = identity.path,
                            .version = identity.version,
                            .digest = identity.digest,
                            .table = &one->tables[i]};
}

static void bind_query(replay *r, run *one, const char *text)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    for (size_t i = 0; i < SOURCES; i++) {
        tg_str name = i == 0 ? TG_S("f") : TG_S("m");
        one->tables[i] = (tg_table){
            .name = name, .format = TG_FORMAT_DELTA, .path = name, .schema = world_schema()};
    }
    tg_query *ast;
    assert_ok(tg_sql_parse_query(tg_str_from(text), r->arena, &ast, &err), &err);
    const tg_resolver resolver = {.resolve = resolve, .self = one};
    const tg_bind_options options = {
        .resolver = &resolver, .now_us = one->input.now_us, .zone = r->zone, .in_flow = true};
    assert_ok(tg_sql_bind_query(ast, &options, r->arena, &one->bound, &err), &err);
    const tg_definition definition = {.query = ast, .zone_name = tg_zone_name(r->zone)};
    one->input.definition = tg_definition_digest(&definition, r->arena);
}

static void read_predicate(replay *r, run *one)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    expect(r, "pred");
    one->input.predicate_text = tg_str_copy(r->arena, tg_str_from(r->rest));
    tg_expr *expr;
    assert_ok(tg_sql_parse_expression(one->input.predicate_text, r->arena, &expr, &err), &err);
    one->input.predicate = expr;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void fail_at(const replay *r, const run *one, const char *what)
{
    for (size_t i = 0; i < one->plan.piece_count; i++) {
        print_message("%s %s: %.*s\n", one->plan.pieces[i].treatment,
                      one->plan.pieces[i].reason ? one->plan.pieces[i].reason : "",
                      TG_SARG(one->plan.pieces[i].where));
    }
    fail_msg("history %ld: %s; window %.*s; state %.*s", r->history, what,
             TG_SARG(one->input.predicate_text), TG_SARG(one->input.state.state));
}

static int treatment_of(const tg_plan_piece *piece)
{
    static const struct {
        const char *reason;
        int treatment;
    } reasons[] = {{"QUERY_FINGERPRINT_CHANGED", OTHER_QUERY},
                   {"DATA_HAS_CHANGED", OTHER_SOURCES},
                   {"EXTERNAL_CHANGE_IN_REPLACE_WINDOW", OUTSIDE},
                   {"STALE_TARGET_DATA_IN_WINDOW", NEVER},
                   {"CHANGE_SET_MISSING", NEVER},
                   {"PRIOR_REPLACE_WHERE_PREDICATE_MISSING", NEVER},
                   {"REPLACE_WHERE_BACKFILL", NEVER}};
    if (strcmp(piece->treatment, "NO_OP") == 0) {
        return KEPT;
    }
    for (size_t i = 0; i < TG_COUNT(reasons) && piece->reason; i++) {
        if (strcmp(reasons[i].reason, piece->reason) == 0) {
            return reasons[i].treatment;
        }
    }
    assert_null(piece->reason); /* full refreshes give none */
    return NEVER;
}

static void check_parts(replay *r, const run *one, const unsigned expected[TREATMENTS])
{
    unsigned found[TREATMENTS] = {0};
    for (size_t i = 0; i < one->plan.piece_count; i++) {
        const tg_plan_piece *piece = &one->plan.pieces[i];
        found[treatment_of(piece)] |= text_points(r, piece->where);
    }
    for (int i = 0; i < TREATMENTS; i++) {
        if (found[i] != expected[i]) {
            print_message("treatment %d: the model says %x, the planner %x\n", i, expected[i],
                          found[i]);
            fail_at(r, one, "parts differ");
        }
    }
    r->partial += found[KEPT] != 0;
}

/* Equal here means equal there, both ways. */
static void check_fingerprint(replay *r, long print, tg_str text)
{
    assert_true(print < PRINTS_MAX && text.len == 32);
    if (!r->prints[print][0]) {
        for (int i = 0; i < PRINTS_MAX; i++) {
            assert_false(r->prints[i][0] && tg_str_eq(text, tg_str_from(r->prints[i])));
        }
        memcpy(r->prints[print], text.ptr, 32);
    }
    assert_true(tg_str_eq(text, tg_str_from(r->prints[print])));
}

static void read_newer(replay *r, run *one, size_t count)
{
    tg_source_identity *newer = TG_NEW_ARRAY(r->arena, tg_source_identity, count + 1);
    for (size_t i = 0; i < count; i++) {
        expect(r, "newer");
        newer[i] = identity_of(read_source(r));
    }
    one->input.newer = newer;
    one->input.newer_count = count;
    r->newer += count > 0;
}

static void begin(run *one, const replay *r)
{
    static const tg_str id = TG_S("11111111-1111-4111-8111-111111111111");
    memset(one, 0, sizeof(*one));
    one->input =
        (tg_refresh_input){.kind = TG_FLOW_REPLACE_WHERE,
                           .flow_name = TG_S("main.default.t"),
                           .target_name = TG_S("main.default.t"),
                           .target_path = TG_S("/t"),
                           .update_id = TG_S("u"),
                           .zone = r->zone,
                           .new_table_id = id,
                           .target = {.exists = true, .table_id = id, .schema = world_schema()}};
}

static void replay_plan(replay *r)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    long uid = number(r);
    assert_true(uid < RUNS_MAX);
    run *one = &r->runs[uid];
    begin(one, r);
    one->input.target.version = number(r);
    one->input.now_us = (FIRST_DAY + number(r)) * TG_US_PER_DAY + TG_US_PER_DAY / 2;
    long shape = number(r), is_edited = number(r);
    one->input.is_override = number(r);
    one->input.is_full = number(r);
    one->input.state.state_version = number(r);
    one->input.state.has_txn = number(r);
    long print = number(r), is_covered = number(r);
    one->input.pin_count = (size_t)number(r);
    for (size_t i = 0; i < one->input.pin_count; i++) {
        set_pin(one, i, read_source(r));
    }
    one->input.pins = one->pins;
    one->input.commit_count = (size_t)number(r);
    size_t newer = (size_t)number(r);
    unsigned expected[TREATMENTS];
    for (int i = 0; i < TREATMENTS; i++) {
        expected[i] = mask(r);
    }
    if (one->input.state.state_version >= 0) {
        one->input.state.state = r->states[one->input.state.state_version];
    }
    bind_query(r, one, QUERY_TEXTS[shape][is_edited]);
    read_predicate(r, one);
    one->input.commits = read_commits(r, "commit", one->input.commit_count);
    read_newer(r, one, newer);
    bool is_quick = tg_plan_quick(&one->input, r->arena, &one->plan);
    if (is_quick && !is_covered) {
        fail_at(r, one, "NO_OP was proven where the model finds work");
    }
    assert_ok(tg_plan_refresh(&one->input, &one->bound, r->arena, &one->plan, &err), &err);
    if (!one->plan.program && !is_covered) {
        fail_at(r, one, "the model finds work");
    }
    check_fingerprint(r, print, one->plan.fingerprint);
    if (one->plan
            .program) { /* where the model finds nothing to do, only days that it does not have */
        check_parts(r, one, expected);
    }
    r->plans++;
    r->covered += !one->plan.program;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static known_piece *piece_like(known_piece *pieces, size_t *count, const known_piece *like)
{
    for (size_t i = 0; i < *count; i++) {
        known_piece *p = &pieces[i];
        bool same = p->print == like->print && p->count == like->count;
        for (int j = 0; j < p->count && same; j++) {
            same = p->sources[j].name == like->sources[j].name &&
                   p->sources[j].version == like->sources[j].version &&
                   p->sources[j].hash == like->sources[j].hash;
        }
        if (same) {
            return p;
        }
    }
    assert_true(*count < PIECES_MAX);
    pieces[*count] = *like;
    pieces[*count].mask = 0;
    return &pieces[(*count)++];
}

static size_t read_pieces(replay *r, known_piece *out)
{
    expect(r, "pieces");
    size_t lines = (size_t)number(r), count = 0;
    for (size_t i = 0; i < lines; i++) {
        expect(r, "piece");
        known_piece piece = {.mask = mask(r)};
        piece.print = (int)number(r);
        piece.count = (int)number(r);
        for (int j = 0; j < piece.count; j++) {
            piece.sources[j] = read_source(r);
        }
        piece_like(out, &count, &piece)->mask |= piece.mask;
    }
    return count;
}

static int print_of(const replay *r, tg_str fingerprint)
{
    for (int i = 0; i < PRINTS_MAX; i++) {
        if (tg_str_eq(fingerprint, tg_str_from(r->prints[i]))) {
            return i;
        }
    }
    fail_msg("a piece has a fingerprint that nobody made");
    return -1;
}

static known_piece recorded_piece(replay *r, const tg_piece *piece)
{
    known_piece found = {.print = print_of(r, piece->fingerprint),
                         .count = (int)piece->source_count};
    for (size_t i = 0; i < piece->source_count; i++) {
        const tg_source_identity *identity = &piece->sources[i];
        size_t place = tg_str_eq(identity->name, TG_S("m")) && found.count == 2 ? 1 : 0;
        found.sources[place] = (source){.name = identity->name.ptr[0],
                                        .version = (long)identity->version,
                                        .hash = (long)identity->digest.low};
    }
    return found;
}

static void check_pieces(replay *r, const run *one, tg_str text)
{
    known_piece expected[PIECES_MAX], found[PIECES_MAX];
    size_t expected_count = read_pieces(r, expected), found_count = 0;
    tg_flow_state state;
    assert_true(tg_flow_state_from_json(text, r->arena, &state));
    for (size_t i = 0; i < state.piece_count; i++) {
        known_piece piece = recorded_piece(r, &state.pieces[i]);
        unsigned points = text_points(r, state.pieces[i].where);
        known_piece *like = piece_like(found, &found_count, &piece);
        assert_int_equal(like->mask & points, 0); /* pieces do not overlap */
        like->mask |= points;
    }
    for (size_t i = 0; i < expected_count; i++) {
        const known_piece *like = piece_like(found, &found_count, &expected[i]);
        if (like->mask != expected[i].mask) {
            print_message("the model's piece is %x, the planner's %x\n", expected[i].mask,
                          like->mask);
            fail_at(r, one, tg_str_cstr(r->arena, text));
        }
    }
    size_t filled = 0; /* where the model knows nothing, nothing may be claimed */
    for (size_t i = 0; i < found_count; i++) {
        filled += found[i].mask != 0;
    }
    assert_int_equal(filled, expected_count);
}

/* ---- races and commits ----------------------------------------------------------------------- */

static void replay_rebase(replay *r)
{
    run *one = &r->runs[number(r)];
    int64_t version = number(r);
    long holds = number(r);
    size_t count = (size_t)number(r);
    const tg_commit_fact *winners = read_commits(r, "winner", count);
    tg_str state;
    bool found = tg_plan_rebase(&one->plan, &one->input, version, winners, count, r->arena, &state);
    if (found != (holds != 0)) {
        fail_at(r, one, holds ? "the race could go on" : "the race is lost, plan again");
    }
    r->races++;
    r->again += !found;
    if (found) {
        check_pieces(r, one, state);
        one->rebased = state;
    }
}

static void replay_write(replay *r)
{
    run *one = &r->runs[number(r)];
    long version = number(r);
    int64_t read_version = number(r);
    long is_slipped = number(r);
    unsigned advanced = mask(r);
    tg_str state = one->rebased;
    if (is_slipped || state.len == 0) {
        assert_true(
            tg_plan_rebase(&one->plan, &one->input, read_version, NULL, 0, r->arena, &state));
    }
    tg_flow_state recorded;
    assert_true(tg_flow_state_from_json(state, r->arena, &recorded));
    assert_int_equal(recorded.read_version, read_version);
    assert_int_equal(text_points(r, recorded.advanced), advanced);
    check_pieces(r, one, state);
    assert_true(version < VERSIONS);
    r->states[version] = state;
    r->writes++;
    r->slipped += is_slipped != 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void begin_history(replay *r)
{
    r->history = number(r);
    tg_arena_reset(r->arena);
    memset(r->states, 0, sizeof(r->states));
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_ok(tg_zone_load(TG_S("UTC"), r->arena, &r->zone, &err), &err);
}

static void replay_all(replay *r)
{
    bool ended = false;
    while (!ended && next_line(r)) {
        const char *what = word(r);
        if (strcmp(what, "history") == 0) {
            begin_history(r);
        } else if (strcmp(what, "plan") == 0) {
            replay_plan(r);
        } else if (strcmp(what, "rebase") == 0) {
            replay_rebase(r);
        } else if (strcmp(what, "write") == 0) {
            replay_write(r);
        } else if (strcmp(what, "steps") == 0) {
            r->steps += (unsigned long)number(r);
        } else {
            ended = strcmp(what, "end") == 0;
            assert_true(ended || strcmp(what, "forget") == 0);
        }
    }
    assert_true(ended);
}

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

static void test_model_replay(void **state)
{
    (void)state;
    const char *golden = getenv("TIDEGATE_GOLDEN");
    char path[4096], command[9000];
    (void)snprintf(path, sizeof(path), "%s/../model", golden ? golden : "../shared/golden");
    (void)snprintf(command, sizeof(command), "%s/coverage_model.py", path);
    FILE *there = fopen(command, "r");
    if (!there) {
        print_message("SKIPPED: THE COVERAGE MODEL IS MISSING: %s\n", command);
        skip();
    }
    (void)fclose(there);
    unsigned long seed = from_environment("TIDEGATE_SEED", 1);
    unsigned long steps = from_environment("TIDEGATE_HISTORIES", 110000);
    (void)snprintf(command, sizeof(command),
                   "exec python3 -B '%s/tests/unit/incremental/dump_model.py' '%s' %lu %lu",
                   TG_TEST_SOURCE_DIR, path, seed, steps);
    replay *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->arena = tg_arena_new();
    r->in = popen(command, "r");
    assert_non_null(r->in);
    replay_all(r);
    assert_int_equal(pclose(r->in), 0);
    print_message("%lu steps, %lu plans (%lu nothing to do, %lu in part, %lu with newer pieces), "
                  "%lu races (%lu planned again), %lu commits (%lu slipped)\n",
                  r->steps, r->plans, r->covered, r->partial, r->newer, r->races, r->again,
                  r->writes, r->slipped);
    assert_true(r->steps >= steps && r->covered && r->partial && r->newer && r->again &&
                r->races > r->again && r->slipped);
    tg_arena_free(r->arena);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
