# SPDX-License-Identifier: MIT
# After glslc has compiled the variants of a module and all are valid: gives them their names, and writes one file of
# dependencies from theirs.
#     cmake -DNAME=tiled_f32 "-DVARIANTS=descriptors addresses" -DTARGET=<first output> -P compiled.cmake
separate_arguments(VARIANTS)
set(all "")
foreach(variant IN LISTS VARIANTS)
  file(READ ${NAME}_${variant}.comp.spv.d text)
  string(REGEX REPLACE "^[^\n]*\\.spv: " "" text "${text}")
  string(STRIP "${text}" text)
  string(APPEND all " ${text}")
  file(RENAME ${NAME}_${variant}.unchecked ${NAME}_${variant}.spv)
endforeach()
file(WRITE ${NAME}.d "${TARGET}:${all}\n")
