# SPDX-License-Identifier: MIT
# Runs `vkgemm tune` on two tiny problems, loads what it wrote, and has bench follow such rows:
#   cmake -DWITH=<tools/with> -DDRIVER=lavapipe -DTOOL=<vkgemm> -DFOLDER=<to write in> -P tune.cmake
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/tool.cmake)
set(rows ${FOLDER}/rows.txt)

run(0 tune 24x16x8 "i32*i32 16x16x16 bias=col" --budget 12 --out ${rows} --quiet)
expect("${said}" "2 problems tuned")
file(STRINGS ${rows} lines REGEX "^[^#]")
list(LENGTH lines count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "not two rows: ${lines}")
endif()
list(GET lines 1 second)
expect("${second}" "| i32*i32+i32->i32 16x16x16 |")
expect("${second}" "SPLIT=")

# The file loads again; what is in it is not tuned again.
run(0 tune 24x16x8 8x8x8 --budget 8 --out ${rows} --resume --quiet)
expect("${said}" "1 problem tuned")
expect("${said}" "1 had a row")
file(WRITE ${FOLDER}/renamed.txt "llvmpipe | f32*f32+f32->f32 8x8x8 | no_such | BM=1\n")
run(0 tune 8x8x8 --budget 4 --out ${FOLDER}/renamed.txt --resume --quiet)
expect("${said}" "1 problem tuned" "a tuned row is skipped")
set(ENV{VKGEMM_TUNED} ${rows})
run(0 bench 24x16x8 --repeats 1 --quiet)
list(GET lines 0 first)
string(REGEX REPLACE "^.*\\| ([a-z0-9_]+) \\| SPLIT.*$" "\\1" kernel "${first}")
expect("${said}" "${kernel}")

# A row that nobody would choose is followed, a broken one refused by line, a file that is not there by name.
string(REPLACE "${kernel}" "tiled_f32_32x32" injected "${first}")
file(WRITE ${FOLDER}/injected.txt "# by hand\n${injected}\n")
set(ENV{VKGEMM_TUNED} ${FOLDER}/injected.txt)
run(0 bench 24x16x8 --repeats 1 --quiet)
expect("${said}" "tiled_f32_32x32")
file(APPEND ${FOLDER}/injected.txt "llvmpipe | 8x8 | tiled_f32_8x8 |\n")
run(2 bench 24x16x8 --repeats 1 --quiet)
expect("${said}" "injected.txt: tuned rows, line 3:")
run(2 tune 8x8x8 --out ${FOLDER}/injected.txt --resume --quiet)
set(ENV{VKGEMM_TUNED} ${FOLDER}/none.txt)
run(2 bench 24x16x8 --repeats 1 --quiet)
expect("${said}" "none.txt")
