# SPDX-License-Identifier: MIT
# Runs clang-format over all sources, or clang-tidy over src/plan, src/vk, src/host and integrations/ggml, and fails if it
# reports anything:
#   cmake -DTOOL=format|tidy -DSOURCE=<vkgemm> [-DBUILD=<a build>] [-DFOLDERS=<regular expression>] -P style.cmake
# FOLDERS: clang-tidy reads those of all folders with C++ that it matches, as '^blas|^tools/', which are not mended yet.
cmake_minimum_required(VERSION 3.24)
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
  # The headers that the build writes.
  execute_process(COMMAND ninja -C ${BUILD}/tidy -t targets rule CUSTOM_COMMAND OUTPUT_VARIABLE made
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" made "${made}")
  list(FILTER made INCLUDE REGEX "^(integrations|examples)/.*\\.inc$|^tools/commit\\.h$")
  execute_process(COMMAND ninja -C ${BUILD}/tidy ${made} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

  # The files of a folder as one, because clang-tidy spends most of its time in headers. Not those that need commands of
  # their own (volk's declarations of Vulkan, a main() or the name of another file's), nor C.
  file(STRINGS ${BUILD}/tidy/compile_commands.json commands REGEX "^ *\"command\": ")
  file(STRINGS ${BUILD}/tidy/compile_commands.json files REGEX "^ *\"file\": ")
  list(TRANSFORM files REPLACE "^ *\"file\": \"([^\"]*)\".*" "\\1")
  set(compiled ${files})
  list(REMOVE_DUPLICATES compiled)
  list(FILTER compiled EXCLUDE REGEX "^${BUILD}|/volk\\.c$|/libraries\\.cpp$")  # generated, and other people's code
  set(layers)
  set(entries)  # of a database for the joined files: each has the command of its folder's first file
  if(NOT FOLDERS)
    set(FOLDERS "^src/|^integrations/")
  endif()
  foreach(folder src/plan src/vk src/host blas integrations/ggml tools/fit tools/vkgemm/baselines tools/vkgemm/cli
      tools/vkgemm/commands tools/vkgemm/measure tools/vkgemm/report tools/vkgemm/trace examples)
    if(NOT folder MATCHES "${FOLDERS}")
      continue()
    endif()
    set(all ${compiled})
    list(FILTER all INCLUDE REGEX "^${SOURCE}/${folder}/")
    if(NOT all)
      message(FATAL_ERROR "no sources below ${SOURCE}/${folder}")
    endif()
    set(alone ${all})
    list(FILTER alone INCLUDE REGEX "\\.c$|/examples/|/blas/settings\\.cpp$|/compute_pipeline\\.cpp$")
    list(REMOVE_ITEM all ${alone})
    foreach(file IN LISTS alone all)
      list(FIND files ${file} at)
      list(GET commands ${at} command)
      if(file IN_LIST alone)
        list(APPEND layers ${file})
        string(APPEND entries "${separator}{\"directory\": \"${BUILD}/tidy\",\n${command}\n\"file\": \"${file}\"}")
      else()
        set(joined ${BUILD}/tidy/${folder}/all.cpp)
        string(REPLACE ${file} ${joined} command "${command}")
        list(APPEND layers ${joined})
        string(APPEND entries "${separator}{\"directory\": \"${BUILD}/tidy\",\n${command}\n\"file\": \"${joined}\"}")
      endif()
      set(separator ",\n")
      if(NOT file IN_LIST alone)
        break()
      endif()
    endforeach()
    if(all)
      list(TRANSFORM all REPLACE "(.+)" "#include \"\\1\"  // NOLINT\n")
      list(JOIN all "" text)
      file(CONFIGURE OUTPUT ${BUILD}/tidy/${folder}/all.cpp CONTENT "${text}")
    endif()
  endforeach()
  file(WRITE ${BUILD}/tidy/joined/compile_commands.json "[\n${entries}\n]\n")
  execute_process(COMMAND clang-tidy --quiet -p ${BUILD}/tidy/joined --warnings-as-errors=* ${layers}
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed ERROR_VARIABLE noise)
endif()
if(failed)
  message(FATAL_ERROR "clang-${TOOL} complains")
endif()
