# SPDX-License-Identifier: MIT
# A Fortran program with 64-bit integers, linked against the library, over a CPU BLAS with 64-bit integers.
#   cmake "-DWITH=<tools/with and its arguments>" -DSOURCE=<ilp64.f90> -DLIBRARY=<libvkgemm_blas.so> -DCPU=<the BLAS>
#         -DWORK=<folder> -P ilp64.cmake
cmake_minimum_required(VERSION 3.24)
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND gfortran -O1 -fdefault-integer-8 -o ${WORK}/ilp64 ${SOURCE} ${LIBRARY}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env VKGEMM_BLAS_ILP64=1 VKGEMM_BLAS=always VKGEMM_BLAS_TILE=16
  VKGEMM_BLAS_PANEL=8 VKGEMM_BLAS_CACHE=off VKGEMM_BLAS_LOG=calls VKGEMM_BLAS_CPU=${CPU} ${WITH} ${WORK}/ilp64
  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE failed)
message("${out}${err}")
foreach(call "sgemm NT 30x30x30" "dgemm TN 30x30x30" "dsyrk .*30x30x30" "dgesv 30x30x3")
  if(NOT err MATCHES "${call} on the device")
    message(FATAL_ERROR "not on the device: ${call}")
  endif()
endforeach()
if(failed OR NOT out MATCHES "right" OR NOT err MATCHES " 0 tiles fell back")
  message(FATAL_ERROR "exit code ${failed}")
endif()
