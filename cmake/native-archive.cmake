# SPDX-License-Identifier: MIT
# Machine code in a SPIR-V archive: its folder native/, with a manifest. The text of the manifest:
#     native <hash of what it was compiled from>
#     module <name> <hash of name.packed>
# Included, this file defines the functions. As a script it makes the folder:
#     cmake -DNATIVE=<source folder> -DPACKED=<folder of .packed> -DMODULES=<names> -DTO=<folder> -P native-archive.cmake

include(${CMAKE_CURRENT_LIST_DIR}/spirv-archive.cmake)

# Sets `out` to the hash of the sources in `dir`.
function(vkgemm_native_hash out dir)
  file(GLOB sources RELATIVE ${dir} ${dir}/*.cu ${dir}/*.cuh ${dir}/*.h ${dir}/*.def)
  list(SORT sources)
  vkgemm_hash_of(hash ${dir} ${sources} ../shaders/abi.h ../shaders/constants.h ../shaders/pack_fragments/rows.def
    ../shaders/f32_split/rows.def ../shaders/common/moduli.h ../include/vkgemm/tables.h)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

# Sets `out` to the modules in the archive `dir`: none if it has no machine code, or some that was made from other
# sources than those in the folder `native`.
function(vkgemm_read_native_archive out dir native modules)
  set(${out} "" PARENT_SCOPE)
  if(NOT EXISTS ${dir}/native/manifest.txt)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dir}/native/manifest.txt)
  file(STRINGS ${dir}/native/manifest.txt lines)
  list(POP_FRONT lines hash)
  vkgemm_native_hash(want ${native})
  if(NOT hash STREQUAL "native ${want}")
    message(STATUS "The machine code in ${dir} was made from other sources, and is not used")
    return()
  endif()
  set(present "")
  foreach(module IN LISTS modules)
    set(actual "")
    if(EXISTS ${dir}/native/${module}.packed)
      file(SHA256 ${dir}/native/${module}.packed actual)
    endif()
    if("module ${module} ${actual}" IN_LIST lines)
      list(APPEND present ${module})
    endif()
  endforeach()
  set(${out} ${present} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  vkgemm_native_hash(hash ${NATIVE})
  set(manifest "native ${hash}\n")
  file(REMOVE_RECURSE ${TO})
  foreach(module IN LISTS MODULES)
    file(SHA256 ${PACKED}/${module}.packed hash)
    file(COPY ${PACKED}/${module}.packed DESTINATION ${TO})
    string(APPEND manifest "module ${module} ${hash}\n")
  endforeach()
  file(WRITE ${TO}/manifest.txt "${manifest}")
endif()
