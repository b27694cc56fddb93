// SPDX-License-Identifier: MIT
// The parts of a predicted cost, and a fitted model: how much each of them counts on one device.
#pragma once
#include <string>

namespace vkgemm::plan {

/// The parts, in the order of VkgemmCandidate::costParts.
#define VKGEMM_COST_PARTS(X)                                                       \
    X(launch)  /* of the product's dispatch, with the barrier before it */         \
    X(steps)   /* of K, of all work groups */                                      \
    X(results) /* finishing and writing D, and the start and end of work groups */ \
    X(memory)  /* reading operands and writing results, beyond what steps hide */  \
    X(passes)  /* packing operands before the product, adding slices behind it */

struct CostParts {
#define X(name) double name = 0;
    VKGEMM_COST_PARTS(X)
#undef X
    /// Each part times its weight, added up.
    constexpr double weighted(const CostParts& weights) const {
        double sum = 0;
#define X(name) sum += name * weights.name;
        VKGEMM_COST_PARTS(X)
#undef X
        return sum;
    }
    constexpr CostParts times(double factor) const {
        CostParts out;
#define X(name) out.name = name * factor;
        VKGEMM_COST_PARTS(X)
#undef X
        return out;
    }
};

inline constexpr CostParts no_weights = {
#define X(name) .name = 1,
    VKGEMM_COST_PARTS(X)
#undef X
};

/// Of a family on one device, from measurements there ("vkgemm tune --random").
struct FamilyWeights {
    std::string family;
    CostParts weights = no_weights;
};

/// Fitted weights hold for one state of the cost model. Add 1, also to VKGEMM_COST_MODEL_VERSION, when a change of the
/// model makes older ones wrong.
inline constexpr int cost_model_version = 6;

}  // namespace vkgemm::plan
