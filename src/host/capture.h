// SPDX-License-Identifier: MIT
// Reads captures: the text that vkgemmDescribeRun writes, then the operands' bytes. docs/files.md describes the format.
#pragma once
#include "vkgemm/host.hpp"

namespace vkgemm::host::detail {

uint64_t checksum(std::span<const std::byte> bytes);
const char* slot_name(VkgemmSlot slot);  // "a", ..., "bias2"
/// Whether a capture has the operand of this slot: all but the workspace.
constexpr bool is_captured(VkgemmSlot slot) { return slot != VKGEMM_SLOT_WORKSPACE; }

/// Refusals name the line, or the byte where the data end too early or are damaged. Pure.
Result<Capture> parse_capture(std::string_view text);

}  // namespace vkgemm::host::detail
