# SPDX-License-Identifier: MIT
# Cross-compiles for 64-bit Arm Linux: cmake --toolchain cmake/toolchains/aarch64-linux.cmake ...
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(_prefix aarch64-linux-gnu)
find_program(CMAKE_C_COMPILER NAMES ${_prefix}-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES ${_prefix}-g++ REQUIRED)

# Libraries come from the target. Programs such as glslc and header-only packages come from the build machine.
set(CMAKE_FIND_ROOT_PATH /usr/${_prefix})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
