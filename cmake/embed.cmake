# SPDX-License-Identifier: MIT
# Turns a file of 32-bit words (SPIR-V, packed or not) into the words of a C array:
#     cmake -DFROM=x.spv -DTO=x.inc -P embed.cmake
file(READ "${FROM}" hex HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${hex}")
string(REPEAT "...........," 8 line)
string(REGEX REPLACE "(${line})" "\\1\n" words "${words}")
file(WRITE "${TO}" "${words}\n")
