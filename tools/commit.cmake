# SPDX-License-Identifier: MIT
# Writes the header that says what a build was made from: at each build, for a commit needs no configuring; touched only
# where it changes. Empty outside a repository.
#   cmake -DGIT=git -DSOURCE=. -DHEADER=build/tools/commit.h -P commit.cmake
set(commit "")
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define VKGEMM_COMMIT \"${commit}\"\n")
