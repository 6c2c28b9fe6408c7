/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that build a graph: graph.c reads and registers, graph_refuse.c says no,
 * graph_link.c connects and checks.
 */
#ifndef TG_PIPELINE_GRAPH_INT_H
#define TG_PIPELINE_GRAPH_INT_H

#include "pipeline/params.h"
#include "pipeline/pipeline.h"

/*
 * A dataset or flow as registered, with what holds where it is written: USE CATALOG and USE SCHEMA
 * of its file.
 */
typedef struct tg_registered_dataset {
    tg_dataset *dataset;
    tg_catalog scope;
} tg_registered_dataset;

typedef struct tg_registered_flow {
    tg_flow *flow;
    tg_catalog scope;
    const tg_name *target; /* CREATE FLOW; NULL: its own statement's table */
} tg_registered_flow;

typedef struct tg_graph_builder {
    const tg_spec *spec;
    const tg_fs *fs;
    tg_arena *arena;
    tg_diags *diags;
    tg_graph *graph;
    TG_VEC(tg_registered_dataset) datasets;
    TG_VEC(tg_registered_flow) flows;
    TG_VEC(tg_external) externals;
    tg_map flow_names;     /* full name -> tg_flow */
    tg_map external_names; /* full name -> its index, a size_t */
    tg_map broken_names;   /* full names of definitions that do not parse */
    bool has_unknown;      /* there are statements that may define any name */
    bool has_broken;       /* there are statements that could not be read to their end */
    bool has_errors;       /* something was wrong before the graph was linked */
    tg_map noted;          /* what was said once already */
    tg_params params;
} tg_graph_builder;

/* Adds an error at a span of a file; hint may be NULL. */
void tg_graph_fail(tg_graph_builder *b, const tg_source_file *file, tg_span span,
                   tg_error_class cls, const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Adds an error that a callee has set, located in file where it has a span. */
void tg_graph_fail_with(tg_graph_builder *b, const tg_source_file *file, tg_error *err);
void tg_graph_warn_with(tg_graph_builder *b, const tg_source_file *file, tg_error *err);

/* Refuses by name what a definition of a dataset asks for and this release does not have. */
void tg_graph_refuse_clauses(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt);
/* The same for the kind of a flow. False: refused. */
bool tg_graph_check_flow_kind(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt);
/* Wanted properties: the definition's, checked, and ours. */
void tg_graph_read_properties(tg_graph_builder *b, tg_dataset *dataset);

/* Key in tg_graph.inputs_by_name: the address of the parsed parts, unique to a place in a file. */
static inline tg_str tg_graph_input_key(const tg_name *name)
{
    return (tg_str){(const char *)&name->parts, sizeof(void *)};
}

/* Connects flows with targets and inputs, orders them, and checks the rules of a graph. False: there
 * is no graph. */
bool tg_graph_link(tg_graph_builder *b);
/* Takes out the flows that depend on what is wrong. */
void tg_graph_keep_sound(tg_graph_builder *b);

#endif
