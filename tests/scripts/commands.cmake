# SPDX-License-Identifier: MIT
# The promises of the command line: exit codes, where output goes, how words that are wrong are answered.
#   cmake -DWITH=tools/with -DDRIVER=lavapipe -DCOMPILER=radv:navi31 -DTOOL=build/vkgemm -DFOLDER=<to write in>
#     -P commands.cmake
# COMPILER: a driver that tells of its pipelines; empty: none is here.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/tool.cmake)

function(expect_empty text)
  if(NOT text STREQUAL "")
    message(FATAL_ERROR "this should be empty:\n${text}")
  endif()
endfunction()
# expect_json(TEXT VALUE MEMBER...): TEXT is one JSON object, with that value.
function(expect_json text value)
  string(JSON got GET "${text}" ${ARGN})
  if(NOT got STREQUAL value)
    message(FATAL_ERROR "${ARGN} is '${got}', not '${value}'")
  endif()
endfunction()

# expect_picture(TEXT): it is one SVG, whole.
function(expect_picture text)
  if(NOT text MATCHES "^<svg .*</svg>\n?$")
    message(FATAL_ERROR "this should be a picture alone:\n${text}")
  endif()
endfunction()

# 2: words that nobody knows get the nearest one, and standard output stays empty.
run(2)
expect("${err}" "usage: vkgemm COMMAND")
expect_empty("${out}")
foreach(case "explian 8x8x8@did you mean 'explain'" "explain --kernl x@did you mean '--kernel'"
    "explain 8x8x8 --kernel naive_f32_8x9@did you mean 'naive_f32_8x8'" "bench --suite clasic@did you mean 'classic'"
    "explain@PROBLEM is missing" "explain f16*f16 8x8x8@in quotes" "bench --min-time soon@takes a number from 0"
    "bench --repeats 0@takes a whole number from 1" "explain --json@--json wants FILE" "inspect@what is to be inspected"
    "inspect --kernel all --tile BM=8@--tile is for one kernel" "kernels --color red@auto, always or never"
    "inspect --kernel naive_f32_8x8 --json - --asm -@both want standard output"
    "ladder --json - --plot -@--json - and --plot - both want standard output"
    "bench 8x8x8 --json - --csv -@--json - and --csv - both want standard output"
    "help@did you mean '--help'" "ladder 8x8x8@did you mean '--shape 8x8x8'" "bench --from x.json 8x8x8@exclude one another"
    "bench 8x8x8 --vs openblas,openblas@--vs names a library twice" "bench 8x8x8 --tile BM=x --json kept.json@not 'x'"
    "check --seed -1@from 0" "tune 8x8x8 --resume --out none/none.txt@cannot write"
    "bench 8x8x8 --csv - --plot -@--csv - and --plot - both want standard output"
    "bench --from none.json --csv - --plot -@both want standard output"
    "bench 8x8x8 --json x --csv ./x@--json x and --csv ./x name the same file"
    "bench --from none.json --device nobody@--from computes on no device"
    "bench --from none.json --validate@--from computes on no device"
    "devices --device nobody@devices lists all of them" "devices --validate@devices lists all of them"
    "tune 8x8x8 --budget 0@takes a number from 0.1"
    "explain 8x8x8 --json ${FOLDER}/none/x.json@cannot write")
  string(REPLACE "@" ";" case "${case}")
  list(POP_BACK case words)
  separate_arguments(case UNIX_COMMAND "${case}")
  run(2 ${case})
  expect("${err}" "${words}")
  expect_empty("${out}")
endforeach()
if(EXISTS ${FOLDER}/kept.json)
  message(FATAL_ERROR "words that are wrong made a file")
endif()
execute_process(COMMAND ${WITH} ${DRIVER} ${TOOL} bench 8x8x8 --json "" ERROR_VARIABLE err OUTPUT_VARIABLE out
  RESULT_VARIABLE code WORKING_DIRECTORY ${FOLDER})
