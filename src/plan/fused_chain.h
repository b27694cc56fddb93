// SPDX-License-Identifier: MIT
// Whether one dispatch can compute a chain of products, and with which numbers.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/chain_key.h"
#include "plan/choice/request.h"

namespace vkgemm::plan {

/// The one dispatch of a chain.
struct FusedChain {
    ChainKey key;
    std::string tile;           // for texts
    uint32_t rows_at_once = 0;  // of a subgroup
    uint32_t most_groups = 0;   // as many as the device runs at once

    /// Work groups for so many rows: one for each subgroup's rows, as far as the device runs them at once.
    uint32_t groups(uint64_t rows) const;
};

/// Whether the rows of a product are counted on the GPU.
inline bool is_counted(const Problem& p) { return p.grouping == VKGEMM_GROUPING_TABLE; }

/// `completed` are the problems of a chain, which meet; `kept` as in ChainProblem. Refused with the reason why several
/// plans must do.
Result<FusedChain> fuse(const DeviceCaps&, std::span<const Problem> completed, uint32_t kept, const Request&);

}  // namespace vkgemm::plan
