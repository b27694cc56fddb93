// SPDX-License-Identifier: MIT
// Buffers on a mocked device. If a step fails, what was made before it is destroyed, and the next call tries again.
#include <doctest/doctest.h>

#include "host/state.h"
#include "support/string_util.h"

using namespace vkgemm::host;
using detail::Allocation;
using detail::DeviceState;

namespace {

enum class Step { none, create, type, allocate, bind, map };
Step failing = Step::none;
int buffers = 0, memories = 0;  // alive
std::byte storage[64];

VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice, const VkBufferCreateInfo*, const VkAllocationCallbacks*,
                                      VkBuffer* out) {
    if (failing == Step::create) return VK_ERROR_OUT_OF_HOST_MEMORY;
    ++buffers;
    *out = reinterpret_cast<VkBuffer>(uintptr_t{16});
    return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL destroy(VkDevice, VkBuffer b, const VkAllocationCallbacks*) {
    buffers -= b != VK_NULL_HANDLE;
}
VKAPI_ATTR void VKAPI_CALL requirements(VkDevice, VkBuffer, VkMemoryRequirements* out) {
    *out = {1 << 20, 16, failing == Step::type ? 0u : 1u};
}
VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice, const VkMemoryAllocateInfo*, const VkAllocationCallbacks*,
                                        VkDeviceMemory* out) {
    if (failing == Step::allocate) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    ++memories;
    *out = reinterpret_cast<VkDeviceMemory>(uintptr_t{32});
    return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL release(VkDevice, VkDeviceMemory m, const VkAllocationCallbacks*) {
    memories -= m != VK_NULL_HANDLE;
}
VKAPI_ATTR VkResult VKAPI_CALL bind(VkDevice, VkBuffer, VkDeviceMemory, VkDeviceSize) {
    return failing == Step::bind ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
}
VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice, VkDeviceMemory, VkDeviceSize, VkDeviceSize, VkMemoryMapFlags, void** out) {
    *out = storage;
    return failing == Step::map ? VK_ERROR_MEMORY_MAP_FAILED : VK_SUCCESS;
}

/// A device with these functions and one memory type that does everything.
void mock(DeviceState& device) {
    device.vk.vkCreateBuffer = create;
    device.vk.vkDestroyBuffer = destroy;
    device.vk.vkGetBufferMemoryRequirements = requirements;
    device.vk.vkAllocateMemory = allocate;
    device.vk.vkFreeMemory = release;
    device.vk.vkBindBufferMemory = bind;
    device.vk.vkMapMemory = map;
    device.memory.memoryTypeCount = 1;
    device.memory.memoryTypes[0].propertyFlags =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
}

}  // namespace

TEST_CASE("staging that cannot be made is refused each time and is made as soon as that works") {
    for (const Step step : {Step::create, Step::type, Step::allocate, Step::bind, Step::map}) {
        DeviceState device;
        mock(device);
        failing = step;
        for (int time = 0; time < 2; ++time) {
            const vkgemm::Status refused = device.prepare_staging();
            CHECK(!refused);
            CHECK(refused.code < 0);
            CHECK(!refused.text.empty());
            CHECK(device.staging.buffer == VK_NULL_HANDLE);
            CHECK(device.staging.mapped.empty());
            CHECK((buffers == 0 && memories == 0));
        }
        failing = Step::none;
        CHECK(bool(device.prepare_staging()));
        CHECK(!device.staging.mapped.empty());
        CHECK(bool(device.prepare_staging()));
        CHECK((buffers == 1 && memories == 1));  // once
        device.release(device.staging);
        CHECK((buffers == 0 && memories == 0));
    }
}

TEST_CASE("a buffer that cannot be made is refused with its size") {
    DeviceState device;
    mock(device);
    failing = Step::allocate;
    Allocation made;
    const vkgemm::Status refused = device.allocate(12345, Memory::device, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, made);
    CHECK(refused.code == VKGEMM_ERROR_OUT_OF_MEMORY);
    CHECK(refused.vkResult == VK_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(vkgemm::test::has_words(refused.text, "1048576"));
    failing = Step::create;
    CHECK(vkgemm::test::has_words(device.allocate(12345, Memory::device, 0, made).text, "12345"));
    failing = Step::none;
    CHECK(bool(device.allocate(12345, Memory::device, 0, made)));
    CHECK(made.mapped.empty());
    device.release(made);
    CHECK((buffers == 0 && memories == 0));
}
