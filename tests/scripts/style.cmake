# SPDX-License-Identifier: MIT
# Runs clang-format over all sources, or clang-tidy over those of `folders`, and fails if it reports anything:
#   cmake -DTOOL=format|tidy -DSOURCE=<vkgemm> [-DBUILD=<a build>] [-DFOLDERS=<regular expression>] -P style.cmake
# FOLDERS: only those that it matches, as '^blas$|^src/'.
cmake_minimum_required(VERSION 3.24)
# Those whose sources the build compiles for the host; clang-tidy reads the headers of shaders/, native/ and include/
# through these. Not read: device code (.cu, .cuh: there may be no nvcc), src/spirv, tests, and what this build does not
# compile: bench.cpp, prompts.cpp, hook_cost.cpp and psgemm.c need headers of ggml, llama.cpp or MPI, and recorded.cpp is
# compiled by hand.
set(folders src/plan src/vk src/host blas integrations/ggml tools/fit tools/vkgemm examples)
set(files)
foreach(folder src include blas integrations native tools examples tests)
  file(GLOB_RECURSE some ${SOURCE}/${folder}/*.cpp ${SOURCE}/${folder}/*.c ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.hpp
    ${SOURCE}/${folder}/*.cu ${SOURCE}/${folder}/*.cuh)
  if(NOT some)
    message(FATAL_ERROR "no sources below ${SOURCE}/${folder}")
  endif()
  list(APPEND files ${some})
endforeach()
if(TOOL STREQUAL "format")
  execute_process(COMMAND clang-format --dry-run -Werror ${files} WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed)
else()
  # Commands of single files, which the main build may not have, because it compiles several at once.
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD}/tidy -G Ninja -DCMAKE_UNITY_BUILD=OFF
    -DVKGEMM_TESTS=OFF OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  # The headers that the build writes: their own commands, because ninja would compile all shaders of the library first.
  execute_process(COMMAND ninja -C ${BUILD}/tidy -t targets rule CUSTOM_COMMAND OUTPUT_VARIABLE made
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" made "${made}")
  list(FILTER made INCLUDE REGEX "^(integrations|examples)/.*\\.inc$|^tools/commit\\.h$")
  execute_process(COMMAND ninja -C ${BUILD}/tidy -t commands -s ${made} OUTPUT_VARIABLE commands
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" " || exit 1\n" commands "${commands}")
  file(WRITE ${BUILD}/tidy/headers.sh "${commands}")
  execute_process(COMMAND sh ${BUILD}/tidy/headers.sh COMMAND_ERROR_IS_FATAL ANY)

  # The files of a folder and a target as one, because clang-tidy spends most of its time in headers. Not those that
  # need commands of their own (volk's declarations of Vulkan, a main() or the name of another file's), nor C.
  file(STRINGS ${BUILD}/tidy/compile_commands.json commands REGEX "^ *\"command\": ")
  file(STRINGS ${BUILD}/tidy/compile_commands.json files REGEX "^ *\"file\": ")
  list(TRANSFORM files REPLACE "^ *\"file\": \"([^\"]*)\".*" "\\1")
  set(compiled ${files})
  list(REMOVE_DUPLICATES compiled)
  list(FILTER compiled EXCLUDE REGEX "^${BUILD}|/volk\\.c$|/libraries\\.cpp$")  # generated, and other people's code
  set(units)  # what clang-tidy reads
  set(entries)  # of a database of them: joined files have the command of their first one
  set(separator)
  foreach(folder IN LISTS folders)
    if(FOLDERS AND NOT folder MATCHES "${FOLDERS}")
      continue()
    endif()
    set(all ${compiled})
    list(FILTER all INCLUDE REGEX "^${SOURCE}/${folder}/")
    if(NOT all)
      message(FATAL_ERROR "no sources below ${SOURCE}/${folder}")
    endif()
    foreach(file IN LISTS all)
      list(FIND files ${file} at)
      list(GET commands ${at} command)
      set(unit ${file})
      if(NOT file MATCHES "\\.c$|/examples/|/blas/settings\\.cpp$|/compute_pipeline\\.cpp$")
        string(REGEX MATCH "CMakeFiles/([^/]+)\\.dir/" matched "${command}")
        set(unit ${BUILD}/tidy/${folder}/${CMAKE_MATCH_1}.cpp)
      endif()
      if(NOT unit IN_LIST units)
        list(APPEND units ${unit})
        string(REPLACE ${file} ${unit} command "${command}")
        string(APPEND entries "${separator}{\"directory\": \"${BUILD}/tidy\",\n${command}\n\"file\": \"${unit}\"}")
        set(separator ",\n")
        set(text_of_${unit})
      endif()
      string(APPEND text_of_${unit} "#include \"${file}\"  // NOLINT\n")
    endforeach()
  endforeach()
  foreach(unit IN LISTS units)
    if(unit MATCHES "^${BUILD}")
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text_of_${unit}}" @ONLY)
    endif()
  endforeach()
  file(WRITE ${BUILD}/tidy/joined/compile_commands.json "[\n${entries}\n]\n")
  execute_process(COMMAND clang-tidy --quiet -p ${BUILD}/tidy/joined --warnings-as-errors=* ${units}
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed ERROR_VARIABLE noise)
endif()
if(failed)
  message(FATAL_ERROR "clang-${TOOL} complains")
endif()
