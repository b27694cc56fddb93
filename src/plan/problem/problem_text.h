// SPDX-License-Identifier: MIT
// The one-line text of a problem, for tests, bench, tuner, logs and bug reports:
//
//     f16*f16+f32->f16 64x128x256 batch=4 layout=nt ldb=160 beta=1 bias=col act=gelu
//
//   line    = [types] size { option }                 types left out: f32
//   types   = A "*" B [ "+" accumulator ] [ "->" D ]
//   size    = M "x" N "x" K
//   option  = "batch=" N | "layout=" AB | "layout_c=" L | "layout_d=" L | "lda=" N ... "ldd=" N
//           | "stride_a=" N ... "stride_d=" N | "alpha=" X | "beta=" X | "c=" none|d|separate | step
//   step    = "bias=" row|col | "scale=" row|col|all | "residual" | "act=" relu|gelu|silu | "clamp=" X ":" X
//
// L is n (row-major) or t (column-major); layout_c of c=separate follows layout_d where it is left out; stride 0 is
// broadcast; beta other than 0 implies c=d. Steps run in the order written; every other option comes at most once.
// X may be inf or nan. A line can be read that breaks the rules of problems (complete() tells): what was refused can be
// written down, all but a type of C's own.
#pragma once
#include <string>

#include "plan/device/device_caps.h"
#include "plan/problem/problem.h"

namespace vkgemm::plan {

struct ProblemText {
    Problem problem;
    double alpha = 1, beta = 0;
};

/// Refusals (Refusal::parse) name the character, counted from 1, and what would fit there.
Result<ProblemText> parse_problem(std::string_view line);

/// Everything at its default is left out; parse_problem() of it gives the same problem again.
std::string to_text(const Problem&, double alpha, double beta);

/// DeviceCaps as "name = value" lines, '#' comments allowed; unknown names and broken values are refused with the
/// line.
std::string to_text(const DeviceCaps&);
Result<DeviceCaps> parse_device_caps(std::string_view text);

}  // namespace vkgemm::plan
