# SPDX-License-Identifier: MIT
# Tests that are not programs of ours: style, packaging, and builds of the tree in other ways, each in its own folder
# below the build's.
set(scripts ${CMAKE_CURRENT_LIST_DIR})

include(${scripts}/add_check.cmake)

add_check(need.skipped TOOLS vkgemm-no-such-tool COMMAND ${CMAKE_COMMAND} -E false)
set_tests_properties(need.skipped PROPERTIES SKIP_REGULAR_EXPRESSION ""
  PASS_REGULAR_EXPRESSION "^skipped: vkgemm-no-such-tool")
add_check(need.expected TOOLS vkgemm-no-such-tool COMMAND ${CMAKE_COMMAND} -E true)
set_tests_properties(need.expected PROPERTIES WILL_FAIL TRUE
  ENVIRONMENT "VKGEMM_TESTS_EXPECT=git vkgemm-no-such-tool")

# A shader compiler that lacks an extension: the modules that need it are left out, with a message.
if(VKGEMM_GLSLC AND UNIX AND NOT VKGEMM_PREBUILT_SPIRV AND NOT VKGEMM_SANITIZE AND NOT VKGEMM_WERROR)
  add_check(older_glslc TOOLS grep COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DGLSLC=${VKGEMM_GLSLC}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/older_glslc -DGENERATOR=${CMAKE_GENERATOR} -P ${scripts}/older_glslc.cmake)
endif()

# add_preset_check(PRESET TOOLS t... [TARGETS t...] [THEN regex]): builds the preset with warnings as errors, from this
# build's archive, then runs those of its tests whose names match the regular expression.
function(add_preset_check preset)
  cmake_parse_arguments(PARSE_ARGV 1 x "" "THEN" "TOOLS;TARGETS")
  list(JOIN x_TARGETS " " targets)
  add_check(${preset} TOOLS ${x_TOOLS} COMMAND ${CMAKE_COMMAND} -DPRESET=${preset} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DBUILD=${PROJECT_BINARY_DIR}/other/${preset} "-DTARGETS=${targets}" -DTHEN=${x_THEN} -DCTEST=${CMAKE_CTEST_COMMAND}
    -DCACHE=${VKGEMM_TESTS_CACHE} -DSPIRV=${PROJECT_BINARY_DIR}/vkgemm-${PROJECT_VERSION}-spirv -P ${scripts}/preset.cmake)
  set_property(TEST ${preset} PROPERTY LABELS full)
  set_property(TEST ${preset} PROPERTY COST 100)  # they start first, because they wait for one another
  set_tests_properties(${preset} PROPERTIES RESOURCE_LOCK builds FIXTURES_REQUIRED spirv_archive)
endfunction()

# Not in the builds that these tests make, which would make the same ones again.
if(NOT VKGEMM_SANITIZE AND NOT VKGEMM_WERROR AND TARGET spirv-archive)
  # The target `vkgemm` is missing here, because ninja takes it for the tool's file.
  add_preset_check(clang TOOLS clang++ TARGETS vkgemm_tool test_plan test_tool test_kernels THEN ^plan$)
  add_preset_check(asan TOOLS g++ TARGETS test_plan test_fuzz test_tool test_host test_api test_threads
    THEN "^plan$|^fuzz$|^tool$|^host$|^threads$|^api.lavapipe$")
  add_preset_check(tsan TOOLS g++ TARGETS test_threads test_host test_api THEN "^threads$|^host$|^api.threads$")
  add_preset_check(mingw TOOLS x86_64-w64-mingw32-g++-posix TARGETS vkgemm_tool
    vkgemm_example_minimal vkgemm_example_minimal_c vkgemm_example_embed)
  add_preset_check(aarch64 TOOLS aarch64-linux-gnu-g++
    TARGETS vkgemm_example_minimal vkgemm_example_minimal_c vkgemm_example_embed)
endif()

