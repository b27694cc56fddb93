// SPDX-License-Identifier: MIT
// The library's candidates as people read them, and a tile as a picture. Pure.
#pragma once
#include <string>
#include <vector>

#include "measure/kernel_lookup.h"

namespace vkgemm::tool {

/// Another kernel than the chosen one: its cost, or why it cannot serve.
struct Other {
    std::string kernel;
    VkgemmCandidateState state = VKGEMM_CANDIDATE_REJECTED;
    double cost = 0;
    VkgemmResult reason = VKGEMM_SUCCESS;  // why it cannot serve; SUCCESS if it can
    std::string text{};                    // the sentence for it
    bool other_types = false;              // than the problem has; nothing else was looked at

    bool serves() const { return reason == VKGEMM_SUCCESS; }
};
/// Every candidate but the chosen one.
std::vector<Other> others_of(const Explanation& e);

/// Kernels that are refused for the same reason.
struct Refused {
    std::string why;
    std::vector<std::string> kernels;
};
/// In the order of their first kernel; without those that multiply other types.
std::vector<Refused> by_reason(const std::vector<Other>& others);

/// "i32 (3), f16*f16+f32->f16 (9)": the types of the kernels that multiply others than the problem's, and how many have
/// them. "" if there are none.
std::string other_types(const std::vector<Other>& others);

/// "chosen", "serves", "rejected", "disabled" or "not built".
const char* state_word(VkgemmCandidateState state);

/// The block of D that one work group computes, with the parts of A and B that it reads in a step, to scale, and what
/// the parts are called. At most page_width columns wide. `shared_bytes`: of a work group.
std::string tile_drawing(const Tile& tile, uint64_t shared_bytes);

}  // namespace vkgemm::tool
