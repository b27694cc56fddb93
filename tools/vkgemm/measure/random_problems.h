// SPDX-License-Identifier: MIT
// Problems that nobody chose, so that the choice of kernels is judged on others than it was fitted on. Pure.
#pragma once
#include "measure/cases.h"

namespace vkgemm::tool {

struct RandomCase {
    Case c;
    std::string kind;  // the word of `types` that it was drawn for
};

inline constexpr const char* default_random_types = "f32,f16,bf16,i8,f32_split";

/// `count` problems of `types` ("f16,i8,f32_split") in turn. Sizes: every octave up to 16384 is as likely as another,
/// and a third of all problems have sizes that are multiples of 64, a third multiples of 8, as far as they are not
/// smaller. A fourth have a batch of up to 256. All layouts of A and B are as likely. A problem takes at least 1e7 and
/// at most `max_flops` operations, and its operands at most 512 MiB. The same seed gives the same problems on every
/// machine, and a smaller `count` the first of them.
Result<std::vector<RandomCase>> random_problems(size_t count, uint64_t seed, const std::string& types,
                                                double max_flops);

}  // namespace vkgemm::tool
