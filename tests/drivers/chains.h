// SPDX-License-Identifier: MIT
// The registers and spills of chains that are one dispatch.
#pragma once
#include "drivers/compiler.h"

namespace vkgemm::test {

/// Compiles typical chains, prints a line for each, and returns how many spill. No chain counts as one.
int spilling_chains(const Compiler&);

}  // namespace vkgemm::test
