# SPDX-License-Identifier: MIT
# add_check(NAME TOOLS t... COMMAND c...): a test that needs tools. They are looked for when the test runs. Where one is
# missing, the test is skipped.
function(add_check name)
  cmake_parse_arguments(PARSE_ARGV 1 x "" "" "TOOLS;COMMAND")
  list(JOIN x_TOOLS "," tools)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DTOOLS=${tools}
    -P ${PROJECT_SOURCE_DIR}/tests/scripts/need.cmake -- ${x_COMMAND})
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()
