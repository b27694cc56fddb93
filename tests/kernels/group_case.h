// SPDX-License-Identifier: MIT
// A case whose problem has groups: the table, or the list of indices, is drawn from the seed of the case.
#pragma once
#include <string>

#include "kernels/run.h"

namespace vkgemm::test {

/// Runs the case, and compares D with the reference, and what the run reports of its groups with vkgemmCheckGroups and
/// with the rules that the table breaks. "" or what is wrong.
std::string run_grouped(const Case&);

}  // namespace vkgemm::test
