# SPDX-License-Identifier: MIT
# ScaLAPACK's own testers (Debian's scalapack-mpi-test) on 4 processes of OpenMPI with libvkgemm_blas.so preloaded, when
# every product is computed on the device. It passes if all of their tests do, each process multiplied on the device,
# and no tile fell back.
#   cmake "-DWITH=<tools/with and its arguments>" -DPROGRAMS=<folder> -DLIBRARY=<libvkgemm_blas.so> -DWORK=<folder>
#         "-DTESTS=xslu;spb3tst" -P scalapack_tests.cmake
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK})
file(GLOB inputs ${PROGRAMS}/*.dat ${PROGRAMS}/PBLAS/*.dat)
foreach(input IN LISTS inputs)
  file(COPY ${input} DESTINATION ${WORK} FOLLOW_SYMLINK_CHAIN)
endforeach()
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)  # as in a container
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
set(ENV{OPENBLAS_NUM_THREADS} 1)
foreach(test IN LISTS TESTS)
  file(GLOB program ${PROGRAMS}/${test} ${PROGRAMS}/PBLAS/${test})
  execute_process(COMMAND mpirun --oversubscribe --bind-to none -n 4
    env LD_PRELOAD=${LIBRARY} VKGEMM_BLAS=always VKGEMM_BLAS_DEVICE=rank VKGEMM_BLAS_LOG=summary VKGEMM_BLAS_CACHE=off
    LP_NUM_THREADS=1 ${WITH} ${program}
    WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE failed)
  file(WRITE ${WORK}/${test}.txt "${out}${err}")
  string(REGEX MATCHALL "check: P[A-Z0-9]+ +PASSED" passed "${out}")  # of PBLAS: a line for each
  list(LENGTH passed passed)
  if(out MATCHES "([0-9]+) tests completed and passed residual checks")
    set(passed ${CMAKE_MATCH_1})
  endif()
  string(REGEX MATCHALL "calls: [1-9][0-9]* on the device .llvmpipe" devices "${err}")
  list(LENGTH devices devices)
  message("${test}: ${passed} tests passed, ${devices} of 4 processes on the device\n${err}")
  if(failed OR passed LESS 200 OR NOT devices EQUAL 4 OR out MATCHES "check: P[A-Z0-9]+ +FAILED"
    OR out MATCHES "[1-9][0-9]* tests completed and failed" OR err MATCHES "[1-9][0-9]* tiles fell back")
    message(SEND_ERROR "${test}: exit code ${failed}; the report: ${WORK}/${test}.txt")
  endif()
endforeach()
