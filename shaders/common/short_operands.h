// SPDX-License-Identifier: MIT
// What families refuse that load 16 bytes at a time, wherever in an operand they are.
#pragma once
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

inline const char* too_short(const Problem& p) {
    for (const Operand& x : operands(p))
        if ((x.matrix == &p.a || x.matrix == &p.b) &&
            span_elements(*x.matrix, x.rows, x.cols, p.batch).value_or(0) * info(x.matrix->type).bytes < 16)
            return "is not for operands shorter than 16 bytes";
    return nullptr;
}

}  // namespace vkgemm::plan::family
