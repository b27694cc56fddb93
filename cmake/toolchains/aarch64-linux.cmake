# SPDX-License-Identifier: MIT
# Cross-compiles for 64-bit Arm Linux: cmake --toolchain cmake/toolchains/aarch64-linux.cmake ...
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(_prefix aarch64-linux-gnu)
find_program(CMAKE_C_COMPILER NAMES ${_prefix}-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES ${_prefix}-g++ REQUIRED)

# Libraries are the target's; programs such as glslc, and the header-only packages of the SDK, are this machine's.
set(CMAKE_FIND_ROOT_PATH /usr/${_prefix})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
