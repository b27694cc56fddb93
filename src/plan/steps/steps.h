// SPDX-License-Identifier: MIT
// Turns a choice into dispatches, arguments and workspace: what recording needs besides handles, offsets and factors.
#pragma once
#include <array>
#include <vector>

#include "plan/choice/select.h"

namespace vkgemm::plan {

/// The specialization constants that the problem sets.
struct ProblemConstants {
#define X(id, name, meaning) uint32_t name = 0;
    VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
    bool operator==(const ProblemConstants&) const = default;
};

/// One value for each operand, by VkgemmSlot.
template <class T>
using BySlot = std::array<T, size_t{VKGEMM_SLOT_COUNT}>;

/// One pass: a dispatch, or several that have a part of its work groups each. Recording fills in alpha, beta and the
/// operands' offsets in `args`.
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
    bool is_grouped = false;                     // its module's variant for groups of a table
    uint64_t groups = 0;                         // with work; the last row of the grid may have more
    uint32_t groups_per_dispatch = 0;            // 0: it is one dispatch

    bool is_sliced() const { return groups_per_dispatch != 0; }
    /// Rows of work groups (groups_x each) that a dispatch has; the last one may have fewer.
    uint32_t rows_per_dispatch() const;
    uint32_t dispatch_count() const;
};

/// That one product has: A and B packed or split, the product, its sums added up or joined, and f64's epilogue.
inline constexpr size_t most_steps = 5;

/// A step that has neither operands nor sizes yet.
Step unsized_step(const Kernel&, const Tile&, const ProblemConstants& = {});

/// The step with the constants alone that its machine code was compiled for; the others are arguments.
Step as_compiled(Step native);

/// By BIND_*: the bytes that the offset of an operand in `args` counts.
std::array<uint32_t, BIND_COUNT> counted_in(const Step&);

/// The slot of the kernel's A, or B, where the problem was `swapped`.
inline VkgemmSlot slot_of(bool is_a, bool swapped) { return is_a != swapped ? VKGEMM_SLOT_A : VKGEMM_SLOT_B; }

/// How often steps of a plan run: once for each index of the levels of the batch that the kernel does not take, and for
/// each block of a part. Each time the operands begin further on.
struct Repeats {
    size_t steps = 0;  // of the plan: those that follow the ones of the part before
    double cost = 0;   // of one repetition, as Schedule::cost

    struct Level {
        uint32_t count = 1;
        BySlot<uint64_t> bytes{};  // from one repetition to the next
    };
    std::array<Level, Levels::most - 1> levels{};
    uint32_t count = 1;
    bool are_ordered = false;  // each waits for the one before: they share a workspace, or descriptors of D overlap
    bool adds = false;         // to D, which an earlier part of K wrote
    BySlot<uint64_t> begin{};  // of the first, bytes
    BySlot<uint64_t> reach{};  // bytes that one of several touches from there on; 0: all

    /// Where repetition `number` begins, in bytes past the beginning of the operand.
    uint64_t offset(uint32_t number, VkgemmSlot) const;
};
Repeats repeats_of(const Normalised&, const Schedule&, std::span<const Step>, Binding, const DeviceCaps&,
                   uint32_t operand_alignment);

/// One step in one repetition, as a run records it.
struct Recorded {
    const Repeats* part;
    size_t step;
    uint32_t repetition;
    bool waits;  // for what comes before it
};
/// Calls `what` with a Recorded for each, in their order.
template <class What>
void each_recorded(std::span<const Step> steps, std::span<const Repeats> parts, const What& what) {
    size_t first = 0;
    for (const Repeats& part : parts) {
        for (uint32_t repetition = 0; repetition < part.count; ++repetition)
            for (size_t i = first; i < first + part.steps; ++i)
                what(Recorded{.part = &part,
                              .step = i,
                              .repetition = repetition,
                              .waits = steps[i].waits || (i == first && repetition > 0 && part.are_ordered)});
        first += part.steps;
    }
}

/// Of all steps together, in all repetitions.
uint32_t dispatch_count(std::span<const Step>, std::span<const Repeats>);

