/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a flow as JSON: what a commit says about itself (design 6.1).
 *
 * Sources are listed once and named by index in the pieces, because pieces mostly share them. The
 * format is final: a reader that does not know its version treats the state as missing, which costs
 * one complete refresh and never a wrong row.
 */
#include "incremental/incremental_int.h"

#include <yyjson.h>

enum { STATE_FORMAT = 1 };

bool tg_source_identity_equal(const tg_source_identity *a, const tg_source_identity *b)
{
    return a->version == b->version && a->digest.high == b->digest.high &&
           a->digest.low == b->digest.low && tg_str_eq(a->name, b->name) &&
           tg_str_eq(a->path, b->path);
}

typedef TG_VEC(const tg_source_identity *) source_list;

static size_t source_index(source_list *list, const tg_source_identity *source, tg_arena *arena)
{
    for (size_t i = 0; i < list->count; i++) {
        if (tg_source_identity_equal(list->items[i], source)) {
            return i;
        }
    }
    TG_VEC_PUSH(arena, list, source);
    return list->count - 1;
}

static void write_piece(tg_json_out *out, const tg_piece *piece, source_list *sources,
                        tg_arena *arena)
{
    tg_json_object(out);
    tg_json_kstr(out, "where", piece->where);
    tg_json_kstr(out, "fingerprint", piece->fingerprint);
    tg_json_kstr(out, "clock", tg_instant_text(arena, piece->clock_us));
    tg_json_keyz(out, "sources");
    tg_json_array(out);
    for (size_t i = 0; i < piece->source_count; i++) {
        tg_json_i64(out, (int64_t)source_index(sources, &piece->sources[i], arena));
    }
    tg_json_end_array(out);
    tg_json_end_object(out);
}

