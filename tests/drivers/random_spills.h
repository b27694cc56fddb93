// SPDX-License-Identifier: MIT
// Whether the default choices for random problems spill.
#pragma once
#include "drivers/compiler.h"

namespace vkgemm::test {

/// `count` problems of all kinds: sizes, layouts and batches as measure/random_problems.h draws them; the types that
/// the library multiplies, block formats, and every third with an epilogue, if the rows of D are multiples of 16 bytes:
/// otherwise sums of 64x64 a subgroup are known to stay in scratch (docs/drivers.md). The same seed gives the same
/// problems, and a smaller `count` the first of them.
std::vector<std::string> random_lines(size_t count, uint64_t seed);

/// Compiles the default choices for them, with 64 MiB of workspace and with none, prints each kernel that spills with
/// the first such problem, and returns how many do.
int random_spills(const Compiler&, size_t count, uint64_t seed);

}  // namespace vkgemm::test
