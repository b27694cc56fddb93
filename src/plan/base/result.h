// SPDX-License-Identifier: MIT
// A refusal is the public Status; a value or a refusal is the public Result.
#pragma once
#include "vkgemm/problem.hpp"

namespace vkgemm::plan {

using vkgemm::Result;
using vkgemm::Status;

/// A Status made from its code and the sentence for whoever reads the log.
struct Refusal : Status {
    Refusal(VkgemmResult why, std::string sentence, int32_t vulkan = 0) : Status{why, vulkan, std::move(sentence)} {}
};

}  // namespace vkgemm::plan
