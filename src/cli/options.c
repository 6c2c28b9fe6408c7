/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines. Every command takes its options from options.def; nothing is guessed: a word that
 * is near a valid one is an error that names it. "--name value", "--name=value", "-n value",
 * "-nvalue"; "--" ends the options.
 */
#include "cli/cli.h"

#include "api/backfill.h"

#define TG_IN(command) (1u << TG_COMMAND_##command)
#define TG_IN_ALL (~0u)

typedef struct option_row {
    const char *name;
    char letter;
    const char *value;
    unsigned commands;
    const char *doc;
} option_row;

static const option_row OPTIONS[] = {
#define TG_OPTION(id, name, letter, value, commands, doc) {name, letter, value, commands, doc},
#include "cli/options.def"
#undef TG_OPTION
};

typedef struct command_row {
    const char *name, *arguments, *summary, *description;
} command_row;

static const command_row COMMANDS[] = {
#define TG_COMMAND(id, name, arguments, summary, description) \
    {name, arguments, summary, description},
#include "cli/options.def"
#undef TG_COMMAND
};

static bool option_of(size_t option, tg_command_id command)
{
    return command == TG_COMMAND_NONE ? OPTIONS[option].commands == TG_IN_ALL
                                      : (OPTIONS[option].commands & 1u << command) != 0;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* Options that exist elsewhere under these names: accepted by other tools of the same kind, said so
 * instead of "unknown". */
static const char *const LATER[] = {"conf", "master", "remote", "listen"};

/* The same for commands. */
static const struct {
    const char *name, *hint;
} LATER_COMMANDS[] = {
    {"serve", NULL},
    {"lhp", NULL},
};

static bool is_option_of_some(tg_str name)
{
    for (size_t i = 0; i < TG_OPT_COUNT_; i++) {
        if (tg_str_eq(name, tg_str_from(OPTIONS[i].name))) {
            return true;
        }
    }
    return false;
}

static tg_code unknown_option(tg_cli *cli, const char *shown, tg_str name, tg_error *err)
{
    for (size_t i = 0; i < sizeof(LATER) / sizeof(*LATER); i++) {
        if (tg_str_eq(name, tg_str_from(LATER[i]))) {
            TG_FAIL(err, TIDEGATE_INVALID_OPTION, "option %s is not available in this release",
                    shown);
        }
    }
    tg_str candidates[TG_OPT_COUNT_ + 2];
    size_t count = 0;
    for (size_t i = 0; i < TG_OPT_COUNT_; i++) {
        if (option_of(i, cli->command)) {
            candidates[count++] = tg_str_from(OPTIONS[i].name);
        }
    }
    if (cli->command == TG_COMMAND_NONE && is_option_of_some(name)) {
        TG_ERR(err, TIDEGATE_INVALID_OPTION, "option %s stands before the command", shown);
        return tg_error_hint(err, "Write: tidegate COMMAND %s", shown);
    }
    if (is_option_of_some(name)) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "option %s is not available for tidegate %s", shown,
                COMMANDS[cli->command].name);
    }
    if (cli->command == TG_COMMAND_NONE) {
        candidates[count++] = TG_S("version");
        candidates[count++] = TG_S("man");
    }
    TG_ERR(err, TIDEGATE_INVALID_OPTION, "unknown option %s", shown);
    tg_str near = tg_str_nearest(name, candidates, count);
    return near.len ? tg_error_hint(err, "Did you mean --%.*s?", TG_SARG(near))
                    : TG_INVALID_ARGUMENT;
}

static tg_code find_command(tg_str word, tg_command_id *out, tg_error *err)
{
    tg_str names[TG_COMMAND_COUNT_];
    for (size_t i = 0; i < TG_COMMAND_COUNT_; i++) {
        names[i] = tg_str_from(COMMANDS[i].name);
        if (tg_str_eq(names[i], word)) {
            *out = (tg_command_id)i;
            return TG_OK;
        }
    }
    for (size_t i = 0; i < sizeof(LATER_COMMANDS) / sizeof(*LATER_COMMANDS); i++) {
        if (tg_str_eq(word, tg_str_from(LATER_COMMANDS[i].name))) {
            TG_ERR(err, TIDEGATE_INVALID_OPTION, "command '%.*s' is not available in this release",
                   TG_SARG(word));
            return LATER_COMMANDS[i].hint ? tg_error_hint(err, "%s", LATER_COMMANDS[i].hint)
                                          : TG_INVALID_ARGUMENT;
        }
    }
    TG_ERR(err, TIDEGATE_INVALID_OPTION, "unknown command '%.*s'", TG_SARG(word));
    tg_str near = tg_str_nearest(word, names, TG_COMMAND_COUNT_);
    return near.len ? tg_error_hint(err, "Did you mean %.*s?", TG_SARG(near)) : TG_INVALID_ARGUMENT;
}

