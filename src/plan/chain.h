// SPDX-License-Identifier: MIT
// What is decided about a chain of products: whether one dispatch computes all of them, and otherwise their plans and
// where the values between them are. Pure, as plan.h.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/fused_chain.h"
#include "plan/plan.h"

namespace vkgemm::plan {

/// What a caller asks for: problems in order, and the bits of those whose D a run brings.
struct ChainProblem {
    std::vector<Problem> problems;
    uint32_t kept = 0;
    bool separate = false;  // VKGEMM_CHAIN_SEPARATE
};

/// A part of the chain's workspace.
struct ChainRegion {
    uint64_t begin = 0, bytes = 0;
};

struct Chain {
    std::optional<FusedChain> fused;  // one dispatch computes all products; plans then only state what operands need
    std::vector<Plan> plans;          // of each product, in order
    std::vector<bool> kept;           // of each product: its D is an operand
    bool counted = false;             // m is in memory, in the group that the first run brings
    std::vector<ChainRegion> intermediate;  // of each product: its D, if that is in the workspace
    ChainRegion scratch;                    // the workspace of whichever product runs
    uint64_t workspace_bytes = 0, workspace_alignment = 1;
    std::string why_separate;  // a sentence; "" if it is fused
    std::string fallback;      // as Plan::fallback, of the first product that has one
};

/// Refused with the number of the product if two products do not meet, or if a product cannot be planned.
Result<Chain> plan_chain(const DeviceKernels&, const ChainProblem&, const Request&);

/// Gives each problem but the first the A that the D before it is. Refused if they do not meet.
Result<std::vector<Problem>> joined(const ChainProblem&);

/// For vkgemmExplainChain.
std::string to_text(const Chain&);

/// "product 2: ..."
Status about_product(size_t product, Status why);

}  // namespace vkgemm::plan
