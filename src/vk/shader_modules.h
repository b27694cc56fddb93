// SPDX-License-Identifier: MIT
// Vulkan's shader modules, made from the packed SPIR-V that is in the library.
#pragma once
#include "vk/pipelines.h"

namespace vkgemm::vk {

/// Of a kernel, in one of its variants.
plan::Result<VkShaderModule> make_module(const Device&, const plan::Module&, plan::Binding, bool is_grouped);

/// Of a chain, for work groups of so many invocations.
plan::Result<VkShaderModule> make_module(const Device&, const plan::ChainModule&, uint32_t invocations);

}  // namespace vkgemm::vk
