// SPDX-License-Identifier: MIT
// What bench finds out.
#pragma once
#include "tools/vkgemm/measure.h"
#include "tools/vkgemm/roof.h"

namespace vkgemm::tool {

/// A kernel of ours or a peer, on one case.
struct BenchResult {
    const Case* given = nullptr;
    Measurement m;
    bool is_peer = false;
    bool expected = false;  // that it did not run is no fault
    double ratio = 0;       // of a peer: our best rate by its rate; 0: one of them has none
    Roof roof{};            // of the case
};

/// A peer that was asked for, there or not.
struct BenchPeer {
    std::string name, title, missing;  // `missing`: why it is not there
};

}  // namespace vkgemm::tool
