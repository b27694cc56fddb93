// SPDX-License-Identifier: MIT
// A pair as two products: the gate, which stays in the workspace, and the product that it is multiplied by.
#pragma once
#include "plan/steps/steps.h"

namespace vkgemm::plan {

/// Both products, as a caller would state them. The first has A, B2 and bias2 in the places of A, B and the bias, and
/// a D of the type that is finished in, laid out like that of the pair. It is the residual of the second.
struct Products {
    Problem gate, gated;
};
Products products_of(const Problem& completed_pair);

/// Bytes of the workspace that the gate takes.
uint64_t gate_bytes(const Problem& completed_pair);

/// The steps of both in turn, each of which runs once.
Steps join_products(const Problem& completed_pair, Steps gate, Steps gated, const DeviceCaps&, const Request&);

}  // namespace vkgemm::plan
