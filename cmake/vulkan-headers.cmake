# SPDX-License-Identifier: MIT
# Vulkan's headers for those who include vkgemm.h; used by the build and, installed, by find_package(vkgemm).
# A target Vulkan::Headers that is there already is taken as it is. Else vulkan/vulkan_core.h is looked for in `sdk`
# (may be empty), below VULKAN_SDK, in CMAKE_PREFIX_PATH and on the system. No loader, no SDK is asked for.
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
