# SPDX-License-Identifier: MIT
# Debian's hpcc, which has HPL in it, on 4 processes of OpenMPI with libvkgemm_blas.so preloaded. It passes if HPL's
# residual does, each process multiplied on the device, and no tile fell back.
#   cmake "-DWITH=<tools/with and its arguments>" -DINPUT=<_hpccinf.txt> -DLIBRARY=<libvkgemm_blas.so> -DWORK=<folder>
#         [-DACCURACY=<VKGEMM_BLAS_ACCURACY>] -P hpcc.cmake
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK})
file(READ ${INPUT} input)
string(REGEX REPLACE "\n1000( +Ns)" "\n200\\1" small "${input}")
if(small STREQUAL input)
  message(FATAL_ERROR "${INPUT} has no line of Ns, 1000")
endif()
file(WRITE ${WORK}/hpccinf.txt "${small}")
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)  # as in a container
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
set(ENV{OPENBLAS_NUM_THREADS} 1)
execute_process(COMMAND mpirun --oversubscribe --bind-to none -n 4
  env LD_PRELOAD=${LIBRARY} VKGEMM_BLAS=always VKGEMM_BLAS_MIN=32 VKGEMM_BLAS_DEVICE=rank VKGEMM_BLAS_LOG=summary
  VKGEMM_BLAS_CACHE=off "VKGEMM_BLAS_ACCURACY=${ACCURACY}" LP_NUM_THREADS=1 ${WITH} /usr/bin/hpcc
  WORKING_DIRECTORY ${WORK} ERROR_VARIABLE err RESULT_VARIABLE failed)
file(READ ${WORK}/hpccoutf.txt out)
string(REGEX MATCHALL "calls: [1-9][0-9]* on the device .llvmpipe" devices "${err}")
list(LENGTH devices count)
message("${err}")
if(failed OR NOT out MATCHES "Ax-b[^\n]* PASSED" OR out MATCHES "FAILED" OR NOT count EQUAL 4
  OR err MATCHES "[1-9][0-9]* tiles fell back")
  message(SEND_ERROR "exit code ${failed}, ${count} of 4 processes on the device, or HPL's residual: ${WORK}/hpccoutf.txt")
endif()
string(REGEX MATCHALL "[1-9][0-9]* products of f64 were computed from products of int8" split "${err}")
list(LENGTH split count)
if(ACCURACY STREQUAL f64_split AND NOT count EQUAL 4)
  message(SEND_ERROR "${count} of 4 processes computed f64 from products of int8")
endif()
