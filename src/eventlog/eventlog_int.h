/* SPDX-License-Identifier: Apache-2.0 */
/* Private to eventlog. */
#ifndef TG_EVENTLOG_EVENTLOG_INT_H
#define TG_EVENTLOG_EVENTLOG_INT_H

#include "eventlog/eventlog.h"

/* <storage>/events/<update_id>.jsonl */
#define TG_EVENT_FOLDER "events"
#define TG_EVENT_SUFFIX ".jsonl"

/*
 * Appends the event's line, without line feed. instance names the writer, seq_no counts its events
 * from 1.
 */
void tg_event_json(const tg_event *event, const tg_event_origin *origin, const char *id,
                   const char *instance, int64_t seq_no, tg_arena *scratch, tg_buf *buf);

#endif
