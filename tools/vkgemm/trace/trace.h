// SPDX-License-Identifier: MIT
// One problem on one kernel, run traced: which elements of its operands every invocation touches, as observed.
#pragma once
#include <array>

#include "measure/kernel_lookup.h"
#include "measure/verify.h"
#include "trace/traced.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// The operands of a dispatch, by the binding that the kernels have them at.
enum Bind : uint32_t { bind_a, bind_b, bind_c, bind_d, bind_bias, bind_scale, bind_residual, bind_count };

/// One load or store of the work group that was watched.
struct Access {
    uint32_t operand, first, elements;  // by Bind; elements from the operand's beginning
    uint32_t invocation, subgroup;
    uint32_t step;  // barriers that the invocation had passed
};

/// The operand at one binding.
struct TracedOperand {
    std::string name;  // "A", ..., "bias"; "" : nothing does
    Matrix matrix{};   // as the kernel sees it; batchStride 0: the batch has one
    uint64_t rows = 0, cols = 0;
    std::vector<uint32_t> counts;        // by element of its span, gaps too
    uint64_t outside = 0, farthest = 0;  // accesses that reach outside it, and the largest index of one

    uint64_t position(uint64_t batch, uint64_t row, uint64_t col) const {
        const bool by_rows = matrix.layout == rowMajor;
        return batch * matrix.batchStride + (by_rows ? row * matrix.ld + col : col * matrix.ld + row);
    }
};

struct Trace {
    Problem problem;       // as the kernel sees it: a column-major D has become its transpose
    bool swapped = false;  // it has
    uint64_t k = 0;        // that was summed over: 0 where alpha is 0
    bool adds_c = false;   // beta is not 0
    std::string kernel{}, tile_text{};
    Tile tile{};
    uint64_t groups = 0;
    std::array<TracedOperand, bind_count> operands{};  // by Bind
    std::vector<uint32_t> owners{};                    // of D's span: the work group that wrote last, from 1; 0: none
    std::vector<Access> watched{};                     // of work group 0, in no order
    uint64_t unlisted = 0;                             // its accesses that did not fit
    std::vector<std::byte> traced{}, untraced{};       // D, as each left it
    ExactCase::Outcome outcome{};                      // on the traced one
};

/// Runs the kernel as the library has it, and as `modules` has it, on operands of which D is known. Of the case's own
/// alpha and beta it only counts whether they are 0. The kernel is PlanOptions::kernel; "": the chosen. If
/// interrupted(), it ends early, and the trace is incomplete.
Result<Trace> trace(const host::Device& device, const Case& c, const std::string& kernel, const std::string& tile,
                    std::span<const TracedModule> modules);

}  // namespace vkgemm::tool
