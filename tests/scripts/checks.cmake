# SPDX-License-Identifier: MIT
# Tests that are no programs of ours: style, and builds of the tree in other ways, each in a folder of its own below the
# build's. Where a tool is not installed the test is skipped by name.
set(scripts ${CMAKE_CURRENT_LIST_DIR})

# add_check(NAME TOOLS t... COMMAND c...)
function(add_check name)
  cmake_parse_arguments(PARSE_ARGV 1 x "" "" "TOOLS;COMMAND")
  foreach(tool ${x_TOOLS})
    string(MAKE_C_IDENTIFIER VKGEMM_HAS_${tool} found)
    find_program(${found} ${tool})
    mark_as_advanced(${found})
    if(NOT ${found})
      set(x_COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${tool} is not installed")
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${x_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

# add_preset_check(PRESET TOOLS t... [TARGETS t...] [THEN regex]): builds the preset of that name with warnings as errors,
# from this build's SPIR-V, then runs those of its tests that the regular expression names.
function(add_preset_check preset)
  cmake_parse_arguments(PARSE_ARGV 1 x "" "THEN" "TOOLS;TARGETS")
  list(JOIN x_TARGETS " " targets)
  add_check(${preset} TOOLS ${x_TOOLS} COMMAND ${CMAKE_COMMAND} -DPRESET=${preset} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DBUILD=${PROJECT_BINARY_DIR}/other/${preset} "-DTARGETS=${targets}" -DTHEN=${x_THEN} -DCTEST=${CMAKE_CTEST_COMMAND}
    -DCACHE=${VKGEMM_TESTS_CACHE} -DSPIRV=${PROJECT_BINARY_DIR}/vkgemm-${PROJECT_VERSION}-spirv -P ${scripts}/preset.cmake)
  set_property(TEST ${preset} PROPERTY LABELS slow)
  set_property(TEST ${preset} PROPERTY COST 100)  # first, for they hold one another up
  set_tests_properties(${preset} PROPERTIES RESOURCE_LOCK builds FIXTURES_REQUIRED spirv_archive)
endfunction()

# The sanitized build runs its own tests; the others of its kind would nest for ever.
if(NOT VKGEMM_SANITIZE AND NOT VKGEMM_WERROR AND TARGET spirv-archive)
  add_preset_check(clang TOOLS clang++ TARGETS vkgemm vkgemm_host vkgemm_tool test_plan test_tool test_kernels THEN ^plan$)
  add_preset_check(asan TOOLS g++ TARGETS test_plan test_fuzz test_tool test_host test_api test_kernels
    THEN "^plan$|^fuzz$|^tool$|^host$|^api.lavapipe$|^kernels.lavapipe.few$")
  add_preset_check(mingw TOOLS x86_64-w64-mingw32-g++-posix)
  add_preset_check(aarch64 TOOLS aarch64-linux-gnu-g++
    TARGETS vkgemm vkgemm_host vkgemm_example_minimal vkgemm_example_minimal_c vkgemm_example_embed)
endif()

# Sizes are those of a Release build by a compiler that knows -Os, and of a static library.
get_target_property(kind vkgemm TYPE)
if(TARGET spirv-archive AND NOT VKGEMM_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND kind STREQUAL "STATIC_LIBRARY"
    AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
    AND EXISTS ${PROJECT_SOURCE_DIR}/.sdk/drivers/lavapipe.json)
  get_target_property(headers Vulkan::Headers INTERFACE_INCLUDE_DIRECTORIES)
  list(GET headers 0 headers)
  add_check(weight TOOLS strip COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DLIBRARY=$<TARGET_FILE:vkgemm>
    -DARCHIVE=${PROJECT_BINARY_DIR}/vkgemm-${PROJECT_VERSION}-spirv -DWORK=${CMAKE_CURRENT_BINARY_DIR}/weight
    -DHEADERS=${headers} -DC=${CMAKE_C_COMPILER} -DCXX=${CMAKE_CXX_COMPILER} -DSTRIP=strip -DGENERATOR=${CMAKE_GENERATOR}
    "-DWITH=${PROJECT_SOURCE_DIR}/tools/with\;lavapipe" -P ${scripts}/weight.cmake)
  set_property(TEST weight PROPERTY LABELS slow)
  set_tests_properties(weight PROPERTIES RESOURCE_LOCK builds FIXTURES_REQUIRED spirv_archive)
endif()

add_check(format TOOLS clang-format
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTOOL=format -P ${scripts}/style.cmake)
add_check(tidy TOOLS clang-tidy
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR} -DTOOL=tidy -P ${scripts}/style.cmake)
set_property(TEST tidy PROPERTY LABELS slow)
