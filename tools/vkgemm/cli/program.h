// SPDX-License-Identifier: MIT
// The whole program as a function, for main() and for tests.
#pragma once
#include <cstdio>

namespace vkgemm::tool {

/// Parses the command line, does what it asks for, and returns the exit code (manual.h). Standard output goes to `out`
/// and standard error to `err`; both stay open. Throws nothing. It may be called again in the same process, but not from
/// two threads at once. Signals are handled only if the caller called watch_signals() (terminal.h) before.
int run_program(int argc, const char* const* argv, std::FILE* out = stdout, std::FILE* err = stderr);

}  // namespace vkgemm::tool
