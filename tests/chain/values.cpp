// SPDX-License-Identifier: MIT
// What a chain computes: the same bits as separate products where sums are exact, and the same values elsewhere.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "chain/network.h"
#include "support/numbers.h"
#include "support/owned.h"
#include "vk/context.h"

using namespace vkgemm::test;

namespace {

constexpr VkgemmStepKind relu = VKGEMM_STEP_RELU, leaky = VKGEMM_STEP_LEAKY_RELU, clamp = VKGEMM_STEP_CLAMP;

/// Compares the chain, and the chain as separate plans, with products that know nothing of each other.
void same_bits(const NetworkCase& c, VkgemmContext context = chain_context()) {
    Network net(c, Fill::small_integers, 11);
    net.run_separately();
    const size_t last = c.layers.size() - 1;
    std::vector<std::vector<std::byte>> expected;
    for (size_t i = 0; i <= last; ++i) expected.push_back(net.d_bytes(i));
    for (const uint32_t flags : {uint32_t{VKGEMM_CHAIN_SEPARATE}, 0u}) {
        CAPTURE(flags);
        const auto chain = make_chain(net.chain_problem(flags), context);
        CHECK((!flags || !chain.info().isOneDispatch));
        CAPTURE(std::string(chain.info().kernel));
        net.run_chain(chain);
        for (size_t i = 0; i <= last; ++i)
            if (i == last || (c.kept >> i & 1)) CHECK_MESSAGE(net.d_bytes(i) == expected[i], "product ", i);
    }
}

bool stores_16_bits() { return device().info().uses.find("storageBuffer16BitAccess") != std::string::npos; }

// Small on a CPU, whose driver takes minutes to compile a wide chain.
NetworkCase renderer(vkgemm::Type type) {
    const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    NetworkCase c = {.type = type, .rows = 100, .inputs = is_cpu ? 16u : 32u};
    for (const uint64_t width : {is_cpu ? 24 : 64, is_cpu ? 16 : 64, 3})
        c.layers.push_back({.width = width, .act = relu, .bias = true});
    c.layers.back().act = VKGEMM_STEP_NONE;
    return c;
}

}  // namespace

TEST_CASE("chains: the bits of separate products where sums are exact") {
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) {
        CAPTURE(int(type));
        if (type != VKGEMM_TYPE_F32 && !stores_16_bits()) continue;
        same_bits(renderer(type));
        NetworkCase c = renderer(type);
        c.kept = 3;
        c.pad = 3;
        c.layers[1].b_column_major = true;
        c.layers[1].act = leaky;
        c.layers[0].act = clamp;
        c.layers[2].alpha = -2;
        c.layers[1].bias_type = VKGEMM_TYPE_F32;
        same_bits(c);
        c = {.type = type, .rows = 37, .inputs = 5, .layers = {{.width = 7, .act = relu}, {.width = 1}}};
        same_bits(c);
    }
}

TEST_CASE("chains: six layers, and vectors of columns that divide no work group") {
    const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) {
        if (type != VKGEMM_TYPE_F32 && (is_cpu || !stores_16_bits())) continue;
        CAPTURE(int(type));
        NetworkCase c = {
            .type = type, .rows = 70, .inputs = 21, .layers = {{.width = 52, .act = relu, .bias = true}}, .kept = 31};
        c.layers.push_back({.width = 2, .b_column_major = true});
        while (c.layers.size() < 6) c.layers.push_back({.width = 6, .act = leaky, .bias = true});
        same_bits(c);
    }
}

TEST_CASE("chains: a single product, a wide one, and a column-major D") {
    same_bits({.rows = 20, .inputs = 24, .layers = {{.width = 9, .act = relu, .bias = true}}});
    same_bits(
        {.rows = 9, .inputs = 150, .layers = {{.width = 140, .act = relu}, {.width = 4, .bias = true}}, .kept = 1});
    same_bits({.rows = 24,
               .inputs = 16,
               .layers = {{.width = 16, .act = relu}, {.width = 8}, {.width = 8}},
               .kept = 2,
               .d_column_major = true});
}

TEST_CASE("chains: more weights and biases than a work group asks for at once") {
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16}) {
        if (type != VKGEMM_TYPE_F32 && !stores_16_bits()) continue;
        CAPTURE(int(type));
        same_bits({.type = type,
                   .rows = 20,
                   .inputs = 16,
                   .layers = {{.width = 64, .act = relu, .bias = true, .b_column_major = true},
                              {.width = 24, .bias = true}}});
    }
}

