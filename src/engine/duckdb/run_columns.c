/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a program's target as they will stand in files.
 *
 * A program names its target's columns. In a table with column mapping each also has an id and a
 * physical name: kept where the table has the column, new where it is added. Types that came from
 * queries over mapped tables bring names of those tables' files along: they are taken out.
 */
#include "engine/duckdb/run_int.h"

static const tg_property *properties_of(const tg_delta_metadata *metadata, tg_arena *arena)
{
    tg_property *properties = TG_NEW_ARRAY(arena, tg_property, metadata->config_count);
    for (size_t i = 0; i < metadata->config_count; i++) {
        properties[i] =
            (tg_property){.key = metadata->config_keys[i], .value = metadata->config_values[i]};
    }
    return properties;
}

static tg_delta_metadata metadata_of(const tg_program_target *target, tg_arena *arena)
{
    tg_delta_metadata metadata = {.schema = target->schema, .config_count = target->property_count};
    tg_str *keys = TG_NEW_ARRAY(arena, tg_str, target->property_count);
    tg_str *values = TG_NEW_ARRAY(arena, tg_str, target->property_count);
    for (size_t i = 0; i < target->property_count; i++) {
        keys[i] = target->properties[i].key;
        values[i] = target->properties[i].value;
    }
    metadata.config_keys = keys;
    metadata.config_values = values;
    return metadata;
}

tg_code tg_duckdb_map_columns(tg_duckdb_run_state *run, tg_error *err)
{
    const tg_program *program = run->program;
    const tg_delta_metadata *before = run->snapshot ? &run->snapshot->metadata : NULL;
    bool keeps_metadata = before && !program->target.changes_metadata;
    tg_delta_metadata metadata = metadata_of(&program->target, run->arena);
    if (keeps_metadata) {
        metadata.config_keys = before->config_keys;
        metadata.config_values = before->config_values;
        metadata.config_count = before->config_count;
    }
    TG_TRY(tg_delta_mapping_assign(&run->engine->delta, before, &metadata, run->arena, err));
    tg_program *copy = tg_arena_memdup(run->arena, program, sizeof(*program));
    copy->target.schema = metadata.schema;
    if (!keeps_metadata) {
        copy->target.properties = properties_of(&metadata, run->arena);
        copy->target.property_count = metadata.config_count;
    }
    run->program = copy;
    return TG_OK;
}
