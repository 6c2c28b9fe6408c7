/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules of definitions. No release runs them yet; what could never run is told as such, so that
 * nobody carries it on.
 */
#ifndef TG_PIPELINE_SCHEDULE_H
#define TG_PIPELINE_SCHEDULE_H

#include "base/base.h"

/*
 * Judges SCHEDULE EVERY n UNIT, SCHEDULE CRON 'quartz' [AT TIME ZONE 'zone'] and TRIGGER ON UPDATE
 * [AT MOST EVERY INTERVAL ..] as written, whose syntax the parser has accepted
 * (reference/databricks-semantics.md 1.2). TIDEGATE_INVALID_SCHEDULE, INVALID_TIMEZONE.
 */
TG_CHECKED tg_code tg_schedule_check(tg_str text, tg_arena *arena, tg_error *err);

#endif
