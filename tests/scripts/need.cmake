# SPDX-License-Identifier: MIT
# Runs a command if the programs that it needs are there, which is looked up now and not when the build was configured:
#   cmake -DTOOLS=clang++,clang-tidy -P need.cmake -- COMMAND ARGUMENTS...
# Else it prints "skipped: ", which ctest counts as skipped. A tool that VKGEMM_TESTS_EXPECT names (the words are those
# that tools/test has installed) must be there: then a missing one is a failure.
cmake_minimum_required(VERSION 3.24)
string(REPLACE "," ";" tools "${TOOLS}")
separate_arguments(expected UNIX_COMMAND "$ENV{VKGEMM_TESTS_EXPECT}")
foreach(tool IN LISTS tools)
  unset(found)
  if(IS_ABSOLUTE ${tool})  # a file of the package, which need not be a program
    file(GLOB found ${tool})
  else()
    find_program(found ${tool} NO_CACHE)
  endif()
  if(found)
    continue()
  elseif(tool IN_LIST expected)
    message(FATAL_ERROR "tools/test installed ${tool}, and it is not there; PATH: $ENV{PATH}")
  endif()
  message("skipped: ${tool} is not installed")
  return()
endforeach()
set(command)
set(own TRUE)
foreach(i RANGE 1 ${CMAKE_ARGC})
  if(NOT own AND i LESS CMAKE_ARGC)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(own FALSE)
  endif()
endforeach()
execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
