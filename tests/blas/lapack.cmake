# SPDX-License-Identifier: MIT
# LAPACK's own testers of f64 (Debian's liblapack-test), with netlib's BLAS, without libvkgemm_blas.so and with it
# preloaded, when every product is computed on the device. It passes if the same number of tests pass for each path of
# LAPACK, no more fail, many calls were on the device, and no tile fell back.
#   cmake "-DWITH=<tools/with and its arguments>" -DPROGRAMS=<folder> -DLIBRARY=<libvkgemm_blas.so>
#         -DACCURACY=<VKGEMM_BLAS_ACCURACY> -DCPU=<netlib's libblas.so.3> -DWORK=<folder> -P lapack.cmake
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
# Sizes up to 20 and two sizes of blocks in place of sizes up to 50 and five.
file(READ ${PROGRAMS}/dtest.in input)
string(REGEX REPLACE "\n7 +Number of values of M.*Values of NX[^\n]*\n"
  "\n4\n0 1 3 20\n4\n0 1 3 20\n2\n1 5\n2\n1 6\n0 5\n" small "${input}")
if(small STREQUAL input)
  message(FATAL_ERROR "${PROGRAMS}/dtest.in has no lines of sizes")
endif()
file(WRITE ${WORK}/dtest.in "${small}")
set(before "LD_PRELOAD=${LIBRARY} ${CPU}" VKGEMM_BLAS=always VKGEMM_BLAS_MIN=0 VKGEMM_BLAS_LOG=summary
  VKGEMM_BLAS_CACHE=off "VKGEMM_BLAS_ACCURACY=${ACCURACY}" LP_NUM_THREADS=1)
# run(NAME PROGRAM INPUT COMMAND...): sets NAME to the lines of its report about tests, and `log` to its errors.
function(run name program input)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ARGN} ${PROGRAMS}/${program} INPUT_FILE ${input}
    WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE report ERROR_VARIABLE err RESULT_VARIABLE failed)
  file(WRITE ${WORK}/${program}.${name}.txt "${report}${err}")
  string(REGEX MATCHALL "[^\n]*(tests run|tests failed|failed to pass|passed the tests)[^\n]*" lines "${report}")
  list(LENGTH lines count)
  if(failed OR count EQUAL 0)
    message(FATAL_ERROR "${program} ${name}: exit code ${failed}\n${report}${err}")
  endif()
  set(${name} "${lines}" PARENT_SCOPE)
  set(log "${err}" PARENT_SCOPE)
endfunction()
foreach(test "xlintstd:${WORK}/dtest.in" "xeigtstd:${PROGRAMS}/sep.in")
  string(REGEX MATCH "^([^:]+):(.*)$" test "${test}")
  set(program ${CMAKE_MATCH_1})
  set(input ${CMAKE_MATCH_2})
  run(without ${program} ${input} LD_PRELOAD=${CPU})
  run(with ${program} ${input} ${before} ${WITH})
  list(JOIN with "\n" lines)
  message("${program} ${input}:\n${lines}\n${log}")
  if(NOT with STREQUAL without)
    list(JOIN without "\n" lines)
    message(SEND_ERROR "without libvkgemm_blas.so:\n${lines}")
  endif()
  if(NOT log MATCHES "calls: [1-9][0-9][0-9]+ on the device .llvmpipe[^\n]*; 0 tiles fell back")
    message(SEND_ERROR "fewer than 100 calls were on the device, or a tile fell back")
  endif()
  set(wanted "[1-9][0-9]+ products of f64 were computed from products of int8")
  if(ACCURACY STREQUAL f64_split AND NOT log MATCHES "${wanted}")
    message(SEND_ERROR "not found: ${wanted}")
  endif()
endforeach()
