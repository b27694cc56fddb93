// SPDX-License-Identifier: MIT
// Machine code that NVIDIA's driver keeps in a pipeline cache. Neither the cache nor the object in it is documented:
// notes/machine.md has what was found out (driver 580.159.04).
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace vkgemm::test {

/// The code of the only pipeline in a cache; empty if there is none, or if libzstd.so.1 cannot be opened. Nothing
/// outside `cache` is read.
std::vector<std::byte> pipeline_code(std::span<const std::byte> cache);

/// The same of an object that is unpacked: "NVuc", with the number of its sections at 8 and a table of them at 32.
std::vector<std::byte> code_in_object(std::span<const std::byte> object);

}  // namespace vkgemm::test