static void write_sources(tg_json_out *out, const source_list *sources, tg_arena *arena)
{
    tg_json_keyz(out, "sources");
    tg_json_array(out);
    for (size_t i = 0; i < sources->count; i++) {
        const tg_source_identity *source = sources->items[i];
        tg_json_object(out);
        tg_json_kstr(out, "name", source->name);
        tg_json_kstr(out, "path", source->path);
        tg_json_ki64(out, "version", source->version);
        tg_json_kstr(out, "digest", tg_digest_text(arena, source->digest));
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

static tg_str write_state(const tg_flow_state *state, size_t piece_count, tg_arena *arena)
{
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &buf);
    tg_json_object(&out);
    tg_json_keyz(&out, "tidegate");
    tg_json_object(&out);
    tg_json_ki64(&out, "format", STATE_FORMAT);
    tg_json_kstr(&out, "flow", state->flow);
    tg_json_kstr(&out, "update_id", state->update_id);
    tg_json_kstr(&out, "technique", state->technique);
    tg_json_kstr(&out, "predicate", state->predicate);
    tg_json_kstr(&out, "window", state->window);
    tg_json_kbool(&out, "predicate_is_deterministic", state->predicate_is_deterministic);
    tg_json_kstr(&out, "clock", tg_instant_text(arena, state->clock_us));
    if (state->latest_clock_us > state->clock_us) {
        tg_json_kstr(&out, "latest_clock", tg_instant_text(arena, state->latest_clock_us));
    }
    tg_json_kstr(&out, "zone", state->zone);
    tg_json_kstr(&out, "definition", state->definition);
    tg_json_kstr(&out, "fingerprint", state->fingerprint);
    tg_json_kbool(&out, "query_has_time_function", state->query_has_time_function);
    tg_json_kbool(&out, "query_depends_on_order", state->query_depends_on_order);
    tg_json_ki64(&out, "read_version", state->read_version);
    tg_json_kstr(&out, "advanced", state->advanced);
    source_list sources = {0};
    tg_json_keyz(&out, "coverage");
    tg_json_array(&out);
    for (size_t i = 0; i < piece_count; i++) {
        write_piece(&out, &state->pieces[i], &sources, arena);
    }
    tg_json_end_array(&out);
    write_sources(&out, &sources, arena);
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    return tg_buf_take(&buf, arena);
}

/*
 * A predicate that is too long by itself: without pieces nobody asks for it, and "everything was
 * brought up to date" is always safe to say.
 */
static tg_str write_without_predicate(const tg_flow_state *state, tg_arena *arena)
{
    tg_flow_state bare = *state;
    bare.predicate = bare.window = TG_S("");
    bare.advanced = TG_S("true");
    return write_state(&bare, 0, arena);
}

tg_str tg_flow_state_to_json(const tg_flow_state *state, tg_arena *arena)
{
    tg_str json = write_state(state, state->piece_count, arena);
    if (json.len <= TG_LIMIT_STATE_BYTES) {
        return json;
    }
    /* The newest piece comes first: overflow forgets from the end. Halving finds how many fit. */
    size_t fit = 0, too_many = state->piece_count;
    json = write_state(state, 0, arena);
    if (json.len > TG_LIMIT_STATE_BYTES) {
        return write_without_predicate(state, arena);
    }
    while (fit + 1 < too_many) {
        size_t middle = fit + (too_many - fit) / 2;
        tg_str longer = write_state(state, middle, arena);
        bool is_short = longer.len <= TG_LIMIT_STATE_BYTES;
        json = is_short ? longer : json;
        fit = is_short ? middle : fit;
        too_many = is_short ? too_many : middle;
    }
    return json;
}

static bool parse_digest(tg_str text, tg_digest *out)
{
    if (text.len != 32) {
        return false;
    }
    uint64_t half[2] = {0, 0};
    for (size_t i = 0; i < 32; i++) {
        char c = text.ptr[i];
        uint64_t digit;
        if (c >= '0' && c <= '9') {
            digit = (uint64_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            digit = (uint64_t)(c - 'a') + 10;
        } else {
            return false;
        }
        half[i / 16] = half[i / 16] << 4 | digit;
    }
    *out = (tg_digest){.high = half[0], .low = half[1]};
    return true;
}

static bool parse_clock(yyjson_val *object, const char *key, tg_arena *arena, int64_t *out_us)
{
    bool has_zone;
    return tg_timestamp_parse(tg_json_get_str(object, key, TG_S("")), arena, out_us, &has_zone);
}

static bool read_sources(yyjson_val *root, tg_arena *arena, tg_source_identity **out_sources,
                         size_t *out_count)
{
    yyjson_val *array = tg_json_get(root, "sources");
    if (!yyjson_is_arr(array)) {
        return false;
    }
    size_t count = yyjson_arr_size(array), i = 0, max;
    tg_source_identity *sources = TG_NEW_ARRAY(arena, tg_source_identity, count);
    yyjson_val *item;
    yyjson_arr_foreach(array, i, max, item)
    {
        sources[i].name = tg_json_get_str(item, "name", TG_S(""));
        sources[i].path = tg_json_get_str(item, "path", TG_S(""));
        sources[i].version = tg_json_get_i64(item, "version", INT64_MIN);
        if (sources[i].version == INT64_MIN ||
            !parse_digest(tg_json_get_str(item, "digest", TG_S("")), &sources[i].digest)) {
            return false;
        }
    }
    *out_sources = sources;
    *out_count = count;
    return true;
}

static bool read_piece(yyjson_val *item, const tg_source_identity *sources, size_t source_count,
                       tg_arena *arena, tg_piece *out)
{
    out->where = tg_json_get_str(item, "where", TG_S(""));
    out->fingerprint = tg_json_get_str(item, "fingerprint", TG_S(""));
    yyjson_val *indexes = tg_json_get(item, "sources");
    if (out->where.len == 0 || !yyjson_is_arr(indexes) ||
        !parse_clock(item, "clock", arena, &out->clock_us)) {
        return false;
    }
    tg_source_identity *own = TG_NEW_ARRAY(arena, tg_source_identity, yyjson_arr_size(indexes));
    size_t i, max;
    yyjson_val *value;
    yyjson_arr_foreach(indexes, i, max, value)
    {
        if (!yyjson_is_uint(value) || yyjson_get_uint(value) >= source_count) {
            return false;
        }
        own[i] = sources[yyjson_get_uint(value)];
    }
    out->sources = own;
    out->source_count = max;
    return true;
}

static bool read_pieces(yyjson_val *root, tg_arena *arena, tg_flow_state *state)
{
    tg_source_identity *sources;
    size_t source_count, i, max;
    yyjson_val *coverage = tg_json_get(root, "coverage"), *item;
    if (!yyjson_is_arr(coverage) || !read_sources(root, arena, &sources, &source_count)) {
        return false;
    }
    tg_piece *pieces = TG_NEW_ARRAY(arena, tg_piece, yyjson_arr_size(coverage));
    yyjson_arr_foreach(coverage, i, max, item)
    {
        if (!read_piece(item, sources, source_count, arena, &pieces[i])) {
            return false;
        }
    }
    state->pieces = pieces;
    state->piece_count = max;
    return true;
}

bool tg_flow_state_from_json(tg_str json, tg_arena *arena, tg_flow_state *out_state)
{
    yyjson_val *root;
    if (json.len == 0 || tg_json_parse(json, 0, arena, &root, NULL) != TG_OK) {
        return false;
    }
    root = tg_json_get(root, "tidegate");
    if (!root || tg_json_get_i64(root, "format", 0) != STATE_FORMAT) {
        return false;
    }
    tg_flow_state state = {
        .flow = tg_json_get_str(root, "flow", TG_S("")),
        .update_id = tg_json_get_str(root, "update_id", TG_S("")),
        .technique = tg_json_get_str(root, "technique", TG_S("")),
        .predicate = tg_json_get_str(root, "predicate", TG_S("")),
        .window = tg_json_get_str(root, "window", TG_S("")),
        .zone = tg_json_get_str(root, "zone", TG_S("")),
        .definition = tg_json_get_str(root, "definition", TG_S("")),
        .fingerprint = tg_json_get_str(root, "fingerprint", TG_S("")),
        .query_has_time_function = tg_json_get_bool(root, "query_has_time_function", true),
        .query_depends_on_order = tg_json_get_bool(root, "query_depends_on_order", true),
        .predicate_is_deterministic = tg_json_get_bool(root, "predicate_is_deterministic", false),
        .read_version = tg_json_get_i64(root, "read_version", INT64_MIN),
        .advanced = tg_json_get_str(root, "advanced", TG_S("true")),
    };
    if (state.read_version < -1 || state.definition.len == 0 ||
        !parse_clock(root, "clock", arena, &state.clock_us) || !read_pieces(root, arena, &state)) {
        return false;
    }
    if (!parse_clock(root, "latest_clock", arena, &state.latest_clock_us)) {
        state.latest_clock_us = state.clock_us;
    }
    *out_state = state;
    return true;
}

tg_str tg_flow_app_id(tg_arena *arena, tg_str table_id, tg_str flow_name)
{
    return tg_str_printf(arena, "tidegate/%.*s/%.*s", TG_SARG(table_id), TG_SARG(flow_name));
}

int64_t tg_plan_read_version(const tg_state_facts *state, tg_arena *arena)
{
    tg_flow_state parsed;
    if (!state->has_txn || !tg_flow_state_from_json(state->state, arena, &parsed)) {
        return -1;
    }
    return parsed.read_version;
}

static bool is_listed(const tg_source_identity *source, const tg_source_identity *items,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_source_identity_equal(source, &items[i])) {
            return true;
        }
    }
    return false;
}

const tg_source_identity *tg_plan_newer_sources(const tg_state_facts *state, const tg_pin *pins,
                                                size_t pin_count, tg_arena *arena,
                                                size_t *out_count)
{
    TG_VEC(tg_source_identity) newer = {0};
    tg_flow_state parsed;
    bool is_known = state->has_txn && tg_flow_state_from_json(state->state, arena, &parsed);
    for (size_t i = 0; is_known && i < parsed.piece_count; i++) {
        const tg_piece *piece = &parsed.pieces[i];
        for (size_t j = 0; j < piece->source_count * pin_count; j++) {
            const tg_source_identity *source = &piece->sources[j / pin_count];
            const tg_pin *pin = &pins[j % pin_count];
            if (pin->version >= 0 && source->version > pin->version &&
                tg_str_eq(source->name, pin->name) && tg_str_eq(source->path, pin->path) &&
                !is_listed(source, newer.items, newer.count)) {
                TG_VEC_PUSH(arena, &newer, *source);
            }
        }
    }
    *out_count = newer.count;
    return newer.items;
}