/// A step is never cut into more dispatches, whatever the time that they may take.
inline constexpr uint32_t max_dispatches = 4096;

/// Cuts each step into so many dispatches that each takes at most `limit` seconds, if one repetition of all steps takes
/// `whole` seconds. Every work group computes what it does in one dispatch.
void limit_dispatches(std::span<Step>, double whole, double limit, const DeviceCaps&);

/// Specialization data: the tile's constants, then the problem's, 4 bytes each, in the order of constants.h.
inline constexpr uint32_t constant_ids[] = {
#define X(id, name, meaning) id,
    VKGEMM_TILE_CONSTANTS(X) VKGEMM_PROBLEM_CONSTANTS(X)
#undef X
};
using ConstantValues = std::array<uint32_t, std::size(constant_ids)>;
ConstantValues constant_values(const Step&);

/// What the caller must bring for one slot.
struct Requirement {
    uint64_t bytes = 0;      // from the operand's offset; 0: not used
    uint32_t alignment = 1;  // of the offset, bytes
    bool reads = false, writes = false;
    bool packed = false;  // without the rows and strides of its matrix
    uint64_t least = 0;   // bytes; above 0: a run states how many there are, if not `bytes`, for groups of a table
};

struct Steps {
    std::vector<Step> steps;  // in order, a barrier before each that waits
    BySlot<Requirement> slots;
    Binding binding = Binding::descriptors;
    double error_bound = 0;                 // as VkgemmPlanInfo::errorBound
    std::array<uint64_t, 2> packed_keys{};  // as VkgemmPlanInfo::packedA and packedB
    std::vector<Repeats> parts;             // of which there is one, unless the problem is cut
    std::optional<abi::TableArgs> table;    // of groups: the first of two steps lists them; without addresses
};

/// The parts of make_steps() that depend on the sizes of the problem: the operands but the workspace, the workspace,
/// and the arguments, work groups and offsets of steps that were made with another schedule of the same passes. `p` is
/// normalised; requirements_of() alone takes the caller's problem, completed.
BySlot<Requirement> requirements_of(const Problem& completed, uint32_t operand_alignment);
/// The slots that the schedule decides: the workspace, and operands that come packed.
void set_own_slots(std::span<Requirement> slots, const Schedule&, bool swapped, const DeviceCaps&);
void set_sizes(std::span<Step>, const Tile&, const Schedule&, const Problem& p, const DeviceCaps&);
bool is_whole(const Tile&, const Problem& p);  // m, n and k are multiples of the tile

/// `completed` is the caller's problem, `normalised` the same problem, normalised. An empty problem has no steps.
Steps make_steps(const Choice&, const Problem& completed, const Normalised& normalised, const DeviceCaps&,
                 const Request&);

/// Adds the steps of another part of the same problem, which wait for those before them.
void add_part(Steps&, Steps part);

/// Both steps of groups of a table: the first lists their tiles in the workspace, the second is dispatched from there.
/// `choice` has addresses and neither slices nor packed operands. Refused if there are too many tiles.
Result<Steps> make_grouped_steps(const Choice&, const Problem& completed, const Normalised& normalised,
                                 const DeviceKernels&, const Request&);

/// The step of a batch whose matrices of B indices choose; before it, if the request counts indices, one that does so.
/// Refused if the matrices lie too far apart.
Result<Steps> make_selected_steps(const Choice&, const Problem& completed, const Normalised& normalised,
                                  const DeviceKernels&, const Request&);

/// The matrices of such a B of so many bytes.
struct Selectable {
    uint32_t matrices, apart;  // how many there are, and the bytes from one to the next
};
Selectable selectable(const Problem& completed, uint64_t bytes);

/// The one step that packs the operand of `slot` (A or B) ahead, from there to D. Empty if the choice packs none ahead.
Steps make_pack_steps(const Choice&, const Problem& completed, const Normalised& normalised, VkgemmSlot slot,
                      const DeviceCaps&, const Request&);

}  // namespace vkgemm::plan
