/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters: what an update gives, what the spec gives, and the markers in source files. */
#include "pipeline/params.h"

#include "pipeline/conf.h"
#include "pipeline/yaml.h"

/* ---- of an update ---------------------------------------------------------------------------- */

tg_code tg_param_parse(tg_str text, const char *origin, tg_param *out, tg_error *err)
{
    size_t equals = tg_str_find(text, TG_S("="), 0);
    tg_str name = tg_str_trim(tg_str_sub(text, 0, equals == SIZE_MAX ? 0 : equals));
    if (name.len == 0) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "%s '%.*s' is not NAME=VALUE", origin,
                     TG_SARG(text));
        return tg_error_hint(err, "Write: %s day=2024-03-01", origin);
    }
    *out =
        (tg_param){.name = name, .value = tg_str_sub(text, equals + 1, text.len), .origin = origin};
    return TG_OK;
}

static tg_code check_value(const tg_spec *spec, const tg_param *params, size_t index,
                           bool *out_is_warning, tg_error *err)
{
    const tg_param *param = &params[index];
    *out_is_warning = false;
    if (param->name.len == 0) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "a parameter has no name");
    }
    if (tg_utf8_valid_len(param->name) != param->name.len ||
        tg_utf8_valid_len(param->value) != param->value.len) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "a parameter is not valid UTF-8");
    }
    for (size_t i = 0; i < index; i++) {
        if (tg_str_eq(params[i].name, param->name)) {
            (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "parameter `%.*s` is given twice",
                         TG_SARG(param->name));
            return tg_error_hint(err, "Keep one of '%.*s' and '%.*s'.", TG_SARG(params[i].value),
                                 TG_SARG(param->value));
        }
    }
    tg_conf_check(param->name, param->value, spec->timezone, out_is_warning, err);
    return err->code;
}

/* Settings and ${key}: what an update gives stands in for what the file says. */
static void replace_configuration(tg_spec *spec, tg_arena *arena)
{
    size_t size = spec->configuration_count * sizeof(tg_property);
    tg_property *configuration = tg_arena_memdup(arena, spec->configuration, size);
    for (size_t i = 0; i < spec->configuration_count; i++) {
        for (size_t j = 0; j < spec->param_count; j++) {
            if (tg_str_eq(spec->params[j].name, configuration[i].key)) {
                configuration[i].value = spec->params[j].value;
            }
        }
    }
    spec->configuration = configuration;
}

tg_code tg_spec_with_params(const tg_spec *spec, const tg_param *params, size_t count,
                            tg_arena *arena, const tg_spec **out_spec, tg_diags *diags)
{
    size_t errors = diags->error_count, size = 0;
    tg_param *kept = TG_NEW_ARRAY(arena, tg_param, count);
    for (size_t i = 0; i < count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        bool is_warning;
        if (check_value(spec, params, i, &is_warning, &err) != TG_OK) {
            (void)tg_error_context(&err, "in %s", params[i].origin);
            (is_warning ? tg_diags_add_warning : tg_diags_add)(diags, &err);
        }
        kept[i] = (tg_param){.name = tg_str_copy(arena, params[i].name),
                             .value = tg_str_copy(arena, params[i].value),
                             .origin = params[i].origin};
        size += params[i].name.len + params[i].value.len;
    }
    if (size > TG_LIMIT_PARAMETER_BYTES) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)TG_ERR(&err, TIDEGATE_LIMIT_EXCEEDED,
                     "the parameters have %zu bytes; at most %d are accepted", size,
                     TG_LIMIT_PARAMETER_BYTES);
        tg_diags_add(diags, &err);
    }
    if (diags->error_count > errors) {
        return tg_diags_first(diags, NULL);
    }
    tg_spec *copy = tg_arena_memdup(arena, spec, sizeof(*spec));
    copy->params = kept;
    copy->param_count = count;
    if (count > 0 && spec->configuration_count > 0) {
        replace_configuration(copy, arena);
    }
    *out_spec = copy;
    return TG_OK;
}

/* ---- markers --------------------------------------------------------------------------------- */

void tg_params_init(tg_params *params, const tg_spec *spec, tg_arena *arena)
{
    *params = (tg_params){.spec = spec, .arena = arena};
    tg_map_init(&params->asked, arena);
}

static const tg_str *find_in(const tg_property *properties, size_t count, tg_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(properties[i].key, name)) {
            return &properties[i].value;
        }
    }
    return NULL;
}

static const tg_param *find_param(const tg_spec *spec, tg_str name)
{
    for (size_t i = 0; i < spec->param_count; i++) {
        if (tg_str_eq(spec->params[i].name, name)) {
            return &spec->params[i];
        }
    }
    return NULL;
}

/* The update's value, else the spec's, else the configuration's. NULL: there is none. */
static const tg_str *find_value(const tg_spec *spec, tg_str name)
{
    const tg_param *param = find_param(spec, name);
    const tg_str *value =
        param ? &param->value : find_in(spec->parameters, spec->parameter_count, name);
    return value ? value : find_in(spec->configuration, spec->configuration_count, name);
}

typedef TG_VEC(tg_str) names;

static void add_declared(const tg_spec *spec, tg_arena *arena, names *list)
{
    for (size_t i = 0; i < spec->parameter_count; i++) {
        TG_VEC_PUSH(arena, list, spec->parameters[i].key);
    }
    for (size_t i = 0; i < spec->configuration_count; i++) {
        TG_VEC_PUSH(arena, list, spec->configuration[i].key);
    }
}

