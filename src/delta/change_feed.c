/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which versions a change feed is read of, and whether it can be (Delta protocol, "Change Data
 * Files"). Rows are read by engines.
 */
#include "delta/delta_int.h"

/* ---- times ----------------------------------------------------------------------------------- */

tg_code tg_delta_commit_times(const tg_delta *delta, tg_str table_path, int64_t from, int64_t to,
                              tg_arena *arena, int64_t *out_times, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(delta, table_path, arena, &log, err));
    for (int64_t v = from; v <= to; v++) {
        const tg_delta_commit *commit;
        int64_t *out = &out_times[v - from];
        TG_TRY(tg_delta_commit_read(delta, table_path, v, NULL, 0, scratch, &commit, err));
        if (commit->in_commit_ms >= 0) {
            *out = commit->in_commit_ms;
        } else {
            TG_TRY(tg_delta_log_timestamp(&log, v, out, err));
        }
        tg_arena_reset(scratch);
    }
    return TG_OK;
}

/* ---- the range ------------------------------------------------------------------------------- */

/* The first version that is not older than an instant. */
static tg_code first_from(const tg_delta *delta, tg_str table_path, int64_t ms, int64_t latest,
                          int64_t *out, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_error tg_error local = TG_ERROR_INIT;
    int64_t version, time;
    tg_code code = tg_delta_version_at(delta, table_path, ms, &version, &local);
    if (local.cls == TG_E_DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION) {
        tg_delta_log log;
        TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
        *out = log.commit_count ? log.commits[0] : 0;
        return TG_OK;
    }
    if (code != TG_OK) {
        return tg_error_pass(&local, err);
    }
    TG_TRY(tg_delta_commit_times(delta, table_path, version, version, scratch, &time, err));
    *out = time < ms ? version + 1 : version;
    if (*out > latest) {
        TG_FAIL(
            err, DELTA_TIMESTAMP_GREATER_THAN_COMMIT,
            "timestamp %.*s is after the newest version of Delta table `%.*s`, which is of %.*s",
            TG_SARG(tg_instant_text(scratch, ms * 1000)), TG_SARG(table_path),
            TG_SARG(tg_instant_text(scratch, time * 1000)));
    }
    return TG_OK;
}

static tg_code find_range(const tg_delta *delta, tg_str table_path, const tg_delta_bound *from,
                          const tg_delta_bound *to, tg_delta_feed *out, tg_error *err)
{
    int64_t latest;
    TG_TRY(tg_delta_latest_version(delta, table_path, &latest, err));
    out->from = from->value;
    out->to = to ? to->value : latest;
    if (from->is_timestamp) {
        TG_TRY(first_from(delta, table_path, from->value, latest, &out->from, err));
    }
    if (to && to->is_timestamp) {
        TG_TRY(tg_delta_version_at(delta, table_path, to->value, &out->to, err));
    }
    if (out->from > latest) {
        (void)TG_ERR(err, DELTA_CDC_START_VERSION_AFTER_LATEST,
                     "changes from version %lld on of Delta table `%.*s` are not there",
                     (long long)out->from, TG_SARG(table_path));
        return tg_error_hint(err, "The latest version is %lld.", (long long)latest);
    }
    if (out->from < 0 || out->to < 0 || out->to > latest) {
        (void)TG_ERR(err, DELTA_VERSION_NOT_FOUND, "Delta table `%.*s` has no version %lld",
                     TG_SARG(table_path), (long long)(out->from < 0 ? out->from : out->to));
        return tg_error_hint(err, "The latest version is %lld.", (long long)latest);
    }
    if (out->to < out->from) {
        TG_FAIL(err, DELTA_INVALID_CDC_RANGE,
                "changes from version %lld to %lld: the end is before the start",
                (long long)out->from, (long long)out->to);
    }
    return TG_OK;
}

/* ---- what must hold at each version ---------------------------------------------------------- */

