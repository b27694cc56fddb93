# SPDX-License-Identifier: MIT
# Writes what drivers make of the kernels: TABLES, with every kernel on every driver, and the summary in PAGE.
#   cmake -DPAGE=docs/drivers.md -DTABLES=build/drivers.md -DPROGRAM=build/tests/driver_table -DWITH=tools/with
#     "-DDRIVERS=radv:navi31 nvk:0x172" -P drivers.cmake
separate_arguments(DRIVERS)
set(tables "# What drivers make of the kernels

Each driver has two tables: the default choices for the typical problems with 64 MiB of workspace, and every product
kernel that fits the device, on whole tiles. A third one counts the rows that do not fit, with the reason. The columns:

- registers: of an invocation. Turnip counts registers of four values each, Honeykrisp those of 16 bits. ANV counts the
  most that a thread has in use at once, in units of 32 bytes. A thread has 128, and 256 since Battlemage.
- spills: what goes to memory because registers are short, in values (RADV, NVK) or store instructions (Turnip).
- scratch: bytes of that memory, per subgroup on RADV, per invocation on NVK.
- shared: bytes of shared memory per work group, and the declared size if the driver reports none.
- at once: subgroups that a SIMD (RADV), a multiprocessor (NVK) or a core (Turnip) holds.
- code: bytes of machine code.
- matrix: matrix-unit instructions in the assembly.
")
set(summary "| driver | kernels chosen | of them spill | the most |\n| --- | --- | --- | --- |\n")
foreach(driver IN LISTS DRIVERS)
  message(STATUS "${driver}")
  foreach(words "" "--summary;${driver}")
    execute_process(COMMAND "${WITH}" ${driver} "${PROGRAM}" ${words} OUTPUT_VARIABLE output ERROR_VARIABLE errors
      RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "on ${driver}: ${errors}")
    endif()
    if(words)
      string(APPEND summary "${output}")
    else()
      string(APPEND tables "\n## ${driver}\n\n${output}")
    endif()
  endforeach()
endforeach()
file(WRITE "${TABLES}" "${tables}")
file(READ "${PAGE}" page)
foreach(marker begin end)
  string(FIND "${page}" "<!-- drivers:${marker} -->" ${marker})
endforeach()
if(begin EQUAL -1 OR end LESS begin)
  message(FATAL_ERROR "${PAGE} has no 'drivers' markers")
endif()
string(LENGTH "<!-- drivers:begin -->\n" length)
math(EXPR begin "${begin} + ${length}")
string(SUBSTRING "${page}" 0 ${begin} head)
string(SUBSTRING "${page}" ${end} -1 tail)
file(WRITE "${PAGE}" "${head}${summary}${tail}")