TEST_CASE("chains: one dispatch of f32 on every GPU with device addresses") {
    if (!device().hasAddresses()) return;
    NetworkCase c = renderer(VKGEMM_TYPE_F32);
    const std::string text = explain_chain(Network(c, Fill::fractions, 1).chain_problem());
    CHECK_MESSAGE(text.find("one dispatch: chain_simt_f32_4 WG=128,BM=64,BK=16") == 0, text);
    const auto of_cpu = vkgemm::Chain::explain(device().context(), Network(c, Fill::fractions, 1).chain_problem());
    REQUIRE(bool(of_cpu));
    if (device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU)
        CHECK_MESSAGE(of_cpu->find("on a CPU, separate products are faster") != std::string::npos, *of_cpu);
}

TEST_CASE("chains: one dispatch on every device with matrix units for f16") {
    const NetworkCase c = renderer(VKGEMM_TYPE_F16);
    if (device().info().uses.find("cooperativeMatrix") == std::string::npos) return;
    Network net(c, Fill::small_integers, 1);
    const std::string text = explain_chain(net.chain_problem());
    CHECK_MESSAGE(text.find("one dispatch: chain_f16") == 0, text);
    const auto chain = make_chain(net.chain_problem());
    CHECK(chain.info().isOneDispatch == 1);
    CHECK(chain.info().dispatchCount == 1);
    CHECK(chain.info().workspaceBytes == 0);
}

TEST_CASE("chains: subgroups that take three matrices of rows at once") {
    if (device().info().uses.find("cooperativeMatrix") == std::string::npos) return;
    Owned<VkgemmContext, vkgemmDestroyContext> small;  // of one multiprocessor, so that few rows are many
    VkgemmContextInfo info = context_info();
    info.flags = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT;
    REQUIRE(vkgemmCreateContext(&info, &small.handle, nullptr) == VKGEMM_SUCCESS);
    small.handle->caps.kind = vkgemm::plan::DeviceKind::discrete;
    small.handle->caps.compute_units = 1;
    NetworkCase c = renderer(VKGEMM_TYPE_F16);
    c.rows = 300;
    c.kept = 1;
    c.pad = 4;
    const std::string text = explain_chain(Network(c, Fill::small_integers, 1).chain_problem(), small.handle);
    const bool takes_three = text.find("WM=48,MM=16") != text.npos || text.find("WM=24,MM=8") != text.npos;
    CHECK_MESSAGE(takes_three, text);
    same_bits(c, small.handle);
}

TEST_CASE("chains: rows of more than 64 elements in one dispatch") {
    if (device().info().uses.find("cooperativeMatrix") == std::string::npos) return;
    const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    NetworkCase c = {.type = VKGEMM_TYPE_F16, .rows = 65536, .inputs = 13};
    for (const uint64_t width : {is_cpu ? 72 : 128, is_cpu ? 8 : 120, 3})
        c.layers.push_back({.width = width, .act = relu, .bias = true, .b_column_major = width == 3});
    const std::string text = explain_chain(Network(c, Fill::small_integers, 1).chain_problem());
    CHECK_MESSAGE(text.find("one dispatch: chain_f16") == 0, text);
    same_bits(c);
}

TEST_CASE("chains: any m up to the problem's") {
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) {
        if (type != VKGEMM_TYPE_F32 && !stores_16_bits()) continue;
        NetworkCase c = renderer(type);
        c.varies = true;
        c.kept = 1;
        Network net(c, Fill::small_integers, 5);
        const auto chain = make_chain(net.chain_problem());
        for (const uint64_t rows : {100, 64, 33, 1, 0}) {
            CAPTURE(rows);
            net.run_separately(rows);
            const auto expected = net.d_bytes(2), kept = net.d_bytes(0);
            net.run_chain(chain, rows);
            CHECK(net.d_bytes(2) == expected);
            CHECK(net.d_bytes(0) == kept);
        }
    }
}

/// Rows by the GPU's count, of which the first A may have columns that are no multiple of a vector long.
void counted_rows(const NetworkCase& c) {
    Network net(c, Fill::small_integers, 8);
    for (const uint32_t flags : {uint32_t{VKGEMM_CHAIN_SEPARATE}, 0u}) {
        CAPTURE(flags);
        const auto chain = make_chain(net.chain_problem(flags));
        CAPTURE(std::string(chain.info().kernel));
        for (const uint64_t rows : {100, 64, 33, 1, 0, 101, 1 << 30}) {
            CAPTURE(rows);
            net.run_separately(std::min(rows, c.rows));
            const auto expected = net.d_bytes(2), kept = net.d_bytes(0);
            net.run_chain(chain, rows);
            CHECK(net.d_bytes(2) == expected);
            CHECK(net.d_bytes(0) == kept);
        }
    }
}

