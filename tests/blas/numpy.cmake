# SPDX-License-Identifier: MIT
# NumPy's own tests of linear algebra, einsum and dot, or SciPy's of BLAS, solving and factors, without
# libvkgemm_blas.so and with it preloaded, when every product is computed on the device. It passes if the same tests
# pass, many calls were on the device, and no tile fell back.
#   cmake "-DWITH=<tools/with and its arguments>" -DPYTHON=<python3> -DLIBRARY=<libvkgemm_blas.so> -DWORK=<folder>
#         [-DACCURACY=<VKGEMM_BLAS_ACCURACY>] [-DSCIPY=ON] -P numpy.cmake
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(ENV{OPENBLAS_NUM_THREADS} 1)
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
# Left out: those that take most of the time (NumPy marks them as slow; of these, the ones of solve remain), vectors of
# 2^31 elements, and what is not linear algebra in test_multiarray.py. Without conftest.py hypothesis is not needed.
set(chosen "not huge and (TestSolve or not generalized)")
string(APPEND chosen " and (not multiarray or Dot or Matmul or Inner or Vdot)")
set(modules numpy.linalg numpy.core.tests.test_einsum numpy.core.tests.test_multiarray)
if(SCIPY)
  set(chosen "test")
  set(modules test_blas test_fblas test_basic test_decomp_cholesky test_solvers)
  list(TRANSFORM modules PREPEND scipy.linalg.tests.)
endif()
set(pytest -m pytest -q -rA --tb=short --noconftest -p no:cacheprovider -k ${chosen} --pyargs ${modules})
# run(NAME COMMAND...): sets NAME to the tests that passed, and `report` and `log` to what was printed.
function(run name)
  execute_process(COMMAND ${ARGN} ${PYTHON} ${pytest} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE report
    ERROR_VARIABLE log RESULT_VARIABLE failed)
  file(WRITE ${WORK}/${name}.txt "${report}${log}")
  string(REGEX MATCHALL "\nPASSED [^\n]+" passed "${report}")
  list(SORT passed)
  list(LENGTH passed count)
  message("${name}: ${count} tests passed; exit code ${failed}; the report: ${WORK}/${name}.txt")
  if(NOT failed MATCHES "^[01]$" OR count LESS 100)  # 1: a test failed
    message(FATAL_ERROR "${report}${log}")
  endif()
  set(${name} "${passed}" PARENT_SCOPE)
  set(log "${log}" PARENT_SCOPE)
endfunction()
run(without)
run(with ${CMAKE_COMMAND} -E env LD_PRELOAD=${LIBRARY} VKGEMM_BLAS=always VKGEMM_BLAS_MIN=0 VKGEMM_BLAS_LOG=summary
  VKGEMM_BLAS_CACHE=off "VKGEMM_BLAS_ACCURACY=${ACCURACY}" LP_NUM_THREADS=1 ${WITH})
message("${log}")
foreach(test IN LISTS without)
  if(NOT test IN_LIST with)
    message(SEND_ERROR "passes only without libvkgemm_blas.so: ${test}")
  endif()
endforeach()
foreach(test IN LISTS with)
  if(NOT test IN_LIST without)
    message(SEND_ERROR "passes only with libvkgemm_blas.so: ${test}")
  endif()
endforeach()
if(NOT log MATCHES "calls: [1-9][0-9][0-9][0-9][0-9]+ on the device .llvmpipe[^\n]*; 0 tiles fell back")
  message(SEND_ERROR "fewer than 10000 calls were on the device, or a tile fell back")
endif()
set(wanted "[1-9][0-9][0-9]+ products of f64 were computed from products of int8")
if(ACCURACY STREQUAL f64_split AND NOT log MATCHES "${wanted}")
  message(SEND_ERROR "not found: ${wanted}")
endif()
