// SPDX-License-Identifier: MIT
// What `bench --json` wrote, read again: the same results, to be shown and drawn without the device. Pure.
#pragma once
#include <deque>
#include <string_view>

#include "report/bench_result.h"

namespace vkgemm::tool {

struct SavedBench {
    std::string device;      // as device_line() says it
    std::string version;     // of the program that measured
    std::deque<Case> cases;  // what results point to
    std::vector<BenchBaseline> baselines;
    std::vector<BenchResult> results;  // by case, baselines last
    bool unchecked = false;            // it was asked not to check
    bool interrupted = false;          // it ended early
};

/// All of it, or a refusal that names the place: a line and a column, or a key as in "cases[3].median". Rates that come
/// of it are finite.
Result<SavedBench> parse_bench(std::string_view text);

}  // namespace vkgemm::tool
