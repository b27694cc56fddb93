// SPDX-License-Identifier: MIT
// Turns a choice into dispatches, arguments and workspace: what recording needs besides handles, offsets and factors.
#pragma once
#include <array>
#include <vector>

#include "plan/choice/select.h"

namespace vkgemm::plan {

std::string_view slot_name(VkgemmSlot);  // "a", ..., "workspace"

/// The specialization constants that the problem sets.
struct ProblemConstants {
#define X(id, name, meaning) uint32_t name = 0;
    VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
    bool operator==(const ProblemConstants&) const = default;
};

/// One dispatch. Recording fills in alpha, beta and the operands' offsets in `args`.
struct Step {
    const Kernel* kernel;
    Tile tile;
    ProblemConstants constants;
    abi::GemmArgs args;
    uint32_t groups_x, groups_y;
    std::array<VkgemmSlot, BIND_COUNT>
        slots;  // by BIND_*: which operand; VKGEMM_SLOT_D where the shader does not use it
    std::array<uint64_t, BIND_COUNT> offsets{};  // by BIND_*: bytes past the beginning of that operand
    std::array<uint64_t, BIND_COUNT> bytes{};    // from there on; 0: to the operand's end
    bool waits = true;                           // for the steps before it
};

/// Specialization data: the tile's constants, then the problem's, 4 bytes each, in the order of abi.h.
inline constexpr uint32_t constant_ids[] = {
#define X(id, name, meaning) id,
    VKGEMM_TILE_CONSTANTS(X) VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
};
std::vector<uint32_t> constant_values(const Step&);

/// What the caller must bring for one slot.
struct Requirement {
    uint64_t bytes = 0;      // from the operand's offset; 0: not used
    uint32_t alignment = 1;  // of the offset, bytes
    bool reads = false, writes = false;
};

struct Steps {
    std::vector<Step> steps;  // in order, a barrier before each that waits
    std::array<Requirement, size_t{VKGEMM_SLOT_COUNT}> slots;
    Binding binding = Binding::descriptors;
    double error_bound = 0;  // as VkgemmPlanInfo::errorBound
};

/// `completed` is the caller's problem, `n` the same normalised. An empty problem has no steps.
Steps make_steps(const Choice&, const Problem& completed, const Normalised& n, const DeviceCaps&, const Request&);

}  // namespace vkgemm::plan
