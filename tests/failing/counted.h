// SPDX-License-Identifier: MIT
// Vulkan functions and `operator new` that count how often they are called, and fail when it is their turn. They stand
// between the program (vkgemm and vkgemm::host in it) and the loader.
#pragma once
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vkgemm::test::failing {

/// Lets vkgemm::host, and whoever asks it for vkGetInstanceProcAddr, call through the functions that count. Once,
/// before any device is opened. False: there is no loader.
bool stand_before_loader();

/// All functions of Vulkan that count.
std::span<const std::string_view> functions();

enum class Kind { call, allocation };

/// Counts from here on, and lets one call or one allocation fail: the one after `works` others. Calls are those of any
/// thread that return a VkResult; allocations are those of this thread by `operator new`, without those inside a call.
void arm(Kind kind, uint64_t works, VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY);

struct Count {
    uint64_t all = 0;         // calls or allocations since arm()
    std::string_view failed;  // the function that failed; "operator new"; "" if nothing did
    bool matters = true;      // false: the program goes on without what this function makes, as an object's name
};
Count disarm();

/// What operators.cpp asks at each allocation: whether this is the one that fails.
bool allocation_fails();

/// The Vulkan objects that exist, as "2 vkCreateBuffer, 1 vkCreateFence"; "" for none.
std::string alive();

}  // namespace vkgemm::test::failing
