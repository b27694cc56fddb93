// SPDX-License-Identifier: MIT
// One product on the device against the reference, as one line of text that repeats it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "plan/kernels/kernels.h"
#include "plan/problem/problem.h"
#include "support/device.h"

namespace vkgemm::test {

/// exact: whole numbers, compared bit for bit. special: the same with NaN and infinities among them. random: anything
/// in (-1, 1), compared within the derived bound and the bound that the plan promises. wide: such numbers, none near 0,
/// times powers of two between 2^-120 and 2^120, all of them in every row of A; the columns of B undo them, so that
/// every product counts, unless the accuracy measures errors by a row's largest element. great: the same, but the first
/// product of every sum lies between 2^125 and 2^127, and the others do not count. digits: A, or B if the seed is even,
/// holds random numbers of 24 digits, the other one picks one of them for each element of D, times a power of two: D is
/// it to the last digit, but for accuracies that measure errors by rows. These three of f32 only. placed: whole numbers,
/// but at one k every third row of A, or every third column of B, from the first on, holds a NaN or an infinity, and the
/// other operand holds 1 there; the seed says which, where and what (see placed_seed). Of floats only.
enum class Fill { exact, special, random, wide, great, digits, placed };

/// The seed of Fill::placed that puts `special` (0: NaN, 1: infinity, 2: -infinity) at `k` of A or of B.
constexpr uint64_t placed_seed(uint64_t k, bool in_b, unsigned special) { return 6 * k + 3 * in_b + special; }

struct Case {
    std::string kernel;     // "": the context chooses
    std::string tile;       // constants to replace
    plan::Problem problem;  // as a caller writes it, not completed
    double alpha = 1, beta = 0;
    bool addresses = false;
    uint32_t shift = 0;  // elements by which every operand misses 16 bytes
    Fill fill = Fill::exact;
    uint64_t seed = 1;
    uint32_t invocations = 0;  // plan as for a GPU that allows no more in a work group; 0: as for this device
    uint64_t samples = 0;      // elements of D to compare; 0: all of them
};

/// "kernel=tiled_f32_8x8 shift=1 fill=exact seed=7 f32*f32+f32->f32 9x9x9": what --one takes.
std::string to_text(const Case&);
plan::Result<Case> parse_case(std::string_view line);

/// A line of text, to be varied.
Case case_of(std::string_view kernel, std::string_view problem_line);

/// Runs the case and looks at everything: D, what is around it, the operands, the messages of the validation layer.
/// Empty: all is well. Otherwise what is wrong, and the command line that repeats it.
std::string run(const Case&);

/// The elements of D as they lie in its operand, for a case too large to compare with the reference.
plan::Result<std::vector<double>> result_of(const Case&);

/// False where sums are so short (f16) and K so long that no whole numbers stay exact; such a case is run with
/// random numbers.
bool can_be_exact(const Case&);

bool fits(const plan::Kernel&);  // on this device

/// What this program is called as, for the line that repeats a case.
void set_command(std::string name);

}  // namespace vkgemm::test
