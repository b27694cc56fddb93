# SPDX-License-Identifier: MIT
# Runs a tester of netlib's BLAS (Debian's libblas-test) with libvkgemm_blas.so preloaded, and reads its report:
#   cmake "-DWITH=<tools/with and its arguments>" -DPROGRAM=<xblat3s> -DINPUT=<sblat3.in> "-DSIZES=0 1 9" -DDEVICE=<calls>
#         -DTILE=<VKGEMM_BLAS_TILE> -DLIBRARY=<libvkgemm_blas.so> -DWORK=<folder> -P blas_tester.cmake
# It passes if the tester passes its gemm, DEVICE calls were computed on the device, no tile fell back, and the
# validation layer was silent.
cmake_minimum_required(VERSION 3.24)
file(READ ${INPUT} input)
string(REGEX MATCHALL "[0-9]+" count "${SIZES}")
list(LENGTH count count)
set(changed "${count}     NUMBER OF VALUES OF N\n${SIZES}     VALUES OF N")
string(REGEX REPLACE "[0-9]+ +NUMBER OF VALUES OF N *\n[0-9 ]+ VALUES OF N" "${changed}" input "${input}")
string(FIND "${input}" "${changed}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${INPUT} has no line of the values of N")
endif()
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/input "${input}")
set(ENV{VKGEMM_BLAS} always)
set(ENV{VKGEMM_BLAS_LOG} summary)
set(ENV{VKGEMM_BLAS_TILE} ${TILE})
execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=${LIBRARY} ${WITH} ${PROGRAM} INPUT_FILE ${WORK}/input
  WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE report ERROR_VARIABLE log COMMAND_ERROR_IS_FATAL ANY)
file(GLOB reports ${WORK}/*.out)  # Fortran's testers write their report into a file, those of CBLAS print it
foreach(file IN LISTS reports)
  file(READ ${file} more)
  string(APPEND report "${more}")
endforeach()
message("${report}${log}")
foreach(wanted "(GEMM|gemm) +PASSED THE TESTS OF ERROR-EXITS" "(GEMM|gemm) +PASSED THE [A-Z -]*COMPUTATIONAL TESTS"
    "vkgemm_blas: [0-9]+ calls: ${DEVICE} on the device .*; 0 tiles fell back")
  if(NOT "${report}${log}" MATCHES "${wanted}")
    message(SEND_ERROR "not found: ${wanted}")
  endif()
endforeach()
if("${report}${log}" MATCHES "FAIL|SUSPECT|FATAL|VUID|Validation (Error|Warning)")
  message(SEND_ERROR "found: ${CMAKE_MATCH_0}")
endif()
