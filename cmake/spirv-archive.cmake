# SPDX-License-Identifier: MIT
# An archive of SPIR-V: a folder of packed modules (src/spirv) and a manifest that states what they were made from. The
# text of the manifest:
#     format 4
#     shaders <hash of every row, shader source and include/vkgemm/tables.h>
#     module <name> <hash of name.packed, or "none" if the compiler could not compile it>
# Included, this file defines the functions. As a script it makes the archive:
#     cmake -DSHADERS=<source folder> -DSPIRV=<folder of .packed> -DMODULES=<names> -DTO=<folder>
#           -DNATIVE=<folder made by native-archive.cmake, which may not be there> -P spirv-archive.cmake
set(vkgemm_archive_format 4)  # counted up when src/spirv writes something else

# Sets `out` to one hash over files of `dir`. Line endings make no difference.
function(vkgemm_hash_of out dir)
  set(all "")
  foreach(source IN LISTS ARGN)
    file(READ ${dir}/${source} text)
    string(REPLACE "\r\n" "\n" text "${text}")
    string(SHA256 hash "${text}")
    string(APPEND all "${source} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

# Sets `out` to the hash of the shader sources in `dir`.
function(vkgemm_shader_hash out dir)
  file(GLOB sources RELATIVE ${dir} ${dir}/*.h ${dir}/*/*.comp ${dir}/*/*.glsl ${dir}/*/*.h ${dir}/*/*.def)
  list(SORT sources)
  vkgemm_hash_of(hash ${dir} ${sources} ../include/vkgemm/tables.h)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

# Sets `out` to the modules in the archive `dir`. Stops with an error if the archive is damaged, or if it was made from
# other shaders than those in the folder `shaders`.
function(vkgemm_read_archive out dir shaders modules)
  set(again "make it again from these sources: cmake --build <build> --target spirv-archive")
  if(NOT EXISTS ${dir}/manifest.txt)
    message(FATAL_ERROR "VKGEMM_PREBUILT_SPIRV=${dir} is not a SPIR-V archive: it has no manifest.txt; ${again}")
  endif()
  file(STRINGS ${dir}/manifest.txt lines)
  list(POP_FRONT lines format hash)
  if(NOT format STREQUAL "format ${vkgemm_archive_format}")
    message(FATAL_ERROR "VKGEMM_PREBUILT_SPIRV=${dir} has '${format}', and this vkgemm reads "
      "format ${vkgemm_archive_format}; ${again}")
  endif()
  vkgemm_shader_hash(want ${shaders})
  if(NOT hash STREQUAL "shaders ${want}")
    message(FATAL_ERROR "VKGEMM_PREBUILT_SPIRV=${dir} is stale: "
      "it was made from other shaders (${hash}, not ${want}); ${again}")
  endif()
  set(present "")
  foreach(module IN LISTS modules)
    set(line ${lines})
    list(FILTER line INCLUDE REGEX "^module ${module} ")
    string(REGEX REPLACE ".* " "" hash "${line}")
    if(hash STREQUAL "none")
      continue()
    endif()
    set(actual "no such file")
    if(EXISTS ${dir}/${module}.packed)
      file(SHA256 ${dir}/${module}.packed actual)
    endif()
    if(NOT hash STREQUAL actual)
      message(FATAL_ERROR "VKGEMM_PREBUILT_SPIRV=${dir}: ${module}.packed is damaged or missing "
        "(${actual}, not '${hash}'); ${again}")
    endif()
    list(APPEND present ${module})
  endforeach()
  set(${out} ${present} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  vkgemm_shader_hash(hash ${SHADERS})
  set(manifest "format ${vkgemm_archive_format}\nshaders ${hash}\n")
  file(REMOVE_RECURSE ${TO})
  foreach(module IN LISTS MODULES)
    set(hash none)
    if(EXISTS ${SPIRV}/${module}.packed)
      file(SHA256 ${SPIRV}/${module}.packed hash)
      file(COPY ${SPIRV}/${module}.packed DESTINATION ${TO})
    endif()
    string(APPEND manifest "module ${module} ${hash}\n")
  endforeach()
  file(WRITE ${TO}/manifest.txt "${manifest}")
  if(EXISTS ${NATIVE}/manifest.txt)
    file(COPY ${NATIVE}/ DESTINATION ${TO}/native)
  endif()
endif()
