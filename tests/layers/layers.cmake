# SPDX-License-Identifier: MIT
# Each layer sees what its include directories hold and no more: one #include at a time is compiled with the include
# directories and definitions of a target.

# vkgemm_layer_test(NAME TARGET HEADER SEEN): compiles '#include HEADER' as TARGET's sources are compiled. SEEN: it must
# compile; otherwise the compiler must report that it finds no such header.
function(vkgemm_layer_test name target header seen)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/layers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include ${header}\n")
  set(directories $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  add_test(NAME layers.${name} COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only
    "$<$<BOOL:${directories}>:-I$<JOIN:${directories},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
    ${source} COMMAND_EXPAND_LISTS)
  set_tests_properties(layers.${name} PROPERTIES ENVIRONMENT LC_ALL=C)
  if(NOT seen)
    set_tests_properties(layers.${name} PROPERTIES
      PASS_REGULAR_EXPRESSION "${name}.cpp:1:.*(No such file or directory|file not found)")
  endif()
endfunction()

if(CMAKE_HOST_UNIX)  # tools/includes is a shell script
  add_test(NAME layers.plan_arrows COMMAND ${PROJECT_SOURCE_DIR}/tools/includes)
endif()
if(NOT MSVC AND NOT CMAKE_HOST_WIN32)  # where there are no links, the directories hide nothing
  vkgemm_layer_test(plan_sees_plan vkgemm_plan "\"plan/steps/steps.h\"" ON)
  vkgemm_layer_test(plan_sees_problem vkgemm_plan "\"vkgemm/problem.hpp\"" ON)
  vkgemm_layer_test(plan_without_vk vkgemm_plan "\"vk/context.h\"" OFF)
  vkgemm_layer_test(plan_without_api vkgemm_plan "\"vkgemm/vkgemm.h\"" OFF)
  vkgemm_layer_test(plan_without_host vkgemm_plan "\"host/state.h\"" OFF)
  vkgemm_layer_test(vk_sees_vk vkgemm "\"vk/context.h\"" ON)
  vkgemm_layer_test(vk_without_host vkgemm "\"host/state.h\"" OFF)
  vkgemm_layer_test(vk_without_tests vkgemm "\"support/numbers.h\"" OFF)
  if(TARGET vkgemm_pack_spirv)
    vkgemm_layer_test(spirv_sees_spirv vkgemm_pack_spirv "\"spirv/unpack.h\"" ON)
    vkgemm_layer_test(spirv_without_plan vkgemm_pack_spirv "\"plan/steps/steps.h\"" OFF)
    vkgemm_layer_test(spirv_without_vk vkgemm_pack_spirv "\"vk/context.h\"" OFF)
    vkgemm_layer_test(spirv_without_problem vkgemm_pack_spirv "\"vkgemm/problem.h\"" OFF)
  endif()
  vkgemm_layer_test(host_sees_host vkgemm_host "\"host/state.h\"" ON)
  vkgemm_layer_test(host_without_plan vkgemm_host "\"plan/steps/steps.h\"" OFF)
  vkgemm_layer_test(host_without_vk vkgemm_host "\"vk/context.h\"" OFF)
  vkgemm_layer_test(host_without_shaders vkgemm_host "\"shaders/abi.h\"" OFF)
  if(TARGET vkgemm_blas)
    vkgemm_layer_test(blas_sees_api vkgemm_blas "\"vkgemm/host.hpp\"" ON)
    vkgemm_layer_test(blas_without_plan vkgemm_blas "\"plan/steps/steps.h\"" OFF)
    vkgemm_layer_test(blas_without_host_sources vkgemm_blas "\"host/state.h\"" OFF)
  endif()
  if(TARGET vkgemm_ggml)
    vkgemm_layer_test(ggml_sees_api vkgemm_ggml "\"vkgemm/vkgemm.hpp\"" ON)
    vkgemm_layer_test(ggml_without_plan vkgemm_ggml "\"plan/steps/steps.h\"" OFF)
    vkgemm_layer_test(ggml_without_host vkgemm_ggml "\"host/state.h\"" OFF)
  endif()
  if(TARGET vkgemm_tool_program)
    vkgemm_layer_test(tool_sees_api vkgemm_tool_program "\"vkgemm/vkgemm.hpp\"" ON)
    vkgemm_layer_test(tool_without_plan vkgemm_tool_program "\"plan/steps/steps.h\"" OFF)
    vkgemm_layer_test(tool_without_vk vkgemm_tool_program "\"vk/context.h\"" OFF)
    vkgemm_layer_test(tool_without_host_sources vkgemm_tool_program "\"host/state.h\"" OFF)
    vkgemm_layer_test(tool_without_shaders vkgemm_tool_program "\"shaders/abi.h\"" OFF)
    vkgemm_layer_test(trace_without_vk vkgemm_tool_trace "\"vk/context.h\"" OFF)
  endif()
endif()