/* The row of "--name", or of a letter; -1 when the command has none. */
static int find_option(const tg_cli *cli, tg_str name, char letter)
{
    for (size_t i = 0; i < TG_OPT_COUNT_; i++) {
        bool hit =
            letter ? OPTIONS[i].letter == letter : tg_str_eq(name, tg_str_from(OPTIONS[i].name));
        if (hit && option_of(i, cli->command)) {
            return (int)i;
        }
    }
    return -1;
}

/* Lists, names and choices have messages of their own; an empty statement is a statement. */
static bool says_itself_what_is_empty(int option)
{
    return option == TG_OPT_REFRESH || option == TG_OPT_FULL_REFRESH ||
           option == TG_OPT_ALLOW_RESET || option == TG_OPT_ADOPT || option == TG_OPT_NAME ||
           option == TG_OPT_EXECUTE || option == TG_OPT_FORMAT || option == TG_OPT_LIMIT ||
           option == TG_OPT_LEVEL || option == TG_OPT_EVENT_TYPE || option == TG_OPT_NUMBER;
}

/*
 * --every 7 DAYS is an option with two words: behind its number stands a unit. What is no argument of
 * the command can only be a misspelt one.
 */
static bool is_followed_by_unit(const tg_cli *cli, int option, tg_str value, const char *word)
{
    int64_t number;
    return option == TG_OPT_EVERY && tg_str_to_i64(value, &number) && word[0] != '-' &&
           word[0] != '\0' && (cli->arguments.count > 0 || tg_backfill_is_unit(tg_str_from(word)));
}

static tg_code take_option(tg_cli *cli, int argc, char **argv, int *at, tg_error *err)
{
    const char *word = argv[*at];
    bool is_long = word[1] == '-';
    tg_str name = is_long ? tg_str_from(word + 2) : (tg_str){word + 1, 1};
    tg_str value = {0};
    if (is_long) {
        size_t equals = tg_str_find(name, TG_S("="), 0);
        if (equals != SIZE_MAX) {
            value = tg_str_sub(name, equals + 1, name.len);
            name = tg_str_sub(name, 0, equals);
        }
    } else if (word[2] != '\0') {
        value = tg_str_from(word + 2);
    }
    const char *shown = is_long ? tg_arena_printf(cli->arena, "--%.*s", TG_SARG(name))
                                : tg_arena_printf(cli->arena, "-%.*s", TG_SARG(name));
    int option = find_option(cli, name, (char)(is_long ? 0 : word[1]));
    if (option < 0) {
        return unknown_option(cli, shown, name, err);
    }
    if (!OPTIONS[option].value && value.ptr) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "option %s takes no value", shown);
    }
    if (OPTIONS[option].value && !value.ptr) {
        if (*at + 1 >= argc) {
            TG_FAIL(err, TIDEGATE_INVALID_OPTION, "option %s needs a value: %s", shown,
                    OPTIONS[option].value);
        }
        value = tg_str_from(argv[++*at]);
        if (is_followed_by_unit(cli, option, value, *at + 1 < argc ? argv[*at + 1] : "")) {
            value = tg_str_printf(cli->arena, "%.*s %s", TG_SARG(value), argv[*at + 1]);
            ++*at;
        }
    }
    if (OPTIONS[option].value && value.len == 0 && !says_itself_what_is_empty(option)) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "option %s has an empty value", shown);
    }
    cli->given[option] = true;
    cli->value[option] = value;
    TG_VEC_PUSH(cli->arena, &cli->values[option], value);
    return TG_OK;
}

