// SPDX-License-Identifier: MIT
//
// Plans that are made once, and found again by what they are of.
#ifndef VKGEMM_GGML_PLANS_H
#define VKGEMM_GGML_PLANS_H

#include <vkgemm/vkgemm.h>

#include <mutex>
#include <string>

#include "vkgemm_ggml/products.h"

namespace vkgemm::ggml {

/// What two products must share to share a plan.
struct PlanKey {
    struct Matrix {
        VkgemmType type = VKGEMM_TYPE_DEFAULT;
        VkgemmLayout layout = VKGEMM_LAYOUT_ROW_MAJOR;
        uint64_t ld = 0, batch_stride = 0, outer_stride = 0;
        bool operator==(const Matrix&) const = default;
    };
    uint64_t m = 0, n = 0, k = 0, batch = 0, outer_batch = 0;
    Matrix a{}, b{}, d{};
    uint64_t ratio_b = 0, outer_ratio_b = 0;
    VkgemmAccuracy accuracy = VKGEMM_ACCURACY_DEFAULT;
    uint32_t up_to = 0;
    VkgemmGrouping grouping = VKGEMM_GROUPING_NONE;
    uint64_t indices_per_row = 0;
    uint64_t alignment = 0;
    int residual = -1, bias = -1;  // as in Products
    bool operator==(const PlanKey&) const = default;
};
PlanKey key_of(const Products& x);
struct PlanKeyHash {
    size_t operator()(const PlanKey& key) const;
};

struct CachedPlan {
    std::once_flag made{};        // what follows is written then
    VkgemmPlan handle = nullptr;  // null: the reason why there is none
    Reason reason = Reason::SERVED;
    std::string detail{};  // the kernel, or the message of the refusal
    uint64_t workspace_bytes = 0;
};

/// Writes `out`, but for `made`.
void make_plan(VkgemmContext context, uint64_t workspace_limit, const Products& x, CachedPlan& out);

}  // namespace vkgemm::ggml
#endif