expect("${code}: ${err}" "2: vkgemm: --json: the value is empty")
expect_empty("${out}")
execute_process(COMMAND ${WITH} ${DRIVER} ${TOOL} --help OUTPUT_FILE /dev/full ERROR_VARIABLE err RESULT_VARIABLE code)
expect("${code}: ${err}" "2: " "cannot write to standard output")
execute_process(COMMAND sh -c "exec \"$@\" >&-" sh ${WITH} ${DRIVER} ${TOOL} kernels --json ${FOLDER}/closed.json
  ERROR_VARIABLE err RESULT_VARIABLE code)
expect("${code}: ${err}" "2: " "cannot write to standard output")
file(READ ${FOLDER}/closed.json text)
expect("${text}" "\"kernels\"")
run(2 bench --suite - --json -)
expect("${err}" "'-' is neither a suite")
foreach(empty "bench 0x8x8" "check 8x0x8 --kernel naive" "ladder --shape 0x8x8" "inspect 0x8x8" "kernels 0x8x8"
    "tune 0x8x8" "cover 0x8x8 --kernel naive")
  separate_arguments(words UNIX_COMMAND "${empty}")
  run(2 ${words})
  expect("${err}" "m or n is 0, so there is nothing to compute")
endforeach()
run(2 bench 8x8x8 --json a.json --json b.json)
expect("${err}" "--json is given more than once")
run(2 bench 8x8x8 --min-time 1 --repeats 3)
expect("${err}" "--repeats" "exclude")
run(2 explain "8x8x8 beta=1 c=none")
expect("${err}" "beta is 1, but the problem has no C")
run(2 check "8x8x8 alpha=1e300" --kernel naive)
expect("${err}" "alpha is 1e+300")
run(2 cover 16x16x16 --kernel block --tile BM=32)
expect("${err}" "no kernel of 'block' could be covered")
run(2 cover 16x16x16 --kernel all)
expect("${err}" "there is no kernel 'all'; 'vkgemm kernels' lists those there are")
file(WRITE ${FOLDER}/mine.txt "8x8x8\n")
foreach(command "bench --json" "tune --out" "check --out")
  separate_arguments(words UNIX_COMMAND "${command}")
  run(2 ${words} mine.txt --suite mine.txt)
  expect("${err}" "name the same file")
endforeach()
file(READ ${FOLDER}/mine.txt mine)
expect("${mine}" "8x8x8")
run(0 kernels "f16*f16 64x128x256 batch=4 layout=nt lda=256 ldb=256 stride_a=0 alpha=0.5 beta=1 bias=col scale=row residual")
run(2 kernels "8x8x8 bais=row")
expect("${err}" "\n    8x8x8 bais=row\n          ^")
run(2 explain 8x8x8 --kernel block_f32_64x64 --tile BM=60,BK=6)
expect("${err}" "block_f32_64x64:\n    a block must be")
expect("${err}" "\n    tiles are copied four neighbours at a time (BK 6, vector 4)")

# 3: no such device, or nothing on it can do it.
run(3 kernels --device nobody)
expect("${err}" "llvmpipe")
run(3 explain "f64*f64 8x8x8")
run(3 explain 8x8x8 --kernel gemv_f16_16x8)
run(3 bench "f64*f64 8x8x8" --kernel all)
expect("${out}" "no kernel of these types in this build")
file(WRITE ${FOLDER}/f64.txt "f64*f64 8x8x8\n")
run(0 bench --suite f64.txt --kernel all)
run(3 bench "f32*f32->f16 8x8x8 batch=2 accuracy=f32_split" --kernel all)
run(3 inspect --kernel naive_f32_8x8 --asm code.s)
expect("${err}" "gives no assembly")
if(EXISTS ${FOLDER}/code.s OR EXISTS ${FOLDER}/code.s.partial)
  message(FATAL_ERROR "a file without assembly was left behind")
endif()

