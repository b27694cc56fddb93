# SPDX-License-Identifier: MIT
# Included by ggml's src/ggml-vulkan/CMakeLists.txt where the option GGML_VKGEMM names this source tree: links vkgemm
# and its adapter to the target ggml-vulkan.
function(vkgemm_add_to_ggml)
  set(BUILD_SHARED_LIBS OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # option() leaves the variables below alone
  set(VKGEMM_GGML ON)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH integrations)
  cmake_path(GET integrations PARENT_PATH source)
  add_subdirectory(${source} ${CMAKE_CURRENT_BINARY_DIR}/vkgemm EXCLUDE_FROM_ALL)
  if(NOT TARGET vkgemm::ggml)
    message(FATAL_ERROR "GGML_VKGEMM=${source}: the adapter has a shader, and there is no glslc that vkgemm can use; "
      "set VULKAN_SDK")
  endif()
  # Linked only, because a linked vkgemm requires C++20 of its users, and ggml is C++17.
  target_link_libraries(ggml-vulkan PRIVATE $<LINK_ONLY:vkgemm::ggml>)
  target_include_directories(ggml-vulkan PRIVATE ${source}/include
    $<TARGET_PROPERTY:vkgemm_ggml,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(ggml-vulkan PRIVATE GGML_USE_VKGEMM VKGEMM_STATIC)
  # Reaches into the adapter, so ggml's backends must be static.
  add_executable(vkgemm-ggml-bench EXCLUDE_FROM_ALL ${source}/integrations/ggml/bench.cpp)
  target_link_libraries(vkgemm-ggml-bench PRIVATE ggml vkgemm::ggml)
  add_executable(vkgemm-ggml-prompts EXCLUDE_FROM_ALL ${source}/integrations/ggml/prompts.cpp)
  target_link_libraries(vkgemm-ggml-prompts PRIVATE llama ggml)  # in a tree of llama.cpp
endfunction()
vkgemm_add_to_ggml()
