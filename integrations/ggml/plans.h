// SPDX-License-Identifier: MIT
//
// Plans that are made once, and found again by what they are of.
#ifndef VKGEMM_GGML_PLANS_H
#define VKGEMM_GGML_PLANS_H

#include <mutex>
#include <string>

#include "vkgemm_ggml/products.h"

namespace vkgemm::ggml {

/// What two products must share to share a plan.
struct PlanKey {
    struct Matrix {
        VkgemmType type = VKGEMM_TYPE_DEFAULT;
        VkgemmLayout layout = VKGEMM_LAYOUT_ROW_MAJOR;
        uint64_t ld = 0, batchStride = 0, outerStride = 0;
        bool operator==(const Matrix&) const = default;
    };
    uint64_t m = 0, n = 0, k = 0, batch = 0, outerBatch = 0;
    Matrix a{}, b{}, d{};
    uint64_t ratioB = 0, outerRatioB = 0;
    VkgemmAccuracy accuracy = VKGEMM_ACCURACY_DEFAULT;
    uint32_t upTo = 0;
    VkgemmGrouping grouping = VKGEMM_GROUPING_NONE;
    uint64_t indicesPerRow = 0;
    uint64_t alignment = 0;
    int residual = -1, bias = -1;  // as in Products
    bool operator==(const PlanKey&) const = default;
};
PlanKey keyOf(const Products& x);
struct PlanKeyHash {
    size_t operator()(const PlanKey& key) const;
};

struct CachedPlan {
    std::once_flag made{};        // what follows is written then
    VkgemmPlan handle = nullptr;  // null: the reason why there is none
    Reason reason = Reason::SERVED;
    std::string detail{};  // the kernel, or the message of the refusal
    uint64_t workspaceBytes = 0;
};

/// Writes `out`, but for `made`.
void makePlan(VkgemmContext context, uint64_t workspaceLimit, const Products& x, CachedPlan& out);

}  // namespace vkgemm::ggml
#endif