static tg_code check_recorded(const tg_delta_feed *feed, const tg_delta_metadata *metadata,
                              int64_t version, tg_error *err)
{
    if (tg_delta_property_is_true(metadata, TG_S("delta.enableChangeDataFeed"))) {
        return TG_OK;
    }
    (void)TG_ERR(err, DELTA_MISSING_CHANGE_DATA,
                 "cannot read the changes from version %lld to %lld of Delta table `%.*s`: they "
                 "were not recorded for version %lld",
                 (long long)feed->from, (long long)feed->to, TG_SARG(feed->head->table_path),
                 (long long)version);
    return tg_error_hint(err,
                         "DESCRIBE HISTORY tells since when delta.enableChangeDataFeed is on.");
}

/* With column mapping: a column that was dropped and came again by its name is another one. */
static bool is_same_in_files(const tg_schema *a, size_t i, const tg_schema *b, size_t j)
{
    return i >= a->count || j >= b->count ||
           (tg_str_eq(a->fields[i].name, b->fields[j].name) &&
            tg_type_equal(a->fields[i].type, b->fields[j].type));
}

/* Has the schema that is read every column of a version, with its type? */
static tg_code check_schema(const tg_delta_feed *feed, const tg_delta_metadata *metadata,
                            int64_t version, tg_error *err)
{
    const tg_delta_metadata *read = &feed->head->metadata;
    bool is_same = metadata->partition_count == read->partition_count;
    for (size_t i = 0; i < metadata->partition_count && is_same; i++) {
        is_same = tg_str_eq(metadata->partition_columns[i], read->partition_columns[i]);
    }
    for (size_t i = 0; i < metadata->schema.count && is_same; i++) {
        const tg_field *field = &metadata->schema.fields[i];
        ptrdiff_t at = tg_schema_find(read->schema, field->name);
        is_same = at >= 0 && tg_type_equal(field->type, read->schema.fields[at].type) &&
                  is_same_in_files(&metadata->physical, i, &read->physical, (size_t)at);
    }
    if (is_same) {
        return TG_OK;
    }
    (void)TG_ERR(err, DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE,
                 "cannot read the changes from version %lld to %lld of Delta table `%.*s`: the "
                 "columns of version %lld are not those of version %lld, which are read",
                 (long long)feed->from, (long long)feed->to, TG_SARG(feed->head->table_path),
                 (long long)version, (long long)feed->head->version);
    return tg_error_hint(err, "Read the changes before and after that version by themselves.");
}

static tg_code check_version(const tg_delta_feed *feed, const tg_delta_metadata *metadata,
                             int64_t version, tg_error *err)
{
    TG_TRY(check_recorded(feed, metadata, version, err));
    return check_schema(feed, metadata, version, err);
}

tg_code tg_delta_feed_open(const tg_delta *delta, tg_str table_path, const tg_delta_bound *from,
                           const tg_delta_bound *to, tg_arena *arena, tg_delta_feed *out,
                           tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_delta_feed feed = {0};
    const tg_delta_snapshot *start, *end;
    TG_TRY(find_range(delta, table_path, from, to, &feed, err));
    TG_TRY(tg_delta_metadata_load(delta, table_path, -1, arena, &feed.head, err));
    TG_TRY(tg_delta_metadata_load(delta, table_path, feed.to, arena, &end, err));
    tg_str mapping = tg_delta_property(&feed.head->metadata, TG_S("delta.columnMapping.mode"));
    if (mapping.ptr && !tg_str_ieq(mapping, TG_S("none"))) {
        feed.head = end; /* as Spark does: columns can be renamed and dropped there */
    }
    TG_TRY(tg_delta_metadata_load(delta, table_path, feed.from, scratch, &start, err));
    TG_TRY(check_version(&feed, &start->metadata, feed.from, err));
    for (int64_t v = feed.from + 1; v <= feed.to; v++) {
        const tg_delta_commit *commit;
        TG_TRY(tg_delta_commit_read(delta, table_path, v, NULL, 0, scratch, &commit, err));
        if (commit->metadata) {
            TG_TRY(check_version(&feed, commit->metadata, v, err));
        }
    }
    *out = feed;
    return TG_OK;
}
