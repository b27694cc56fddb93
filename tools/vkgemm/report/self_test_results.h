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
    std::vector<std::string> wrong;   // what speaks against it: wrong results, a device that was lost
    std::vector<std::string> unable;  // what it was asked for by name and does not serve: no fault of it
    std::set<std::string> with{};     // problems, and constants of the tile, whose results were compared
    bool finished = true;             // all that it was to be checked with had its turn
};
using CheckedKernels = std::vector<std::pair<std::string, Checked>>;  // by name

/// How a check ended.
struct CheckEnd {
    std::string head;    // the first line, a comment: which program, on what
    std::string device;  // its name
    std::string early;   // why not every kernel had its turn; "": each had
    bool whole = true;   // each kernel was to have all that it is checked with of its own
};

/// Rows of disabled kernels (vkgemm.h): the first thing that speaks against each kernel, below those `old` rows that the check
/// found nothing out about: of other devices, of kernels that were not tried or not finished, and of problems that were
/// not among those given. A check that ended early says so.
std::string self_test_rows(const CheckEnd& end, const CheckedKernels& found, std::span<const DisabledRow> old);

}  // namespace vkgemm::tool
