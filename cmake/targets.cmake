# SPDX-License-Identifier: Apache-2.0
#
# tg_module: one static library tg_<folder> per folder of src (slashes become underscores), plus its unit tests.
# Sources are globbed, so a new file needs no edit here. A folder without sources gives an empty interface library.

set(TG_MODULES "" CACHE INTERNAL "folders of src, in order")
set(TG_MODULES "")

function(tg_target_name folder out_name)
  string(REPLACE "/" "_" name ${folder})
  set(${out_name} tg_${name} PARENT_SCOPE)
endfunction()

macro(tg_module)
  tg_add_module(${ARGN})
  list(APPEND TG_MODULES ${ARGV0})
endmacro()

function(tg_add_module folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS")
  tg_target_name(${folder} target)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.c)
  # main is the program's own, so that the other files of cli can be tested.
  list(FILTER sources EXCLUDE REGEX "/src/cli/main\\.c$")
  set(deps "")
  foreach(dep IN LISTS arg_DEPS)
    tg_target_name(${dep} dep_target)
    list(APPEND deps ${dep_target})
  endforeach()
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tg_flags> PUBLIC ${deps})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${deps})
  endif()
endfunction()

# tg_link_external(folder libraries...): third-party libraries of one module.
function(tg_link_external folder)
  tg_target_name(${folder} target)
  target_link_libraries(${target} PUBLIC ${ARGN})
endfunction()
