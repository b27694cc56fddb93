# SPDX-License-Identifier: MIT
# Finds Vulkan's headers for programs that include vkgemm.h. The build uses this file, and find_package(vkgemm) uses the
# installed copy. An existing target Vulkan::Headers is used as it is. Otherwise vulkan/vulkan_core.h is searched for in
# `sdk` (may be empty), below VULKAN_SDK, in CMAKE_PREFIX_PATH and on the system. Neither a loader nor an SDK is needed.
function(vkgemm_find_vulkan_headers sdk)
  if(TARGET Vulkan::Headers)
    return()
  endif()
  find_path(VKGEMM_VULKAN_INCLUDE vulkan/vulkan_core.h HINTS ${sdk} ENV VULKAN_SDK PATH_SUFFIXES include Include)
  mark_as_advanced(VKGEMM_VULKAN_INCLUDE)
  if(VKGEMM_VULKAN_INCLUDE)
    add_library(Vulkan::Headers INTERFACE IMPORTED GLOBAL)
    set_target_properties(Vulkan::Headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${VKGEMM_VULKAN_INCLUDE}")
  endif()
endfunction()
