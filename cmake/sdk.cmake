# SPDX-License-Identifier: MIT
# Finds the Vulkan SDK: the one that VULKAN_SDK names, otherwise .sdk/ in the source tree (tools/sdk makes it), or else
# the system's. Makes the targets Vulkan::Headers and vkgemm_sdk (with the headers of volk and doctest), and sets
# VKGEMM_GLSLC, VKGEMM_SPIRV_VAL and VKGEMM_NEWER_VULKAN_INCLUDE.

if(NOT "$ENV{VULKAN_SDK}" STREQUAL "")
  cmake_path(SET sdk NORMALIZE "$ENV{VULKAN_SDK}")
elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.sdk/include)
  set(sdk ${CMAKE_CURRENT_SOURCE_DIR}/.sdk)
else()
  set(sdk "")
endif()
if(DEFINED VKGEMM_SDK AND NOT "${sdk}" STREQUAL "${VKGEMM_SDK}")  # forget the old SDK
  foreach(name GLSLC SPIRV_VAL VULKAN_INCLUDE NEWER_VULKAN_INCLUDE VOLK_INCLUDE VMA_INCLUDE DOCTEST_INCLUDE)
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

# vkgemm_refuse_older(WHAT HAVE LEAST WHERE): stops with an error if version HAVE of WHAT is below LEAST.
function(vkgemm_refuse_older what have least where)
  if(have VERSION_LESS least)
    message(FATAL_ERROR "Too old: ${what} ${have} in ${where}; compiling vkgemm needs ${least} or newer. "
      "Set VULKAN_SDK to a newer Vulkan SDK or run tools/sdk. Programs that use an installed vkgemm need neither")
  endif()
endfunction()
# vkgemm_version_in(OUT FILE MACRO): sets OUT to 1.4.NUMBER, the number that a header defines. The number counts the
# revisions of Vulkan across its minor versions; vulkan_core.h of Vulkan 1.3 states the minor version too.
function(vkgemm_version_in out file macro)
  file(STRINGS "${file}" line REGEX "^#define ${macro} +[0-9]+" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+$" number "${line}")
  set(minor 4)
  file(STRINGS "${file}" line REGEX "^#define ${macro}_COMPLETE .*1, *[0-9]+, *${macro}" LIMIT_COUNT 1)
  if(line MATCHES "1, *([0-9]+), *${macro}")
    set(minor ${CMAKE_MATCH_1})
  endif()
  set(${out} 1.${minor}.${number} PARENT_SCOPE)
endfunction()

# tools/sdk, which makes the SDK, states the minimum version.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../tools/sdk line REGEX "^min_glslc=")
string(REGEX MATCH "min_headers=([0-9.]+)" _ "${line}")
set(least_headers ${CMAKE_MATCH_1})

# Programs that use vkgemm work with older headers; compiling vkgemm does not. If the host has an older
# Vulkan::Headers, programs keep those, and VKGEMM_NEWER_VULKAN_INCLUDE is the folder of the SDK's headers, with which
# vkgemm is compiled. It is empty if Vulkan::Headers is new enough.
set(VKGEMM_NEWER_VULKAN_INCLUDE "")
get_target_property(folders Vulkan::Headers INTERFACE_INCLUDE_DIRECTORIES)
list(TRANSFORM folders REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1")
list(FILTER folders EXCLUDE REGEX "\\$<")
unset(vkgemm_seen_include)
unset(vkgemm_sdk_include)
find_path(vkgemm_seen_include vulkan/vulkan_core.h PATHS ${folders} NO_DEFAULT_PATH NO_CACHE)
if(vkgemm_seen_include)
  vkgemm_version_in(have ${vkgemm_seen_include}/vulkan/vulkan_core.h VK_HEADER_VERSION)
  if(have VERSION_LESS least_headers)
    find_path(vkgemm_sdk_include vulkan/vulkan_core.h NO_DEFAULT_PATH NO_CACHE
      PATHS ${VKGEMM_SDK} PATH_SUFFIXES include Include)
    set(newer ${have})
    if(vkgemm_sdk_include)
      vkgemm_version_in(newer ${vkgemm_sdk_include}/vulkan/vulkan_core.h VK_HEADER_VERSION)
    endif()
    vkgemm_refuse_older("the Vulkan headers" ${newer} ${least_headers} ${vkgemm_seen_include})
    set(VKGEMM_NEWER_VULKAN_INCLUDE ${vkgemm_sdk_include})
    message(STATUS "Vulkan headers: programs see ${have} in ${vkgemm_seen_include}, vkgemm is compiled with ${newer}")
  endif()
endif()

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
find_program(VKGEMM_SPIRV_OPT spirv-opt ${from_sdk} bin Bin)
if(VKGEMM_GLSLC AND NOT TARGET Vulkan::glslc)
  add_executable(Vulkan::glslc IMPORTED GLOBAL)
  set_target_properties(Vulkan::glslc PROPERTIES IMPORTED_LOCATION ${VKGEMM_GLSLC})
elseif(NOT VKGEMM_GLSLC AND NOT VKGEMM_PREBUILT_SPIRV)
  message(FATAL_ERROR "No glslc: set VULKAN_SDK to a Vulkan SDK, run tools/sdk, or give VKGEMM_PREBUILT_SPIRV")
endif()
