/* SPDX-License-Identifier: Apache-2.0 */
/* Names of event types. */
#include "eventlog/eventlog_int.h"

typedef struct type_row {
    tg_str name;
    const char *why; /* only Databricks writes it; NULL: we do */
} type_row;

static const type_row TYPES[] = {
#define TG_EVENT_TYPE(id, name, doc) {{name, sizeof(name) - 1}, NULL},
#define TG_EVENT_TYPE_FOREIGN(name, doc) {{name, sizeof(name) - 1}, doc},
#include "eventlog/event_types.def"
};
enum { ROW_COUNT = sizeof(TYPES) / sizeof(*TYPES) };

/* Ours stand before the others, in the order of the enumeration. */
const char *tg_event_type_name(tg_event_type type)
{
    tg_assert((unsigned)type < TG_EVENT_TYPE_COUNT_);
    return TYPES[type].name.ptr;
}

bool tg_event_type_find(tg_str name, const char **out_why)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (tg_str_eq(TYPES[i].name, name)) {
            *out_why = TYPES[i].why;
            return true;
        }
    }
    return false;
}

tg_str tg_event_type_nearest(tg_str name)
{
    tg_str names[ROW_COUNT];
    for (size_t i = 0; i < ROW_COUNT; i++) {
        names[i] = TYPES[i].name;
    }
    return tg_str_nearest(name, names, ROW_COUNT);
}
