# SPDX-License-Identifier: MIT
# What the library weighs, and a library of f32 alone:
#   cmake -DSOURCE=<vkgemm> -DHOST=<libvkgemm_host.a> -DARCHIVE=<SPIR-V archive>
#         -DWORK=<folder of our own> -DHEADERS=<Vulkan's> -DC=... -DCXX=... -DSTRIP=<strip> -DGENERATOR=...
#         "-DWITH=<command that runs a program on a driver>" -P weight.cmake
cmake_minimum_required(VERSION 3.24)
set(most_library 4200000)  # bytes of the static library: half of it are names, headers and relocations that no program keeps
set(most_full 2100000)     # what it adds to a program
set(most_f32 500000)       # what a library of f32 alone, without machine code, adds to a program
file(MAKE_DIRECTORY ${WORK})

function(run)
  list(JOIN ARGV " " words)
  message(STATUS "${words}")
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(at_most what bytes most)
  message(STATUS "${what}: ${bytes} bytes, at most ${most}")
  if(bytes GREATER most)
    message(FATAL_ERROR "${what} takes ${bytes} bytes; the limit is ${most}")
  endif()
endfunction()

# weigh_program(OUT LIBRARY): how many bytes a stripped program grows by when it makes plans with this library.
file(WRITE ${WORK}/empty.c "int main(void) { return 0; }\n")
get_filename_component(checks ${CMAKE_CURRENT_LIST_DIR} ABSOLUTE)
function(weigh_program out library)
  set(program ${WORK}/program)
  run(${C} -O2 -c -DVKGEMM_STATIC -I${SOURCE}/include -I${HEADERS} ${checks}/weight.c -o ${program}.o)
  run(${C} -O2 -c ${WORK}/empty.c -o ${WORK}/empty.o)
  run(${CXX} ${WORK}/empty.o -Wl,--gc-sections -o ${WORK}/empty)
  run(${CXX} ${program}.o ${library} -pthread -Wl,--gc-sections -o ${program})
  run(${C} -O2 -c -DLIST_KERNELS -DVKGEMM_STATIC -I${SOURCE}/include -I${HEADERS} ${checks}/weight.c -o ${program}.o)
  run(${CXX} ${program}.o ${library} -pthread -Wl,--gc-sections -o ${WORK}/checker)  # not weighed
  run(${STRIP} ${WORK}/empty ${program})
  file(SIZE ${WORK}/empty empty)
  file(SIZE ${program} size)
  math(EXPR size "${size} - ${empty}")
  set(${out} ${size} PARENT_SCOPE)
endfunction()

set(configure ${CMAKE_COMMAND} -S ${SOURCE} -G ${GENERATOR} -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_BUILD_TYPE=Release -DVKGEMM_PREBUILT_SPIRV=${ARCHIVE} -DVKGEMM_HOST=OFF -DVKGEMM_TOOLS=OFF
  -DVKGEMM_EXAMPLES=OFF -DVKGEMM_GGML=OFF -DVKGEMM_TESTS=OFF)

# As users build it. The main build compiles several files at once.
run(${configure} -B ${WORK}/whole)
run(${CMAKE_COMMAND} --build ${WORK}/whole)
set(LIBRARY ${WORK}/whole/libvkgemm.a)
file(SIZE ${LIBRARY} size)
at_most("The static library" ${size} ${most_library})
weigh_program(size ${LIBRARY})
at_most("What it adds to a program" ${size} ${most_full})
run(${WORK}/checker all)
foreach(part f32 tiled)
  execute_process(COMMAND ${WORK}/checker ${part} count OUTPUT_VARIABLE kernels_of_${part} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
function(check_kernels part)
  run(${WORK}/checker ${part})
  execute_process(COMMAND ${WORK}/checker ${part} count OUTPUT_VARIABLE here COMMAND_ERROR_IS_FATAL ANY)
  if(NOT here EQUAL kernels_of_${part})
    message(FATAL_ERROR "A library of ${part} alone has ${here} of the ${kernels_of_${part}} kernels for it")
  endif()
endfunction()

foreach(wrong "VKGEMM_TYPES=f32;f31" "VKGEMM_FAMILIES=simt,smit")
  execute_process(COMMAND ${configure} -B ${WORK}/wrong "-D${wrong}" RESULT_VARIABLE failed OUTPUT_QUIET
    ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT failed OR NOT said MATCHES "'(f31|smit)', which vkgemm does not know; it knows: .*(f32|tiled)")
    message(FATAL_ERROR "${wrong} was not refused with the names that are known: ${said}")
  endif()
endforeach()

run(${configure} -B ${WORK}/f32 -DVKGEMM_TYPES=f32 -DVKGEMM_NATIVE=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/f32)
weigh_program(size ${WORK}/f32/libvkgemm.a)
at_most("What a library of f32 alone adds to a program" ${size} ${most_f32})
check_kernels(f32)
run(${CXX} -std=c++20 -DVKGEMM_STATIC -I${SOURCE}/include -I${HEADERS} ${SOURCE}/examples/minimal/main.cpp ${HOST}
  ${WORK}/f32/libvkgemm.a -pthread -ldl -o ${WORK}/minimal)
run(${WITH} ${WORK}/minimal)

# By family: tiled needs the packers and the second passes of split K, and nothing else. Its size is not limited, so it is
# compiled in the way that takes least time.
run(${configure} -B ${WORK}/tiled -DVKGEMM_FAMILIES=tiled -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON)
run(${CMAKE_COMMAND} --build ${WORK}/tiled)
weigh_program(size ${WORK}/tiled/libvkgemm.a)
check_kernels(tiled)
