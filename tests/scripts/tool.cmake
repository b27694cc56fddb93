# SPDX-License-Identifier: MIT
# What the scripts that run the tool share; WITH, DRIVER, TOOL and FOLDER (emptied here) are given to each.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# run(CODE words...): the tool must end with CODE. Sets `out`, `err`, and `said`, which is both.
function(run code)
  execute_process(COMMAND ${WITH} ${DRIVER} ${TOOL} ${ARGN} WORKING_DIRECTORY ${FOLDER}
    OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result)
  if(NOT result EQUAL code)
    message(FATAL_ERROR "vkgemm ${ARGN} ended with ${result}, not ${code}:\n${out}${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
  set(said "${out}${err}" PARENT_SCOPE)
endfunction()

# expect(TEXT words...): each of the words is in TEXT. By number, since a list would fall apart at semicolons.
function(expect text)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    string(FIND "${text}" "${ARGV${i}}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "'${ARGV${i}}' is not in:\n${text}")
    endif()
  endforeach()
endfunction()
