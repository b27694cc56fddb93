// SPDX-License-Identifier: MIT
// Kernels of matrix units that the device does not have: their shaders, with common/matrix_emulated.glsl in place of
// the units.
#pragma once
#include <string>

#include "plan/kernels/kernels.h"

namespace vkgemm::test {

/// From now on the contexts of cases have the matrix units, subgroup sizes and shared memory of a device of
/// tests/devices, and the shaders that stand in for these; "others": matrix shapes and subgroups that no row has;
/// "deeper": matrices of 8x8x16 by a device that has 8x8x8, and no stand-in, for fragments of several chunks. To be
/// called before the first case. "" or why not.
std::string emulate_matrices_of(const std::string& device);
/// That device, "" if there is none.
const std::string& emulated_device();
/// Whether the kernel has shaders of that kind. Others do not run then.
bool is_emulated(const plan::Kernel&);

}  // namespace vkgemm::test