static void set_unbound(const tg_params *params, tg_str name, tg_error *err)
{
    names known = {0};
    add_declared(params->spec, params->arena, &known);
    for (size_t i = 0; i < params->spec->param_count; i++) {
        TG_VEC_PUSH(params->arena, &known, params->spec->params[i].name);
    }
    (void)TG_ERR(err, UNBOUND_SQL_PARAMETER, "the parameter :%.*s has no value", TG_SARG(name));
    tg_str nearest = tg_str_nearest(name, known.items, known.count);
    if (nearest.len) {
        (void)tg_error_hint(err, "Did you mean :%.*s?", TG_SARG(nearest));
    } else {
        (void)tg_error_hint(
            err, "Give it with --param %.*s=VALUE, or under `parameters` in the pipeline spec.",
            TG_SARG(name));
    }
}

typedef struct binding {
    tg_params *params;
    const tg_source_file *file;
    tg_diags *diags;
} binding;

static void bind_marker(void *ctx, tg_expr *marker)
{
    binding *b = ctx;
    tg_str name = marker->field.text;
    tg_value value = tg_value_null(tg_type_of(TG_TYPE_STRING));
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (name.len == 0) {
        (void)TG_ERR(&err, UNSUPPORTED_FEATURE,
                     "parameters without a name (?) are not available in a pipeline");
        (void)tg_error_hint(&err, "Write :name, and give it with --param name=VALUE.");
    } else {
        (void)tg_map_put(&b->params->asked, name, b->params);
        const tg_str *text = find_value(b->params->spec, name);
        if (text) {
            value = tg_value_bytes(tg_type_of(TG_TYPE_STRING), *text);
        } else {
            set_unbound(b->params, name, &err);
        }
    }
    if (tg_error_is_set(&err)) {
        (void)tg_error_at(&err, marker->span);
        tg_error_locate(&err, b->file->shown_name, b->file->text);
        tg_diags_add(b->diags, &err);
    }
    *marker = (tg_expr){.kind = TG_EXPR_LITERAL, .span = marker->span, .literal = value};
}

void tg_params_bind(tg_params *params, tg_stmt *stmt, const tg_source_file *file, tg_diags *diags)
{
    binding b = {.params = params, .file = file, .diags = diags};
    tg_sql_visit_parameters(stmt->query, stmt->where, bind_marker, &b);
    if (stmt->flow) {
        tg_sql_visit_parameters(stmt->flow->query, stmt->flow->predicate, bind_marker, &b);
        tg_sql_visit_parameters(stmt->flow->version_query, stmt->flow->sequence_by, bind_marker,
                                &b);
    }
    for (size_t i = 0; i < stmt->constraint_count; i++) {
        tg_sql_visit_parameters(NULL, stmt->constraints[i].expect, bind_marker, &b);
    }
    for (size_t i = 0; i < stmt->column_count; i++) {
        tg_sql_visit_parameters(NULL, stmt->columns[i].default_value, bind_marker, &b);
        tg_sql_visit_parameters(NULL, stmt->columns[i].generated, bind_marker, &b);
    }
}

/* ---- what nobody uses ------------------------------------------------------------------------ */

/* A setting of Spark's is no text of the user's: it holds without being named. */
static bool is_setting(tg_str name)
{
    return tg_str_istarts(name, TG_S("spark.")) || tg_str_istarts(name, TG_S("pipelines."));
}

static void check_given(const tg_params *params, const tg_param *param, tg_diags *diags)
{
    const tg_spec *spec = params->spec;
    if (tg_map_has(&params->asked, param->name) || is_setting(param->name)) {
        return;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (find_in(spec->parameters, spec->parameter_count, param->name) ||
        find_in(spec->configuration, spec->configuration_count, param->name)) {
        (void)TG_ERR(&err, TIDEGATE_UNUSED_PARAMETER,
                     "no source file uses the parameter `%.*s` of %s", TG_SARG(param->name),
                     param->origin);
        tg_diags_add_warning(diags, &err);
        return;
    }
    names known = {0};
    add_declared(spec, params->arena, &known);
    for (size_t i = 0; i < params->asked.used_count; i++) {
        TG_VEC_PUSH(params->arena, &known, params->asked.entries[i].key);
    }
    (void)TG_ERR(&err, TIDEGATE_UNKNOWN_PARAMETER, "parameter `%.*s` of %s is not known",
                 TG_SARG(param->name), param->origin);
    tg_str nearest = tg_str_nearest(param->name, known.items, known.count);
    if (nearest.len) {
        (void)tg_error_hint(&err, "Did you mean `%.*s`?", TG_SARG(nearest));
    } else {
        (void)tg_error_hint(&err,
                            "Use it as :%.*s or ${%.*s} in a source file, or declare it "
                            "under `parameters` in the pipeline spec.",
                            TG_SARG(param->name), TG_SARG(param->name));
    }
    tg_diags_add(diags, &err);
}

void tg_params_check_used(const tg_params *params, tg_diags *diags)
{
    const tg_spec *spec = params->spec;
    for (size_t i = 0; i < spec->param_count; i++) {
        check_given(params, &spec->params[i], diags);
    }
    for (size_t i = 0; i < spec->parameter_count; i++) {
        tg_str name = spec->parameters[i].key;
        if (tg_map_has(&params->asked, name) || find_param(spec, name)) {
            continue; /* unused and given: told already */
        }
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)TG_ERR(&err, TIDEGATE_UNUSED_PARAMETER, "no source file uses the parameter `%.*s`",
                     TG_SARG(name));
        tg_yaml_locate(&err, tg_str_cstr(params->arena, spec->path), spec->text,
                       spec->parameters_node->keys[i]);
        tg_diags_add_warning(diags, &err);
    }
}
