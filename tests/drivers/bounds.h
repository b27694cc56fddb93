// SPDX-License-Identifier: MIT
// The bounds of default choices, and of the rows beside them.
#pragma once
#include "drivers/compiler.h"

namespace vkgemm::test {

/// Prints a row for each of a few large problems: the chosen kernel with its bound, and the best bound of all rows that
/// serve it and do not spill. Returns false if the device has no numbers (architectures.def), or no text to read.
/// `architecture`: its row; "": the device's.
bool print_bounds(const Compiler&, const std::string& driver, const std::string& architecture);

}  // namespace vkgemm::test
