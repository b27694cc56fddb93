# SPDX-License-Identifier: MIT
# nvcc, and the program that packs what it made.
include_guard()

# vkgemm_find_nvcc(WHY): sets VKGEMM_NVCC; or `why` to the reason why there is none that knows sm_90a.
function(vkgemm_find_nvcc why)
  file(GLOB folders /usr/local/cuda*/bin)
  list(SORT folders ORDER DESCENDING)
  find_program(VKGEMM_NVCC nvcc PATHS ${folders} ${PROJECT_SOURCE_DIR}/.sdk/cuda/bin  # tools/sdk --cuda
    NO_CMAKE_FIND_ROOT_PATH DOC "NVIDIA's compiler, 12.0 or newer")
  mark_as_advanced(VKGEMM_NVCC)
  set(${why} "the build found no nvcc, NVIDIA's compiler" PARENT_SCOPE)
  if(NOT VKGEMM_NVCC)
    return()
  endif()
  execute_process(COMMAND ${VKGEMM_NVCC} --version OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" _ "${text}")
  if(NOT CMAKE_MATCH_1 OR CMAKE_MATCH_1 VERSION_LESS 12)
    set(${why} "${VKGEMM_NVCC} is version '${CMAKE_MATCH_1}', and sm_90a needs 12.0" PARENT_SCOPE)
    return()
  endif()
  if(CMAKE_MATCH_1 VERSION_LESS 13)
    message(STATUS "nvcc ${CMAKE_MATCH_1} may make slow kernels: 12.4 serialises their matrix instructions; 13.0 was measured")
  endif()
  if(CMAKE_CROSSCOMPILING)
    find_program(VKGEMM_BUILD_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH DOC "A C++20 compiler for this machine")
    mark_as_advanced(VKGEMM_BUILD_CXX)
    if(NOT VKGEMM_BUILD_CXX)
      set(${why} "cross-compiling needs a C++20 compiler for this machine to pack it: set VKGEMM_BUILD_CXX" PARENT_SCOPE)
      return()
    endif()
  endif()
  set(${why} "" PARENT_SCOPE)
endfunction()

set(vkgemm_byte_packer ${CMAKE_CURRENT_BINARY_DIR}/pack_bytes)
set(byte_packer_sources pack_bytes.cpp unpack_bytes.cpp)
list(TRANSFORM byte_packer_sources PREPEND ${PROJECT_SOURCE_DIR}/src/spirv/)
if(CMAKE_CROSSCOMPILING)
  find_program(VKGEMM_BUILD_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH DOC "A C++20 compiler for this machine")
  add_custom_command(OUTPUT ${vkgemm_byte_packer}
    COMMAND ${VKGEMM_BUILD_CXX} -std=c++20 -O2 -I${root_spirv} ${byte_packer_sources} -o ${vkgemm_byte_packer}
    DEPENDS ${byte_packer_sources} COMMENT "the program that packs machine code, for this machine" VERBATIM)
else()
  add_executable(vkgemm_pack_bytes EXCLUDE_FROM_ALL ${byte_packer_sources})
  target_compile_features(vkgemm_pack_bytes PRIVATE cxx_std_20)
  target_include_directories(vkgemm_pack_bytes PRIVATE ${root_spirv})
  target_link_libraries(vkgemm_pack_bytes PRIVATE vkgemm_warnings)
  set_target_properties(vkgemm_pack_bytes PROPERTIES OUTPUT_NAME pack_bytes UNITY_BUILD OFF)
  set(vkgemm_byte_packer vkgemm_pack_bytes)
endif()

# vkgemm_compile_native(NAME FAMILY FLAGS...): a command that makes <name>.packed from <family>.cu.
function(vkgemm_compile_native name family)
  set(cubin ${CMAKE_CURRENT_BINARY_DIR}/${name}.cubin)
  add_custom_command(OUTPUT ${cubin}
    COMMAND ${VKGEMM_NVCC} -gencode=arch=compute_90a,code=sm_90a -cubin -O3 --std=c++20 -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include
            -MD -MT ${cubin} -MF ${name}.d ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/${family}.cu -o ${cubin}
    DEPENDS ${family}.cu DEPFILE ${name}.d COMMENT "nvcc ${name}" VERBATIM)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.packed
    COMMAND ${vkgemm_byte_packer} ${name}.packed ${cubin}
    DEPENDS ${cubin} ${vkgemm_byte_packer} COMMENT "pack ${name}" VERBATIM)
endfunction()
