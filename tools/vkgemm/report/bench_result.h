// SPDX-License-Identifier: MIT
// What bench finds out.
#pragma once
#include "measure/measure.h"
#include "measure/roof.h"

namespace vkgemm::tool {

/// A kernel of ours or a baseline, on one case.
struct BenchResult {
    const Case* given = nullptr;
    Measurement m;
    bool is_baseline = false;
    bool expected = false;  // that it did not run is no fault
    double ratio = 0;       // of a baseline: our best rate by its rate; 0: one of them has none
    Roof roof{};            // of the case
};

/// A baseline that was asked for, there or not.
struct BenchBaseline {
    std::string name, title, missing;  // `missing`: why it is not there
};

}  // namespace vkgemm::tool
