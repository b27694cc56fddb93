// SPDX-License-Identifier: MIT
// What is known of a device whose driver fails to list its extensions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "host/state.h"
#include "support/string_util.h"

using namespace vkgemm::host;
using detail::InstanceState;
using vkgemm::test::has_words;

namespace {

VkResult answer = VK_SUCCESS;
int calls = 0, works = 0;  // so many calls work before the others get `answer`
bool grows = false;        // another extension comes between the first count and the first list

VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice, const char*, uint32_t* count,
                                               VkExtensionProperties* all) {
    if (calls++ >= works && answer != VK_SUCCESS) return answer;
    const uint32_t room = *count, there = grows && calls == 1 ? 1 : 2;
    *count = there;
    if (!all) return VK_SUCCESS;
    constexpr const char* names[] = {"VK_KHR_first", "VK_KHR_second"};
    *count = std::min(room, there);
    for (uint32_t i = 0; i < *count; ++i) std::strcpy(all[i].extensionName, names[i]);
    return room < there ? VK_INCOMPLETE : VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice, VkPhysicalDeviceProperties* out) {
    *out = {};
    out->apiVersion = VK_API_VERSION_1_1;
    out->driverVersion = VK_MAKE_API_VERSION(0, 7, 8, 9);
    std::strcpy(out->deviceName, "a device");
}
VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    properties(device, &out->properties);
}
VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* out) { *out = {}; }
VKAPI_ATTR void VKAPI_CALL families(VkPhysicalDevice, uint32_t* count, VkQueueFamilyProperties*) { *count = 0; }

void mock(InstanceState& instance) {
    instance.vk.vkEnumerateDeviceExtensionProperties = list_extensions;
    instance.vk.vkGetPhysicalDeviceProperties = properties;
    instance.vk.vkGetPhysicalDeviceProperties2 = properties2;
    instance.vk.vkGetPhysicalDeviceMemoryProperties = memory;
    instance.vk.vkGetPhysicalDeviceQueueFamilyProperties = families;
    calls = works = 0;
    answer = VK_SUCCESS;
    grows = false;
}

}  // namespace

TEST_CASE("a device whose extensions cannot be listed is unfit for that reason") {
    InstanceState instance;
    mock(instance);
    CHECK(detail::describe(instance, nullptr, 0).unfit == "it has no queue family with compute");
    for (const int working : {0, 1}) {
        mock(instance);
        answer = VK_ERROR_OUT_OF_HOST_MEMORY;
        works = working;
        const DeviceInfo info = detail::describe(instance, nullptr, 3);
        CHECK(info.unfit == "vkEnumerateDeviceExtensionProperties: VK_ERROR_OUT_OF_HOST_MEMORY");
        CHECK(info.index == 3);
        CHECK(info.name == "a device");
        CHECK(info.driver == "version 7.8.9");
    }
}

TEST_CASE("extensions are listed again where there were more than at first") {
    InstanceState instance;
    mock(instance);
    grows = true;
    const auto second = detail::has_extension(instance, nullptr, "VK_KHR_second");
    REQUIRE(bool(second));
    CHECK(*second);
    CHECK(calls == 4);
    mock(instance);
    const auto third = detail::has_extension(instance, nullptr, "VK_KHR_third");
    REQUIRE(bool(third));
    CHECK_FALSE(*third);
    mock(instance);
    answer = VK_ERROR_UNKNOWN;
    const auto failed = detail::has_extension(instance, nullptr, "VK_KHR_first");
    CHECK_FALSE(bool(failed));
    CHECK(has_words(failed.status().text, "vkEnumerateDeviceExtensionProperties", "VK_ERROR_UNKNOWN"));
}
