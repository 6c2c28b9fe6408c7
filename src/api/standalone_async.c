/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REFRESH ... ASYNC: the same statement without ASYNC, in a process of its own that outlives its
 * starter. It has no terminal, no standard input and output, and tells what it does in the event log
 * of the table, under the update id that the starter got as its answer. exec, not fork alone: the
 * engine's threads do not survive a fork.
 */
#include "api/standalone.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef TG_VEC(char *) words;

static void add(tg_execution *ex, words *list, const char *option, tg_str value)
{
    if (value.len > 0) {
        TG_VEC_PUSH(ex->arena, list, tg_arena_strdup(ex->arena, option));
        TG_VEC_PUSH(ex->arena, list, (char *)(uintptr_t)tg_str_cstr(ex->arena, value));
    }
}

static void add_list(tg_execution *ex, words *list, const char *option, const tg_str *values,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(ex, list, option, values[i]);
    }
}

static void add_switch(tg_execution *ex, words *list, const char *option, bool is_on)
{
    if (is_on) {
        TG_VEC_PUSH(ex->arena, list, tg_arena_strdup(ex->arena, option));
    }
}

static tg_str refresh_text(tg_execution *ex, const tg_standalone_table *table)
{
    const tg_stmt *stmt = ex->stmt;
    return tg_str_printf(ex->arena, "REFRESH %.*s %.*s%s%s%.*s", TG_SARG(stmt->object_word),
                         TG_SARG(table->location.full_name), stmt->full ? " FULL" : "",
                         stmt->where ? " WHERE " : "", TG_SARG(stmt->where_text));
}

static char **command(tg_execution *ex, const tg_standalone_table *table)
{
    const tg_api *api = ex->api;
    words list = {0};
    TG_VEC_PUSH(ex->arena, &list, (char *)(uintptr_t)tg_str_cstr(ex->arena, api->program));
    TG_VEC_PUSH(ex->arena, &list, tg_arena_strdup(ex->arena, "sql"));
    if (api->spec) {
        add(ex, &list, "--spec", api->spec->path);
    } else {
        add(ex, &list, "--warehouse", api->catalog.warehouse);
    }
    add(ex, &list, "--now", api->now_text);
    add(ex, &list, "--timezone", tg_zone_name(api->zone));
    const tg_update_options *permissions = api->permissions;
    if (permissions) {
        add_list(ex, &list, "--adopt", permissions->adopt, permissions->adopt_count);
        add_list(ex, &list, "--allow-reset", permissions->allow_reset,
                 permissions->allow_reset_count);
        add_switch(ex, &list, "--allow-shrink", permissions->allow_shrink);
        add_switch(ex, &list, "--allow-clock-back", permissions->allow_clock_back);
    }
    add(ex, &list, "-e", refresh_text(ex, table));
    TG_VEC_PUSH(ex->arena, &list, NULL);
    return list.items;
}

/* In the child: nothing but calls that are safe behind a fork. */
static void start(char **arguments, char **environment, int report)
{
    if (setsid() < 0) {
        _exit(1);
    }
    pid_t grandchild = fork(); /* no session leader: no terminal can become its own */
    if (grandchild != 0) {
        _exit(grandchild < 0);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0) {
        _exit(1);
    }
    execve(arguments[0], arguments, environment);
    int reason = errno;
    if (write(report, &reason, sizeof(reason)) < 0) {
        _exit(1);
    }
    _exit(1);
}

static char **environment_with(tg_execution *ex, const char *update_id)
{
    TG_VEC(char *) list = {0};
    size_t len = strlen(TG_UPDATE_ID_VARIABLE);
    for (size_t i = 0; environ && environ[i]; i++) {
        if (strncmp(environ[i], TG_UPDATE_ID_VARIABLE, len) != 0 || environ[i][len] != '=') {
            TG_VEC_PUSH(ex->arena, &list, environ[i]);
        }
    }
    TG_VEC_PUSH(
        ex->arena, &list,
        (char *)(uintptr_t)tg_arena_printf(ex->arena, TG_UPDATE_ID_VARIABLE "=%s", update_id));
    TG_VEC_PUSH(ex->arena, &list, NULL);
    return list.items;
}

static tg_code spawn(char **arguments, char **environment, tg_error *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        TG_FAIL(err, TIDEGATE_IO, "the refresh could not be started: %s", strerror(errno));
    }
    pid_t child = fork();
    if (child == 0) {
        start(arguments, environment, report[1]);
    }
    int reason = child < 0 ? errno : 0, status = 0;
    (void)close(report[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    /* Ends when the program runs, which closes its end, or with the reason why it does not. */
    int told = 0;
    ssize_t got;
    while ((got = read(report[0], &told, sizeof(told))) < 0 && errno == EINTR) {
    }
    (void)close(report[0]);
    reason = got == sizeof(told) ? told : reason;
    if (reason != 0 || child < 0 || status != 0) {
        TG_FAIL(err, TIDEGATE_IO, "the refresh could not be started: %s",
                reason ? strerror(reason) : "no process could be made");
    }
    return TG_OK;
}

tg_code tg_standalone_refresh_async(tg_execution *ex, const tg_standalone_table *table,
                                    tg_error *err)
{
    static const char *const NAMES[] = {"update_id"};
    if (ex->api->program.len == 0) {
        (void)TG_ERR(err, UNSUPPORTED_FEATURE,
                     "REFRESH ... ASYNC needs the tidegate program, which this library is not");
        (void)tg_error_at(err, ex->stmt->name.span);
        return tg_error_hint(err, "Leave ASYNC out, or use: tidegate sql -e 'REFRESH ... ASYNC'");
    }
    char update_id[37];
    ex->api->env->uuid(ex->api->env->self, update_id);
    TG_TRY(spawn(command(ex, table), environment_with(ex, update_id), err));
    tg_value *row = TG_NEW_ARRAY(ex->arena, tg_value, 1);
    row[0] = tg_string_value(tg_str_copy(ex->arena, tg_str_from(update_id)));
    tg_execution_set_rows(ex, NAMES, 1, row, 1);
    return TG_OK;
}
