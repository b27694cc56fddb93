# SPDX-License-Identifier: MIT
# Tests that run other tools: style checks, and builds with other compilers, each in its own folder inside the build. If
# a tool is not installed, its test is reported as skipped.
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

# add_preset_check(PRESET TOOLS t... [TARGETS t...] [THEN regex]): builds the preset with warnings as errors, from this
# build's SPIR-V, then runs those of its tests whose names match the regular expression.
function(add_preset_check preset)
  cmake_parse_arguments(PARSE_ARGV 1 x "" "THEN" "TOOLS;TARGETS")
  list(JOIN x_TARGETS " " targets)
  add_check(${preset} TOOLS ${x_TOOLS} COMMAND ${CMAKE_COMMAND} -DPRESET=${preset} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DBUILD=${PROJECT_BINARY_DIR}/other/${preset} "-DTARGETS=${targets}" -DTHEN=${x_THEN} -DCTEST=${CMAKE_CTEST_COMMAND}
    -DCACHE=${VKGEMM_TESTS_CACHE} -DSPIRV=${PROJECT_BINARY_DIR}/vkgemm-${PROJECT_VERSION}-spirv -P ${scripts}/preset.cmake)
  set_property(TEST ${preset} PROPERTY LABELS slow)
  set_property(TEST ${preset} PROPERTY COST 100)  # they start first, because they wait for one another
  set_tests_properties(${preset} PROPERTIES RESOURCE_LOCK builds FIXTURES_REQUIRED spirv_archive)
endfunction()

# Not in the builds that these tests make, which would make the same ones again.
if(NOT VKGEMM_SANITIZE AND NOT VKGEMM_WERROR AND TARGET spirv-archive)
  add_preset_check(clang TOOLS clang++ TARGETS vkgemm vkgemm_host vkgemm_tool test_plan test_tool test_kernels THEN ^plan$)
  add_preset_check(asan TOOLS g++ TARGETS test_plan test_fuzz test_tool test_host test_api test_kernels
    THEN "^plan$|^fuzz$|^tool$|^host$|^api.lavapipe$|^kernels.lavapipe.few$")
  add_preset_check(mingw TOOLS x86_64-w64-mingw32-g++-posix)
  add_preset_check(aarch64 TOOLS aarch64-linux-gnu-g++
    TARGETS vkgemm vkgemm_host vkgemm_example_minimal vkgemm_example_minimal_c vkgemm_example_embed)
endif()

add_check(format TOOLS clang-format
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTOOL=format -P ${scripts}/style.cmake)
add_check(tidy TOOLS clang-tidy
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR} -DTOOL=tidy -P ${scripts}/style.cmake)
set_property(TEST tidy PROPERTY LABELS slow)
