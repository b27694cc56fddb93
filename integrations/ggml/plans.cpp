// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/plans.h"

#include <initializer_list>
#include <vkgemm/hash.hpp>

namespace vkgemm::ggml {

PlanKey key_of(const Products& x) {
    const VkgemmProblem& p = x.problem;
    const auto matrix = [](const VkgemmMatrix& m, uint64_t outer_stride) {
        return PlanKey::Matrix{.type = m.type,
                               .layout = m.layout,
                               .ld = m.ld,
                               .batch_stride = m.batchStride,
                               .outer_stride = outer_stride};
    };
    return {.m = p.m,
            .n = p.n,
            .k = p.k,
            .batch = p.batch,
            .outer_batch = p.outerBatch,
            .a = matrix(p.a, p.outerStrideA),
            .b = matrix(p.b, p.outerStrideB),
            .d = matrix(p.d, p.outerStrideD),
            .ratio_b = p.ratioB,
            .outer_ratio_b = p.outerRatioB,
            .accuracy = p.accuracy,
            .up_to = p.upTo,
            .grouping = p.grouping,
            .indices_per_row = p.indicesPerRow,
            .alignment = x.alignment,
            .residual = x.residual,
            .bias = x.bias};
}

size_t PlanKeyHash::operator()(const PlanKey& key) const {
    uint64_t hash = emptyHash;
    const auto add = [&](std::initializer_list<uint64_t> words) {
        for (const uint64_t word : words) {
            hash = hashed(hash, word);
            hash ^= hash >> 29;
        }
    };
    add({key.m, key.n, key.k, key.batch, key.outer_batch, key.ratio_b, key.outer_ratio_b, key.indices_per_row,
         key.alignment});
    add({uint64_t(key.accuracy), key.up_to, uint64_t(key.grouping), uint64_t(key.residual + 1),
         uint64_t(key.bias + 1)});
    for (const PlanKey::Matrix* x : {&key.a, &key.b, &key.d})
        add({uint64_t(x->type), uint64_t(x->layout), x->ld, x->batch_stride, x->outer_stride});
    return static_cast<size_t>(hash);
}

void make_plan(VkgemmContext context, uint64_t workspace_limit, const Products& x, CachedPlan& out) {
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.workspaceLimit = workspace_limit;
    options.operandAlignment = x.alignment;
    VkgemmError error{};
    const VkgemmResult made = vkgemmCreatePlan(context, &x.problem, &options, &out.handle, &error);
    if (made < 0) {
        out.reason = made == VKGEMM_ERROR_LIMIT ? Reason::LIMIT : Reason::PLAN;
        out.detail = error.text;
        return;
    }
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    vkgemmGetPlanInfo(out.handle, &info);
    out.detail = info.kernel;
    out.workspace_bytes = info.requiredBytes[VKGEMM_SLOT_WORKSPACE];
}

}  // namespace vkgemm::ggml
