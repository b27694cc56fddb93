# SPDX-License-Identifier: MIT
# What libvkgemm_blas.so keeps between processes. WITH: tools/with and its arguments; PROGRAM: matmul.py; LIBRARY; CPU:
# the CPU BLAS; WORK: a folder.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
function(multiply wanted)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=${LIBRARY} XDG_CACHE_HOME=${WORK} VKGEMM_BLAS_LOG=summary
    VKGEMM_BLAS_DEVICE=llvmpipe VKGEMM_BLAS_CPU=${CPU} ${WITH} /usr/bin/python3 ${PROGRAM} 4
    RESULT_VARIABLE failed OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(failed OR NOT out MATCHES "equal" OR NOT err MATCHES "f32 of the device${wanted}: ")
    message(FATAL_ERROR "wanted \"${wanted}\": ${out}${err}")
  endif()
endfunction()
multiply("")
file(GLOB files ${WORK}/vkgemm/*)
set(names ${files})
list(TRANSFORM names REPLACE ".*/|-[0-9a-f]*$" "")
if(NOT names STREQUAL "pipelines;rates_f32;rates_f64")
  message(FATAL_ERROR "kept: ${files}")
endif()
multiply(", kept")
foreach(file IN LISTS files)
  file(APPEND ${file} "more")
endforeach()
multiply("")
multiply(", kept")
