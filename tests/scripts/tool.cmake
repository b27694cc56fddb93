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
  set(told "${err}")
  if(NOT out MATCHES "^[{<]" AND NOT "-" IN_LIST ARGN)  # no JSON, SVG or CSV
    string(APPEND told "${out}")
  endif()
  string(REGEX REPLACE "[][;]" "," lines "${told}")
  string(REGEX REPLACE "[^ -~\n]" "" lines "${lines}")  # of drawings: they are counted by bytes
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

# interrupt(WHEN words...): the tool gets the signal (SIGNAL, or INT, as by Ctrl-C) once the shell finds WHEN to be true,
# and must end by itself with 130. What it says goes to out.txt and err.txt in FOLDER. Sets `said`.
function(interrupt when)
  if(NOT SIGNAL)
    set(SIGNAL INT)
  endif()
  execute_process(COMMAND sh -c "\"$@\" >out.txt 2>err.txt & pid=$!
    until ${when} || ! kill -0 $pid; do sleep 0.1; done; sleep 0.5; kill -${SIGNAL} $pid; wait $pid" sh ${WITH} ${DRIVER} ${TOOL} ${ARGN}
    WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result ERROR_VARIABLE err TIMEOUT 100)
  file(READ ${FOLDER}/out.txt out)
  file(READ ${FOLDER}/err.txt said)
  if(NOT result EQUAL 130)
    message(FATAL_ERROR "vkgemm ${ARGN} ended with ${result}, not 130:\n${out}${said}${err}")
  endif()
  set(said "${out}${said}" PARENT_SCOPE)
endfunction()

# unpack(NAMES...): the parts of `case`, "a@b@c", one for each name.
macro(unpack)
  string(REPLACE "@" ";" case "${case}")
  set(field 0)
  foreach(name ${ARGN})
    list(GET case ${field} ${name})
    math(EXPR field "${field} + 1")
  endforeach()
endmacro()
