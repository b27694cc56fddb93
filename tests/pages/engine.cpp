// SPDX-License-Identifier: MIT
// What the block `engine` of README.md takes from its engine. The block is extracted to engine.inc.
#include <cstdlib>
#include <vkgemm/vkgemm.hpp>

namespace {

void check(const vkgemm::Status& status) {
    if (!status) std::exit(1);
}
template <class T>
T check(vkgemm::Result<T> result) {
    check(result.status());
    return *std::move(result);
}

}  // namespace

void record_a_product(VkInstance instance, VkPhysicalDevice gpu, VkDevice device,
                      const VkPhysicalDeviceFeatures2& features, std::span<const char* const> extensions,
                      VkCommandBuffer commands, VkBuffer a, VkBuffer b, VkBuffer d) {
#include "engine.inc"
}