# Sizes are those of a Release build by a compiler that knows -Os, and of a static library.
get_target_property(kind vkgemm TYPE)
if(TARGET spirv-archive AND NOT VKGEMM_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND kind STREQUAL "STATIC_LIBRARY"
    AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
    AND EXISTS ${PROJECT_SOURCE_DIR}/.sdk/drivers/lavapipe.json)
  get_target_property(headers Vulkan::Headers INTERFACE_INCLUDE_DIRECTORIES)
  list(GET headers 0 headers)
  add_check(weight TOOLS strip COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DHOST=$<TARGET_FILE:vkgemm_host> -DARCHIVE=${PROJECT_BINARY_DIR}/vkgemm-${PROJECT_VERSION}-spirv
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/weight
    -DHEADERS=${headers} -DC=${CMAKE_C_COMPILER} -DCXX=${CMAKE_CXX_COMPILER} -DSTRIP=strip -DGENERATOR=${CMAKE_GENERATOR}
    "-DWITH=${PROJECT_SOURCE_DIR}/tools/with\;lavapipe" -P ${scripts}/weight.cmake)
  set_property(TEST weight PROPERTY LABELS full)
  set_property(TEST weight PROPERTY COST 95)
  set_tests_properties(weight PROPERTIES RESOURCE_LOCK builds FIXTURES_REQUIRED spirv_archive)
endif()

add_check(format TOOLS clang-format
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTOOL=format -P ${scripts}/style.cmake)
add_check(tidy TOOLS clang-tidy
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR} -DTOOL=tidy -P ${scripts}/style.cmake)
set_property(TEST tidy PROPERTY LABELS full)
set_property(TEST tidy PROPERTY COST 60)

# Messages of the last commits, and one that breaks the rules.
add_check(commits TOOLS git bash COMMAND ${PROJECT_SOURCE_DIR}/tools/commit-check)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/wrong-message "Plan: Adding a thing that nobody needs to a place where nobody looks for it.\nbody")
add_check(commits.wrong TOOLS bash COMMAND ${PROJECT_SOURCE_DIR}/tools/commit-check ${CMAKE_CURRENT_BINARY_DIR}/wrong-message)
set_tests_properties(commits.wrong PROPERTIES SKIP_REGULAR_EXPRESSION ""
  PASS_REGULAR_EXPRESSION "^skipped: |76 columns.*not 'area: Imp.*full stop.*an empty line")

if(CMAKE_HOST_SYSTEM_NAME STREQUAL Linux)  # tools/bench is a shell script
  add_test(NAME tool.typos COMMAND ${scripts}/typos.sh ${CMAKE_CURRENT_BINARY_DIR}/typos)
endif()

# tools/bench itself, into a pipe, where build/ is the folder that it builds in.
if(TARGET vkgemm_tool AND CMAKE_HOST_SYSTEM_NAME STREQUAL Linux AND PROJECT_BINARY_DIR STREQUAL "${PROJECT_SOURCE_DIR}/build"
    AND EXISTS ${PROJECT_SOURCE_DIR}/.sdk/drivers/lavapipe.json)
  add_test(NAME tool.bench COMMAND ${PROJECT_SOURCE_DIR}/tools/bench --device lavapipe "f32*f32 64x64x64" --min-time 0.001)
  set_tests_properties(tool.bench PROPERTIES RESOURCE_LOCK builds
    PASS_REGULAR_EXPRESSION "benchmark on lavapipe.*cpu_f32_[^\n]* (TFLOP|GFLOP)?.*first checked row")
endif()

# Packages: the files agree with one another, and the workflows are well-formed (with whatever linter is there).
add_check(packaging COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
  -DNODE_MODULES=${PROJECT_BINARY_DIR}/lint/node_modules -P ${scripts}/packaging.cmake)
# `tools/test --packages` runs this configuration of ctest; it takes minutes.
add_test(NAME packages COMMAND ${PROJECT_SOURCE_DIR}/tools/packages CONFIGURATIONS Packages)
