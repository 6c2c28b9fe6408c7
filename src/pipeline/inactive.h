/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and persisted views whose definition left the pipeline. They stay as they are, owner mark
 * included, and nothing refreshes them; the pipeline says that they are inactive until a definition
 * is back or they are dropped.
 *
 * A pipeline remembers what it defines in its storage, a small file per dataset:
 * <storage>/datasets/<digest of the name>.json. <digest>.inactive beside it says since when there is
 * no definition. The tables themselves are not touched. The file names the environment that defined
 * the dataset first, the spec's catalog and schema (--catalog, --schema): one definition has other
 * tables in each, and none makes those of another inactive.
 */
#ifndef TG_PIPELINE_INACTIVE_H
#define TG_PIPELINE_INACTIVE_H

#include "pipeline/pipeline.h"

/* What the storage says of a dataset by its full name. */
typedef struct tg_remembered {
    bool is_known; /* the pipeline defined it */
    tg_str since;  /* the clock of the update that missed its definition; empty: none did */
} tg_remembered;

/* Two looks at the file system, three for what is inactive. spec must be one of files. */
TG_CHECKED tg_code tg_inactive_look(const tg_spec *spec, const tg_fs *fs, tg_str full_name,
                                    tg_arena *arena, tg_remembered *out, tg_error *err);
/* A dataset is gone. What cannot be removed is found to be gone later. */
void tg_inactive_forget(const tg_spec *spec, const tg_fs *fs, tg_str full_name);

#endif
