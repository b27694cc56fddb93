# SPDX-License-Identifier: MIT
# Compares the table between the markers of a page with what a program prints; -DWRITE=ON replaces it.
#   cmake -DPAGE=docs/kernels.md -DPROGRAM=build/kernel_table -DNAME=kernels [-DWRITE=ON] -P docs.cmake
# PROGRAM may be a list: the program and its arguments.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
file(READ "${PAGE}" page)
set(begin "<!-- ${NAME}:begin -->\n")
set(end "<!-- ${NAME}:end -->")
string(FIND "${page}" "${begin}" from)
string(FIND "${page}" "${end}" to)
if(from EQUAL -1 OR to LESS from)
  message(FATAL_ERROR "${PAGE} has no '${NAME}' markers")
endif()
string(LENGTH "${begin}" length)
math(EXPR from "${from} + ${length}")
string(SUBSTRING "${page}" 0 ${from} head)
string(SUBSTRING "${page}" ${to} -1 tail)
set(fresh "${head}${table}${tail}")
if(WRITE)
  file(WRITE "${PAGE}" "${fresh}")
elseif(NOT fresh STREQUAL page)
  message(FATAL_ERROR "${PAGE} is stale: run cmake --build build --target docs")
endif()
