# SPDX-License-Identifier: Apache-2.0
#
# Third-party code. Nothing is downloaded here: `./dev setup` fills .deps/, Debian packages give the rest.

set(TG_DEPS_DIR ${CMAKE_SOURCE_DIR}/.deps CACHE PATH "Folder that ./dev setup fills")

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(UUID REQUIRED IMPORTED_TARGET uuid)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
# xxhash is used header-only (XXH_INLINE_ALL): only its include path counts.
find_path(TG_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

# yyjson: the pinned sources, else the system's library.
if(EXISTS ${TG_DEPS_DIR}/yyjson/yyjson.c)
  add_library(tg_yyjson STATIC ${TG_DEPS_DIR}/yyjson/yyjson.c)
  target_include_directories(tg_yyjson SYSTEM PUBLIC ${TG_DEPS_DIR}/yyjson)
  # It reads unaligned words on purpose, and UBSan makes clang take two minutes for this file.
  target_compile_options(tg_yyjson PRIVATE -w -fno-sanitize=undefined)
else()
  pkg_check_modules(YYJSON IMPORTED_TARGET yyjson)
  if(NOT YYJSON_FOUND)
    message(FATAL_ERROR "yyjson not found: run ./dev setup, or install libyyjson with its pkg-config file")
  endif()
  add_library(tg_yyjson INTERFACE)
  target_link_libraries(tg_yyjson INTERFACE PkgConfig::YYJSON)
endif()

# libduckdb is opened with dlopen at run time and never linked: only its header is needed to build.
set(TG_DUCKDB_LIBRARY ${TG_DEPS_DIR}/duckdb/libduckdb.so
    CACHE FILEPATH "libduckdb that builds of this tree open, and that the install step copies")
find_path(TG_DUCKDB_INCLUDE_DIR duckdb.h HINTS ${TG_DEPS_DIR}/duckdb)
add_library(tg_duckdb_header INTERFACE)
if(TG_DUCKDB_INCLUDE_DIR)
  target_include_directories(tg_duckdb_header SYSTEM INTERFACE ${TG_DUCKDB_INCLUDE_DIR})
else()
  message(WARNING "duckdb.h not found: engine/duckdb will not compile; run ./dev setup")
endif()
target_compile_definitions(tg_duckdb_header INTERFACE TG_DUCKDB_DEFAULT_PATH="${TG_DUCKDB_LIBRARY}")
