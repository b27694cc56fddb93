# SPDX-License-Identifier: MIT
# What the scripts that run the tool share; WITH, DRIVER, TOOL and FOLDER (emptied here) are given to each.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# run(CODE words...): the tool must end with CODE, and what it says must fit. Sets `out`, `err`, and `said`, which is both.
function(run code)
  execute_process(COMMAND ${WITH} ${DRIVER} ${TOOL} ${ARGN} WORKING_DIRECTORY ${FOLDER}
    OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result)
  if(NOT result EQUAL code)
    message(FATAL_ERROR "vkgemm ${ARGN} ended with ${result}, not ${code}:\n${out}${err}")
  endif()
  string(REGEX REPLACE "[][;]" "," lines "${err}")
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    string(LENGTH "${line}" columns)
    if(columns GREATER 100 AND line MATCHES "[^ ] ")
      message(FATAL_ERROR "vkgemm ${ARGN} says more than fits into 100 columns:\n${line}")
    endif()
  endforeach()
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
  set(said "${out}${err}" PARENT_SCOPE)
endfunction()

# expect(TEXT words...): each of the words is in TEXT, a sentence perhaps broken into lines. By number, since a list would
# fall apart at semicolons.
function(expect text)
  string(REGEX REPLACE "\n +" " " unbroken "${text}")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    string(FIND "${text}\n${unbroken}" "${ARGV${i}}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "'${ARGV${i}}' is not in:\n${text}")
    endif()
  endforeach()
endfunction()
