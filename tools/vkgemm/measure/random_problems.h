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

/// What random problems are like.
enum class Draw : uint8_t {
    /// Every octave of sizes up to 16384 is as likely as another, and a third of all problems have sizes that are
    /// multiples of 64, a third multiples of 8, as far as they are not smaller. A fourth have a batch of up to 256. All
    /// layouts of A and B are as likely.
    sizes,
    /// A third each: layers of 512 to 1535 rows; attention over up to 2048 places, with heads of 64 to 128, both its
    /// scores and what they weigh; and 1 to 64 rows by large weights. Rows and places are seldom multiples of anything.
    networks,
};
/// Of the largest problem, if no other limit is given.
constexpr double default_max_flops(Draw draw) { return draw == Draw::networks ? 1e12 : 2e11; }

/// `count` problems of `types` ("f16,i8,f32_split") in turn. A problem takes at least 1e7 and at most `max_flops`
/// operations, and its operands at most 512 MiB. The same seed gives the same problems on every machine, and a smaller
/// `count` the first of them.
Result<std::vector<RandomCase>> random_problems(size_t count, uint64_t seed, const std::string& types, double max_flops,
                                                Draw draw = Draw::sizes);

/// `count` of these problems, or all if they are fewer, in an order that the seed decides alone. Their kind is the type
/// of A.
std::vector<RandomCase> drawn_from(std::vector<Case> all, size_t count, uint64_t seed);

}  // namespace vkgemm::tool
