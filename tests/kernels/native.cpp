// SPDX-License-Identifier: MIT
// Products of two kernels in turn in one command buffer: each reads what the one before it wrote, and all share one
// workspace. On a device with native kernels one of the two is native. There, too, machine code that the driver must
// refuse.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "kernels/run.h"
#include "plan/kernels/kernels.h"
#include "spirv/bytes.h"
#include "support/device.h"
#include "support/random.h"
#include "vkgemm/elements.hpp"

using namespace vkgemm;
using namespace vkgemm::test;

namespace {

constexpr const char* native = "wgmma_f16_128x128x64";

/// The first of them that fits the device; null: none does.
const char* first_that_fits(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (device().context().checkKernel({.kernel = name}, nullptr)) return name;
    return nullptr;
}

/// Values from -9 to 9, and a matrix that moves the columns of another and changes the sign of some: D = A * B is
/// exact, and so is every product after it.
struct Numbers {
    size_t m, n;
    std::vector<int> a;
    std::vector<size_t> from;
    std::vector<int> sign;

    Numbers(size_t rows, size_t cols) : m(rows), n(cols), a(m * n), from(n), sign(n) {
        Random random(7);
        for (int& x : a) x = static_cast<int>(random.below(19)) - 9;
        std::iota(from.begin(), from.end(), size_t{0});
        for (size_t i = n; i > 1; --i) std::swap(from[i - 1], from[random.below(i)]);
        for (int& s : sign) s = random.below(2) ? 1 : -1;
    }
    std::vector<std::byte> bytes_of_a() const { return encoded(a); }
    std::vector<std::byte> bytes_of_b() const {
        std::vector<int> b(n * n);
        for (size_t j = 0; j < n; ++j) b[from[j] * n + j] = sign[j];
        return encoded(b);
    }
    std::vector<std::byte> after(int products) const {
        std::vector<int> d = a, next(a.size());
        for (int i = 0; i < products; ++i, d = next)
            for (size_t r = 0; r < m; ++r)
                for (size_t j = 0; j < n; ++j) next[r * n + j] = sign[j] * d[r * n + from[j]];
        return encoded(d);
    }
    static std::vector<std::byte> encoded(const std::vector<int>& values) {
        std::vector<std::byte> out(values.size() * 2);
        for (size_t i = 0; i < values.size(); ++i) encode(f16, values[i], &out[2 * i]);
        return out;
    }
};

host::Buffer holding(const std::vector<std::byte>& bytes) {
    auto made = device().createBuffer(bytes.size());
    REQUIRE_MESSAGE(bool(made), made.status().text);
    REQUIRE(bool(device().upload(*made, bytes)));
    return *made;
}

/// What the driver says to a module of `code`, which is destroyed again.
VkResult loaded(const std::vector<uint8_t>& code) {
    const VkDevice handle = device().handle();
    const auto find = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device().getInstanceProcAddr()(device().instance(), "vkGetDeviceProcAddr"));
    const auto create = reinterpret_cast<PFN_vkCreateCuModuleNVX>(find(handle, "vkCreateCuModuleNVX"));
    const auto destroy = reinterpret_cast<PFN_vkDestroyCuModuleNVX>(find(handle, "vkDestroyCuModuleNVX"));
    REQUIRE((create && destroy));
    VkCuModuleCreateInfoNVX info = {};
    info.sType = VK_STRUCTURE_TYPE_CU_MODULE_CREATE_INFO_NVX;
    info.dataSize = code.size();
    info.pData = code.data();
    VkCuModuleNVX module = VK_NULL_HANDLE;
    const VkResult result = create(handle, &info, nullptr, &module);
    if (result == VK_SUCCESS) destroy(handle, module, nullptr);
    return result;
}

}  // namespace

TEST_SUITE_BEGIN("native");

// Not those that are cut off: driver 580.159.04 reads beyond their end. The checksum of packed code refuses them before
// (tests/spirv/bytes.cpp).
TEST_CASE("the driver refuses cubins of another architecture, and what is none") {
    if (!device().context().checkKernel({.kernel = native}, nullptr)) {
        MESSAGE("the device has no native kernels");
        return;
    }
    const auto code = spirv::unpack_bytes(plan::find_kernel(native)->module.packed());
    REQUIRE(code);
    CHECK(loaded(*code) == VK_SUCCESS);
    constexpr size_t architecture = 0x31;  // in the flags of the ELF header
    REQUIRE((*code)[architecture] == 90);
    for (const uint8_t other : {uint8_t(80), uint8_t(100)}) {
        CAPTURE(other);
        std::vector<uint8_t> foreign = *code;
        foreign[architecture] = other;
        CHECK(loaded(foreign) != VK_SUCCESS);
    }
    CHECK(loaded(std::vector<uint8_t>(4096, 0xab)) != VK_SUCCESS);
    CHECK(loaded(*code) == VK_SUCCESS);  // and goes on
}

TEST_CASE("40 products of two kernels in turn, over one workspace, each read what the one before wrote") {
    const char* const one = first_that_fits({native, "simt_f16_64x64x16"});
    const char* const other = first_that_fits({"coopmat_f16_128x64x64", "tiled_f16_16x16"});
    if (!one || !other) {
        MESSAGE("the device has no f16");
        return;
    }
    if (one != native)
        MESSAGE("the device has no native kernels: ", std::string(one), " and ", std::string(other), " in turn");
    constexpr int count = 40;
    const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const Numbers numbers(is_cpu ? 40 : 520, is_cpu ? 72 : 1032);  // no multiples of a tile
    const Problem problem = {
        .m = numbers.m, .n = numbers.n, .k = numbers.n, .a = {.type = f16}, .b = {.type = f16}, .d = {.type = f16}};
    const auto plan_of = [&](const char* kernel) {
        auto made = device().context().createPlan(
            problem, {.kernel = kernel, .tile = "SPLIT=3,PACK=1", .workspaceLimit = 64 << 20});
        REQUIRE_MESSAGE(bool(made), made.status().text);
        CHECK(made->info().requiredBytes[VKGEMM_SLOT_WORKSPACE] > 0);
        return *std::move(made);
    };
    const Plan plans[] = {plan_of(one), plan_of(other)};
    const host::Buffer b = holding(numbers.bytes_of_b());
    const host::Buffer turns[] = {holding(numbers.bytes_of_a()),
                                  holding(std::vector<std::byte>(numbers.m * numbers.n * 2))};
    const uint64_t bytes = std::max(plans[0].info().requiredBytes[VKGEMM_SLOT_WORKSPACE],
                                    plans[1].info().requiredBytes[VKGEMM_SLOT_WORKSPACE]);
    const host::Buffer workspace = holding(std::vector<std::byte>(bytes, std::byte{0xff}));

    const Status ended = device().submit(
        [&](VkCommandBuffer commands) {
            for (int i = 0; i < count; ++i)
                if (Status s = plans[i % 2].record(
                        commands, {.a = turns[i % 2].operand(),
                                   .b = b.operand(),
                                   .d = turns[(i + 1) % 2].operand(),
                                   .workspace = workspace.operand(),
                                   .flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER});
                    !s)
                    return s;
            return Status{};
        },
        std::chrono::seconds(is_cpu ? 300 : 20));
    REQUIRE_MESSAGE(bool(ended), ended.text);
    std::vector<std::byte> d(numbers.m * numbers.n * 2);
    REQUIRE(bool(device().download(turns[count % 2], d)));
    CHECK(d == numbers.after(count));
    CHECK(d != numbers.after(count - 1));
    CHECK(d != numbers.after(count - 2));
}

TEST_SUITE_END();
