# SPDX-License-Identifier: Apache-2.0
#
# Compiler flags for our own code: tg_flags is linked (PRIVATE) by every target that we write.

add_library(tg_flags INTERFACE)
target_compile_definitions(tg_flags INTERFACE _GNU_SOURCE)
target_include_directories(tg_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(
  tg_flags
  INTERFACE -Wall
            -Wextra
            -Wshadow
            -Wconversion
            -Wstrict-prototypes
            -Wmissing-prototypes
            -Wvla
            -Wundef
            -Wcast-qual
            -Wformat=2
            -Wnull-dereference
            -Wpointer-arith
            -Wwrite-strings
            -Wimplicit-fallthrough
            -fno-common
            -fno-strict-aliasing
            -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  # tg_assert(!"why this cannot be") is on purpose.
  target_compile_options(tg_flags INTERFACE -Wno-string-conversion)
endif()
if(TG_WERROR)
  target_compile_options(tg_flags INTERFACE -Werror)
endif()

# Debug keeps line numbers of optimised-out code; release is hardened. Assertions stay in both (tg_assert).
set(CMAKE_C_FLAGS_DEBUG "-g -O1 -fno-omit-frame-pointer")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TG_SANITIZE AND NOT TG_SANITIZE_THREADS)
  target_compile_options(tg_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

# Sanitizers go to every target, third-party sources included, so that no memory is invisible to them.
set(tg_sanitizers "")
if(TG_SANITIZE)
  set(tg_sanitizers address,undefined)
endif()
if(TG_SANITIZE_THREADS)
  set(tg_sanitizers thread)
endif()
if(TG_FUZZ)
  set(tg_sanitizers fuzzer-no-link,address,undefined)
endif()
if(tg_sanitizers)
  add_compile_options(-fsanitize=${tg_sanitizers} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${tg_sanitizers})
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # libduckdb throws C++ exceptions; clang's ASan finds their functions only in what was there at start.
    add_link_options("LINKER:--push-state,--no-as-needed" -lstdc++ "LINKER:--pop-state")
  endif()
endif()
