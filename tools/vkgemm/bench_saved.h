// SPDX-License-Identifier: MIT
// What `bench --json` wrote, read again: the same results, to be shown and drawn without the device.
#pragma once
#include <deque>

#include "tools/vkgemm/bench_report.h"

namespace vkgemm::tool {

struct SavedBench {
    std::string device;      // as device_line() says it
    std::string version;     // of the program that measured
    std::deque<Case> cases;  // what results point to
    std::vector<BenchPeer> peers;
    std::vector<BenchResult> results;  // by case, peers last
    bool unchecked = false;            // it was asked not to check
    bool interrupted = false;          // it ended early
};

/// All of it, or a refusal that names the file and the place: a line and a column, or a key as in "cases[3].median".
Result<SavedBench> read_bench(const std::string& path);

/// `bench --from`: table, CSV and picture of it. exit_wrong where a result of ours was wrong then.
int show_saved(const Session& session, const std::string& from, const std::string& csv, const std::string& plot);

}  // namespace vkgemm::tool
