# SPDX-License-Identifier: MIT
# Include directories that hold one layer of the sources and nothing else, so that the compiler refuses an #include of
# what lies beside it.

# vkgemm_include_root(OUT NAME AS_INCLUDED=PATH...): sets OUT to a directory of links. A link is named as #include names
# the file or folder; PATH is where it is in the source tree. Where the file system has no symbolic links, OUT is the
# source folder itself, which works but hides nothing.
function(vkgemm_include_root out name)
  set(root ${CMAKE_CURRENT_BINARY_DIR}/include-roots/${name})
  foreach(entry IN LISTS ARGN)
    string(REGEX MATCH "^(.*)=(.*)$" entry ${entry})
    set(link ${root}/${CMAKE_MATCH_1})
    set(target ${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_2})
    string(REGEX REPLACE "/${CMAKE_MATCH_1}$" "" folder ${target})
    cmake_path(GET link PARENT_PATH parent)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${target} ${link} RESULT failed SYMBOLIC)
    if(NOT failed EQUAL 0)
      message(STATUS "Cannot link ${link}: ${failed}; ${folder} is the include directory")
      set(root ${folder})
      break()
    endif()
  endforeach()
  set(${out} ${root} PARENT_SCOPE)
endfunction()
