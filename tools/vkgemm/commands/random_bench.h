// SPDX-License-Identifier: MIT
// `vkgemm bench --random`: what the choice loses on problems that nobody tuned.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace vkgemm::tool {

struct Session;

struct RandomBench {
    size_t problems = 0;  // 0: not asked for
    uint64_t seed = 1;
    std::string draw = "sizes";        // or "networks"
    double max_flops = 0, budget = 0;  // 0: as many as the draw allows; seconds, 0: as long as it takes
    // As bench has them; "" and none mean the defaults.
    std::string suite, types, json, csv;
    std::vector<std::string> kernels;
    bool hot = false, cold = false;
};

/// --random and what needs it. The options of bench that say nothing beside it must be there.
void add_random_options(CLI::App& bench, RandomBench& options);

int run_random_bench(const Session& session, RandomBench options);

}  // namespace vkgemm::tool
