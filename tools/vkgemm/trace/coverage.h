// SPDX-License-Identifier: MIT
// The results of a trace: counts by operand, faults, traffic, and the index sets of one invocation, one work
// group and one step. Pure.
#pragma once
#include <map>

#include "trace/trace.h"

namespace vkgemm::tool {

/// How often the elements of one operand were touched.
struct Touched {
    std::string name;
    bool written = false;
    uint64_t elements = 0, accesses = 0;  // of its matrices, without gaps
    uint64_t least = 0, most = 0, never = 0;
    std::map<uint64_t, uint64_t> histogram;  // times touched: elements
    uint64_t gap_elements = 0;               // touched ones between rows
    uint64_t outside = 0;                    // accesses that reach beyond it
};

/// The index sets of the watched work group in one operand.
struct IndexSets {
    std::string name;
    bool written = false;
    std::string one_invocation{}, invocations_begin{}, one_step{}, all{};
    uint64_t steps = 0, stride = 0;  // number of steps, and their distance if all are alike, else 0
    uint64_t repeats = 0;            // most times that an element is touched in one step
};

struct Coverage {
    std::vector<Touched> touched;
    std::vector<std::string> faults;  // none: proven
    uint64_t read = 0;                // elements of A and B
    double formula = 0;               // M·N·K·(1/BM + 1/BN)
    std::vector<IndexSets> sets;      // of A, B and D
    bool cut = false;                 // the group made more accesses than the list holds, so its sets are incomplete
};
Coverage coverage_of(const Trace& t);

}  // namespace vkgemm::tool
