// SPDX-License-Identifier: MIT
// The helper library and the C++ wrapper on a device: operands of buffers, timing, chains of features.
#include <cstdlib>
#include <filesystem>
#include <optional>

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
    CHECK(has_words(late.text, "did not finish within 1e-09 s and", "next submission"));
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

TEST_CASE("a chain reports no statistics, and says so on every device") {
    const vkgemm::Problem one = vkgemm::parseProblem("8x4x4")->problem;
    const std::vector<vkgemm::Problem> products = {one};
    for (const uint32_t flags : {0u, uint32_t{VKGEMM_CHAIN_SEPARATE}}) {
        const auto chain = vkgemm::Chain::create(device().context(), {products, 0, flags},
                                                 {.flags = VKGEMM_PLAN_CAPTURE_STATISTICS | VKGEMM_PLAN_DRY});
        CHECK(chain.status().code == VKGEMM_ERROR_UNSUPPORTED);
        CHECK_MESSAGE(has_words(chain.status().text, "flags is 3", "a chain", "make a plan of each product"),
                      chain.status().text);
    }
}

#ifndef _WIN32
namespace {

/// A device that captures, and what it logs.
struct Capturing {
    std::filesystem::path folder = std::filesystem::temp_directory_path() / "vkgemm_test_capturing";
    std::string logged;
    std::optional<vkgemm::host::Device> device;

    Capturing() {
        std::filesystem::remove_all(folder);
        setenv("VKGEMM_CAPTURE", folder.c_str(), 1);
        device.emplace(*vkgemm::host::Device::open(
            {.device = std::to_string(vkgemm::test::device().info().index),
             .log = [](void* user, VkgemmSeverity, const char* text) { *static_cast<std::string*>(user) += text; },
             .logUser = &logged}));
        unsetenv("VKGEMM_CAPTURE");
    }
    Capturing(const Capturing&) = delete;
    Capturing& operator=(const Capturing&) = delete;
    ~Capturing() { std::filesystem::remove_all(folder); }

    /// What a submission logs; the files that it leaves are in `files`.
    std::string submit(const vkgemm::host::Record& record, size_t& files) {
        logged.clear();
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        const Status s = device->submit(record, std::chrono::seconds(600));  // a CPU compiles a chain for long
        CHECK_MESSAGE(s, s.text);
        files = static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
        return logged;
    }
};

}  // namespace

TEST_CASE("captures: a submission with a chain or a pack beside its run is logged, not missing without a word") {
    Capturing own;
    const bool has_f16 = vkgemm::test::device().info().uses.find("storageBuffer16BitAccess") != std::string::npos;
    const vkgemm::Problem one = vkgemm::parseProblem(has_f16 ? "f16*f16 32x16x16" : "32x16x16")->problem;
    vkgemm::Problem next = one;
    next.a = {};
    const std::vector<vkgemm::Problem> two = {one, next};
    const vkgemm::host::Buffer memory = *own.device->createBuffer(65536);
    const auto at = [&](VkDeviceSize begin) { return memory.operand(begin, 4096); };
    const vkgemm::Run whole{.a = at(0), .b = at(4096), .d = at(8192)};
    const std::vector<vkgemm::Run> runs = {{.a = at(0), .b = at(4096)}, {.b = at(12288), .d = at(16384)}};
    const vkgemm::Plan plan = *own.device->context().createPlan(one, {});
    size_t files = 0;
    CHECK(own.submit([&](VkCommandBuffer c) { return plan.record(c, whole); }, files).empty());
    CHECK(files == 1);
    for (const uint32_t flags : {uint32_t{VKGEMM_CHAIN_SEPARATE}, 0u}) {
        const vkgemm::Chain chain = *vkgemm::Chain::create(own.device->context(), {two, 0, flags});
        const bool fused = chain.info().isOneDispatch;
        const vkgemm::ChainRun run{.runs = runs, .workspace = fused ? vkgemm::Operand{} : at(32768)};
        const auto alone = [&](VkCommandBuffer c) { return chain.record(c, run); };
        const auto between = [&](VkCommandBuffer c) {
            if (Status s = plan.record(c, whole); !s) return s;
            return chain.record(c, run);
        };
        CHECK_MESSAGE(
            has_words(own.submit(alone, files), fused ? "a chain that is one dispatch" : "2 runs", "captured"),
            own.logged);
        CHECK(files == 0);
        CHECK_MESSAGE(has_words(own.submit(between, files), fused ? "2 runs" : "3 runs", "product of a chain"),
                      own.logged);
        CHECK(files == 0);
    }
    vkgemm::Problem packed = one;
    packed.packedB = VKGEMM_PACKED_ANY;
    const vkgemm::Plan product = *own.device->context().createPlan(packed, {});
    const vkgemm::Plan pack = *product.createPack(VKGEMM_SLOT_B);
    const auto with_pack = [&](VkCommandBuffer c) {
        if (Status s = plan.record(c, whole); !s) return s;
        return pack.record(c, {.b = at(4096), .d = at(40960)});
    };
    CHECK_MESSAGE(has_words(own.submit(with_pack, files), "2 runs", "captured"), own.logged);
    CHECK(files == 0);
}
#endif

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
