// SPDX-License-Identifier: MIT
// Chooses the device that the caller means. Pure: it reads descriptions only.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "vkgemm/host.hpp"

namespace vkgemm::host {
namespace {

int preference(VkPhysicalDeviceType kind) {  // the least is the best
    switch (kind) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return 0;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return 1;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return 2;
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return 3;
        default:
            return 4;
    }
}

std::string lower(std::string_view text) {
    std::string s(text);
    std::ranges::transform(s, s.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return s;
}

std::string listing(std::span<const DeviceInfo> devices) {
    std::string text;
    for (const DeviceInfo& d : devices) {
        text += (text.empty() ? "" : ", ") + std::to_string(d.index) + ": " + d.name + " [" + d.driver + "]";
        if (!d.unfit.empty()) text += " (unfit: " + d.unfit + ")";
    }
    return text;
}

// "3090" is a part of a name, "7" is never.
bool is_index(std::string_view wanted, size_t devices, uint32_t& index) {
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
    return error == std::errc() && end == wanted.data() + wanted.size() && (index < devices || wanted.size() < 3);
}

Status refuse(std::string text) { return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, std::move(text)}; }

}  // namespace

const char* kindName(VkPhysicalDeviceType kind) {
    switch (kind) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return "discrete GPU";
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return "integrated GPU";
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return "virtual GPU";
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return "CPU";
        default:
            return "other";
    }
}

Result<uint32_t> chooseDevice(std::span<const DeviceInfo> devices, std::string_view wanted) {
    if (devices.empty()) return refuse("there is no Vulkan device on this system");
    const std::string part = lower(wanted);
    uint32_t index = 0;
    const bool by_index = is_index(wanted, devices.size(), index);

    const auto is_called = [&](const DeviceInfo& d) {
        const std::string driver = d.driver.substr(0, d.driver.find(','));  // its name, without the version
        return lower(d.name + "\n" + driver).find(part) != std::string::npos;
    };
    const DeviceInfo* best = nullptr;
    const DeviceInfo* unfit = nullptr;
    for (const DeviceInfo& d : devices) {
        if (by_index ? d.index != index : !is_called(d)) continue;
        if (!d.unfit.empty())
            unfit = &d;
        else if (!best || preference(d.kind) < preference(best->kind))
            best = &d;
    }
    if (best) return best->index;
    if (unfit && !wanted.empty())
        return refuse("device " + std::to_string(unfit->index) + ", " + unfit->name +
                      ", cannot be used: " + unfit->unfit);
    if (unfit) return refuse("no device here can be used: " + listing(devices));
    return refuse((by_index ? "no device has the number '" : "no device is called '") + std::string(wanted) +
                  "'; there is " + listing(devices));
}

}  // namespace vkgemm::host
