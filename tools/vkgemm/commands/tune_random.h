// SPDX-License-Identifier: MIT
// `vkgemm tune --random`: fits the cost model to this device by problems that nobody chose.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace vkgemm::tool {

struct Session;

struct TuneRandom {
    size_t problems = 0;  // 0: not asked for
    uint64_t seed = 1;
    double max_flops = 2e11;
    std::string types;  // "": those of bench --random
    // As tune has them:
    std::string out;
    double budget = 0;  // seconds; 0: a second a problem
    bool resume = false;
};

/// --random and what needs it. The options of tune that say nothing beside it must be there.
void add_tune_random_options(CLI::App& tune, TuneRandom& options);

int run_tune_random(const Session& session, TuneRandom options);

}  // namespace vkgemm::tool
