# SPDX-License-Identifier: MIT
# examples/scalapack on 4 processes of OpenMPI, one thread each, with libvkgemm_blas.so preloaded. It passes if the
# product is right, each multiplied three times for each of the three runs, on the device, no tile fell back, and C was
# not sent; if broadcasts read from other processes where they may, and go through MPI where they may not; and if a
# depth is refused for which PBLAS would need 2^31 bytes.
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
  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE failed)
message("${out}${err}")
string(REGEX MATCHALL ": 9 calls: 9 on the device .llvmpipe" devices "${err}")
list(LENGTH devices count)
string(REGEX MATCHALL "of C 0 bytes were sent to the device, and [1-9]" stayed "${err}")
list(LENGTH stayed stayed_count)
if(failed OR NOT out MATCHES "psgemm 300 on 2x2 processes.*: right" OR NOT count EQUAL 4 OR NOT stayed_count EQUAL 4
  OR err MATCHES "[1-9][0-9]* tiles fell back")
  message(FATAL_ERROR "exit code ${failed}, ${count} of 4 processes on the device, ${stayed_count} without sending C")
endif()

# In rows of three processes each broadcasts 700 columns to two; then where the system does not let one of them read.
file(WRITE ${WORK}/refuse.c "#include <stdlib.h>\nlong process_vm_readv(void) { return -1; }\n")
execute_process(COMMAND mpicc -shared -fPIC -o ${WORK}/refuse.so ${WORK}/refuse.c COMMAND_ERROR_IS_FATAL ANY)
set(each env VKGEMM_BLAS=always VKGEMM_BLAS_PBLAS=700 VKGEMM_BLAS_LOG=summary VKGEMM_BLAS_CACHE=off LP_NUM_THREADS=1
  VKGEMM_BLAS_BROADCAST=direct)
foreach(refuses "" ${WORK}/refuse.so)
  execute_process(COMMAND mpirun --oversubscribe --bind-to none
    -n 2 ${each} LD_PRELOAD=${LIBRARY} ${WITH} ${WORK}/psgemm 2100 100 1 :
    -n 1 ${each} "LD_PRELOAD=${refuses} ${LIBRARY}" ${WITH} ${WORK}/psgemm 2100 100 1
    OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE failed)
  message("${out}${err}")
  string(REGEX MATCHALL ": 6 matrices of BLACS were read" read "${err}")
  list(LENGTH read count)
  set(wanted 3)
  if(refuses)  # it broadcasts, and the others read
    set(wanted 0)
    string(REGEX MATCHALL ": 3 matrices of BLACS were read" read "${err}")
    list(LENGTH read others)
  endif()
  if(failed OR NOT out MATCHES "psgemm 2100 on 1x3 processes.*: right" OR NOT count EQUAL wanted
    OR (refuses AND NOT others EQUAL 2))
    message(FATAL_ERROR "exit code ${failed}, ${count} of ${wanted} processes read from others")
  endif()
endforeach()

execute_process(COMMAND mpirun --oversubscribe --bind-to none -n 4
  env LD_PRELOAD=${LIBRARY} VKGEMM_BLAS=always VKGEMM_BLAS_PBLAS=32768 ${WITH} ${WORK}/psgemm 32768
  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE failed)
if(NOT failed OR NOT err MATCHES "2 GiB or more for 32768 columns" OR out MATCHES "psgemm 32768 on")
  message(FATAL_ERROR "a depth that PBLAS cannot compute: exit code ${failed}, ${out}${err}")
endif()
