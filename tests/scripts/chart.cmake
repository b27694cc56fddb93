# SPDX-License-Identifier: MIT
# Fails if the picture of the README is not the one that tools/chart draws from the committed results:
#   cmake -DSOURCE=<vkgemm> -P chart.cmake
set(results ${SOURCE}/docs/results)
execute_process(COMMAND ${SOURCE}/tools/chart ${results}/h200.csv ${results}/f32_split.csv
  OUTPUT_VARIABLE drawn ERROR_VARIABLE complaint RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "tools/chart failed: ${complaint}")
endif()
file(READ ${results}/beside_cublas.svg committed)
if(NOT drawn STREQUAL committed)
  message(FATAL_ERROR "docs/results/beside_cublas.svg is stale; draw it again:\n"
    "  tools/chart docs/results/h200.csv docs/results/f32_split.csv > docs/results/beside_cublas.svg")
endif()
