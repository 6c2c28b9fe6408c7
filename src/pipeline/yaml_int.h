/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by yaml.c and yaml_scalar.c. */
#ifndef TG_PIPELINE_YAML_INT_H
#define TG_PIPELINE_YAML_INT_H

#include "pipeline/yaml.h"

/* The type of a scalar without quotes and tag. */
tg_yaml_type tg_yaml_plain_type(tg_str text);

#endif
