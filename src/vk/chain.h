// SPDX-License-Identifier: MIT
// A chain of products, and a run of it.
#pragma once
#include <memory>

#include "plan/chain.h"
#include "vk/record.h"

struct VkgemmChain_T {
    VkgemmContext context = nullptr;
    vkgemm::plan::Chain plan;  // whose plans are in `products`
    std::vector<std::unique_ptr<VkgemmPlan_T>> products;
    uint32_t flags = 0;              // VkgemmPlanFlagBits
    vkgemm::vk::Pipelines::Use use;  // the pipeline of the one dispatch, if there is one and the chain is not dry
};

namespace vkgemm::vk {

/// A caller's run of a chain, whose own fields were checked.
struct ChainRun {
    const VkgemmChain_T* chain;
    VkgemmChainRun run;
};

/// The run of one product, as its plan takes it: its A, D and workspace are filled in. Allocates nothing unless it is
/// refused.
plan::Result<VkgemmRun> product_run(const ChainRun&, size_t product);

/// Everything that can be wrong with a run. Refused with the number of the product.
std::optional<Status> check_chain_run(ChainRun& out, VkgemmChain, const VkgemmChainRun*);

/// Cannot fail: the run was checked.
void record_chain(const ChainRun&, VkCommandBuffer);

}  // namespace vkgemm::vk
