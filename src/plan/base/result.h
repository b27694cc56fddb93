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

/// How much a refusal says. Most candidates are rejected without a reader, and a text takes far longer to make than the
/// judgement.
enum class Wording : bool { code_alone, in_words };

/// The message for text that holds one: read as a C string, it would be cut there.
inline constexpr const char* zero_byte = "a zero byte, which no text has";

}  // namespace vkgemm::plan
