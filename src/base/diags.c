/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of errors and warnings of one input, so that a user sees all of a file's mistakes in one
 * run.
 */
#include <stdlib.h>

#include "base/base.h"
#include "base/base_int.h"

void tg_diags_dispose(tg_diags *diags)
{
    for (size_t i = 0; i < diags->count; i++) {
        tg_error_dispose(&diags->items[i]);
    }
    free(diags->items);
    free(diags->is_warning);
    *diags = (tg_diags)TG_DIAGS_INIT;
}

static void grow(tg_diags *diags)
{
    size_t capacity = diags->capacity ? diags->capacity * 2 : 8;
    diags->items = tg_heap_realloc(diags->items, capacity * sizeof(*diags->items));
    diags->is_warning = tg_heap_realloc(diags->is_warning, capacity * sizeof(*diags->is_warning));
    for (size_t i = diags->capacity; i < capacity; i++) {
        diags->items[i] = (tg_error)TG_ERROR_INIT;
        diags->is_warning[i] = false;
    }
    diags->capacity = capacity;
}

/*
 * The place for one more item. A full list gives up its last warning when it holds no error yet:
 * one must be seen.
 */
static tg_error *slot_for(tg_diags *diags, bool is_warning)
{
    if (diags->count == TG_LIMIT_DIAGNOSTICS) {
        bool gives_way = !is_warning && diags->error_count == 0;
        return gives_way ? &diags->items[diags->count - 1] : NULL;
    }
    if (diags->count == diags->capacity) {
        grow(diags);
    }
    return &diags->items[diags->count++];
}

static void add(tg_diags *diags, tg_error *err, bool is_warning)
{
    tg_error *slot = slot_for(diags, is_warning);
    if (slot) {
        tg_error_move(slot, err);
        diags->is_warning[slot - diags->items] = is_warning;
    } else {
        tg_error_clear(err);
    }
    diags->error_count += !is_warning;
}

void tg_diags_add(tg_diags *diags, tg_error *err)
{
    add(diags, err, false);
}

void tg_diags_add_warning(tg_diags *diags, tg_error *err)
{
    add(diags, err, true);
}

static int compare_places(const tg_place *a, const tg_place *b)
{
    int order = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    order = order ? order : (a->line > b->line) - (a->line < b->line);
    return order ? order : (a->column > b->column) - (a->column < b->column);
}

void tg_diags_sort(tg_diags *diags)
{
    for (size_t i = 1; i < diags->count; i++) { /* at most TG_LIMIT_DIAGNOSTICS */
        tg_error item = diags->items[i];
        bool is_warning = diags->is_warning[i];
        size_t at = i;
        for (; at > 0 && compare_places(&diags->items[at - 1].place, &item.place) > 0; at--) {
            diags->items[at] = diags->items[at - 1];
            diags->is_warning[at] = diags->is_warning[at - 1];
        }
        diags->items[at] = item;
        diags->is_warning[at] = is_warning;
    }
}

tg_code tg_diags_first(const tg_diags *diags, tg_error *err)
{
    for (size_t i = 0; i < diags->count; i++) {
        if (!diags->is_warning[i]) {
            if (err) {
                tg_error_copy(err, &diags->items[i]);
            }
            return diags->items[i].code;
        }
    }
    return TG_OK;
}
