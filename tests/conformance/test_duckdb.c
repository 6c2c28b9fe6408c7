/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine contract against DuckDB and our Delta log. None of it needs the library: that is part
 * of the contract.
 */
#include "conformance/conformance.h"
#include "engine/duckdb/duckdb_engine.h"

static int setup(void **state)
{
    tg_arena *arena = tg_arena_new();
    conformance *c = TG_NEW(arena, conformance);
    c->arena = arena;
    c->engine = tg_engine_duckdb_new(&(tg_engine_duckdb_options){0});
    c->path = tg_str_printf(arena, "%s/t", tg_test_folder(arena));
    *state = c;
    return 0;
}

static int teardown(void **state)
{
    conformance *c = *state;
    bool is_loaded = tg_engine_duckdb_is_loaded();
    c->engine->close(c->engine->self);
    tg_arena_free(c->arena);
    return is_loaded;
}

int main(void)
{
    return run_conformance("duckdb", setup, teardown);
}
