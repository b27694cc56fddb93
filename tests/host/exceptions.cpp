// SPDX-License-Identifier: MIT
// vkgemm::host on a thread that traps, with a driver that raises floating-point exceptions in every other call
// (tests/blas/failing_vulkan.c, which must be preloaded).
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cfenv>
#include <optional>
#include <utility>

#include "vkgemm/host.hpp"

using namespace vkgemm;

namespace {

constexpr int trapping = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

template <class Function>
Function* preloaded(const char* name) {
    const auto found = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    REQUIRE_MESSAGE(found, name, " is not there: preload test_failing_vulkan");
    return found;
}

/// Calls `call` with traps. Returns how often the driver raised exceptions; -1: one stayed, or the traps ended.
template <class Call>
int raised_by(Call&& call) {
    const auto raised = preloaded<int()>("test_raised");
    const int before = raised();
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(trapping);
    const int traps = fegetexcept();  // processors may have none
    call();
    const bool kept = fegetexcept() == traps && !std::fetestexcept(trapping);
    fedisableexcept(FE_ALL_EXCEPT);
    return kept ? raised() - before : -1;
}

}  // namespace

TEST_CASE("vkgemm::host neither traps nor leaves a flag where the driver raises floating-point exceptions") {
    preloaded<void(const char*, int, int)>("test_fail_vulkan")("raise", 0, 0);
    bool done = false;
    CHECK(raised_by([&] { done = bool(host::listDevices()); }) >= 1);
    CHECK(done);
    std::optional<Result<host::Device>> opened;
    CHECK(raised_by([&] { opened.emplace(host::Device::open()); }) >= 2);
    REQUIRE_MESSAGE(bool(*opened), opened->status().text);
    host::Device device = **std::exchange(opened, std::nullopt);

    host::Buffer buffer;
    std::vector<std::byte> bytes(4096, std::byte{7});
    const auto made = [&](host::Memory memory) {
        auto result = device.createBuffer(bytes.size(), memory);
        if (result) buffer = *result;
        return bool(result);
    };
    CHECK(raised_by([&] { done = made(host::Memory::host); }) >= 2);  // it is mapped
    CHECK(done);
    CHECK(raised_by([&] { buffer = {}; }) >= 1);
    CHECK(raised_by([&] { done = made(host::Memory::device); }) >= 1);
    CHECK(done);
    CHECK(raised_by([&] { done = bool(device.upload(buffer, 0, bytes)); }) >= 3);
    CHECK(done);
    bytes.assign(bytes.size(), std::byte{0});
    CHECK(raised_by([&] { done = bool(device.download(buffer, 0, bytes)); }) >= 3);
    CHECK(done);
    CHECK(bytes.front() == std::byte{7});
    CHECK(raised_by([&] { done = bool(device.fill(buffer, 0, 4096, 0)); }) >= 3);
    CHECK(done);
    CHECK(raised_by([&] { done = bool(device.time(2, [](VkCommandBuffer, uint32_t) { return Status{}; })); }) >= 3);
    CHECK(done);
    CHECK(raised_by([&] { done = bool(device.timeTogether(2, [](VkCommandBuffer, uint32_t) { return Status{}; })); }) >=
          3);
    CHECK(done);
    CHECK(raised_by([&] { device.memoryLeft(); }) >= 0);  // a driver without budgets is not called
    CHECK(raised_by([&] { std::exchange(buffer, {}); }) >= 1);
}

TEST_CASE("what the program's own recording raises stays, and traps as the program wishes") {
    preloaded<void(const char*, int, int)>("test_fail_vulkan")("raise", 0, 0);
    auto device = host::Device::open();
    REQUIRE_MESSAGE(bool(device), device.status().text);
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_INVALID);
    int traps = 0;
    const Status done = device->submit([&](VkCommandBuffer) -> Status {
        traps = fegetexcept();
        std::feraiseexcept(FE_DIVBYZERO);
        return {};
    });
    const int raised = std::fetestexcept(trapping);
    const int traps_after = fedisableexcept(FE_ALL_EXCEPT);
    std::feclearexcept(FE_ALL_EXCEPT);
    CHECK_MESSAGE(done, done.text);
    CHECK(traps == traps_after);
    CHECK(raised == FE_DIVBYZERO);
}
