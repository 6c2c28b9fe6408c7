/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of a table that is given something new: what it has, and what the new definition needs
 * (Delta protocol, "Table Features"; "Upgrading").
 *
 * Versions up to (1,2) imply appendOnly and invariants; where a table goes from there to named
 * features, they are named only when its definition uses them, as for a new table. Versions 3 to 6
 * imply more, which others may rely on: all of that is named.
 */
#include "delta/delta_int.h"

enum { FEATURES_MAX = 64 };

typedef struct feature_set {
    tg_str items[FEATURES_MAX];
    size_t count;
} feature_set;

static void add(feature_set *set, tg_str feature)
{
    if (set->count < FEATURES_MAX && !tg_str_is_in(feature, set->items, set->count)) {
        set->items[set->count++] = feature;
    }
}

static void add_all(feature_set *set, const tg_str *features, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(set, features[i]);
    }
}

/* Features that writer versions up to 6 imply. */
static void add_implied_writers(const tg_delta_protocol *protocol, feature_set *set)
{
    static const struct {
        int version;
        const char *feature;
    } implied[] = {
        {2, "appendOnly"},      {2, "invariants"},       {3, "checkConstraints"},
        {4, "changeDataFeed"},  {4, "generatedColumns"}, {5, "columnMapping"},
        {6, "identityColumns"},
    };
    for (size_t i = 0; i < sizeof(implied) / sizeof(*implied); i++) {
        if (protocol->min_writer_version < 7 &&
            protocol->min_writer_version >= implied[i].version) {
            add(set, tg_str_from(implied[i].feature));
        }
    }
}

static bool covers(const feature_set *has, const tg_str *features, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!tg_str_is_in(features[i], has->items, has->count)) {
            return false;
        }
    }
    return true;
}

static const tg_str *copy(tg_arena *arena, const feature_set *set)
{
    return set->count ? tg_arena_memdup(arena, set->items, set->count * sizeof(*set->items)) : NULL;
}

/* What (1,2) gives must be named where features are. */
static const tg_delta_protocol *with_names(const tg_delta_protocol *needs, tg_schema schema,
                                           const tg_property *properties, size_t property_count,
                                           tg_arena *arena)
{
    feature_set writers = {.count = 0};
    tg_delta_protocol *named = tg_arena_memdup(arena, needs, sizeof(*needs));
    add_all(&writers, needs->writer_features, needs->writer_feature_count);
    for (size_t i = 0; i < property_count; i++) {
        if (tg_str_ieq(properties[i].key, TG_S("delta.appendOnly")) &&
            tg_str_ieq(properties[i].value, TG_S("true"))) {
            add(&writers, TG_S("appendOnly"));
        }
    }
    for (size_t i = 0; i < schema.count; i++) {
        if (tg_str_find(schema.fields[i].metadata, TG_S("\"delta.invariants\""), 0) != SIZE_MAX) {
            add(&writers, TG_S("invariants"));
        }
    }
    named->min_writer_version = 7;
    named->writer_features = copy(arena, &writers);
    named->writer_feature_count = writers.count;
    return named;
}

tg_code tg_delta_protocol_upgrade(const tg_delta_protocol *has, tg_schema schema,
                                  const tg_property *properties, size_t property_count,
                                  tg_arena *arena, const tg_delta_protocol **out, tg_error *err)
{
    tg_delta_protocol plain;
    TG_TRY(tg_delta_protocol_for(schema, properties, property_count, arena, &plain, err));
    const tg_delta_protocol *needs = &plain;
    if (has->min_writer_version == 7) {
        needs = with_names(&plain, schema, properties, property_count, arena);
    }
    feature_set readers = {.count = 0}, writers = {.count = 0};
    add_all(&readers, has->reader_features, has->reader_feature_count);
    if (has->min_reader_version == 2) {
        add(&readers, TG_S("columnMapping"));
    }
    add_implied_writers(has, &writers);
    add_all(&writers, has->writer_features, has->writer_feature_count);
    *out = NULL;
    if (covers(&readers, needs->reader_features, needs->reader_feature_count) &&
        covers(&writers, needs->writer_features, needs->writer_feature_count) &&
        (needs->min_writer_version == 7 || has->min_writer_version >= needs->min_writer_version)) {
        return TG_OK;
    }
    if (has->min_writer_version <= 2) {
        *out = tg_arena_memdup(arena, needs, sizeof(*needs));
        return TG_OK;
    }
    add_all(&readers, needs->reader_features, needs->reader_feature_count);
    add_all(&writers, readers.items, readers.count);
    add_all(&writers, needs->writer_features, needs->writer_feature_count);
    if (writers.count == FEATURES_MAX) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "the table would have more than %d features",
                FEATURES_MAX - 1);
    }
    bool names_readers = readers.count > 0;
    tg_delta_protocol *merged = TG_NEW(arena, tg_delta_protocol);
    *merged = (tg_delta_protocol){.min_reader_version = names_readers ? 3 : 1,
                                  .min_writer_version = 7,
                                  .reader_features = copy(arena, &readers),
                                  .reader_feature_count = readers.count,
                                  .writer_features = copy(arena, &writers),
                                  .writer_feature_count = writers.count};
    *out = merged;
    return TG_OK;
}