tg_code tg_cli_parse(tg_cli *cli, int argc, char **argv, tg_error *err)
{
    bool only_arguments = false;
    cli->command = TG_COMMAND_NONE;
    if (argc > 1 && strcmp(argv[1], "help") == 0) { /* "help run" as "run --help" */
        cli->given[TG_OPT_HELP] = true;
        argc--;
        argv++;
    }
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool is_option = !only_arguments && word[0] == '-' && word[1] != '\0';
        if (is_option && strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (is_option) {
            TG_TRY(take_option(cli, argc, argv, &i, err));
        } else if (cli->command == TG_COMMAND_NONE) {
            TG_TRY(find_command(tg_str_from(word), &cli->command, err));
        } else {
            TG_VEC_PUSH(cli->arena, &cli->arguments, tg_str_from(word));
        }
    }
    const char *arguments = cli->command != TG_COMMAND_NONE ? COMMANDS[cli->command].arguments : "";
    size_t wanted = arguments[0] ? 1 : 0; /* [X] may be left out */
    if (cli->arguments.count > wanted) {
        tg_str word = cli->arguments.items[wanted];
        TG_ERR(err, TIDEGATE_INVALID_OPTION, "unexpected argument '%.*s'", TG_SARG(word));
        return cli->command == TG_COMMAND_INIT
                   ? tg_error_hint(err, "Did you mean --name %.*s?", TG_SARG(word))
                   : TG_INVALID_ARGUMENT;
    }
    if (cli->arguments.count < wanted && arguments[0] != '[' && !cli->given[TG_OPT_HELP]) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "%s is missing", arguments);
    }
    return TG_OK;
}

tg_code tg_cli_list(tg_cli *cli, tg_option_id option, tg_str **out_items, size_t *out_count,
                    tg_error *err)
{
    TG_VEC(tg_str) items = {0};
    for (size_t i = 0; i < cli->values[option].count; i++) {
        tg_str text = cli->values[option].items[i];
        for (size_t from = 0; from <= text.len;) {
            size_t comma = tg_str_find(text, TG_S(","), from);
            size_t to = comma == SIZE_MAX ? text.len : comma;
            tg_str item = tg_str_trim(tg_str_sub(text, from, to));
            if (item.len == 0) {
                TG_FAIL(err, TIDEGATE_INVALID_OPTION, "--%s has an empty name: '%.*s'",
                        OPTIONS[option].name, TG_SARG(text));
            }
            TG_VEC_PUSH(cli->arena, &items, item);
            from = to + 1;
        }
    }
    *out_items = items.items;
    *out_count = items.count;
    return TG_OK;
}

tg_code tg_cli_params(tg_cli *cli, tg_param **out_params, size_t *out_count, tg_error *err)
{
    size_t count = cli->values[TG_OPT_PARAM].count;
    tg_param *params = TG_NEW_ARRAY(cli->arena, tg_param, count);
    for (size_t i = 0; i < count; i++) {
        TG_TRY(tg_param_parse(cli->values[TG_OPT_PARAM].items[i], "--param", &params[i], err));
    }
    *out_params = params;
    *out_count = count;
    return TG_OK;
}

/* ---- help ------------------------------------------------------------------------------------ */

static void option_label(size_t option, tg_buf *out)
{
    if (OPTIONS[option].letter) {
        tg_buf_addf(out, "-%c, ", OPTIONS[option].letter);
    }
    tg_buf_addf(out, "--%s", OPTIONS[option].name);
    if (OPTIONS[option].value) {
        tg_buf_addf(out, " %s", OPTIONS[option].value);
    }
}

static void print_options(tg_command_id command, FILE *to)
{
    enum { LABEL_WIDTH = 22 };
    for (size_t i = 0; i < TG_OPT_COUNT_; i++) {
        if (option_of(i, command)) {
            tg_auto_buf tg_buf label = TG_BUF_INIT;
            option_label(i, &label);
            bool is_wide = label.len > LABEL_WIDTH; /* its meaning stands on a line of its own */
            fprintf(to, "  %-*s%s", LABEL_WIDTH, tg_buf_cstr(&label), is_wide ? "\n" : "");
            fprintf(to, "%*s%s\n", is_wide ? LABEL_WIDTH + 4 : 2, "", OPTIONS[i].doc);
        }
    }
}

/* In lines of a terminal's width. */
static void print_wrapped(const char *text, FILE *to)
{
    enum { WIDTH = 80 };
    size_t column = 0;
    for (const char *word = text; *word; word += strspn(word, " ")) {
        size_t len = strcspn(word, " ");
        if (column > 0 && column + 1 + len > WIDTH) {
            fprintf(to, "\n");
            column = 0;
        }
        fprintf(to, "%s%.*s", column > 0 ? " " : "", (int)len, word);
        column += (column > 0) + len;
        word += len;
    }
    fprintf(to, "\n");
}

