/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spark settings in configuration and SET: which change the meaning of queries, and what becomes of
 * them here.
 */
#ifndef TG_PIPELINE_CONF_H
#define TG_PIPELINE_CONF_H

#include "base/base.h"

#define TG_CONF_TIMEZONE "spark.sql.session.timeZone"

/* How often what failed for a while is tried again; of the configuration only. */
#define TG_CONF_FLOW_RETRIES "pipelines.maxFlowRetryAttempts"
#define TG_CONF_UPDATE_RETRIES "pipelines.numUpdateRetryAttempts"
enum { TG_CONF_RETRIES_MAX = 1000 };

/* Is it one of these two? */
bool tg_conf_is_retries(tg_str key);

/* Does SET with this key ("TIME ZONE" for SET TIME ZONE) set the time zone? */
bool tg_conf_sets_timezone(tg_str key);

/*
 * err is set when the setting asks for something that tidegate does not do; is_warning: it is only
 * without effect. timezone is the pipeline's. Keys that are not Spark's are the user's own, for
 * ${key}: always fine.
 */
void tg_conf_check(tg_str key, tg_str value, tg_str timezone, bool *out_is_warning, tg_error *err);

#endif
