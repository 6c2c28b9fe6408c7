# SPDX-License-Identifier: Apache-2.0
#
# The module table: the one truth about which folder of src may use which.
# tools/check-layers reads these lines to check every #include, and the table in docs/architecture.md against them.
#
# tg_module(folder DEPS folder...): DEPS is everything that the folder may include, and links to.
# Order: a folder stands below all that it depends on.

tg_module(base)
tg_module(data DEPS base)
tg_module(fs DEPS base)
tg_module(sql DEPS base data)
tg_module(catalog DEPS base data fs sql)
tg_module(delta DEPS base data fs)
tg_module(program DEPS base data sql)
tg_module(engine DEPS base data sql program)
tg_module(engine/duckdb DEPS engine base data sql program delta fs catalog)
tg_module(engine/fake DEPS engine base data sql program)
# engine: only its structs of facts about tables, by value
tg_module(incremental DEPS base data sql catalog program engine)
tg_module(eventlog DEPS base data fs)
tg_module(pipeline DEPS base data fs sql catalog delta program engine incremental eventlog)
tg_module(api DEPS base data fs sql catalog delta program engine engine/duckdb engine/fake incremental
          eventlog pipeline)
tg_module(cli DEPS api base)
