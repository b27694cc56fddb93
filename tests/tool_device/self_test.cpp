// SPDX-License-Identifier: MIT
// The self-test of the host helper, its self-test result in a context, and captured calls that are run again.
#include "host/self_test.h"

#include <doctest/doctest.h>

#include "support/device.h"
#include "support/string_util.h"

using namespace vkgemm;
using test::device;
using test::has_words;

TEST_CASE("self-test: a right kernel passes, on whole and partial tiles") {
    const auto t = host::selfTest(device(), {.kernels = {"tiled_f32_8x8", "tiled_i8_8x8", "tiled_bf16_8x8",
                                                         "tiled_f16_8x8", "naive_i32_8x8", "block_f32_64x64"}});
    REQUIRE_MESSAGE(bool(t), t.status().text);
    CHECK(t->kernels == 6);
    CHECK(t->products == 24);
    CHECK(t->disabledKernels == "");
}

TEST_CASE("self-test: every kernel that fits the device has a problem that it computes") {
    const auto all = vkgemm::kernels();
    for (uint32_t i = 0; i < all.size(); ++i) {
        const vkgemm::PlanOptions options{.kernel = all[i].name, .workspaceLimit = uint64_t{64} << 20};
        if (all[i].helper || !device().context().checkKernel(options, nullptr)) continue;
        const Problem p = kernelProblem(i, {.m = 256, .n = 256, .k = 512});
        const auto s = device().context().checkKernel(options, &p);
        CHECK_MESSAGE(bool(s), all[i].name, ": ", s.text);
    }
}

TEST_CASE("self-test: a kernel whose boxes of a row-major B are wider than its tile gets a column-major one") {
    const auto all = vkgemm::kernels();
    for (uint32_t i = 0; i < all.size(); ++i) {
        const bool is_narrow = std::string_view(all[i].name) == "wgmma_f16_64x32x64";
        if (!is_narrow && std::string_view(all[i].name) != "wgmma_f16_64x128x64") continue;
        const Problem p = kernelProblem(i, {.m = 256, .n = 256, .k = 512});
        CHECK((p.b.layout == vkgemm::columnMajor) == is_narrow);
    }
}

TEST_CASE("self-test: kernels of quantised weights multiply block formats, and one without a product is not tested") {
    for (const auto& [name, products] : {std::pair{"gemv_mixed_f32_1x8", size_t{4}},
                                         {"gemv_mixed_f16_8x1", size_t{4}},
                                         {"gemv_blocks_f32_2x16", size_t{5}},
                                         {"gemv_mxint8_f16_1x16", size_t{4}},
                                         {"coopmat_mixed_f32_16x16x64_mma8", size_t{5}}}) {
        size_t ran = 0;
        const auto count = [&](const std::string&, std::span<std::byte>) {
            ++ran;
            return Status{};
        };
        const auto t = host::detail::self_test(device(), {.kernels = {name}, .runs = 1}, count);
        REQUIRE_MESSAGE(bool(t), t.status().text);
        CAPTURE(name);
        CHECK(t->disabledKernels == "");
        CHECK(t->kernels == (t->products ? 1 : 0));
        CHECK(t->products == ran);
        if (device().context().checkKernel({.kernel = name}, nullptr)) CHECK(t->products == products);
    }
}

TEST_CASE("self-test: kernels that nobody knows are refused") {
    const auto t = host::selfTest(device(), {.kernels = {"tiled_f32_9x9"}});
    REQUIRE(!t);
    CHECK(has_words(t.status().text, "tiled_f32_9x9"));
}

TEST_CASE("self-test: a device that fails ends it, and what was found before is kept") {
    const auto test = [&](VkgemmResult how) {
        const auto spoil = [&](const std::string& kernel, std::span<std::byte> d) {
            if (kernel == "naive_f32_8x8") d[0] ^= std::byte{0x80};
            return kernel == "tiled_f32_8x8" ? Status{how, VK_SUCCESS, "as mocked"} : Status{};
        };
        return host::detail::self_test(device(), {.kernels = {"naive_f32_8x8", "tiled_f32_8x8", "tiled_i8_8x8"}},
                                       spoil);
    };
    const auto lost = test(VKGEMM_ERROR_DEVICE_LOST);
    REQUIRE_MESSAGE(bool(lost), lost.status().text);
    CHECK(has_words(lost->disabledKernels, "| naive_f32_8x8 | ", "D[0][0] is wrong\n", "| tiled_f32_8x8 | ",
                    ": as mocked\n"));
    CHECK((lost->failure.code == VKGEMM_ERROR_DEVICE_LOST && lost->kernels == 2));
    const auto full = test(VKGEMM_ERROR_OUT_OF_MEMORY);  // no fault of the kernel
    REQUIRE_MESSAGE(bool(full), full.status().text);
    CHECK((has_words(full->disabledKernels, "| naive_f32_8x8 | ") && !has_words(full->disabledKernels, "tiled")));
    CHECK(full->failure.code == VKGEMM_ERROR_OUT_OF_MEMORY);
}

TEST_CASE("self-test: a wrong element is found, and a context that loads the self-test result leaves the kernel out") {
    const auto spoil = [](const std::string& kernel, std::span<std::byte> d) {
        if (kernel == "naive_f32_8x8") d[d.size() - 1] ^= std::byte{0x80};  // the sign of the last element
        return Status{};
    };
    const auto t = host::detail::self_test(device(), {.kernels = {"naive_f32_8x8", "tiled_f32_8x8"}}, spoil);
    REQUIRE_MESSAGE(bool(t), t.status().text);
    CHECK(has_words(t->disabledKernels, device().info().name + " | naive_f32_8x8 | ", "16x16x32",
                    ": D[15][15] is wrong\n"));
    CHECK(!has_words(t->disabledKernels, "tiled"));

    const auto& d = device();
    const auto context = [&](const std::string& rows) {
        return Context::create({.instance = d.instance(),
                                .physicalDevice = d.physicalDevice(),
                                .device = d.handle(),
                                .apiVersion = d.apiVersion(),
                                .getInstanceProcAddr = d.getInstanceProcAddr(),
                                .enabledFeatures = &d.enabledFeatures(),
                                .enabledExtensions = d.enabledExtensions(),
                                .disabledKernels = rows.c_str()});
    };
    const auto c = context(t->disabledKernels);
    REQUIRE_MESSAGE(bool(c), c.status().text);
    const Problem p{.m = 64, .n = 64, .k = 64};
    const auto forced = c->createPlan(p, {.kernel = "naive_f32_8x8"});
    REQUIRE(!forced);
    CHECK(has_words(forced.status().text, "D[15][15] is wrong"));
    CHECK(c->createPlan(p, {.kernel = "tiled_f32_8x8"}));
    const auto said = c->explain(p);
    REQUIRE(said);
    CHECK(has_words(*said, "naive_f32_8x8: disabled: the self-test failed on this device"));
    CHECK(d.context().createPlan(p, {.kernel = "naive_f32_8x8"}));
    const auto skipping = context("naive_f32_8x8\n" + t->disabledKernels);  // a line that is no row
    REQUIRE_MESSAGE(bool(skipping), skipping.status().text);
    CHECK(!skipping->createPlan(p, {.kernel = "naive_f32_8x8"}));
}
