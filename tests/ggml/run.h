// SPDX-License-Identifier: MIT
// Runs products of ggml's tensors on the device.
#pragma once
#include <string>

#include "ggml/tensors.h"

namespace vkgemm::test {

/// The buffers of all cases, one for each operand.
struct Buffers {
    Arena w, y, d, ids, scratch, rounded, added[2];
};
const Buffers& buffers();

/// Writes the tensor's bytes to where it is.
void put(const Arena& arena, const Filled& x);

/// What record() may use besides the operands.
VkgemmOperand scratch_memory();
VkgemmOperand rounded_memory();

/// Runs the product; "" or what went wrong. `want` has the bytes of dst's buffer afterwards.
std::string run(const ggml::MulMat& product, const std::vector<std::byte>& want, ggml::Reason& reason);

/// Its tensors, for a message.
std::string text_of(const ggml::MulMat& x);

}  // namespace vkgemm::test