void tg_cli_help(tg_command_id command, FILE *to)
{
    if (command != TG_COMMAND_NONE) {
        const command_row *row = &COMMANDS[command];
        fprintf(to, "usage: tidegate %s [options]%s%s\n\n", row->name, row->arguments[0] ? " " : "",
                row->arguments);
        print_wrapped(row->description, to);
        fprintf(to, "\n");
        print_options(command, to);
        return;
    }
    fprintf(to, "tidegate " TG_VERSION_STRING ": declarative data pipelines on Delta tables\n\n"
                "usage: tidegate COMMAND [options]\n\n");
    for (size_t i = 0; i < TG_COMMAND_COUNT_; i++) {
        fprintf(to, "  %-10s  %s\n", COMMANDS[i].name, COMMANDS[i].summary);
    }
    fprintf(to,
            "\n  --version   print the version\n  --help      print this help; tidegate "
            "COMMAND --help prints a command's\n\n"
            "exit status: 0 success, 1 failed or partly failed, 2 usage, 3 validation (no table "
            "was touched),\n"
            "             4 refused by a guard, 130 interrupted\n");
}

int tg_cli_usage(const tg_error *err, tg_command_id command)
{
    bool is_known = err->cls != TG_E_TIDEGATE_INVALID_OPTION; /* a condition people look for */
    fprintf(stderr, "tidegate: %s%s%s%s\n", is_known ? "[" : "", is_known ? tg_error_name(err) : "",
            is_known ? "] " : "", err->message);
    const char *more[] = {err->detail, err->hint};
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        if (more[i]) {
            fprintf(stderr, "%s\n", more[i]);
        }
    }
    if (err->context) {
        fprintf(stderr, "context: %s\n", err->context);
    }
    if (command == TG_COMMAND_NONE) {
        fprintf(stderr, "Try: tidegate --help\n");
    } else {
        fprintf(stderr, "Try: tidegate %s --help\n", COMMANDS[command].name);
    }
    return TG_STATUS_USAGE;
}

/* A text as roff takes it: a plain '-' would be printed as a hyphen, which no shell knows. */
static void put_man(const char *before, const char *text, FILE *to)
{
    fprintf(to, "%s%s", before, *text == '.' || *text == '\'' ? "\\&" : "");
    for (; *text; text++) {
        if (*text == '-') {
            fprintf(to, "\\-");
        } else if (*text == '\\') {
            fprintf(to, "\\e");
        } else {
            fputc(*text, to);
        }
    }
    fputc('\n', to);
}

static void put_man_command(tg_command_id command, FILE *to)
{
    put_man(".SS ", COMMANDS[command].name, to);
    put_man("", COMMANDS[command].description, to);
    for (size_t i = 0; i < TG_OPT_COUNT_; i++) {
        if (option_of(i, command)) {
            tg_auto_buf tg_buf label = TG_BUF_INIT;
            option_label(i, &label);
            put_man(".TP\n.B ", tg_buf_cstr(&label), to);
            put_man("", OPTIONS[i].doc, to);
        }
    }
}

void tg_cli_man(FILE *to)
{
    fprintf(to,
            ".TH TIDEGATE 1 \"\" \"tidegate " TG_VERSION_STRING "\" \"User Commands\"\n.SH NAME\n"
            "tidegate \\- declarative data pipelines on Delta tables\n.SH SYNOPSIS\n");
    for (size_t i = 0; i < TG_COMMAND_COUNT_; i++) {
        put_man(".B tidegate ", COMMANDS[i].name, to);
        put_man(COMMANDS[i].arguments[0] ? "[options] " : "[options]", COMMANDS[i].arguments, to);
        fprintf(to, ".br\n");
    }
    fprintf(to, ".B tidegate help\n[command]\n.br\n.B tidegate \\-\\-version\n.SH COMMANDS\n");
    for (size_t i = 0; i < TG_COMMAND_COUNT_; i++) {
        put_man_command((tg_command_id)i, to);
    }
    fprintf(to, ".SH EXIT STATUS\n0 success, 1 failed or partly failed, 2 usage, 3 validation "
                "(no table was touched), "
                "4 refused by a guard, 130 interrupted.\n.SH ENVIRONMENT\n.TP\n.B "
                "TIDEGATE_DUCKDB\npath of libduckdb.so; "
                "default: the one that was installed with tidegate\n");
}
