/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include "sql/functions.h"

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t chance;

void chance_seed(uint64_t seed)
{
    chance = seed * 2862933555777941757ULL + 3037000493ULL;
}

unsigned pick(unsigned bound)
{
    chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((chance >> 33) % bound);
}

bool one_in(unsigned n)
{
    return pick(n) == 0;
}

row random_row(void)
{
    return (row){.d = (int)pick(DAYS + 1) - 1, .k = (int)pick(KEYS + 1) - 1, .v = (int)pick(4)};
}

/* ---- rows ------------------------------------------------------------------------------------ */

void bag_add(bag *into, row item)
{
    assert_true(into->count < ROWS_MAX);
    into->rows[into->count++] = item;
}

static int by_values(const void *left, const void *right)
{
    const row *a = left, *b = right;
    return a->d != b->d ? a->d - b->d : a->k != b->k ? a->k - b->k : a->v - b->v;
}

bool bag_equal(const bag *a, const bag *b)
{
    bag x = *a, y = *b;
    qsort(x.rows, x.count, sizeof(row), by_values);
    qsort(y.rows, y.count, sizeof(row), by_values);
    bool same = x.count == y.count;
    for (size_t i = 0; same && i < x.count; i++) {
        same = by_values(&x.rows[i], &y.rows[i]) == 0;
    }
    return same;
}

/* ---- predicates ------------------------------------------------------------------------------ */

static const pred *make(tg_arena *arena, pred p)
{
    return tg_arena_memdup(arena, &p, sizeof(p));
}

static const pred *atom(tg_arena *arena, bool is_day, const char *op, bool is_moving, int constant)
{
    pred p = {.kind = PRED_CMP, .is_day = is_day, .is_moving = is_moving, .constant = constant};
    (void)snprintf(p.op, sizeof(p.op), "%s", op);
    return make(arena, p);
}

static const pred *both(tg_arena *arena, pred_kind kind, const pred *a, const pred *b)
{
    return make(arena, (pred){.kind = kind, .a = a, .b = b});
}

static const pred *not_of(tg_arena *arena, const pred *a)
{
    return make(arena, (pred){.kind = PRED_NOT, .a = a});
}

const pred *pred_random(tg_arena *arena)
{
    int from = (int)pick(6);
    const pred *low = atom(arena, true, one_in(4) ? ">" : ">=", true, -(int)pick(4));
    const pred *two =
        both(arena, PRED_AND, low, atom(arena, true, one_in(2) ? "<" : "<=", true, (int)pick(2)));
    const pred *fixed = both(arena, PRED_AND, atom(arena, true, ">=", false, from),
                             atom(arena, true, "<=", false, from + (int)pick(3)));
    const pred *key = atom(arena, false, "=", false, (int)pick(KEYS));
    const pred *no_day = make(arena, (pred){.kind = PRED_NULL, .is_day = true});
    const pred *no_key = make(arena, (pred){.kind = PRED_NULL});
    const pred *odd = make(arena, (pred){.kind = PRED_ODD});
    const pred *choices[] = {
        low,
        low,
        two,
        two,
        fixed,
        fixed,
        both(arena, PRED_OR, atom(arena, true, "=", false, from), low),
        both(arena, PRED_AND, low, key),
        both(arena, PRED_OR, key, fixed),
        not_of(arena, atom(arena, true, "<", true, -1)),
        both(arena, PRED_OR, no_day, low),
        not_of(arena, both(arena, PRED_OR, key, atom(arena, true, "<", true, -2))),
        no_day,
        not_of(arena, fixed),
        both(arena, PRED_AND, low, no_key),
        both(arena, PRED_AND, odd, fixed),
        both(arena, PRED_OR, odd, low),
        not_of(arena, odd),
    };
    return choices[pick(TG_COUNT(choices))];
}

void pred_print(const pred *p, tg_buf *out)
{
    const char *column = p->is_day ? "d" : "k";
    switch (p->kind) {
    case PRED_CMP:
        if (p->is_moving) {
            tg_buf_addf(out, "d %s current_date() + %d", p->op, p->constant);
        } else if (p->is_day) {
            tg_buf_addf(out, "d %s DATE'2024-01-0%d'", p->op, p->constant + 1);
        } else {
            tg_buf_addf(out, "k %s %d", p->op, p->constant);
        }
        return;
    case PRED_NULL:
        tg_buf_addf(out, "%s IS NULL", column);
        return;
    case PRED_ODD:
        tg_buf_addz(out, "k % 2 = 1");
        return;
    case PRED_NOT:
        tg_buf_addz(out, "NOT (");
        pred_print(p->a, out);
        tg_buf_addc(out, ')');
        return;
    case PRED_AND:
    case PRED_OR:
        tg_buf_addc(out, '(');
        pred_print(p->a, out);
        tg_buf_addz(out, p->kind == PRED_AND ? " AND " : " OR ");
        pred_print(p->b, out);
        tg_buf_addc(out, ')');
        return;
    }
}

