// SPDX-License-Identifier: MIT
// The key of a packed operand's layout.
#pragma once
#include "plan/kernels/kernels.h"
#include "plan/problem/problem.h"

namespace vkgemm::plan {

/// A hash (FNV-1a) of all that the bytes depend on, once `packer` has brought `x` into the layout `to`: if the matrix
/// units define the order of elements, that is the device and its driver too. `batch` matrices are packed.
uint64_t packing_key(const Kernel& packer, const Operand& x, const Matrix& to, uint64_t batch, const DeviceCaps&);

}  // namespace vkgemm::plan
