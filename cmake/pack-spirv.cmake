# SPDX-License-Identifier: MIT
# vkgemm_pack_spirv(TO BASE VARIANTS...): a command that packs the variants of a SPIR-V module into the file TO; without
# variants, BASE itself. The program that does it runs on this machine. When cross-compiling, it is built by a compiler
# for this machine. ${vkgemm_bfloat16} is a program beside it, for modules that spirv-opt would leave as they are.
set(pack_sources pack.cpp pack.h model.h unpack.cpp unpack.h)
list(TRANSFORM pack_sources PREPEND ${PROJECT_SOURCE_DIR}/src/spirv/)
if(VKGEMM_PREBUILT_SPIRV)
  # The archive has packed files.
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  find_program(VKGEMM_BUILD_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH DOC "A C++20 compiler for this machine")
  mark_as_advanced(VKGEMM_BUILD_CXX)
  if(NOT VKGEMM_BUILD_CXX)
    message(FATAL_ERROR "Cross-compiling needs a C++20 compiler for this machine, to build a program that packs SPIR-V, "
      "and c++, g++ and clang++ are not found: set VKGEMM_BUILD_CXX to one, or VKGEMM_PREBUILT_SPIRV to an archive")
  endif()
  set(vkgemm_packer ${CMAKE_CURRENT_BINARY_DIR}/pack_spirv)
  set(vkgemm_bfloat16 ${CMAKE_CURRENT_BINARY_DIR}/bfloat16)
  add_custom_command(OUTPUT ${vkgemm_bfloat16} COMMAND ${VKGEMM_BUILD_CXX} -std=c++20 -O2
      ${PROJECT_SOURCE_DIR}/src/spirv/bfloat16.cpp -o ${vkgemm_bfloat16}
    DEPENDS ${PROJECT_SOURCE_DIR}/src/spirv/bfloat16.cpp COMMENT "the program that hides bfloat16" VERBATIM)
  add_custom_command(OUTPUT ${vkgemm_packer} COMMAND ${VKGEMM_BUILD_CXX} -std=c++20 -O2 -I${root_spirv}
      ${PROJECT_SOURCE_DIR}/src/spirv/pack.cpp ${PROJECT_SOURCE_DIR}/src/spirv/unpack.cpp -o ${vkgemm_packer}
    DEPENDS ${pack_sources} COMMENT "the program that packs SPIR-V, for this machine" VERBATIM)
else()
  add_executable(vkgemm_pack_spirv EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/spirv/pack.cpp
    ${PROJECT_SOURCE_DIR}/src/spirv/unpack.cpp)
  target_compile_features(vkgemm_pack_spirv PRIVATE cxx_std_20)
  target_include_directories(vkgemm_pack_spirv PRIVATE ${root_spirv})
  target_link_libraries(vkgemm_pack_spirv PRIVATE vkgemm_warnings)
  set_target_properties(vkgemm_pack_spirv PROPERTIES OUTPUT_NAME pack_spirv UNITY_BUILD OFF)
  set(vkgemm_packer vkgemm_pack_spirv)
  add_executable(vkgemm_bfloat16 EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/spirv/bfloat16.cpp)
  target_compile_features(vkgemm_bfloat16 PRIVATE cxx_std_20)
  target_link_libraries(vkgemm_bfloat16 PRIVATE vkgemm_warnings)
  set_target_properties(vkgemm_bfloat16 PROPERTIES OUTPUT_NAME bfloat16 UNITY_BUILD OFF)
  set(vkgemm_bfloat16 vkgemm_bfloat16)
endif()

function(vkgemm_pack_spirv to)
  cmake_path(GET to FILENAME name)
  add_custom_command(OUTPUT ${to} COMMAND ${vkgemm_packer} ${to} ${ARGN}
    DEPENDS ${ARGN} ${vkgemm_packer} ${pack_sources} COMMENT "pack ${name}" VERBATIM)
endfunction()
