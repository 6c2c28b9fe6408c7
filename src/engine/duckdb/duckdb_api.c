/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and opening libduckdb at run time; see duckdb_api.h for why it is not linked. */
#include "engine/duckdb/duckdb_api.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef TG_DUCKDB_DEFAULT_PATH
#define TG_DUCKDB_DEFAULT_PATH ""
#endif

/* The oldest version whose C functions and SQL we rely on. */
enum { OLDEST_MAJOR = 1, OLDEST_MINOR = 4 };

tg_duckdb_api tg_duckdb;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded;

static const struct {
    const char *symbol;
    size_t offset; /* of the function pointer in tg_duckdb_api */
} functions[] = {
#define TG_DUCKDB_ENTRY(name) {"duckdb_" #name, offsetof(tg_duckdb_api, name)},
    TG_DUCKDB_FUNCTIONS(TG_DUCKDB_ENTRY)
#undef TG_DUCKDB_ENTRY
};

/* The folder of the running program, without a slash at its end; empty when /proc does not tell. */
static tg_str program_folder(tg_arena *arena)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path);
    while (len > 0 && path[len - 1] != '/') {
        len--;
    }
    return len > 1 ? tg_str_copy(arena, (tg_str){path, (size_t)len - 1}) : TG_S("");
}

/*
 * The folder of the file that holds this code: libtidegate.so inside a host program, whose own
 * folder says nothing about us. Empty when the loader does not tell.
 */
static tg_str own_folder(tg_arena *arena)
{
    Dl_info info;
    char path[PATH_MAX];
    if (!dladdr(&load_lock, &info) || !info.dli_fname || !strchr(info.dli_fname, '/') ||
        !realpath(info.dli_fname, path)) {
        return TG_S("");
    }
    size_t len = (size_t)(strrchr(path, '/') - path);
    return tg_str_copy(arena, (tg_str){path, len});
}

static void *open_candidate(const char *path, tg_buf *tried)
{
    /*
     * An absent file is the ordinary case and gets no message of its own; a broken one must not be
     * passed over silently.
     */
    bool is_path = strchr(path, '/') != NULL;
    if (is_path && access(path, F_OK) != 0) {
        return NULL;
    }
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library && is_path) {
        tg_buf_addf(tried, "%s%s", tried->len ? "; " : "", dlerror());
    }
    return library;
}

static tg_code find_library(const tg_env *env, tg_arena *arena, void **out_library,
                            const char **out_path, tg_error *err)
{
    const char *wanted = env->getenv(env->self, "TIDEGATE_DUCKDB");
    if (wanted && wanted[0]) {
        *out_path = wanted;
        *out_library = dlopen(wanted, RTLD_LAZY | RTLD_LOCAL);
        if (!*out_library) {
            (void)TG_ERR(err, TIDEGATE_ENGINE_NOT_FOUND,
                         "could not open the DuckDB library that TIDEGATE_DUCKDB names: \"%s\"",
                         wanted);
            (void)tg_error_detail(err, "%s", dlerror());
            return tg_error_hint(err,
                                 "Set TIDEGATE_DUCKDB to the path of a libduckdb.so of version "
                                 "%d.%d or newer, or unset it.",
                                 OLDEST_MAJOR, OLDEST_MINOR);
        }
        return TG_OK;
    }
    tg_str program = program_folder(arena), own = own_folder(arena);
    /* The library's folder is <prefix>/lib, <prefix>/lib64 or <prefix>/lib/<machine>. */
    const char *candidates[] = {
        tg_arena_printf(arena, "%.*s/libduckdb.so", TG_SARG(own)),
        tg_arena_printf(arena, "%.*s/tidegate/libduckdb.so", TG_SARG(own)),
        tg_arena_printf(arena, "%.*s/../tidegate/libduckdb.so", TG_SARG(own)),
        tg_arena_printf(arena, "%.*s/../lib/tidegate/libduckdb.so", TG_SARG(own)),
        tg_arena_printf(arena, "%.*s/libduckdb.so", TG_SARG(program)),
        tg_arena_printf(arena, "%.*s/../lib/tidegate/libduckdb.so", TG_SARG(program)),
        TG_DUCKDB_DEFAULT_PATH,
        "libduckdb.so",
    };
    tg_auto_buf tg_buf tried = TG_BUF_INIT;
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (candidates[i][0] && (*out_library = open_candidate(candidates[i], &tried)) != NULL) {
            *out_path = candidates[i];
            return TG_OK;
        }
    }
    (void)TG_ERR(err, TIDEGATE_ENGINE_NOT_FOUND,
                 "could not find the DuckDB library (libduckdb.so), which runs queries");
    if (tried.len) {
        (void)tg_error_detail(err, "Found but not usable: %s", tg_buf_cstr(&tried));
    }
    return tg_error_hint(err,
                         "Install libduckdb %d.%d or newer where the loader finds it, put "
                         "libduckdb.so beside the program or libtidegate.so, "
                         "or set TIDEGATE_DUCKDB to its path; in a source tree run `./dev setup`.",
                         OLDEST_MAJOR, OLDEST_MINOR);
}

