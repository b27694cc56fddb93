# SPDX-License-Identifier: MIT
# Writes the header that says what a build was made from: at each build, for a commit needs no configuring; touched only
# where it changes. Empty where SOURCE is not the top of a repository: that of another project says nothing of this one.
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
