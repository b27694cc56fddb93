// SPDX-License-Identifier: MIT
// Pairs through the API: halves of one stored matrix, the operands that a run must bring, and both ways to compute one.
#include <algorithm>
#include <vector>

#include "api/api.h"

using namespace vkgemm::test;

namespace {

constexpr uint64_t m = 3, n = 20, k = 36;

/// Small whole numbers of both signs, so that every sum is exact.
float number(uint64_t seed, uint64_t i) { return static_cast<float>((i * 7 + seed * 5) % 9) - 4; }

struct Memory {
    vkgemm::host::Buffer a = buffer(m * k * 4), weights = buffer(2 * n * k * 4), bias = buffer(2 * n * 4),
                         d = buffer(m * n * 4), workspace = buffer(1 << 16);
    std::vector<float> of_a, of_weights, of_bias;

    Memory() {
        for (uint64_t i = 0; i < m * k; ++i) of_a.push_back(number(1, i));
        for (uint64_t i = 0; i < 2 * n * k; ++i) of_weights.push_back(number(2, i * i));
        for (uint64_t i = 0; i < 2 * n; ++i) of_bias.push_back(number(3, i));
        REQUIRE(bool(device().upload(a, of_a)));
        REQUIRE(bool(device().upload(weights, of_weights)));
        REQUIRE(bool(device().upload(bias, of_bias)));
    }

    /// The stored matrix has 2 n columns: first those of the gate, then those of the product.
    VkgemmRun run() const {
        VkgemmRun r{};
        r.structSize = sizeof r;
        r.a = at(a);
        r.b = at(weights, n * k * 4);
        r.b2 = at(weights, 0, n * k * 4);
        r.bias = at(bias, n * 4);
        r.bias2 = at(bias, 0);
        r.d = at(d);
        r.workspace = at(workspace);
        return r;
    }

    float sum(uint64_t row, uint64_t column) const {
        float out = of_bias[column];
        for (uint64_t i = 0; i < k; ++i) out += of_a[row * k + i] * of_weights[column * k + i];
        return out;
    }
};

Said check(VkgemmPlan plan, const VkgemmRun& run) {
    return said([&](VkgemmError* e) { return vkgemmCheckRun(plan, &run, e); });
}

}  // namespace

TEST_CASE("pairs: the halves of one stored matrix, in one dispatch and as two products") {
    const Memory memory;
    for (const uint64_t workspace : {0, 1 << 16}) {
        VkgemmPlanOptions o = options();
        o.workspaceLimit = workspace;
        o.operandAlignment = 4;
        OwnedPlan plan;
        plan_for(plan, "3x20x36 layout=nt bias=col pair=relu", o);
        REQUIRE(bool(device().fill(memory.d, 0, memory.d.size(), 0xffffffff)));
        const VkgemmRun run = memory.run();
        expect(check(plan.handle, run), VKGEMM_SUCCESS, {});
        REQUIRE(bool(device().submit([&](VkCommandBuffer commands) {
            const Said got = said([&](VkgemmError* e) { return vkgemmRecord(plan.handle, commands, &run, e); });
            return vkgemm::Status{got.code, VK_SUCCESS, got.text};
        })));
        std::vector<float> d(m * n);
        REQUIRE(bool(device().download(memory.d, d)));
        int wrong = 0;
        for (uint64_t row = 0; row < m; ++row)
            for (uint64_t column = 0; column < n; ++column)
                wrong += d[row * n + column] != memory.sum(row, n + column) * std::max(memory.sum(row, column), 0.0f);
        CHECK(wrong == 0);
    }
}

TEST_CASE("pairs: operands that are missing, short, or in the way") {
    const Memory memory;
    VkgemmPlanOptions o = options();
    o.operandAlignment = 4;
    OwnedPlan plan;
    plan_for(plan, "3x20x36 layout=nt bias=col pair=relu", o);
    VkgemmRun run = memory.run();
    run.b2 = {};
    expect(check(plan.handle, run), VKGEMM_ERROR_OPERAND, {"b2", "missing", std::to_string(n * k * 4)});
    run = memory.run();
    run.b2.size = n * k * 4 - 4;
    expect(check(plan.handle, run), VKGEMM_ERROR_OPERAND, {"b2", std::to_string(n * k * 4)});
    run = memory.run();
    run.bias2 = {};
    expect(check(plan.handle, run), VKGEMM_ERROR_OPERAND, {"bias2", "missing"});
    run = memory.run();
    run.b2.offset = 2;
    expect(check(plan.handle, run), VKGEMM_ERROR_OPERAND, {"b2", "4 bytes"});
    run = memory.run();
    run.d = at(memory.weights, 0);
    expect(check(plan.handle, run), VKGEMM_ERROR_OPERAND, {"b2", "overlaps D"});
}
