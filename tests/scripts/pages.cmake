# SPDX-License-Identifier: MIT
# Compares the man page and the completions in tools/pages with what the tool makes of its options, and tries the one for
# bash; with -DWRITE=ON puts them there.
#   cmake -DTOOL=build/vkgemm -DPAGES=tools/pages [-DWRITE=ON] -P pages.cmake
set(man vkgemm.1)
set(bash vkgemm.bash)
set(zsh _vkgemm)
set(fish vkgemm.fish)
foreach(what man bash zsh fish)
  execute_process(COMMAND "${TOOL}" generate ${what} OUTPUT_VARIABLE fresh COMMAND_ERROR_IS_FATAL ANY)
  set(page "${PAGES}/${${what}}")
  if(WRITE)
    file(WRITE "${page}" "${fresh}")
    continue()
  endif()
  file(READ "${page}" kept)
  if(NOT fresh STREQUAL kept)
    message(FATAL_ERROR "${page} is stale: run cmake --build build --target docs")
  endif()
endforeach()

find_program(BASH bash)
if(WRITE OR NOT BASH)
  return()
endif()
cmake_path(GET TOOL PARENT_PATH folder)
set(ENV{PATH} "${folder}:$ENV{PATH}")  # it asks vkgemm for the names of kernels
# expect(COMPLETED WORDS...): what is offered for the last of the words.
function(expect completed)
  set(words ${ARGN})
  list(LENGTH words last)
  list(JOIN words "' '" words)
  execute_process(COMMAND ${BASH} -c
    "source '${PAGES}/vkgemm.bash'; COMP_WORDS=(vkgemm '${words}'); COMP_CWORD=${last}; _vkgemm; echo \"\${COMPREPLY[*]}\""
    WORKING_DIRECTORY "${PAGES}" OUTPUT_VARIABLE offered OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT offered STREQUAL completed)
    message(FATAL_ERROR "completing '${words}' offers '${offered}', not '${completed}'")
  endif()
endfunction()
expect("bench" be)
expect("--layout" bench --la)
expect("nn nt" bench --layout n)
expect("never" bench --color n)
expect("naive_f32_8x8" bench --kernel naive_f)
expect("classic" bench --suite cl)
expect("vkgemm.fish" bench --json vkgemm.f)
expect("" bench --shape 6)