/* "v1.5.6" -> 1, 5; 0, 0 when the text has another form. */
static void parse_version(const char *text, int64_t *major, int64_t *minor)
{
    tg_str rest = tg_str_from(text);
    rest = tg_str_starts(rest, TG_S("v")) ? tg_str_sub(rest, 1, rest.len) : rest;
    *major = *minor = 0;
    size_t first = tg_str_find(rest, TG_S("."), 0);
    if (first == SIZE_MAX) {
        return;
    }
    size_t second = tg_str_find(rest, TG_S("."), first + 1);
    if (!tg_str_to_i64(tg_str_sub(rest, 0, first), major) ||
        !tg_str_to_i64(tg_str_sub(rest, first + 1, second == SIZE_MAX ? rest.len : second),
                       minor)) {
        *major = *minor = 0;
    }
}

static tg_code check_version(const char *path, const char *version, tg_error *err)
{
    int64_t major, minor;
    parse_version(version, &major, &minor);
    if (major > OLDEST_MAJOR || (major == OLDEST_MAJOR && minor >= OLDEST_MINOR)) {
        return TG_OK;
    }
    (void)TG_ERR(err, TIDEGATE_ENGINE_NOT_FOUND,
                 "cannot use the DuckDB library \"%s\": its version %s is older than %d.%d", path,
                 version, OLDEST_MAJOR, OLDEST_MINOR);
    return tg_error_hint(err,
                         "Install a newer libduckdb, or set TIDEGATE_DUCKDB to the path of one.");
}

static tg_code load_functions(void *library, const char *path, tg_error *err)
{
    /* The version first: it says more than the name of a function that is missing. */
    __typeof__(duckdb_library_version) *library_version;
    void *symbol = dlsym(library, "duckdb_library_version");
    if (!symbol) {
        TG_FAIL(err, TIDEGATE_ENGINE_NOT_FOUND, "cannot use \"%s\": it is not a DuckDB library",
                path);
    }
    memcpy(&library_version, &symbol, sizeof symbol);
    TG_TRY(check_version(path, library_version(), err));
    tg_duckdb_api loaded;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        symbol = dlsym(library, functions[i].symbol);
        if (!symbol) {
            TG_FAIL(err, TIDEGATE_ENGINE_NOT_FOUND,
                    "cannot use the DuckDB library \"%s\" (%s): it lacks the function %s", path,
                    library_version(), functions[i].symbol);
        }
        memcpy((char *)&loaded + functions[i].offset, &symbol, sizeof symbol);
    }
    tg_duckdb = loaded;
    return TG_OK;
}

tg_code tg_duckdb_api_load(const tg_env *env, tg_error *err)
{
    (void)pthread_mutex_lock(&load_lock);
    tg_code code = TG_OK;
    if (!is_loaded) {
        tg_auto_arena tg_arena *scratch = tg_arena_new();
        void *library = NULL;
        const char *path = NULL;
        code = find_library(env, scratch, &library, &path, err);
        if (code == TG_OK) {
            code = load_functions(library, path, err);
        }
        /*
         * A library that was loaded stays: its threads and thread-local data outlive any dlclose we
         * could do.
         */
        is_loaded = code == TG_OK;
    }
    (void)pthread_mutex_unlock(&load_lock);
    return code;
}

bool tg_duckdb_api_is_loaded(void)
{
    (void)pthread_mutex_lock(&load_lock);
    bool loaded = is_loaded;
    (void)pthread_mutex_unlock(&load_lock);
    return loaded;
}
