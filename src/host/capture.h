// SPDX-License-Identifier: MIT
// One call as a file: a header of lines, then the operands' bytes. Written for VKGEMM_CAPTURE, read by `vkgemm replay`.
//
//     vkgemm-capture 1
//     version 0.1.0
//     device llvmpipe (LLVM 21.1.8, 256 bits)
//     driver lavapipe, Mesa 26.1.6-1
//     problem f32*f32+f32->f32 64x64x64 lda=64 ldb=64 ldd=64
//     kernel block_f32_64x64
//     tile WG=64,BM=64,BN=64,BK=8,TM=8,TN=8
//     alignment 16
//     workspace 0
//     operand a 16384 cbf29ce484222325
//     operand b 16384 cbf29ce484222325
//     operand d 16384 cbf29ce484222325
//     result 16384 cbf29ce484222325
//     data
//
// The lines stand in this order. An operand is a slot, its bytes as they were before the call, and their FNV-1a of 64
// bits; the result is D after it. The bytes of the operands follow `data` in their order, with nothing after them.
#pragma once
#include "vkgemm/host.hpp"

namespace vkgemm::host::detail {

inline constexpr uint32_t capture_format = 1;

uint64_t checksum(std::span<const std::byte> bytes);
const char* slot_name(VkgemmSlot slot);  // "a", ..., "scalars"
/// Whether a capture has the operand of this slot: a matrix, a vector or scalars.
constexpr bool is_captured(VkgemmSlot slot) { return slot <= VKGEMM_SLOT_RESIDUAL || slot == VKGEMM_SLOT_SCALARS; }

std::string to_text(const Capture& c);
/// Refusals name the line, or the byte where the data end too early or are damaged. Pure.
Result<Capture> parse_capture(std::string_view text);

}  // namespace vkgemm::host::detail
