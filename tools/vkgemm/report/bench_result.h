// SPDX-License-Identifier: MIT
// The results of bench.
#pragma once
#include "measure/measure.h"
#include "measure/roof.h"

namespace vkgemm::tool {

/// A kernel of ours or a baseline, on one case.
struct BenchResult {
    const Case* given = nullptr;
    Measurement m;
    bool is_baseline = false;
    bool expected = false;  // that it did not run: then this is not a failure
    double ratio = 0;       // of a baseline: our best rate divided by its rate; 0 if either is missing
    Roof roof{};            // of the case
};

/// A baseline of --vs, available or not.
struct BenchBaseline {
    std::string name, title, missing;  // `missing`: why it is not available
};

}  // namespace vkgemm::tool
