# SPDX-License-Identifier: MIT
# Runs clang-format or clang-tidy over our sources, all of them, and fails at the first complaint:
#   cmake -DTOOL=format|tidy -DSOURCE=<vkgemm> [-DBUILD=<with compile_commands.json>] -P style.cmake
cmake_minimum_required(VERSION 3.24)
set(files)
foreach(folder src include tests tools examples)
  file(GLOB_RECURSE some ${SOURCE}/${folder}/*.cpp ${SOURCE}/${folder}/*.c ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.hpp)
  list(APPEND files ${some})
endforeach()
list(LENGTH files count)
if(count LESS 60)
  message(FATAL_ERROR "only ${count} sources below ${SOURCE}")
endif()
if(TOOL STREQUAL "format")
  execute_process(COMMAND clang-format --dry-run -Werror ${files} WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed)
else()
  list(FILTER files INCLUDE REGEX "/src/(plan|vk|host)/.*\\.cpp$")  # what the library is made of
  execute_process(COMMAND clang-tidy --quiet -p ${BUILD} --warnings-as-errors=* ${files}
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed ERROR_VARIABLE noise)
endif()
if(failed)
  message(FATAL_ERROR "clang-${TOOL} complains")
endif()
