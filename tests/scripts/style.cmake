# SPDX-License-Identifier: MIT
# Runs clang-format over all sources, or clang-tidy over src/plan, src/vk and src/host, and fails if it reports
# anything:
#   cmake -DTOOL=format|tidy -DSOURCE=<vkgemm> [-DBUILD=<a build>] -P style.cmake
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
    -DVKGEMM_TESTS=OFF -DVKGEMM_EXAMPLES=OFF OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  set(layers)  # each folder of the library as one file, because clang-tidy spends most of its time in headers
  foreach(layer plan vk host)
    set(all ${files})
    list(FILTER all INCLUDE REGEX "/src/${layer}/.*\\.cpp$")
    if(NOT all)
      message(FATAL_ERROR "no sources below ${SOURCE}/src/${layer}")
    endif()
    list(TRANSFORM all REPLACE "(.+)" "#include \"\\1\"  // NOLINT\n")
    list(JOIN all "" text)
    file(CONFIGURE OUTPUT ${BUILD}/tidy/src/${layer}/all.cpp CONTENT "${text}")
    list(APPEND layers ${BUILD}/tidy/src/${layer}/all.cpp)
  endforeach()
  execute_process(COMMAND clang-tidy --quiet -p ${BUILD}/tidy --warnings-as-errors=* ${layers}
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed ERROR_VARIABLE noise)
endif()
if(failed)
  message(FATAL_ERROR "clang-${TOOL} complains")
endif()
