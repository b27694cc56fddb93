// SPDX-License-Identifier: MIT
// host::chooseDevice over lists of descriptions: no Vulkan is needed.
#include <doctest/doctest.h>

#include "support/string_util.h"
#include "vkgemm/host.hpp"

using namespace vkgemm;
using host::DeviceInfo;
using test::has_words;

namespace {

DeviceInfo info(uint32_t index, const char* name, const char* driver, VkPhysicalDeviceType kind,
                const char* unfit = "") {
    DeviceInfo d;
    d.index = index;
    d.name = name;
    d.driver = driver;
    d.kind = kind;
    d.unfit = unfit;
    return d;
}

const std::vector<DeviceInfo> all = {
    info(0, "llvmpipe (LLVM 21, 256 bits)", "lavapipe, Mesa 26.1-1", VK_PHYSICAL_DEVICE_TYPE_CPU),
    info(1, "Intel UHD 770", "Intel open-source", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU),
    info(2, "Old Card", "ancient", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "it offers Vulkan 1.0.3, and 1.1 is needed"),
    info(3, "NVIDIA GeForce RTX 3090", "NVIDIA, 580", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU),
    info(4, "NVIDIA GeForce RTX 4090", "NVIDIA, 580", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU),
    info(5, "virtio", "venus", VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU),
    info(6, "strange", "unknown", VK_PHYSICAL_DEVICE_TYPE_OTHER),
};

std::vector<DeviceInfo> without(std::vector<uint32_t> indices) {
    std::vector<DeviceInfo> out;
    for (const DeviceInfo& d : all)
        if (std::find(indices.begin(), indices.end(), d.index) == indices.end()) out.push_back(d);
    return out;
}

uint32_t chosen(const std::vector<DeviceInfo>& devices, std::string_view wanted) {
    const Result<uint32_t> index = host::chooseDevice(devices, wanted);
    REQUIRE_MESSAGE(bool(index), index.status().text);
    return *index;
}
std::string refusal(const std::vector<DeviceInfo>& devices, std::string_view wanted) {
    const Result<uint32_t> index = host::chooseDevice(devices, wanted);
    REQUIRE_MESSAGE(!index, "chosen: ", *index);
    CHECK(index.status().code == VKGEMM_ERROR_UNSUPPORTED);
    return index.status().text;
}

}  // namespace

TEST_CASE("the order is discrete, integrated, virtual, CPU; the first of equals wins; an unfit device never does") {
    CHECK(chosen(all, "") == 3);
    CHECK(chosen(without({3}), "") == 4);
    CHECK(chosen(without({3, 4}), "") == 1);
    CHECK(chosen(without({1, 3, 4}), "") == 5);
    CHECK(chosen(without({1, 3, 4, 5}), "") == 0);
    CHECK(chosen(without({0, 1, 3, 4, 5}), "") == 6);
}

TEST_CASE("a device is found by a part of its name or of its driver's, in upper or lower case") {
    CHECK(chosen(all, "LAVApipe") == 0);
    CHECK(chosen(all, "llvm") == 0);
    CHECK(chosen(all, "intel") == 1);
    CHECK(chosen(all, "rtx") == 3);
    CHECK(chosen(all, "4090") == 4);  // larger than any index
    CHECK(chosen(all, "770") == 1);
    CHECK(chosen(all, "venus") == 5);
}

TEST_CASE("a device is found by its index") {
    for (const DeviceInfo& d : all)
        if (d.unfit.empty()) CHECK(chosen(all, std::to_string(d.index)) == d.index);
}

TEST_CASE("an unknown device is refused with the list of those that there are") {
    for (const char* const wanted : {"7", "99", "radeon", "-1", "mesa", "580", "4294967296"}) {
        const std::string why = refusal(all, wanted);
        INFO(why);
        CHECK(has_words(why, std::string("'") + wanted + "'"));
        for (const DeviceInfo& d : all) CHECK(has_words(why, std::to_string(d.index) + ": " + d.name, d.driver));
        CHECK(has_words(why, all[2].unfit));
    }  // '7' is an index, though it is in "770"
    CHECK(!refusal({}, "").empty());
    CHECK(!refusal({}, "0").empty());
}

TEST_CASE("a device below the minimum requirements is refused with the reason") {
    CHECK(has_words(refusal(all, "2"), "device 2", "Old Card", "1.0.3", "1.1"));
    CHECK(has_words(refusal(all, "old"), "Old Card", "1.1"));
    CHECK(has_words(refusal({all[2]}, ""), "Old Card", "1.0.3", "1.1"));
}
