// SPDX-License-Identifier: MIT
// What the engine of the README has.
// [includes of the page]
#include <cstdlib>
#include <span>
#include <vector>

static void check(const vkgemm::Status& status) {
    if (!status) std::exit(1);
}
template <class T>
static T check(vkgemm::Result<T> result) {
    check(result.status());
    return *std::move(result);
}

void engine(VkInstance instance, VkPhysicalDevice gpu, VkDevice device, VkCommandBuffer commands, VkBuffer a,
            VkBuffer b, VkBuffer d, PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr,
            const VkPhysicalDeviceFeatures2& features, const std::vector<const char*>& extensions) {
    // [code of the page]
}

int main() {}
