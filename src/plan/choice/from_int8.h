// SPDX-License-Identifier: MIT
// f64 from products of int8 (VKGEMM_ACCURACY_F64_SPLIT, _WIDE): what is multiplied, and the passes around it.
#pragma once
#include "plan/choice/select.h"

namespace vkgemm::plan {

/// What the kernels multiply for this problem, which is normalised: itself, unless it is computed from int8. Then a
/// batch of one product of int8 for each modulus, or of i32 if the device stores no elements of 8 bits.
Problem multiplied(const Problem&, const DeviceCaps&);

/// The schedule for a problem that differs in sizes alone, as resized().
Schedule resized_from_int8(const Schedule&, const Tile&, const Problem& smaller);

/// Whether the product stores remainders of its sums (common/remainders.glsl), as products of int8 do: its schedule's
/// problem then accumulates in u8.
bool stores_remainders(const Schedule&);

/// The request for what is multiplied: it gets the workspace that the operands leave.
Request request_for_multiplied(const Request&, const Problem&, const DeviceCaps&);

/// Where the parts of the workspace begin, in bytes: exponents of A's rows, which are first, and of B's columns, the
/// planes of A and B, what is finished later (if there is an epilogue), and the sums. What comes packed takes nothing.
struct WorkspaceInt8 {
    uint64_t exponents_b, planes_a, planes_b, unfinished, sums;
};
WorkspaceInt8 workspace_int8(const Problem& p, const Problem& multiplied);

/// Where the parts of an operand lie that comes packed, in bytes: its exponents, its planes, and a copy of it (row by
/// row of A, column by column of B), which infinities and NaN need.
struct PackedInt8 {
    uint64_t planes, planes_bytes, copy, copy_bytes, end;
};
PackedInt8 packed_int8(const Operand& from, const Problem& multiplied);

/// The bytes of workspace that a problem computed from int8 needs, if K is not split.
uint64_t least_workspace(const Problem&, const DeviceCaps&);

/// Whether 32-bit indices, or one descriptor, reach every part of the workspace of a problem computed from int8.
bool reaches_workspace(const Problem&, const DeviceCaps&, Binding);

/// The kernel for what is multiplied, with the passes around it. `p` is computed from int8, and normalised. The caller
/// checks that the workspace is large enough.
Result<Choice> select_from_int8(const DeviceKernels&, const Problem& p, const Request&, Binding);

}  // namespace vkgemm::plan
