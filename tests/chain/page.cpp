// SPDX-License-Identifier: MIT
// The code of docs/chains.md, as printed there.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "chain/network.h"
#include "page/network.cpp"

using namespace vkgemm::test;

namespace {

bool stores_16_bits() { return device().info().uses.find("storageBuffer16BitAccess") != std::string::npos; }

void submit(const std::function<vkgemm::Status(VkCommandBuffer)>& record) {
    const vkgemm::Status s = device().submit(record, std::chrono::minutes(8));
    REQUIRE_MESSAGE(bool(s), s.text);
}

}  // namespace

TEST_CASE("page: the network has the bits of separate products") {
    if (!stores_16_bits()) return;
    NetworkCase c = {.type = VKGEMM_TYPE_F16, .rows = 100, .inputs = widths[0], .varies = true};
    for (size_t i = 1; i < widths.size(); ++i)
        c.layers.push_back({.width = widths[i], .act = VKGEMM_STEP_RELU, .bias = true});
    c.layers.back().act = VKGEMM_STEP_NONE;
    vkgemm::test::Network values(c, Fill::small_integers, 3);
    constexpr uint64_t rows = 70;
    values.run_separately(rows);
    const std::vector<std::byte> expected = values.d_bytes(2);
    const std::vector<vkgemm::Run> runs = values.runs(rows);
    std::ranges::fill(values.memory().mapped().subspan(runs[2].d.offset, rows * widths[3] * 2), std::byte{0xff});
    REQUIRE(values.d_bytes(2) != expected);

    ::Network net;
    const vkgemm::Status made = create_network(net, device().context(), c.rows);
    REQUIRE_MESSAGE(bool(made), made.text);
    for (size_t i = 0; i < runs.size(); ++i) {
        net.b[i] = runs[i].b;
        net.bias[i] = runs[i].bias;
    }
    net.inputs = runs[0].a;
    net.outputs = runs[2].d;
    net.workspace = values.workspace().operand();
    submit([&](VkCommandBuffer commands) { return record_network(net, commands, rows); });
    CHECK(values.d_bytes(2) == expected);
}

// X, then G, then D, in one buffer: small whole numbers, whose sums are exact.
TEST_CASE("page: gradients of two layers are the sums over each slice of the rows") {
    if (!stores_16_bits()) return;
    constexpr uint64_t layers = 2, slices = 3, part = 40, width = 64, rows = slices * part;
    constexpr uint64_t count = layers * rows * width;
    std::mt19937 random(5);
    std::vector<uint16_t> x(count), g(count);
    const auto fill = [&](std::vector<uint16_t>& to) {
        for (uint16_t& e : to)
            e = static_cast<uint16_t>(random() % 2 ? 0x3c00 + 0x400 * (random() % 3) : 0);  // 1, 2, 4
    };
    fill(x);
    fill(g);
    const std::vector<uint16_t> ones(part, 0x3c00);
    const auto upload = [](const auto& data) {
        auto made = device().createBuffer(data.size() * sizeof data[0]);
        REQUIRE_MESSAGE(bool(made), made.status().text);
        REQUIRE(bool(device().upload(*made, data)));
        return *made;
    };
    const auto on_x = upload(x), on_g = upload(g), on_ones = upload(ones);
    for (const bool biases : {false, true}) {
        const auto plan = create_gradients(device().context(), layers, rows, slices, biases);
        REQUIRE_MESSAGE(bool(plan), plan.status().text);
        const uint64_t each = biases ? width : width * width;
        std::vector<float> got(layers * slices * each, -1);
        const auto on_d = upload(got);
        submit([&](VkCommandBuffer commands) {
            const vkgemm::host::Buffer& a = biases ? on_ones : on_x;
            return plan->record(commands, {.a = a.operand(), .b = on_g.operand(), .d = on_d.operand()});
        });
        REQUIRE(bool(device().download(on_d, got)));
        std::vector<float> expected(got.size());
        const auto value = [](uint16_t bits) { return bits ? std::ldexp(1.0F, (bits >> 10) - 15) : 0.0F; };
        for (uint64_t row = 0; row < layers * rows; ++row)
            for (uint64_t i = 0; i < each; ++i)
                expected[row / part * each + i] +=
                    (biases ? 1 : value(x[row * width + i / width])) * value(g[row * width + i % width]);
        CHECK(std::ranges::equal(got, expected));
    }
}

// All weights of a half are equal, so all elements of D are.
TEST_CASE("page: the gated product takes up from the second half, and SiLU of the first") {
    if (!stores_16_bits()) return;
    constexpr uint64_t k = 4096, n = 14336, half = k * n * 2;
    const auto buffer = [](uint64_t bytes) {
        auto made = device().createBuffer(bytes);
        REQUIRE_MESSAGE(bool(made), made.status().text);
        return *made;
    };
    const auto a = buffer(k * 2), weights = buffer(2 * half), d = buffer(n * 2);
    const auto fill = [](const vkgemm::host::Buffer& b, uint64_t offset, uint64_t bytes, uint32_t f16) {
        REQUIRE(bool(device().fill(b, offset, bytes, f16 << 16 | f16)));
    };
    fill(a, 0, k * 2, 0x3c00);          // 1
    fill(weights, 0, half, 0x0c00);     // 2^-12, so the gate is 1
    fill(weights, half, half, 0x1000);  // 2^-11, so up is 2
    fill(d, 0, n * 2, 0xffff);
    const auto plan = create_gated(device().context());
    REQUIRE_MESSAGE(bool(plan), plan.status().text);
    submit([&](VkCommandBuffer commands) {
        return record_gated(*plan, commands, a.operand().buffer, weights.operand().buffer, d.operand().buffer);
    });
    std::vector<uint16_t> got(n);
    REQUIRE(bool(device().download(d, got)));
    // 2 SiLU(1) = 1.46212, between 0x3dd9 and 0x3dda of f16, whose unit here is 2^-10.
    CHECK(std::ranges::all_of(got, [](uint16_t x) { return x == 0x3dd9 || x == 0x3dda; }));
}