static int compare(const char *op, int a, int b)
{
    bool equal = op[1] == '=' || op[0] == '=';
    return op[0] == '<'   ? a < b || (equal && a == b)
           : op[0] == '>' ? a > b || (equal && a == b)
                          : a == b;
}

static int and_of(int a, int b)
{
    return a == 0 || b == 0 ? 0 : a == NONE || b == NONE ? NONE : 1;
}

static int negated(int a)
{
    return a == NONE ? NONE : !a;
}

int pred_eval(const pred *p, const row *item, int today)
{
    int value = p->is_day ? item->d : item->k;
    switch (p->kind) {
    case PRED_CMP:
        return value == NONE ? NONE
                             : compare(p->op, value, p->constant + (p->is_moving ? today : 0));
    case PRED_NULL:
        return value == NONE;
    case PRED_ODD:
        return item->k == NONE ? NONE : item->k % 2 == 1;
    case PRED_NOT:
        return negated(pred_eval(p->a, item, today));
    case PRED_AND:
        return and_of(pred_eval(p->a, item, today), pred_eval(p->b, item, today));
    case PRED_OR:
        break;
    }
    return negated(
        and_of(negated(pred_eval(p->a, item, today)), negated(pred_eval(p->b, item, today))));
}

/* ---- bound predicates ------------------------------------------------------------------------ */

typedef struct cell {
    bool is_null;
    int64_t value;
} cell;

static cell of_truth(int truth)
{
    return (cell){.is_null = truth == NONE, .value = truth};
}

static cell evaluate(const tg_bexpr *expr, const row *item);

static int truth_of(const tg_bexpr *expr, const row *item)
{
    cell c = evaluate(expr, item);
    return c.is_null ? NONE : c.value != 0;
}

static cell evaluate_in(const tg_bexpr *expr, const row *item)
{
    cell value = evaluate(expr->args[0], item);
    int found = 0;
    for (size_t i = 1; i < expr->arg_count; i++) {
        cell other = evaluate(expr->args[i], item);
        int same = value.is_null || other.is_null ? NONE : value.value == other.value;
        found = negated(and_of(negated(found), negated(same)));
    }
    return of_truth(found);
}

static cell evaluate_call(const tg_bexpr *expr, const row *item)
{
    const char *name = expr->function->name;
    if (strcmp(name, "and") == 0) {
        return of_truth(and_of(truth_of(expr->args[0], item), truth_of(expr->args[1], item)));
    }
    if (strcmp(name, "or") == 0) {
        return of_truth(negated(and_of(negated(truth_of(expr->args[0], item)),
                                       negated(truth_of(expr->args[1], item)))));
    }
    if (strcmp(name, "not") == 0) {
        return of_truth(negated(truth_of(expr->args[0], item)));
    }
    if (strcmp(name, "isnull") == 0 || strcmp(name, "isnotnull") == 0) {
        bool is_null = evaluate(expr->args[0], item).is_null;
        return of_truth(strcmp(name, "isnull") == 0 ? is_null : !is_null);
    }
    if (strcmp(name, "in") == 0) {
        return evaluate_in(expr, item);
    }
    cell a = evaluate(expr->args[0], item), b = evaluate(expr->args[1], item);
    if (a.is_null || b.is_null) {
        return (cell){.is_null = true};
    }
    if (strcmp(name, "%") == 0) {
        return (cell){.value = a.value % b.value};
    }
    if (strchr("<>=", name[0]) == NULL || strcmp(name, "<>") == 0 || strcmp(name, "<=>") == 0) {
        fail_msg("the test does not know the function %s", name);
    }
    return of_truth(compare(name, (int)a.value, (int)b.value));
}

static cell evaluate(const tg_bexpr *expr, const row *item)
{
    switch (expr->kind) {
    case TG_B_LITERAL:
        return (cell){.is_null = expr->literal.is_null,
                      .value = expr->type->kind == TG_TYPE_BOOLEAN ? expr->literal.as.boolean
                                                                   : expr->literal.as.i64};
    case TG_B_COLUMN: {
        int value = expr->column_id == 1 ? item->d : expr->column_id == 2 ? item->k : item->v;
        return (cell){.is_null = value == NONE,
                      .value = expr->column_id == 1 ? FIRST_DAY + value : value};
    }
    case TG_B_CAST:
        return evaluate(expr->args[0], item);
    default:
        break;
    }
    assert_int_equal(expr->kind, TG_B_CALL);
    return evaluate_call(expr, item);
}

int bound_eval(const tg_bexpr *expr, const row *item)
{
    return truth_of(expr, item);
}

/* ---- queries --------------------------------------------------------------------------------- */

