# SPDX-License-Identifier: MIT
# Runs clang-format over all sources, or clang-tidy over src/plan, src/vk and src/host, and fails if it reports
# anything:
#   cmake -DTOOL=format|tidy -DSOURCE=<vkgemm> [-DBUILD=<with compile_commands.json>] -P style.cmake
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
  execute_process(COMMAND clang-tidy --quiet -p ${BUILD} --warnings-as-errors=* ${layers}
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed ERROR_VARIABLE noise)
endif()
if(failed)
  message(FATAL_ERROR "clang-${TOOL} complains")
endif()
