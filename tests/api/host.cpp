// SPDX-License-Identifier: MIT
// The helper library and the C++ wrapper on a device: operands of buffers, timing, chains of features.
#include "api/api.h"
#include "plan/device/device_caps.h"

using namespace vkgemm::test;
using vkgemm::Status;
namespace need = vkgemm::plan::need;

TEST_CASE("an operand lies inside its buffer, or is empty") {
    const vkgemm::host::Buffer b = buffer(100);
    const auto is_empty = [](const vkgemm::Operand& x) {
        return x.buffer == VK_NULL_HANDLE && x.size == 0 && !x.address;
    };
    CHECK(b.operand().size == 100);
    CHECK(b.operand(40).size == 60);
    CHECK(b.operand(40, 60).size == 60);
    CHECK(b.operand(99).size == 1);
    CHECK(is_empty(b.operand(100)));  // size 0 would mean "not stated", and then nobody checks
    CHECK(is_empty(b.operand(101)));
    CHECK(is_empty(b.operand(40, 61)));
    CHECK(is_empty(b.operand(UINT64_MAX, 2)));
    CHECK(is_empty(b.operand(1, UINT64_MAX)));
    CHECK(is_empty(vkgemm::host::Buffer().operand()));
}

TEST_CASE("a submission that does not end in time is waited for by the next one") {
    const vkgemm::host::Buffer b = buffer(64 << 20);
    const auto words = [&] { return reinterpret_cast<const uint32_t*>(b.mapped().data()); };
    const auto fill = [&](uint32_t value, std::chrono::nanoseconds timeout) {
        return device().submit(
            [&](VkCommandBuffer commands) {
                const auto get = reinterpret_cast<PFN_vkCmdFillBuffer>(
                    device().getInstanceProcAddr()(device().instance(), "vkCmdFillBuffer"));
                get(commands, b.handle(), 0, VK_WHOLE_SIZE, value);
                return Status{};
            },
            timeout);
    };
    Status late = fill(7, std::chrono::nanoseconds(1));
    while (late.code == VKGEMM_SUCCESS) late = fill(7, std::chrono::nanoseconds(1));  // this thread may have slept
    CHECK(late.code == VKGEMM_ERROR_DEVICE_LOST);
    CHECK(late.vkResult == VK_TIMEOUT);
    CHECK(has_words(late.text, "did not finish within", "next submission"));
    const Status next = device().submit([](VkCommandBuffer) { return Status{}; });
    CHECK_MESSAGE(next.code == VKGEMM_SUCCESS, next.text);
    CHECK((words()[0] == 7 && words()[b.size() / 4 - 1] == 7));
    CHECK(fill(8, std::chrono::hours(1)).code == VKGEMM_SUCCESS);
    CHECK((words()[0] == 8 && words()[b.size() / 4 - 1] == 8));
}

TEST_CASE("more runs than can be timed are refused, not counted modulo 2^32") {
    for (const uint32_t runs : {UINT32_MAX, 0x80000000u, 0x80000001u}) {
        int recorded = 0;
        const auto times = device().time(runs, [&](VkCommandBuffer, uint32_t) {
            ++recorded;
            return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "recorded"};
        });
        REQUIRE(!times);
        CHECK(recorded == 0);
        CHECK_MESSAGE(has_words(times.status().text, std::to_string(runs), "2147483647"), times.status().text);
    }
    const auto none = device().time(0, [](VkCommandBuffer, uint32_t) { return Status{}; });
    REQUIRE(none);
    CHECK(none->seconds.empty());
}

TEST_CASE("a chain that lies in memory is not pulled from under itself") {
    VkPhysicalDeviceFeatures2 chain{};
    chain.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    std::vector<std::byte> first, second;
    REQUIRE(vkgemm::mergeFeatures(need::storage16, VK_API_VERSION_1_3, chain, first).code == VKGEMM_SUCCESS);
    const void* const storage = chain.pNext;
    const size_t size = first.size();
    CHECK(storage == first.data());
    // Nothing is missing: the memory stays as it is.
    REQUIRE(vkgemm::mergeFeatures(need::storage16, VK_API_VERSION_1_3, chain, first).code == VKGEMM_SUCCESS);
    CHECK(first.size() == size);
    const Status again = vkgemm::mergeFeatures(need::buffer_address, VK_API_VERSION_1_3, chain, first);
    CHECK(again.code == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(has_words(again.text, "pass another one"));
    CHECK((chain.pNext == storage && first.size() == size));
    REQUIRE(vkgemm::mergeFeatures(need::buffer_address, VK_API_VERSION_1_3, chain, second).code == VKGEMM_SUCCESS);
    CHECK(chain.pNext == storage);
    CHECK(static_cast<const VkBaseInStructure*>(storage)->pNext == reinterpret_cast<void*>(second.data()));
}

TEST_CASE("native kernels are tested in a device of their own, and one without any has a reason") {
    const auto test = vkgemm::host::testNativeKernels({.device = std::to_string(device().info().index)}, {.runs = 1});
    REQUIRE_MESSAGE(test, test.status().text);
    CHECK_MESSAGE(test->disabledKernels.empty(), test->disabledKernels);
    if (test->kernels) {
        CHECK(test->products > test->kernels);
        CHECK_MESSAGE(test->failure.code == VKGEMM_SUCCESS, test->failure.text);
        return;
    }
    CHECK(test->failure.code == VKGEMM_ERROR_UNSUPPORTED);
    CHECK_MESSAGE(has_words(test->failure.text, "wgmma_f16_128x256x64"), test->failure.text);
}
