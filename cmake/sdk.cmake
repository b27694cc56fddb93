# SPDX-License-Identifier: MIT
# Finds the Vulkan SDK: the one that VULKAN_SDK names, else .sdk/ beside the sources (tools/sdk makes it), else the
# system's. Makes Vulkan::Headers and vkgemm_sdk (headers of volk and doctest as well), and sets VKGEMM_GLSLC and
# VKGEMM_SPIRV_VAL.

if(NOT "$ENV{VULKAN_SDK}" STREQUAL "")
  cmake_path(SET sdk NORMALIZE "$ENV{VULKAN_SDK}")
elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.sdk/include)
  set(sdk ${CMAKE_CURRENT_SOURCE_DIR}/.sdk)
else()
  set(sdk "")
endif()
if(DEFINED VKGEMM_SDK AND NOT "${sdk}" STREQUAL "${VKGEMM_SDK}")  # nothing of the old one stays
  foreach(name GLSLC SPIRV_VAL VULKAN_INCLUDE VOLK_INCLUDE DOCTEST_INCLUDE)
    unset(VKGEMM_${name} CACHE)
  endforeach()
endif()
set(VKGEMM_SDK "${sdk}" CACHE INTERNAL "The Vulkan SDK in use; empty: the system's")
set(from_sdk HINTS ${VKGEMM_SDK} PATH_SUFFIXES)

include(${CMAKE_CURRENT_LIST_DIR}/vulkan-headers.cmake)
vkgemm_find_vulkan_headers("${VKGEMM_SDK}")
if(NOT TARGET Vulkan::Headers)
  message(FATAL_ERROR "No vulkan/vulkan_core.h: set VULKAN_SDK, run tools/sdk, or install the Vulkan headers")
endif()

# vkgemm_refuse_older(WHAT HAVE LEAST WHERE): stops at a version that is too old, by name.
function(vkgemm_refuse_older what have least where)
  if(have VERSION_LESS least)
    message(FATAL_ERROR "Too old: ${what} ${have} in ${where}, and vkgemm needs ${least} or newer. "
      "Set VULKAN_SDK to a newer Vulkan SDK or run tools/sdk")
  endif()
endfunction()
# vkgemm_version_in(OUT FILE MACRO): the number that a header defines, as 1.4.NUMBER.
function(vkgemm_version_in out file macro)
  file(STRINGS "${file}" line REGEX "^#define ${macro} +[0-9]+" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+$" number "${line}")
  set(${out} 1.4.${number} PARENT_SCOPE)
endfunction()

# The least version is stated where the SDK is made.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../tools/sdk line REGEX "^min_glslc=")
string(REGEX MATCH "min_headers=([0-9.]+)" _ "${line}")
set(least_headers ${CMAKE_MATCH_1})

get_target_property(vulkan_include Vulkan::Headers INTERFACE_INCLUDE_DIRECTORIES)
foreach(dir IN LISTS vulkan_include)
  if(EXISTS ${dir}/vulkan/vulkan_core.h)
    vkgemm_version_in(have ${dir}/vulkan/vulkan_core.h VK_HEADER_VERSION)
    vkgemm_refuse_older("the Vulkan headers" ${have} ${least_headers} ${dir})
  endif()
endforeach()

add_library(vkgemm_sdk INTERFACE)
target_link_libraries(vkgemm_sdk INTERFACE Vulkan::Headers)
if(VKGEMM_HOST)
  find_path(VKGEMM_VOLK_INCLUDE volk.h ${from_sdk} include include/volk include/Volk Include/Volk)
  if(NOT VKGEMM_VOLK_INCLUDE OR NOT EXISTS ${VKGEMM_VOLK_INCLUDE}/volk.c)
    message(FATAL_ERROR "No volk.h with volk.c beside it, which VKGEMM_HOST needs: "
      "set VULKAN_SDK, run tools/sdk, or set VKGEMM_HOST=OFF")
  endif()
  vkgemm_version_in(have ${VKGEMM_VOLK_INCLUDE}/volk.h VOLK_HEADER_VERSION)
  vkgemm_refuse_older(volk ${have} ${least_headers} ${VKGEMM_VOLK_INCLUDE})
  target_include_directories(vkgemm_sdk SYSTEM INTERFACE ${VKGEMM_VOLK_INCLUDE})
endif()
if(VKGEMM_TESTS)
  find_path(VKGEMM_DOCTEST_INCLUDE doctest/doctest.h ${from_sdk} include Include)
  if(NOT VKGEMM_DOCTEST_INCLUDE)
    message(FATAL_ERROR "No doctest/doctest.h, which VKGEMM_TESTS needs: "
      "run tools/sdk, install doctest, or set VKGEMM_TESTS=OFF")
  endif()
  target_include_directories(vkgemm_sdk SYSTEM INTERFACE ${VKGEMM_DOCTEST_INCLUDE})
endif()

find_program(VKGEMM_GLSLC glslc ${from_sdk} bin Bin)
find_program(VKGEMM_SPIRV_VAL spirv-val ${from_sdk} bin Bin)
if(VKGEMM_GLSLC AND NOT TARGET Vulkan::glslc)
  add_executable(Vulkan::glslc IMPORTED GLOBAL)
  set_target_properties(Vulkan::glslc PROPERTIES IMPORTED_LOCATION ${VKGEMM_GLSLC})
elseif(NOT VKGEMM_GLSLC AND NOT VKGEMM_PREBUILT_SPIRV)
  message(FATAL_ERROR "No glslc: set VULKAN_SDK to a Vulkan SDK, run tools/sdk, or give VKGEMM_PREBUILT_SPIRV")
endif()
