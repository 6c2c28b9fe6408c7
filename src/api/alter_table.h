/* SPDX-License-Identifier: Apache-2.0 */
/* Private to api: a change of a table's definition while it is put together. */
#ifndef TG_API_ALTER_TABLE_H
#define TG_API_ALTER_TABLE_H

#include "api/standalone.h"

typedef struct tg_alteration {
    tg_execution *ex;
    tg_location location;
    tg_table_facts facts; /* of the newest version */
    tg_schema schema;     /* from here on: as they shall be */
    tg_str comment;
    TG_VEC(tg_property) properties;
    tg_str operation; /* of the commit, as Delta names it */
    TG_VEC(tg_property) parameters;
    bool judges_rows; /* existing rows were counted */
    bool is_needed;   /* it differs from what the table is */
} tg_alteration;

void tg_alteration_set_property(tg_alteration *alteration, tg_str key, tg_str value);
/* false: there is none. */
bool tg_alteration_unset_property(tg_alteration *alteration, tg_str key);

/* ---- alter_columns.c ---- */
TG_CHECKED tg_code tg_alteration_change_column(tg_alteration *alteration,
                                               const tg_column_change *change, tg_error *err);
/* How many rows of the table, as it was looked at, meet a condition. */
TG_CHECKED tg_code tg_alteration_count(tg_alteration *alteration, tg_str condition,
                                       int64_t *out_rows, tg_error *err);

#endif