TEST_CASE("chains: rows that the GPU counts, and a column-major A") {
    if (!device().hasAddresses()) return;
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) {
        if (type != VKGEMM_TYPE_F32 && !stores_16_bits()) continue;
        CAPTURE(int(type));
        NetworkCase c = renderer(type);
        c.kept = 1;
        c.counted = true;
        c.a_column_major = true;
        c.pad = 4;  // columns begin at multiples of 16 bytes, and end within them
        counted_rows(c);
        c.pad = 1;
        c.inputs = 13;
        same_bits(c);
    }
}

TEST_CASE("chains: gradients through the derivative of ReLU, in rows and in columns") {
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) {
        if (type != VKGEMM_TYPE_F32 && !stores_16_bits()) continue;
        CAPTURE(int(type));
        NetworkCase c = {.type = type, .rows = 75, .inputs = 8, .kept = 3};
        for (const uint64_t width : {24, 13, 16})
            c.layers.push_back({.width = width, .act = VKGEMM_STEP_DRELU, .b_column_major = true});
        c.layers[2].act = VKGEMM_STEP_NONE;
        same_bits(c);
        c.layers[2].act = VKGEMM_STEP_DRELU;
        c.layers[0].alpha = 2;
        c.pad = 5;
        c.d_column_major = true;
        same_bits(c);
    }
}

TEST_CASE("chains: NaN and infinity pass through as through separate products") {
    const double inf = std::numeric_limits<double>::infinity();
    NetworkCase c = renderer(VKGEMM_TYPE_F32);
    c.rows = 40;
    c.layers[1].width = 13;  // no whole tile, so that padding stands beside the infinities
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) {
        if (type != VKGEMM_TYPE_F32 && !stores_16_bits()) continue;
        c.type = type;
        Network net(c, Fill::ones, 3);
        net.set_a(3, 2, std::nan(""));
        net.set_a(17, c.inputs - 1, inf);
        net.set_a(39, 0, -inf);
        net.set_a(5, 1, std::copysign(std::nan(""), -1.0));
        net.set_a(23, 0, inf);  // whose sum is a NaN that the device makes
        net.set_a(23, 1, -inf);
        net.run_separately();
        const std::vector<double> expected = net.d(2);
        const auto chain = make_chain(net.chain_problem());
        net.run_chain(chain);
        const std::vector<double> got = net.d(2);
        size_t special = 0;
        for (size_t i = 0; i < got.size(); ++i) {
            CAPTURE(i / 3);
            if (std::isnan(expected[i]))
                CHECK(std::isnan(got[i]));
            else
                CHECK(got[i] == expected[i]);
            special += !std::isfinite(expected[i]);
        }
        CHECK(special > 0);
        CHECK(special < got.size());
    }
}

TEST_CASE("chains: fractions stay within the derived bound") {
    for (const vkgemm::Type type : {VKGEMM_TYPE_F32, VKGEMM_TYPE_F16, VKGEMM_TYPE_BF16}) {
        if (type != VKGEMM_TYPE_F32 && !stores_16_bits()) continue;
        CAPTURE(int(type));
        NetworkCase c = renderer(type);
        Network net(c, Fill::fractions, 21);
        const auto chain = make_chain(net.chain_problem());
        net.run_chain(chain);
        // Running error analysis: what the error of A becomes, one of a sum of k products and a bias, one of rounding.
        const double u = unit_roundoff(VKGEMM_TYPE_F32), of_type = unit_roundoff(type);
        std::vector<double> a = net.a(), error(a.size());
        uint64_t k = c.inputs;
        for (size_t l = 0; l < c.layers.size(); ++l) {
            const uint64_t n = c.layers[l].width;
            const std::vector<double> b = net.b(l), bias = net.bias(l);
            std::vector<double> d(c.rows * n), e(c.rows * n);
            for (uint64_t r = 0; r < c.rows; ++r)
                for (uint64_t j = 0; j < n; ++j) {
                    double sum = bias[j], size = std::fabs(bias[j]), inherited = 0;
                    for (uint64_t i = 0; i < k; ++i) {
                        sum += a[r * k + i] * b[i * n + j];
                        size += std::fabs(a[r * k + i] * b[i * n + j]);
                        inherited += error[r * k + i] * std::fabs(b[i * n + j]);
                    }
                    if (c.layers[l].act == relu) sum = std::max(sum, 0.0);
                    d[r * n + j] = sum;
                    e[r * n + j] = inherited + (double(k) + 3) * u * (size + inherited);
                    e[r * n + j] += of_type * (std::fabs(sum) + e[r * n + j]) + smallest_normal(type);
                }
            a = d;
            error = e;
            k = n;
        }
        const std::vector<double> got = net.d(c.layers.size() - 1);
        for (size_t i = 0; i < got.size(); ++i) {
            CAPTURE(i);
            CHECK(std::fabs(got[i] - a[i]) <= error[i]);
        }
    }
}