# JSON on standard output, and nothing else.
run(0 devices --json -)
expect_json("${out}" 1 schema)
expect_json("${out}" 0 devices 0 index)
run(0 kernels --json -)
expect_json("${out}" kernels command)
run(0 explain 64x64x64 --json - --validate)
expect("${err}" "validation: no message")
expect_json("${out}" "f32*f32+f32->f32 64x64x64" problem)
expect_json("${out}" naive_f32_8x8 others 0 kernel)
run(0 inspect --kernel tiled_f32_8x8 --json - --validate --quiet)
expect_empty("${err}")
expect_json("${out}" tiled_f32_8x8 cases 0 passes 0 kernel)
expect_json("${out}" 512 cases 0 passes 0 declared_shared_bytes)
run(0 inspect "f16*f16+f16 16x16x16" --kernel all --json - --quiet)
expect("${err}" " kernels cannot; vkgemm explain says why")

# The ladder ends at what the library chooses; a product of nothing has no best.
run(0 ladder --shape 64x64x0)
if(out MATCHES "nan|inf")
  message(FATAL_ERROR "shares of nothing:\n${out}")
endif()
run(0 ladder --size 24 --json -)
expect_json("${out}" vkgemm cases 7 rung)
set(best 0)
foreach(i RANGE 7)
  string(JSON share GET "${out}" cases ${i} of_best)
  if(share EQUAL 1)
    math(EXPR best "${best} + 1")
  endif()
  string(JSON gain ERROR_VARIABLE none GET "${out}" cases ${i} gain)
  if(i GREATER 0 AND NOT gain GREATER 0)
    message(FATAL_ERROR "rung ${i} has no gain: ${gain}")
  endif()
endforeach()
if(NOT best EQUAL 1)
  message(FATAL_ERROR "${best} rungs are the best:\n${out}")
endif()
string(JSON chosen GET "${out}" cases 7 kernel)
run(0 explain 24x24x24 --json -)
expect_json("${out}" ${chosen} kernel)
run(0 ladder --size 24 --type i32 --json -)
expect_json("${out}" vkgemm cases 3 rung)

# A picture on standard output, and nothing else.
run(0 bench 8x8x8 --repeats 1 --plot - --quiet)
expect_picture("${out}")
run(0 ladder --size 24 --plot - --quiet)
expect_picture("${out}")
run(0 cover 8x8x8 --kernel naive_f32_8x8 --plot - --quiet)
expect_picture("${out}")

# A result that was saved tells the same again; what is none is refused by its name and the place in it.
run(0 bench 16x16x16 17x17x17 18x18x18 33x33x33 --repeats 3 --json saved.json --csv one.csv)
run(0 bench --from saved.json --csv two.csv --plot saved.svg)
expect("${out}" "33x33x33, hot" "FLOP/B: measured roof")
file(READ ${FOLDER}/one.csv one)
file(READ ${FOLDER}/two.csv two)
if(NOT one STREQUAL two)
  message(FATAL_ERROR "other figures:\n${one}${two}")
endif()
file(READ ${FOLDER}/saved.svg picture)
expect("${picture}" "M = N = K" "vkgemm bench: rate over size")
file(READ ${FOLDER}/saved.json saved)
string(LENGTH "${saved}" length)
foreach(part 0 1 2 5 9)
  math(EXPR cut "${length} * ${part} / 10")
  string(SUBSTRING "${saved}" 0 ${cut} text)
  file(WRITE ${FOLDER}/cut.json "${text}")
  run(2 bench --from cut.json --plot cut.svg)
  expect("${err}" "cut.json: line ")
  expect_empty("${out}")
endforeach()
if(EXISTS ${FOLDER}/cut.svg OR EXISTS ${FOLDER}/cut.svg.partial)
  message(FATAL_ERROR "a picture of a file that was refused")
