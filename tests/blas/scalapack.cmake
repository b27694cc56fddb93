# SPDX-License-Identifier: MIT
# examples/scalapack on 4 processes of OpenMPI, one thread each, with libvkgemm_blas.so preloaded. It passes if the
# product is right, each multiplied three times for each of the three runs, on the device, no tile fell back, and C was
# not sent; and if a depth is refused for which PBLAS would need 2^31 bytes.
#   cmake "-DWITH=<tools/with and its arguments>" -DSOURCE=<psgemm.c> -DLIBRARY=<libvkgemm_blas.so> -DWORK=<folder>
#         -P scalapack.cmake
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND mpicc -O2 -o ${WORK}/psgemm ${SOURCE} -lscalapack-openmpi -lm -ldl COMMAND_ERROR_IS_FATAL ANY)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)  # as in a container
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
set(ENV{OPENBLAS_NUM_THREADS} 1)
execute_process(COMMAND mpirun --oversubscribe --bind-to none -n 4
  env LD_PRELOAD=${LIBRARY} VKGEMM_BLAS=always VKGEMM_BLAS_TILE=128 VKGEMM_BLAS_PBLAS=100 VKGEMM_BLAS_DEVICE=rank
  VKGEMM_BLAS_LOG=summary VKGEMM_BLAS_CACHE=off LP_NUM_THREADS=1 ${WITH} ${WORK}/psgemm 300 64
  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE failed TIMEOUT 250)
message("${out}${err}")
string(REGEX MATCHALL ": 9 calls: 9 on the device .llvmpipe" devices "${err}")
list(LENGTH devices count)
string(REGEX MATCHALL "of C 0 bytes were sent to the device, and [1-9]" stayed "${err}")
list(LENGTH stayed stayed_count)
if(failed OR NOT out MATCHES "psgemm 300 on 2x2 processes.*: right" OR NOT count EQUAL 4 OR NOT stayed_count EQUAL 4
  OR err MATCHES "[1-9][0-9]* tiles fell back")
  message(FATAL_ERROR "exit code ${failed}, ${count} of 4 processes on the device, ${stayed_count} without sending C")
endif()

execute_process(COMMAND mpirun --oversubscribe --bind-to none -n 4
  env LD_PRELOAD=${LIBRARY} VKGEMM_BLAS=always VKGEMM_BLAS_PBLAS=32768 ${WITH} ${WORK}/psgemm 32768
  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE failed TIMEOUT 60)
if(NOT failed OR NOT err MATCHES "2 GiB or more for 32768 columns" OR out MATCHES "psgemm 32768 on")
  message(FATAL_ERROR "a depth that PBLAS cannot compute: exit code ${failed}, ${out}${err}")
endif()
