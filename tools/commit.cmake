# SPDX-License-Identifier: MIT
# Writes a header with the commit of the sources. It runs at each build, because a new commit does not configure again,
# and it touches the header only if the commit changed. The commit is empty if SOURCE is not the top of a repository,
# because the repository of a surrounding project has commits of its own.
#   cmake -DGIT=git -DSOURCE=. -DHEADER=build/tools/commit.h -P commit.cmake
set(commit "")
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --show-prefix WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE outside)
  if(NOT outside AND prefix STREQUAL "")
    execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define VKGEMM_COMMIT \"${commit}\"\n")
