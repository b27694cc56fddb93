// SPDX-License-Identifier: MIT
// What the bits of pipeline stages and accesses stand for in a barrier of synchronization2.
#pragma once
#include <string>

#include "vkgemm/vkgemm.h"

namespace vkgemm::vk {

/// With all that a bit for several stages or accesses stands for.
VkPipelineStageFlags2 with_aliases(VkPipelineStageFlags2);
VkAccessFlags2 with_aliases_of_access(VkAccessFlags2);

/// The stages that an execution dependency waits for, or lets wait: also those that are logically earlier, or later.
VkPipelineStageFlags2 first_scope(VkPipelineStageFlags2);
VkPipelineStageFlags2 second_scope(VkPipelineStageFlags2);

/// The writes among them. A bit that is not known counts as one.
VkAccessFlags2 writes_of(VkAccessFlags2);

/// "COMPUTE_SHADER | COPY"; "NONE"
std::string stages_text(VkPipelineStageFlags2);
std::string access_text(VkAccessFlags2);
/// "0x5581c0de"
std::string hex_text(uint64_t);

}  // namespace vkgemm::vk
