// SPDX-License-Identifier: MIT
// vkgemm::host: opening a device, buffers, submissions, times, captures and what it reads back.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "failing/scenario.h"
#include "support/files.h"
#include "vkgemm/vkgemm.h"

using namespace vkgemm;
using namespace vkgemm::test;
using namespace vkgemm::test::failing;

namespace {

namespace fs = std::filesystem;

std::string this_device() { return std::to_string(device().info().index); }

/// A device of its own, with everything that can be had.
host::DeviceOptions everything_of(const std::string& index) {
    return {.device = index, .inspect = true, .transferQueues = true, .pipelineCache = [](const host::DeviceInfo&) {
                return std::vector<std::byte>{};
            }};
}

/// Of a device, a product with its buffers.
struct Product {
    Problem problem;
    Plan plan;
    host::Buffer a, b, d;

    explicit Product(const host::Device& on) : problem(parseProblem("5x6x7")->problem) {
        for (host::Buffer* x : {&a, &b, &d}) *x = *on.createBuffer(4096);
        plan = *on.context().createPlan(problem, {.kernel = "naive_f32_8x8"});
    }
    Status record(VkCommandBuffer commands) const {
        return plan.record(commands, {.a = a.operand(), .b = b.operand(), .d = d.operand()});
    }
};

/// The files of a folder, which are removed.
std::vector<std::string> take_files(const fs::path& folder) {
    std::vector<std::string> all;
    if (!fs::exists(folder)) return all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path().string());
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("opening a device fails cleanly") {
    const std::string index = this_device();
    each_fails({.name = "open",
                .run =
                    [&] {
                        const auto opened = host::Device::open(everything_of(index));
                        return got(opened ? Status{} : opened.status());
                    },
                .throws = true});
    each_fails({.name = "list devices",
                .run =
                    [&] {
                        const auto all = host::listDevices();
                        if (!all) return got(all.status());
                        for (const host::DeviceInfo& d : *all)
                            if (!d.unfit.empty()) return got(Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, d.unfit});
                        return Got{};
                    },
                .throws = true});
}

TEST_CASE("buffers fail cleanly") {
    const std::vector<std::byte> data(5000, std::byte{7});
    each_fails({.name = "buffers",
                .run =
                    [&] {
                        // A device of its own has no staging buffer yet.
                        for (const host::Memory where : {host::Memory::device, host::Memory::host}) {
                            const auto made = device().createBuffer(8192, where);
                            if (!made) return got(made.status());
                            if (Status s = device().upload(*made, 12, data); !s) return got(s);
                            if (Status s = device().fill(*made, 0, 4096, 9); !s) return got(s);
                            std::vector<std::byte> back(data.size());
                            if (Status s = device().download(*made, 12, back); !s) return got(s);
                            if (back[4999] != std::byte{7} || back[0] != std::byte{9})
                                return got(Status{VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "wrong bytes"});
                        }
                        return Got{};
                    },
                .throws = true});
    std::optional<host::Device> fresh;
    each_fails({.name = "staging",
                .run =
                    [&] {
                        const auto made = fresh->createBuffer(8192);
                        if (!made) return got(made.status());
                        return got(fresh->upload(*made, 0, data));
                    },
                .prepare =
                    [&] {
                        fresh.reset();
                        fresh = *host::Device::open({.device = this_device()});
                    },
                .throws = true});
}

TEST_CASE("submissions and times fail cleanly") {
    const Product product(device());
    each_fails({.name = "submit",
                .run = [&] { return got(device().submit([&](VkCommandBuffer c) { return product.record(c); })); },
                .throws = true});
    each_fails({.name = "time",
                .run =
                    [&] {
                        const auto record = [&](VkCommandBuffer c, uint32_t) { return product.record(c); };
                        const auto each = device().time(3, record);
                        if (!each) return got(each.status());
                        const auto together = device().timeTogether(3, record);
                        return got(together ? Status{} : together.status());
                    },
                .throws = true});
}

