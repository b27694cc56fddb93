// SPDX-License-Identifier: MIT
// Reads what `bench --json` wrote, so that results can be shown and drawn without the device. Pure.
#pragma once
#include <deque>
#include <string_view>

#include "report/bench_result.h"

namespace vkgemm::tool {

struct SavedBench {
    std::string device;      // as device_line() writes it
    std::string version;     // of the program that measured
    std::deque<Case> cases;  // what results point to
    std::vector<BenchBaseline> baselines;
    std::vector<BenchResult> results;  // by case, baselines last
    bool unchecked = false;            // it ran with --no-check
    bool interrupted = false;          // it ended early
};

/// A refusal names the place: a line and a column, or a key as in "cases[3].median". All rates are finite.
Result<SavedBench> parse_bench(std::string_view text);

}  // namespace vkgemm::tool
