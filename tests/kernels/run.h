// SPDX-License-Identifier: MIT
// One product on the device against the reference, as one line of text that repeats it.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/kernels/kernels.h"
#include "plan/problem/problem.h"
#include "support/device.h"

namespace vkgemm::test {

/// What operands hold.
///   exact    whole numbers, compared bit for bit
///   special  the same with NaN and infinities among them
///   random   anything in (-1, 1), compared within the derived bound and the bound that the plan promises
///   wide     such numbers, none near 0, times powers of two between 2^-120 and 2^120, all of them in every row of A;
///            the columns of B undo them, so that every product counts, unless the accuracy measures errors by a row's
///            largest element
///   great    the same, but the first product of every sum is between 2^125 and 2^127, and the others do not count
///   digits   A, or B if the seed is even, holds random numbers of 24 digits; the other one picks one of them for each
///            element of D, times a power of two: D is it to the last digit, except for accuracies that measure errors
///            by rows
///   placed   whole numbers, but at one k every third row of A, or every third column of B, from the first on, holds a
///            NaN or an infinity, and the other operand holds 1 there; placed_seed chooses which, where and what
///   scaled   random numbers, but those of every row of A times a power of two of its own: some rows are 0, some count
///            as 0 for accuracy=mxint8, and in some it has to cut numbers off at its largest
/// wide, great, digits and scaled are for f32 only (scaled for an A of f32), placed for floating-point types.
enum class Fill { exact, special, random, wide, great, digits, placed, scaled };

/// The seed of Fill::placed that puts `special` (0: NaN, 1: infinity, 2: -infinity) at `k` of A or of B.
constexpr uint64_t placed_seed(uint64_t k, bool in_b, unsigned special) { return 6 * k + 3 * in_b + special; }

/// An operand that lies exactly on D, which the run overwrites.
enum class Alias { none, c, residual };

/// What is tried after the run, with the same data, and must lead to the same D or the same plan. Bits of Case::ways.
enum Way : uint32_t {
    way_text = 1,    // the problem is written as text and read again; its plan has the same keys, which compile nothing
    way_slices = 2,  // a plan with dispatchSeconds, beside the first one: the same bits
    way_rows = 4,    // if batchInvariant is set: a product of the first rows alone has the same bits
    way_replay = 8,  // the description of the run (vkgemmDescribeRun) is run again: the same bits
    way_fences = 16,  // on CPU drivers: operands and workspace end at pages that nobody may touch
};
inline constexpr std::array<std::string_view, 5> way_names = {"text", "slices", "rows", "replay", "fences"};

struct Case {
    std::string kernel;     // "": the context chooses
    std::string tile;       // constants to replace
    plan::Problem problem;  // as a caller writes it, not completed
    double alpha = 1, beta = 0;
    bool addresses = false;
    uint32_t shift = 0;  // elements by which every operand misses 16 bytes
    Fill fill = Fill::exact;
    uint64_t seed = 1;
    uint32_t invocations = 0;            // plan for a GPU that allows so many in a work group; 0: for this device
    uint64_t samples = 0;                // elements of D to compare; 0: all of them
    std::optional<plan::Sizes> sizes{};  // of the run, where the problem has upTo; nullopt: the problem's
    std::optional<VkgemmRunStrides> strides{};  // of the run, where upTo has VKGEMM_UP_TO_STRIDES
    Alias alias = Alias::none;                  // c: of a problem with cSource SEPARATE, whose C is laid out like D
    uint32_t reach = 0;  // elements of an operand that a dispatch reaches; 0: as many as 32-bit indices do
    std::array<uint32_t, 7> shifts{};     // further elements, from the slot of A to that of the residual
    uint32_t ways = 0;                    // Way
    bool broken = false;                  // some groups of the table break a rule
    std::optional<uint64_t> workspace{};  // the most bytes of it; nullopt: 64 MiB

    uint64_t shift_of(VkgemmSlot slot) const {
        const bool is_vector = slot == VKGEMM_SLOT_BIAS || slot == VKGEMM_SLOT_SCALE;
        return (is_vector ? 0 : shift) + uint64_t{shifts[slot]};
    }
};

/// "kernel=tiled_f32_8x8 shift=1 fill=exact seed=7 f32*f32+f32->f32 9x9x9": what --one takes.
std::string to_text(const Case&);
plan::Result<Case> parse_case(std::string_view line);

/// A line of text, to be varied.
Case case_of(std::string_view kernel, std::string_view problem_line);

/// Runs the case and checks D, the bytes around it, the operands and the messages of the validation layer. Returns ""
/// if all are right, else what is wrong and the command line that repeats the case.
std::string run(const Case&);

/// The command that repeats the case.
std::string repeat_with(const Case&);

/// The elements of D in the order of its operand, for a case too large to compare with the reference.
plan::Result<std::vector<double>> result_of(const Case&);

/// False if sums are so short (f16) and K so long that no whole numbers stay exact. Such a case is run with random
/// numbers.
bool can_be_exact(const Case&);

bool fits(const plan::Kernel&);  // on this device

/// Is there a plan for it? Nothing is compiled.
bool is_planned(const Case&);

/// The command that started this program, for the line that repeats a case.
void set_command(std::string name);

}  // namespace vkgemm::test