TEST_CASE("a submission that ends too late fails cleanly") {
    // With a limit of 0 ns the device is hardly ever in time. The next submission waits for what is late.
    const host::Buffer big = *device().createBuffer(16 << 20);
    const auto fill =
        reinterpret_cast<PFN_vkCmdFillBuffer>(device().getInstanceProcAddr()(device().instance(), "vkCmdFillBuffer"));
    each_fails({.name = "late",
                .run =
                    [&] {
                        const Status late = device().submit(
                            [&](VkCommandBuffer c) {
                                fill(c, big.handle(), 0, VK_WHOLE_SIZE, 1);
                                return Status{};
                            },
                            std::chrono::nanoseconds(0));
                        if (!late && late.vkResult != VK_TIMEOUT) return got(late);
                        return got(device().submit([](VkCommandBuffer) { return Status{}; }));
                    },
                .prepare = [] { CHECK(device().submit([](VkCommandBuffer) { return Status{}; })); },
                .throws = true});
}

TEST_CASE("what a device reports fails cleanly") {
    const host::Device own = *host::Device::open(everything_of(this_device()));
    const Product product(own);
    each_fails({.name = "data of the pipeline cache",
                .run =
                    [&] {
                        const auto data = own.pipelineCacheData();
                        return got(data ? Status{} : data.status());
                    },
                .throws = true});
    if (!own.inspects()) return;
    const Plan captured = *own.context().createPlan(
        product.problem, {.kernel = "naive_f32_8x8", .flags = VKGEMM_PLAN_CAPTURE_STATISTICS});
    each_fails({.name = "inspect",
                .run =
                    [&] {
                        const auto report = own.inspect(captured.pipelines().at(0));
                        return got(report ? Status{} : report.status());
                    },
                .throws = true});
}

TEST_CASE("a capture that fails leaves no file and does not disturb the call, and a replay fails cleanly") {
    const fs::path folder = fs::temp_directory_path() / ("vkgemm-failing-" + std::to_string(std::random_device{}()));
    const std::string index = this_device();  // opens that device before its runs would be captured, too
    REQUIRE(setenv("VKGEMM_CAPTURE", folder.c_str(), 1) == 0);
    std::string warnings;
    const auto log = [](void* user, VkgemmSeverity, const char* text) { *static_cast<std::string*>(user) += text; };
    {
        const host::Device own = *host::Device::open({.device = index, .log = log, .logUser = &warnings});
        REQUIRE(unsetenv("VKGEMM_CAPTURE") == 0);
        const Product product(own);
        each_fails({.name = "capture",
                    .run = [&] { return got(own.submit([&](VkCommandBuffer c) { return product.record(c); })); },
                    .prepare =
                        [&] {
                            CHECK(own.submit([](VkCommandBuffer) { return Status{}; }));  // waits for what is late
                            for (const std::string& file : take_files(folder)) {
                                CHECK_MESSAGE(file.ends_with(".vkgemm"), file, " was left");
                                CHECK(host::parseCapture(file_text(file)));
                                fs::remove(file);
                            }
                        },
                    .may_succeed = true,
                    .throws = true});
        REQUIRE(own.submit([&](VkCommandBuffer c) { return product.record(c); }));
    }
    const std::vector<std::string> files = take_files(folder);
    REQUIRE(files.size() == 1);
    const std::string text = file_text(files[0]);
    fs::remove_all(folder);
    each_fails({.name = "replay",
                .run =
                    [&] {
                        const auto capture = host::parseCapture(text);
                        if (!capture) return got(capture.status());
                        const auto again = host::replay(device(), *capture);
                        if (!again) return got(again.status());
                        return again->checksum == capture->resultChecksum
                                   ? Got{}
                                   : got(Status{VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "other bits"});
                    },
                .throws = true});
}

TEST_CASE("the self-test fails cleanly") {
    each_fails({.name = "self-test",
                .run =
                    [&] {
                        const auto test = host::selfTest(device(), {.kernels = {"naive_f32_8x8"}, .runs = 1});
                        if (!test) return got(test.status());
                        if (!test->failure) return got(test->failure);
                        return test->disabledKernels.empty()
                                   ? Got{}
                                   : got(Status{VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, test->disabledKernels});
                    },
                .throws = true});
}
