// SPDX-License-Identifier: MIT
// What is done to a problem before a kernel is chosen: defaults are filled in, rules are checked, cases are reduced.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "plan/base/result.h"
#include "plan/problem/epilogue.h"
#include "plan/problem/levels.h"

namespace vkgemm::plan {

/// The problem with its defaults filled in (types, leading dimensions, strides), or the first rule of VkgemmProblem
/// that it breaks. In a completed problem no type is VKGEMM_TYPE_DEFAULT, ld is at least the length of a row, and
/// batchStride, or an outer stride, is 0 where its level has one matrix, whose ratio then is 1 unless the batch varies.
Result<Problem> complete(Problem p);

/// A problem that complete() turns into this one, in which shared strides are given as such.
Problem restated(Problem completed);

/// The same product as fewer cases. D becomes row-major: a problem with a column-major D becomes its transpose, which
/// swaps A with B (`swapped`), m with n, rows with columns in the epilogue. Of its batch, what is one tall or wide
/// product becomes that; one level is left in `problem`, which runs once for each index of the levels in `repeated`
/// (levels.h).
struct Normalised {
    Problem problem;
    bool swapped = false;
    Levels repeated{};  // at most three, and those of a part
    // Of a part of a larger problem (src/plan/steps/parts.h):
    bool is_part = false;
    bool adds = false;  // to D, which an earlier part of K wrote: beta is 1
    Level begin{};      // how far it is from the beginning of each operand
};
Normalised normalise(const Problem& completed);

/// A problem in all forms that planning needs, each made once.
struct PreparedProblem {
    Problem given;                   // as the caller states it
    Problem completed;               // with its defaults
    Normalised normalised;           // as one of fewer cases
    std::optional<Problem> least{};  // `normalised` with the smallest sizes that its kernel must serve; nullopt: those
};
/// Refused if the problem breaks a rule, or would take too many repetitions.
Result<PreparedProblem> prepare(const Problem& given);
/// `completed` with the sizes of `least`.
Problem smallest(const PreparedProblem&);

/// Some or all sizes of a problem, in the caller's terms.
struct Sizes {
    uint64_t m, n, k, batch;
    bool operator==(const Sizes&) const = default;
};
constexpr Sizes sizes_of(const Problem& p) { return {p.m, p.n, p.k, p.batch}; }

/// What the kernel of a batch-invariant problem is chosen for, whatever its m and its batch are: one product of so many
/// rows, with leading dimensions that do not tell m, and packed operands of any layout.
inline constexpr uint64_t reference_rows = 256;
Problem invariant_reference(Problem completed, uint64_t rows = reference_rows);

/// Elements that an operand of one dispatch may span (DeviceCaps::max_span): SPIR-V takes 32-bit indices as signed.
inline constexpr uint64_t max_span = INT32_MAX;
/// Products that need more than this many repetitions are refused.
inline constexpr uint64_t most_repetitions = 4096;
/// Why repetitions cannot be planned: there are too many of them, or an operand that comes packed, or is read in words,
/// cannot begin where they would.
std::optional<Status> unfit_levels(const Problem& completed, const Normalised&);
/// Whether its operands must each be within reach of one dispatch: sizes vary, groups have places of their own, or an
/// operand comes packed.
bool is_never_cut(const Problem&);
/// Whether K may be cut into parts that add up in D: D has the accumulator's type, and no step reads what D may
/// overwrite.
bool adds_up_in_d(const Problem&);

/// A problem, and the same normalised, with other sizes, which are no larger and differ only where it has upTo.
Problem with_sizes(Problem completed, const Sizes&);
Normalised with_sizes(const Normalised&, const Sizes&);  // whose batch is the kernel's

/// A caller's problem as one run has it, with sizes and leading dimensions of its own, completed; or the rule that it
/// breaks. Allocates nothing unless it is refused.
Result<Problem> of_run(Problem given, const Sizes&, const VkgemmRunStrides&);
/// Whether leading dimensions and strides of all four matrices are multiples of wide_bytes().
bool are_wide(const Problem& normalised);

/// The four matrices with their shapes, in the order A, B, C, D.
struct Operand {
    VkgemmSlot slot;  // VKGEMM_SLOT_A to VKGEMM_SLOT_D
    const Matrix* matrix;
    uint64_t rows, cols;
    bool ragged = false;            // the length of a row varies: a run may have any up to this one (Problem::upTo)
    bool loose = false;             // leading dimension and strides are each run's own, and may be anything
    bool padded = false;            // in the workspace, where zeros follow each row up to a multiple of 16 bytes
    uint64_t batch = 1, outer = 1;  // matrices of the two levels, of a completed problem
    uint64_t outer_stride = 0;      // normalised: that all steps between repetitions are multiples of