endif()
foreach(case "program@pogrom@is no result of vkgemm" "\"schema\": 1@\"schema\": 2@schema is 2, not 1"
    "\"tile\"@\"tiel\"@cases[0].tile is missing" "\"samples\"@\"simples\"@cases[0].samples is missing"
    "\"median\": @\"median\": 7, \"q\": @cases[0].median is 7, but" "\"p95\": @\"p95\": null, \"q\": @cases[0].p95 is no number"
    "\"bench\"@\"ladder\"@command is" "\"checked\": \"all\"@\"checked\": \"most\"@cases[0].checked is 'most', none of all,"
    "\"clock\": \"@\"clock\": \"wall @cases[0].clock is 'wall " "_f32_@\\n@cases[0].kernel has more than one line"
    "17x17x17@17x17@cases[1].problem is none: character")
  unpack(from to words)
  string(REPLACE "${from}" "${to}" text "${saved}")
  file(WRITE ${FOLDER}/other.json "${text}")
  run(2 bench --from other.json)
  expect("${err}" "other.json: ${words}")
endforeach()
run(2 bench 8x8x8 --from saved.json)
run(0 bench --from saved.json --plot -)
expect_picture("${out}")

# The same problem twice is two cases, each with its baseline; an error without end is no null; what was wrong is wrong again.
run(0 bench 16x16x16 16x16x16 "f16*f16 8x8x8 alpha=1e9" "f16*f16+f32->f32 8x8x8" --repeats 2 --json twice.json --csv one.csv)
file(READ ${FOLDER}/twice.json twice)
expect_json("${twice}" inf cases 2 deviation)
run(0 bench --from twice.json --csv two.csv)
file(READ ${FOLDER}/one.csv one)
file(READ ${FOLDER}/two.csv two)
if(NOT one STREQUAL two OR NOT one MATCHES ",inf\n")
  message(FATAL_ERROR "other figures:\n${one}${two}")
endif()
string(JSON twice SET "${twice}" baselines "[{\"name\": \"baseline\", \"title\": \"by hand\"}]")
foreach(i 0 1)
  string(JSON baseline GET "${twice}" cases ${i})
  string(JSON baseline SET "${baseline}" name "\"baseline\"")
  string(JSON twice SET "${twice}" cases ${i} baselines "[${baseline}]")
endforeach()
file(WRITE ${FOLDER}/baseline.json "${twice}")
run(0 bench --from baseline.json --csv two.csv)
expect("${out}" "beside it: by hand")
file(STRINGS ${FOLDER}/two.csv lines REGEX "16x16x16")
list(TRANSFORM lines REPLACE "^[^,]*,([^,]*),.*" "\\1")
if(NOT lines STREQUAL "vkgemm;baseline;vkgemm;baseline")
  message(FATAL_ERROR "not two cases, each with its baseline: ${lines}")
endif()
string(JSON twice SET "${twice}" interrupted true)
foreach(case "wrong@1@WRONG" "error@0@not run")  # checked, and then?
  unpack(key code words)
  string(JSON other SET "${twice}" cases 0 ${key} "\"D[0][0] is 3 and should be 5\"")
  file(WRITE ${FOLDER}/wrong.json "${other}")
  run(${code} bench --from wrong.json)
  expect("${out}" "${words}" "D[0][0] is 3")
  expect("${err}" "that run was interrupted")
endforeach()

# Rates beyond all numbers are refused, and so is a time without a sample.
foreach(case "target_tflops@1e300@is no rate" "samples@[1e-310]@[0] is no time of a run" "samples@[]@has no sample")
  unpack(key value words)
  string(JSON other SET "${saved}" cases 0 ${key} "${value}")
  file(WRITE ${FOLDER}/other.json "${other}")
  run(2 bench --from other.json --plot other.svg)
  expect("${err}" "other.json: cases[0].${key}")
  expect("${err}" "${words}")
endforeach()

