# SPDX-License-Identifier: MIT
# Builds a preset of CMakePresets.json, then runs some of its tests:
#   cmake -DPRESET=clang -DSOURCE=<vkgemm> -DBUILD=<folder> -DSPIRV=<archive> -DCACHE=<folder> [-DTARGETS="..."]
#         [-DTHEN=<tests> -DCTEST=<ctest>] -P preset.cmake
cmake_minimum_required(VERSION 3.24)
function(run)
  list(JOIN ARGV " " words)
  message(STATUS "${words}")
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --preset ${PRESET} -B ${BUILD} -DVKGEMM_PREBUILT_SPIRV=${SPIRV} -DVKGEMM_TESTS_CACHE=${CACHE})
separate_arguments(TARGETS)
if(TARGETS)
  list(PREPEND TARGETS --target)
endif()
run(${CMAKE_COMMAND} --build ${BUILD} ${TARGETS})
if(THEN)
  run(${CTEST} --test-dir ${BUILD} --output-on-failure --no-tests=error -R ${THEN})
endif()
