# SPDX-License-Identifier: MIT
# Compares the interface of a shared library (its functions, and the types in the public headers) with the dump:
#   cmake -DLIBRARY=<libvkgemm.so with -g> -DHEADERS=<include/vkgemm> -DDUMP=<libvkgemm.abi> -DNEW=<file to write>
#         [-DWRITE=ON] -P abi.cmake
# WRITE replaces the dump in place of comparing.
cmake_minimum_required(VERSION 3.24)
if(NOT EXISTS ${LIBRARY})
  message(FATAL_ERROR "no ${LIBRARY}; the test consumer.prebuilt builds it: tools/test consumer.prebuilt")
endif()
execute_process(COMMAND abidw --headers-dir ${HEADERS} --drop-private-types --exported-interfaces-only --no-corpus-path
    --no-comp-dir-path --no-show-locs --no-elf-needed --short-locs --type-id-style hash --out-file ${NEW} ${LIBRARY}
  COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${NEW} functions REGEX "<function-decl name='vkgemm")
list(LENGTH functions count)
if(count LESS 10)  # without -g there are symbols and no types
  message(FATAL_ERROR "abidw found ${count} functions in ${LIBRARY}: was it built with -g?")
endif()
if(WRITE)
  file(COPY_FILE ${NEW} ${DUMP})
  message(STATUS "${count} functions are in ${DUMP}")
  return()
endif()
execute_process(COMMAND abidiff ${DUMP} ${NEW} RESULT_VARIABLE code)  # 4: a change, 8: an incompatible one
if(code EQUAL 0)
  message(STATUS "${count} functions, as in ${DUMP}")
elseif(code EQUAL 4)
  message(FATAL_ERROR "The interface differs from ${DUMP}, see above. A program built against the older one still works "
    "if functions or enumerators were added, or if fields were added at the end of structs that state their size. "
    "Then renew the dump: cmake --build build --target abi-dump")
else()
  message(FATAL_ERROR "The interface is incompatible with ${DUMP} (abidiff ended with ${code}), see above. "
    "Restore it, or raise the minor version, which is part of the soname, and renew the dump: "
    "cmake --build build --target abi-dump")
endif()