# What was asked for is in the file; what is no UTF-8 does not cost a run.
string(ASCII 114 111 119 115 233 bytes)
file(WRITE ${FOLDER}/${bytes} "# none\n")
set(ENV{VKGEMM_TUNED} ${FOLDER}/${bytes})
run(0 bench "8x8x8 batch=2" --shape 8x8x9 --layout nt --repeats 1 --device 0 --json bytes.json)
unset(ENV{VKGEMM_TUNED})
file(READ ${FOLDER}/bytes.json bytes)
foreach(option "8x8x8 batch=2@problems;0" "8x8x9@shape" "nt@layout" "0@device" "OFF@validate" "@suite" "@type")
  string(REGEX MATCH "^(.*)@(.*)$" option "${option}")
  expect_json("${bytes}" "${CMAKE_MATCH_1}" options ${CMAKE_MATCH_2})
endforeach()

# One file that cannot be written costs no other; a reader that goes away costs none.
file(CREATE_LINK /dev/full ${FOLDER}/full.json SYMBOLIC)
run(2 bench 8x8x8 --repeats 2 --json full.json --csv new.csv --plot new.svg)
expect("${err}" "cannot write full.json")
file(READ ${FOLDER}/new.csv csv)
file(READ ${FOLDER}/new.svg picture)
expect_picture("${picture}")
expect("${csv}" "f32*f32+f32->f32 8x8x8")
execute_process(COMMAND sh -c "\"$@\" | head -n 1" sh ${WITH} ${DRIVER} ${TOOL} bench 8x8x8 16x16x16 --json piped.json
  WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE out ERROR_VARIABLE err)
file(READ ${FOLDER}/piped.json piped)
expect_json("${piped}" "f32*f32+f32->f32 16x16x16" cases 1 problem)
expect_empty("${err}")

# Constants that pass a kernel over say so, and a result that was saved says it again.
run(0 bench 64x64x64 --repeats 1)
string(REGEX MATCH "\n  ([a-z0-9]+_[a-z0-9_]+) " named "${out}")
set(own ${CMAKE_MATCH_1})
run(0 bench 64x64x64 --tile BM=128 --repeats 1 --json passed.json)
expect("${out}" "without --tile it is ${own}, which cannot take it: ")
run(0 explain 64x64x64 --tile BM=128)
expect("${out}" "without --tile it is ${own}, which cannot take it: " "\n${own} ")
run(0 bench --from passed.json)
expect("${out}" "without --tile it is ${own}, which cannot take it: ")

# What is wide is broken into lines.
run(3 explain 99999999999x1x1)
expect("${err}" "above vkgemm's limit of 2147483647")

# A disk that is full is told, and no more.
file(CREATE_LINK /dev/full ${FOLDER}/full SYMBOLIC)
run(2 devices --json full)
expect("${err}" "cannot write full")
execute_process(COMMAND ${WITH} ${DRIVER} ${TOOL} devices --json - OUTPUT_FILE /dev/full ERROR_VARIABLE err RESULT_VARIABLE code)
expect("${code}: ${err}" "2: " "cannot write to standard output")

# Colours where they are asked for, none else.
string(ASCII 27 escape)
run(0 explain 64x64x64 --color always)
expect("${out}" "${escape}[")
run(0 explain 64x64x64)
string(FIND "${out}" "${escape}" at)
if(NOT at EQUAL -1)
  message(FATAL_ERROR "colours in a file")
endif()

# A driver that tells: figures, its own words, assembly.
if(COMPILER)
  set(DRIVER ${COMPILER})
  run(0 inspect "64x64x4096" --kernel tiled_f32_16x16 --asm code.s --json told.json)
  expect("${out}" "tiled_f32_16x16")
  expect("${out}" "+ reduce_f32")
  expect("${out}" "in the driver's own words")
  file(READ ${FOLDER}/told.json told)
  string(JSON registers GET "${told}" cases 0 passes 0 registers)
  if(NOT registers GREATER 0)
    message(FATAL_ERROR "no registers: ${registers}")
  endif()
  if(told MATCHES "\"value\": [-0-9.]+e")
    message(FATAL_ERROR "a number of 64 bits was rounded: ${CMAKE_MATCH_0}")
  endif()
  file(READ ${FOLDER}/code.s code)
  expect("${code}" "; tiled_f32_16x16 WG=256")
  expect("${code}" "v_")
endif()
