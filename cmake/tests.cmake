# SPDX-License-Identifier: Apache-2.0
#
# Tests are found by their place, so that adding one needs no edit here:
#   tests/unit/<folder>/test_<name>.c   unit_<folder>_<name>, linked with the modules that it includes and tests/support
#   tests/<group>/test_<name>.c         <group>_<name>, likewise
#   tests/<group>/test_<name>.py        py_<group>_<name>: one pytest run per file, so that they run side by side
#   tests/fuzz/<name>_fuzz.c            fuzz_replay_<name>: the fuzz target over its corpus
# Other .c files beside a test_*.c are helpers of that folder's tests.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

set(TG_GOLDEN_DIR ${CMAKE_SOURCE_DIR}/../shared/golden CACHE PATH "Public tables and answers of real systems")
set(TG_TEST_PYTHON ${TG_DEPS_DIR}/venv/bin/python CACHE FILEPATH "Python that has tools/requirements.txt")

set(tg_test_environment
    TIDEGATE_BIN=${CMAKE_BINARY_DIR}/tidegate TIDEGATE_LIB=${CMAKE_BINARY_DIR}/libtidegate.so
    TIDEGATE_GOLDEN=${TG_GOLDEN_DIR} TIDEGATE_BUILD=${CMAKE_BINARY_DIR} TIDEGATE_SOURCE=${CMAKE_SOURCE_DIR})
if(TG_SANITIZE)
  list(APPEND tg_test_environment TIDEGATE_SANITIZE=1 ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
       UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1)
endif()
if(TG_SANITIZE_THREADS)
  list(APPEND tg_test_environment TIDEGATE_SANITIZE=1
       TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/threads.supp:exitcode=66)
endif()

file(GLOB support_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
add_library(tg_test_support INTERFACE)
target_include_directories(tg_test_support INTERFACE ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(tg_test_support INTERFACE TG_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(tg_test_support INTERFACE tg_flags PkgConfig::CMOCKA)
add_library(tg_test_helpers STATIC EXCLUDE_FROM_ALL ${support_sources})
target_link_libraries(tg_test_helpers PRIVATE tg_test_support PUBLIC tg_base)

# The modules whose headers the sources include: what they must link to.
function(tg_included_modules out_targets)
  set(targets "")
  foreach(source IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} includes REGEX "^#include \".*/[^/]*\"")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "^#include \"(.*)/[^/]*\".*" "\\1" folder "${include}")
      if(folder IN_LIST TG_MODULES)
        tg_target_name(${folder} target)
        list(APPEND targets ${target})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES targets)
  set(${out_targets} ${targets} PARENT_SCOPE)
endfunction()

function(tg_add_c_tests prefix folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.c)
  set(helpers ${sources})
  tg_included_modules(included ${sources})
  list(FILTER helpers EXCLUDE REGEX "/test_[^/]*\\.c$")
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "/test_([^/]*)\\.c$")
      continue()
    endif()
    set(name ${prefix}_${CMAKE_MATCH_1})
    add_executable(${name} ${source} ${helpers})
    target_link_libraries(${name} PRIVATE tg_test_support ${ARGN} ${included} tg_test_helpers)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${tg_test_environment}" TIMEOUT 300)
  endforeach()
endfunction()

foreach(folder IN LISTS TG_MODULES)
  tg_target_name(${folder} target)
  string(REPLACE "/" "_" module ${folder})
  tg_add_c_tests(unit_${module} unit/${folder} ${target})
endforeach()

file(GLOB groups CONFIGURE_DEPENDS LIST_DIRECTORIES true ${CMAKE_SOURCE_DIR}/tests/*)
foreach(path IN LISTS groups)
  get_filename_component(group ${path} NAME)
  if(NOT IS_DIRECTORY ${path} OR group MATCHES "^(unit|support|fuzz)$")
    continue()
  endif()
  tg_add_c_tests(${group} ${group})
  file(GLOB python_tests CONFIGURE_DEPENDS ${path}/test_*.py)
  foreach(source IN LISTS python_tests)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "py_${group}_" name ${name})
    add_test(NAME ${name} COMMAND ${TG_TEST_PYTHON} -m pytest -q -p no:cacheprovider -rs ${source}
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${tg_test_environment};PYTHONDONTWRITEBYTECODE=1"
                                            TIMEOUT 900)
  endforeach()
endforeach()

set_tests_properties(unit_incremental_model_replay PROPERTIES TIMEOUT 1200) # a hundred thousand steps
# The longest first, so that none runs alone at the end.
set_tests_properties(py_fault_kill PROPERTIES COST 1000 TIMEOUT 1800)
set_tests_properties(py_differential_differential py_e2e_sql_answers py_fault_processes unit_engine_duckdb_spark
                     PROPERTIES COST 100)

# Preloaded into tidegate by tests/fault. Without sanitizers in sanitizer builds too: it calls the system directly.
add_library(fault_shim MODULE ${CMAKE_SOURCE_DIR}/tests/fault/shim.c)
target_link_libraries(fault_shim PRIVATE tg_flags Threads::Threads)
set_target_properties(fault_shim PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests PREFIX "" C_VISIBILITY_PRESET hidden)
if(tg_sanitizers)
  target_compile_options(fault_shim PRIVATE -fno-sanitize=all)
  target_link_options(fault_shim PRIVATE -fno-sanitize=all)
endif()

# Headers alone, and the checks of tools/ that need a build. They look at the tree, so one run (release) is enough.
get_target_property(yyjson_include tg_yyjson INTERFACE_INCLUDE_DIRECTORIES)
add_test(NAME headers COMMAND ${CMAKE_SOURCE_DIR}/tests/headers/check-headers ${CMAKE_SOURCE_DIR}
                              ${yyjson_include} ${TG_DUCKDB_INCLUDE_DIR})
add_test(NAME check_layers COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check-layers)
add_test(NAME check_docs COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/gen-docs --check)
if(NOT tg_sanitizers)
  add_test(NAME check_symbols COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check-symbols
                                      $<TARGET_FILE:libtidegate>)
endif()

# Fuzz targets: fuzz/<name> with libFuzzer when TG_FUZZ, and always as a replay of the corpus.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.c)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  tg_included_modules(included ${source})
  if(TG_FUZZ)
    add_executable(fuzz_${name} ${source})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(fuzz_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    target_link_libraries(fuzz_${name} PRIVATE tg_flags ${included})
  else()
    add_executable(fuzz_replay_${name} ${source} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
    set_target_properties(fuzz_replay_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(fuzz_replay_${name} PRIVATE tg_flags ${included})
    add_test(NAME fuzz_replay_${name} COMMAND fuzz_replay_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpora/${name})
    set_tests_properties(fuzz_replay_${name} PROPERTIES ENVIRONMENT "${tg_test_environment}" TIMEOUT 300)
  endif()
endforeach()
