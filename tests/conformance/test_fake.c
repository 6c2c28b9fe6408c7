/* SPDX-License-Identifier: Apache-2.0 */
/* The engine contract against the scripted engine. */
#include "conformance/conformance.h"
#include "engine/fake/fake_engine.h"

static int setup(void **state)
{
    tg_arena *arena = tg_arena_new();
    conformance *c = TG_NEW(arena, conformance);
    c->arena = arena;
    c->engine = tg_engine_fake_new();
    c->path = TG_S("/warehouse/main/default/t");
    *state = c;
    return 0;
}

static int setup_with_siblings(void **state)
{
    (void)setup(state);
    conformance *c = *state;
    tg_fake_set_capabilities(c->engine, c->engine->capabilities | TG_ENGINE_SIBLINGS);
    return 0;
}

static int teardown(void **state)
{
    conformance *c = *state;
    c->engine->close(c->engine->self);
    tg_arena_free(c->arena);
    return 0;
}

int main(void)
{
    return run_conformance("fake", setup, teardown) +
           run_conformance("fake with siblings", setup_with_siblings, teardown);
}
