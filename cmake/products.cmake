# SPDX-License-Identifier: Apache-2.0
#
# What is installed: the program tidegate, the shared library libtidegate.so, headers, pkg-config file, libduckdb.

file(GLOB tg_public_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/tidegate/*.h)

# The program, linked statically with our own modules: it starts without a search for libtidegate.
add_executable(tidegate ${CMAKE_SOURCE_DIR}/src/cli/main.c)
target_link_libraries(tidegate PRIVATE tg_flags tg_cli)
set_target_properties(tidegate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
install(TARGETS tidegate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The man page comes from the program's own option table.
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/tidegate.1
  COMMAND tidegate --man > ${CMAKE_BINARY_DIR}/tidegate.1
  DEPENDS tidegate
  VERBATIM)
add_custom_target(tidegate_man ALL DEPENDS ${CMAKE_BINARY_DIR}/tidegate.1)
install(FILES ${CMAKE_BINARY_DIR}/tidegate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# The library, exporting the functions of include/tidegate and nothing else.
set(exports ${CMAKE_BINARY_DIR}/tidegate.map)
add_custom_command(
  OUTPUT ${exports}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/public_functions.py --version-script ${exports}
          ${tg_public_headers}
  DEPENDS ${tg_public_headers} ${CMAKE_SOURCE_DIR}/tools/public_functions.py
  VERBATIM)
file(WRITE ${CMAKE_BINARY_DIR}/empty.c "typedef int tg_empty_unit;\n")
add_library(libtidegate SHARED ${CMAKE_BINARY_DIR}/empty.c ${exports})
target_link_libraries(libtidegate PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,tg_api>)
target_link_options(libtidegate PRIVATE -Wl,--version-script=${exports})
if(NOT tg_sanitizers)
  # clang leaves the sanitizers' run time to the executable: a sanitized library has open symbols.
  target_link_options(libtidegate PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(
  libtidegate
  PROPERTIES OUTPUT_NAME tidegate
             SOVERSION ${PROJECT_VERSION_MAJOR}
             VERSION ${PROJECT_VERSION}
             LINK_DEPENDS ${exports}
             LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
install(TARGETS libtidegate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${tg_public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tidegate)
# Relative to where the file is, so that the installed tree can be moved.
file(RELATIVE_PATH TG_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/tidegate.pc.in ${CMAKE_BINARY_DIR}/tidegate.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tidegate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${TG_DUCKDB_LIBRARY} DESTINATION lib/tidegate OPTIONAL)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
