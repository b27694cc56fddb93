# SPDX-License-Identifier: MIT
# Checks that a library exports the names in a file and no others, one a line:
#   cmake -DLIBRARY=<file> -DWANTED=<file> -P symbols.cmake
cmake_minimum_required(VERSION 3.24)
execute_process(COMMAND nm -D --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "([^ \n]+) [^\n]*" "\\1" found "${found}")
string(STRIP "${found}" found)
string(REPLACE "\n" ";" found "${found}")
file(STRINGS ${WANTED} wanted)
foreach(name IN LISTS found)
  if(NOT name IN_LIST wanted)
    message(SEND_ERROR "${LIBRARY} exports ${name}, which ${WANTED} does not list")
  endif()
endforeach()
foreach(name IN LISTS wanted)
  if(NOT name IN_LIST found)
    message(SEND_ERROR "${LIBRARY} does not export ${name}")
  endif()
endforeach()