    bool is_a() const { return slot == VKGEMM_SLOT_A; }
    bool is_b() const { return slot == VKGEMM_SLOT_B; }
    std::string_view name() const { return std::string_view("ABCD").substr(size_t(slot), 1); }
};
std::string_view slot_name(VkgemmSlot);  // "a", ..., "workspace"
std::array<Operand, 4> operands(const Problem&);
uint64_t rows_of_a(const Problem& completed);  // m, but fewer if indices share them

inline constexpr uint64_t most_groups_of_table = 1 << 20;
inline constexpr uint64_t most_selected_side = 16;  // m or n of VKGEMM_GROUPING_SELECTED: few rows or columns

/// The sizes and places of the products are in a table in memory. Those of a batch that selects matrices of B are not.
inline bool has_table(const Problem& p) {
    return p.grouping != VKGEMM_GROUPING_NONE && p.grouping != VKGEMM_GROUPING_SELECTED;
}

/// Whether every row (column, if it is column-major) begins at and spans a multiple of 16 bytes, if the operand itself
/// begins at a multiple of `operand_alignment` bytes. Then it can be loaded and stored 16 bytes at a time.
bool is_wide(const Operand&, uint32_t operand_alignment);
bool has_pitches(const Operand&, uint32_t operand_alignment);  // the same, but a row may have any length
uint32_t wide_bytes(Type);  // of which its rows must be multiples for that: four elements, or 16 bytes

std::string_view accuracy_name(VkgemmAccuracy);  // in the text of a problem: "f32_split"
/// Whether a product of f64 is computed from products of int8, and of how many: one for each modulus.
inline bool is_from_int8(const Problem& p) { return isFromInt8(p.accuracy); }
uint32_t moduli_of(const Problem&);
/// Why this one, whose types are filled in, cannot be.
std::optional<Status> check_from_int8(const Problem&);
/// Whether A and B have different types, or one of them is a block format or a float of 8 bits. Such operands are read
/// in words of 32 bits. i8 and u8 beside each other are not, where they are summed as whole numbers.
inline bool is_mixed(const Problem& p) {
    const auto is_byte = [](Type t) { return t == i8 || t == u8; };
    if (is_byte(p.a.type) && is_byte(p.b.type) && p.accumulate == i32) return false;
    return p.a.type != p.b.type || !info(p.a.type).is_plain() || is_fp8(p.a.type);
}
/// The type that matrix units multiply if the accuracy is VKGEMM_ACCURACY_NARROW. bf16 keeps the range of every type.
inline Type narrow_type(const Problem& p) { return p.a.type == bf16 || p.b.type == bf16 ? bf16 : f16; }
/// Whether sums of whole numbers become a D of another type, by an epilogue in f32.
inline bool is_scaled(const Problem& completed) { return completed.accumulate == i32 && completed.d.type != i32; }
/// The type that the epilogue computes in, alpha and beta included.
inline Type finished_in(const Problem& completed) { return is_scaled(completed) ? f32 : completed.accumulate; }
/// The types of the operands of the epilogue, by slot, of a completed problem; nothing for any other slot.
std::optional<Type> epilogue_type(const Problem& completed, VkgemmSlot);
/// Bias and scale of a problem that leaves their types open.
constexpr Type default_factor_type(Type d) { return d == i8 ? f32 : d; }
/// Whether an operand of the epilogue is read in words of 32 bits, for it has 16 bits and D has another type.
bool is_read_in_words(const Problem& completed, VkgemmSlot);
/// Why the operands of the epilogue cannot have their types, or scalars cannot be in memory.
std::optional<Status> check_operand_types(const Problem& completed);
std::optional<Status> check_scalars(const Problem& completed);
/// Whether D is made of two products, by B and by B2, and whether these have biases.
inline bool is_pair(const Problem& p) {
    return std::any_of(p.epilogue.begin(), p.epilogue.end(),
                       [](const EpilogueStep& s) { return info(s.kind).is_pair(); });
}
inline bool is_biased_pair(const Problem& p) {
    return is_pair(p) && info(p.epilogue.begin()->kind).operand == VKGEMM_SLOT_BIAS;
}
/// Why this one, completed, cannot be.
std::optional<Status> check_pair(const Problem&);
bool is_empty(const Problem&);  // m, n or batch is 0, so there is nothing to do

/// How an array goes on: so many steps of this width, in elements or bytes.
struct Strides {
    uint64_t width, count;
};
/// Of an array whose innermost run reaches over `reach`: the smallest stride, made by more than one step, that is less
/// than what smaller ones reach over, and `below` more; `reach` becomes that. nullopt: none is. Sorts them.
std::optional<uint64_t> first_overlap(std::span<Strides>, uint64_t& reach, uint64_t below = 0);

/// Elements from the first to one past the last of a whole batched operand; 0 for an empty one; nullopt above 2^64.
std::optional<uint64_t> span_elements(const Matrix& completed, uint64_t rows, uint64_t cols, uint64_t batch);
std::optional<uint64_t> span_elements(const Operand& of_completed);  // of both levels

}  // namespace vkgemm::plan
