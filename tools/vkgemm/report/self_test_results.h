// SPDX-License-Identifier: MIT
// The self-test result that `vkgemm check` writes: which kernels were wrong. Pure.
#pragma once
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// A row that the file had before.
struct DisabledRow {
    std::string device, kernel, why;
};

/// What came of one kernel.
struct Checked {
    size_t problems = 0, runs = 0;
    std::vector<std::string> wrong;   // evidence against it: wrong results, a lost device
    std::vector<std::string> unable;  // named problems that it cannot serve; this is not a fault
    std::set<std::string> with{};     // problems, and constants of the tile, whose results were compared
    bool finished = true;             // all of its checks ran
};
using CheckedKernels = std::vector<std::pair<std::string, Checked>>;  // by name

/// How a check ended.
struct CheckEnd {
    std::string head;    // the first line, a comment: program and device
    std::string device;  // its name
    std::string early;   // why the check ended early; "" if it did not
    bool whole = true;   // the check was to run every problem of each kernel
};

/// Rows of disabled kernels (vkgemm.h): the first evidence against each kernel, below those `old` rows that the check
/// did not settle: of other devices, of kernels that were not tried or not finished, and of other problems than those
/// given. A comment marks a check that ended early.
std::string self_test_rows(const CheckEnd& end, const CheckedKernels& found, std::span<const DisabledRow> old);

}  // namespace vkgemm::tool
