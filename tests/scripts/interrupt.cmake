# SPDX-License-Identifier: MIT
# Ctrl-C while bench, ladder and tune work: they end with 130, and what they found until then is in whole files.
#   cmake -DWITH=<tools/with> -DDRIVER=lavapipe -DTOOL=<vkgemm> -DFOLDER=<to write in> -P interrupt.cmake
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/tool.cmake)

# expect_cut_short(FILE): JSON that says so; nothing half-made lies beside it. Sets `text`.
function(expect_cut_short file)
  file(READ ${FOLDER}/${file} text)
  string(JSON interrupted GET "${text}" interrupted)
  if(NOT interrupted OR EXISTS ${FOLDER}/${file}.partial)
    message(FATAL_ERROR "not cut short in good order:\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

interrupt("grep -q panel out.txt" bench 16x16x16 512x512x512 --kernel cpu_f32_32x32 --repeats 100000 --json bench.json
  --csv bench.csv --plot bench.svg)
expect("${said}" "interrupted; what was measured until then is kept")
expect_cut_short(bench.json)
string(JSON runs LENGTH "${text}" cases 0 samples)
if(NOT runs EQUAL 100000)
  message(FATAL_ERROR "the first problem had its time, and has ${runs} samples")
endif()
file(READ ${FOLDER}/bench.svg said)
expect("${said}" "</svg>")
run(0 bench --from bench.json)

set(SIGNAL HUP)  # a terminal that goes away is no other end
interrupt("test -e ladder.json.partial && sleep 3" ladder --size 128 --json ladder.json)
if(NOT said MATCHES "interrupted before anything was measured")  # as on a machine that is slow
  expect_cut_short(ladder.json)
endif()
set(SIGNAL)

interrupt("grep -qs '| [a-z]' rows.txt" tune "f16*f16+f16 16x16x16" 512x512x512 --budget 90 --out rows.txt)
expect("${said}" "interrupted; what was tuned until then is kept")
file(STRINGS ${FOLDER}/rows.txt rows REGEX "^[^#]")
expect("${rows}" "| f16*f16+f16->f16 16x16x16 |")
set(ENV{VKGEMM_TUNED} ${FOLDER}/rows.txt)
run(0 explain "f16*f16+f16 16x16x16")

# Before anything is known the old file stays.
file(WRITE ${FOLDER}/kept.json "old")
interrupt("test -e kept.json.partial" bench 2048x2048x2048 --json kept.json)
expect("${said}" "interrupted before anything was measured; no file is written")
file(READ ${FOLDER}/kept.json kept)
if(NOT kept STREQUAL old OR EXISTS ${FOLDER}/kept.json.partial)
  message(FATAL_ERROR "the old result is gone: ${kept}")
endif()
