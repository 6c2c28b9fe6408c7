/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a backfill: what was asked for, over which source versions, and which chunks are
 * done. One file per flow while it is open, <storage>/backfill/<flow>.jsonl: a line that says what,
 * then a line per chunk that ended, each made durable before the next chunk is told to be done.
 * Finished ones are kept as <flow>.<id>.jsonl. A line that a crash cut short counts for nothing.
 *
 * Whoever runs the backfill holds <flow>.lock, a lock that dies with its holder.
 */
#ifndef TG_PIPELINE_JOURNAL_H
#define TG_PIPELINE_JOURNAL_H

#include "pipeline/backfill.h"

typedef enum tg_chunk_status {
    TG_CHUNK_PENDING,
    TG_CHUNK_COMPLETED,
    TG_CHUNK_COVERED, /* --missing: it was up to date already */
    TG_CHUNK_FAILED
} tg_chunk_status;
const char *tg_chunk_status_name(tg_chunk_status status);

/* What a backfill is. */
typedef struct tg_backfill_head {
    tg_str id, flow; /* full name */
    tg_str column;
    tg_str from, to, every; /* as they were written */
    tg_str timezone;
    tg_str catalog, schema; /* its environment; empty: in journals of older versions */
    const tg_param *params; /* values of all parameters, the spec's too */
    size_t param_count;
    int64_t now_us; /* the one clock of all chunks */
    bool only_missing;
    int64_t chunk_count;
    tg_digest definition;
    const tg_pin *pins; /* name, path, version, digest */
    size_t pin_count;
} tg_backfill_head;

/* How a chunk ended. */
typedef struct tg_chunk_record {
    tg_chunk_status status;
    tg_str update_id;
    int64_t committed_version; /* -1: none */
    int64_t rows_written;      /* -1: not known */
    tg_str error;              /* FAILED: class and message */
} tg_chunk_record;

typedef struct tg_journal tg_journal;

/* A backfill that is not finished. */
typedef struct tg_open_backfill {
    tg_backfill_head head;
    int64_t done_count, failed_count;
} tg_open_backfill;
/* All of a pipeline, by the name of the flow. */
TG_CHECKED tg_code tg_journal_list(const tg_spec *spec, const tg_fs *fs, tg_arena *arena,
                                   tg_open_backfill **out_items, size_t *out_count, tg_error *err);
/*
 * The open backfill of a flow; *out_head NULL: there is none. records has room for room chunks;
 * those that the file does not tell of are PENDING. TIDEGATE_INVALID_JSON: damaged, or not for so many.
 */
TG_CHECKED tg_code tg_journal_read(const tg_spec *spec, const tg_fs *fs, tg_str flow,
                                   tg_arena *arena, const tg_backfill_head **out_head,
                                   tg_chunk_record *records, size_t room, tg_error *err);
/*
 * Takes the lock: TIDEGATE_BACKFILL_OPEN when somebody holds it. Memory in the arena; closing it
 * gives the lock back.
 */
TG_CHECKED tg_code tg_journal_open(const tg_spec *spec, const tg_fs *fs, tg_str flow,
                                   tg_arena *arena, tg_journal **out_journal, tg_error *err);
/* Puts a new one in the place of whatever was open. */
TG_CHECKED tg_code tg_journal_begin(tg_journal *journal, const tg_backfill_head *head,
                                    tg_error *err);
/* Adds lines, durably. */
TG_CHECKED tg_code tg_journal_add(tg_journal *journal, const size_t *chunks,
                                  const tg_chunk_record *records, size_t count, tg_error *err);
/* All chunks are done: the journal is put aside under the backfill's id. */
TG_CHECKED tg_code tg_journal_finish(tg_journal *journal, tg_str id, tg_error *err);
/* Takes NULL. */
void tg_journal_close(tg_journal *journal);

#endif
