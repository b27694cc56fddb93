// SPDX-License-Identifier: MIT
// Rows of f32 beside 16-bit weights, which the adapter rounds to the weights' type first.
#include <doctest/doctest.h>

#include <algorithm>

#include "ggml/run.h"
#include "support/numbers.h"

namespace vkgemm::test {
namespace {

using ggml::Reason;

struct Rounding {
    Filled w, y, d;
    ggml::MulMat product() const { return {w.tensor, y.tensor, d.tensor}; }
};

/// Weights of ones on the diagonal, so that dst is src1. Rows of src1 have `gap` elements between them.
Rounding diagonal(Type type, uint64_t rows, uint64_t gap) {
    const Buffers& b = buffers();
    Rounding x{Filled(type, {64, 64, 1, 1}, {}, b.w.handle()),
               Filled(f32, {64, rows, 1, 1}, {.gap = {0, gap}}, b.y.handle()),
               Filled(f32, {64, rows, 1, 1}, {}, b.d.handle())};
    Random random(rows);
    for (uint64_t i = 0; i < 64; ++i)
        for (uint64_t j = 0; j < 64; ++j) encode(type, i == j, &x.w.bytes[x.w.at(j, i, 0, 0)]);
    for (uint64_t n = 0; n < rows; ++n)
        for (uint64_t i = 0; i < 64; ++i) {
            const auto value = double(float(double(random.between(-4096, 4096)) / 4097));
            encode(f32, value, &x.y.bytes[x.y.at(i, n, 0, 0)]);
        }
    return x;
}

}  // namespace

TEST_CASE("rows of f32 are rounded to the type of 16-bit weights") {
    for (const Type type : {f16, bf16})
        for (const uint64_t rows : {9u, 33u, 200u})
            for (const uint64_t gap : {0u, 4u}) {
                const Rounding x = diagonal(type, rows, gap);
                const Buffers& b = buffers();
                put(b.w, x.w);
                put(b.y, x.y);
                put(b.d, x.d);
                ggml::Work work;
                REQUIRE(adapter().prepare(x.product(), work) == Reason::SERVED);
                CHECK(work.products.rounded_apart == 64 + gap);
                std::vector<std::byte> want = x.d.bytes;
                const std::vector<double> y = x.y.numbers();
                for (uint64_t i = 0; i < y.size(); ++i)
                    encode(f32, rounded(type, y[i]), &want[x.d.at(i % 64, i / 64, 0, 0)]);
                Reason reason{};
                CHECK(run(x.product(), want, reason) == "");
                CHECK(reason == Reason::SERVED);
            }
}

TEST_CASE("rows that kernels may round are as many as ggml rounds") {
    const auto accuracy = [](Type weights, uint64_t rows, uint64_t heads) {
        const Buffers& b = buffers();
        const Filled w(weights, {64, 64, 1, 1}, {}, b.w.handle()), y(f32, {64, rows, heads, 1}, {}, b.y.handle()),
            d(f32, {64, rows, heads, 1}, {}, b.d.handle());
        ggml::Products out;
        REQUIRE(ggml::describe({w.tensor, y.tensor, d.tensor}, out) == Reason::SERVED);
        CHECK(out.rows == rows * heads);  // heads that share weights are rows of one product
        return out.problem.accuracy;
    };
    for (const Type weights : {f16, bf16, Type(VKGEMM_TYPE_Q4_0)})
        for (const uint64_t heads : {1u, 4u}) {
            CHECK(accuracy(weights, 1, heads) == VKGEMM_ACCURACY_DEFAULT);
            CHECK(accuracy(weights, 8, heads) == VKGEMM_ACCURACY_DEFAULT);
            CHECK(accuracy(weights, 9, heads) == VKGEMM_ACCURACY_NARROW);
        }
}

TEST_CASE("few rows beside blocks are rounded to 8 bits where ggml's are") {
    const Buffers& b = buffers();
    for (const Type weights : {Type(VKGEMM_TYPE_Q4_0), Type(VKGEMM_TYPE_Q8_0), f16})
        for (const uint64_t rows : {1u, 8u}) {
            const Filled w(weights, {64, 64, 1, 1}, {}, b.w.handle()), y(f32, {64, rows, 1, 1}, {}, b.y.handle()),
                d(f32, {64, rows, 1, 1}, {}, b.d.handle());
            ggml::MulMat x{w.tensor, y.tensor, d.tensor};
            const auto accuracy = [&](ggml::Adapter& one) {
                ggml::Work work;
                REQUIRE(one.prepare(x, work) == Reason::SERVED);
                return work.products.problem.accuracy;
            };
            CHECK(accuracy(adapter()) == VKGEMM_ACCURACY_DEFAULT);
            x.is_quantising = true;
            CHECK(accuracy(adapter()) == VKGEMM_ACCURACY_MXINT8);
            x.is_precise = true;
            CHECK(accuracy(adapter()) == VKGEMM_ACCURACY_DEFAULT);
            x.is_precise = false;
            CHECK(accuracy(*new_adapter({.rounds = ggml::Rounds::NEVER})) == VKGEMM_ACCURACY_DEFAULT);
        }
}

TEST_CASE("rows that are not rounded") {
    const auto apart = [](const ggml::MulMat& x) {
        ggml::Work work;
        CHECK(adapter().prepare(x, work) == Reason::SERVED);
        return work.products.rounded_apart;
    };
    CHECK(apart(diagonal(f16, 8, 0).product()) == 0);   // few
    CHECK(apart(diagonal(f16, 16, 2).product()) == 0);  // not in fours
    CHECK(apart(diagonal(f32, 16, 0).product()) == 0);
    CHECK(apart(diagonal(f16, 16, 0).product()) == 64);
    ggml::MulMat x = diagonal(f16, 16, 0).product();
    x.is_precise = true;
    CHECK(apart(x) == 0);
    x.is_precise = false;
    x.src1.offset += 4;
    CHECK(apart(x) == 0);
}

TEST_CASE("weights of f32 have their rows rounded where ggml rounds both") {
    const Buffers& b = buffers();
    for (const bool rounds : {false, true}) {
        const Rounding x = diagonal(f32, 33, 4);
        put(b.w, x.w);
        put(b.y, x.y);
        put(b.d, x.d);
        ggml::MulMat product = x.product();
        product.is_rounding = rounds;
        ggml::Work work;
        REQUIRE(adapter().prepare(product, work) == Reason::SERVED);
        CHECK(work.products.rounded_rows == (rounds ? 33 : 0));
        CHECK(work.products.problem.accuracy == (rounds ? VKGEMM_ACCURACY_NARROW : VKGEMM_ACCURACY_F32_SPLIT_ROWS));
        std::vector<std::byte> want = x.d.bytes;
        const std::vector<double> y = x.y.numbers();
        for (uint64_t i = 0; i < y.size(); ++i)
            encode(f32, rounds ? rounded(f16, y[i]) : y[i], &want[x.d.at(i % 64, i / 64, 0, 0)]);
        Reason reason{};
        CHECK(run(product, want, reason) == "");
        CHECK(reason == Reason::SERVED);
    }
}

TEST_CASE("rows that an earlier product rounded are not rounded again") {
    const Rounding x = diagonal(f16, 16, 0);
    const Buffers& b = buffers();
    put(b.w, x.w);
    put(b.y, x.y);
    put(b.d, x.d);
    ggml::Work work;
    REQUIRE(adapter().prepare(x.product(), work) == Reason::SERVED);
    REQUIRE(work.rounded_bytes >= 16 * 64 * 2);
    std::ranges::fill(b.rounded.bytes().first(work.rounded_bytes), std::byte{});  // as if src1 had been zeros
    work.is_rounded = true;
    REQUIRE(device()
                .submit([&](VkCommandBuffer commands) {
                    CHECK(adapter().record(commands, work, scratch_memory(), rounded_memory()) == Reason::SERVED);
                    return Status{};
                })
                .code == VKGEMM_SUCCESS);
    uint64_t others = 0;
    for (uint64_t i = 0; i < 16 * 64; ++i) others += decode(f32, &b.d.bytes()[x.d.at(i % 64, i / 64, 0, 0)]) != 0;
    CHECK(others == 0);
}

TEST_CASE("where rows are rounded") {
    using ggml::Rounds;
    // The tests' device states no queue flags, and so has no native kernels.
    for (const Rounds rounds : {Rounds::NEVER, Rounds::WHERE_NATIVE, Rounds::ALWAYS}) {
        const auto one = new_adapter({.rounds = rounds});
        ggml::Work work;
        REQUIRE(one->prepare(diagonal(f16, 16, 0).product(), work) == Reason::SERVED);
        CHECK((work.products.rounded_rows != 0) == (rounds == Rounds::ALWAYS));
        CHECK((work.rounded_bytes != 0) == (rounds == Rounds::ALWAYS));
    }
}

}  // namespace vkgemm::test
