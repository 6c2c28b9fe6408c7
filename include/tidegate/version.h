/* SPDX-License-Identifier: Apache-2.0 */
/** @file The version, written once: CMake, the man page and every commit's engineInfo read it from here. */
#ifndef TIDEGATE_VERSION_H
#define TIDEGATE_VERSION_H

#define TG_VERSION_STRING "0.1.0"

#endif
