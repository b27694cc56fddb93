# SPDX-License-Identifier: MIT
# Writes a header with the commit of the sources, and the address of their repository if it is on GitHub. It runs at
# each build, because a new commit does not configure again, and it touches the header only if something changed. Both
# are empty if SOURCE is not the top of a repository, because a surrounding project's has commits of its own.
#   cmake -DGIT=git -DSOURCE=. -DHEADER=build/tools/commit.h -P commit.cmake
set(commit "")
set(repository "")
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --show-prefix WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE outside)
  if(NOT outside AND prefix STREQUAL "")
    execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT} remote get-url origin WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE origin OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(origin MATCHES "github\\.com[:/]([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)$")
      string(REGEX REPLACE "\\.git$" "" name "${CMAKE_MATCH_1}")
      set(repository "https://github.com/${name}")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT
  "#define VKGEMM_COMMIT \"${commit}\"\n#define VKGEMM_REPOSITORY \"${repository}\"\n")