const query queries[QUERIES] = {
    {"SELECT d, k, v FROM f WHERE v <> 3", false},
    {"SELECT d, k, v + 10 AS v FROM f WHERE v <> 3", false},
    {"SELECT d, k, CASE WHEN d = current_date() THEN 1 ELSE 0 END AS v FROM f", false},
    {"SELECT d, k, v FROM f WHERE k IN (SELECT k FROM m)", true},
    {"SELECT d, k, CAST(count(*) AS INT) AS v FROM f GROUP BY d, k", false},
    {"SELECT f.d, f.k, m.v FROM f JOIN m ON f.k = m.k", true},
    {"SELECT d, k, v FROM f QUALIFY row_number() OVER (PARTITION BY k ORDER BY v < 9) = 1", false},
};

static void answer_row(int index, const bag sources[SOURCES], row item, int today, bag *out)
{
    const bag *keys = &sources[1];
    size_t partners = 0;
    switch (index) {
    case 0:
    case 1:
        item.v += index == 1 ? 10 : 0;
        if (item.v % 10 != 3) {
            bag_add(out, item);
        }
        return;
    case 2:
        item.v = item.d != NONE && item.d == today;
        bag_add(out, item);
        return;
    case 4:
        for (size_t i = 0; i < out->count; i++) {
            if (out->rows[i].d == item.d && out->rows[i].k == item.k) {
                out->rows[i].v++;
                return;
            }
        }
        item.v = 1;
        bag_add(out, item);
        return;
    default:
        break;
    }
    for (size_t i = 0; i < keys->count; i++) {
        if (item.k != NONE && keys->rows[i].k == item.k && (index == 5 || partners++ == 0)) {
            row joined = item;
            joined.v = index == 5 ? keys->rows[i].v : item.v;
            bag_add(out, joined);
        }
    }
}

/* One row of each key, whichever. */
static void answer_tied(const bag *rows, unsigned salt, bag *out)
{
    for (int k = NONE; k < KEYS; k++) {
        bag same = {0};
        for (size_t i = 0; i < rows->count; i++) {
            if (rows->rows[i].k == k) {
                bag_add(&same, rows->rows[i]);
            }
        }
        if (same.count > 0) {
            bag_add(out, same.rows[(salt * 7919u + (unsigned)(k + 1) * 31u) % same.count]);
        }
    }
}

void query_answer(int index, const bag sources[SOURCES], int today, unsigned salt, bag *out)
{
    *out = (bag){0};
    if (index == TIED) {
        answer_tied(&sources[0], salt, out);
        return;
    }
    for (size_t i = 0; i < sources[0].count; i++) {
        answer_row(index, sources, sources[0].rows[i], today, out);
    }
}

/* ---- regions --------------------------------------------------------------------------------- */

tg_schema world_schema(void)
{
    static tg_field fields[3];
    fields[0] = (tg_field){.name = TG_S("d"), .type = tg_type_of(TG_TYPE_DATE), .nullable = true};
    fields[1] = (tg_field){.name = TG_S("k"), .type = tg_type_of(TG_TYPE_INT), .nullable = true};
    fields[2] = (tg_field){.name = TG_S("v"), .type = tg_type_of(TG_TYPE_INT), .nullable = true};
    return (tg_schema){.fields = fields, .count = 3};
}

static tg_region span_of(tg_arena *arena, size_t field, int from, int to)
{
    tg_field f = world_schema().fields[field];
    if (from == NONE) {
        return tg_region_null(arena, f.name, f.type, true);
    }
    int base = field == 0 ? FIRST_DAY : 0;
    return tg_region_interval(arena, f.name, f.type,
                              (tg_interval){.has_low = true,
                                            .has_high = true,
                                            .low = tg_value_int(f.type, base + from),
                                            .high = tg_value_int(f.type, base + to)});
}

tg_region region_of_points(const bag *touched, tg_arena *arena)
{
    tg_region region = tg_region_none();
    for (size_t i = 0; i < touched->count; i++) {
        const row *item = &touched->rows[i];
        tg_region point = tg_region_and(arena, span_of(arena, 0, item->d, item->d),
                                        span_of(arena, 1, item->k, item->k));
        region = tg_region_or(arena, region, point);
    }
    return region;
}

/* As statistics tell it: a range of days, and whether NULL is among them. */
static tg_region box_of(const bag *touched, tg_arena *arena)
{
    int low = DAYS, high = NONE;
    tg_region region = tg_region_none();
    for (size_t i = 0; i < touched->count; i++) {
        int d = touched->rows[i].d;
        if (d == NONE) {
            region = span_of(arena, 0, NONE, NONE);
        } else {
            low = d < low ? d : low;
            high = d > high ? d : high;
        }
    }
    return high == NONE ? region : tg_region_or(arena, region, span_of(arena, 0, low, high));
}

tg_region hull_of(const bag *touched, tg_arena *arena)
{
    unsigned how = pick(6);
    return how < 3   ? region_of_points(touched, arena)
           : how < 5 ? box_of(touched, arena)
                     : tg_region_all();
}
