// SPDX-License-Identifier: MIT
// One product for each reason to leave it to ggml, and what GGML_VKGEMM takes.
#include <doctest/doctest.h>

#include <algorithm>

#include "ggml/run.h"
#include "vkgemm_ggml/registry.h"

namespace vkgemm::test {
namespace {

using ggml::MulMat;
using ggml::Reason;

MulMat product(Type w = f32, Type y = f32, const Sizes4& ne = {32, 5, 2, 1}, uint64_t n = 3) {
    const Buffers& b = buffers();
    return {Filled(w, ne, {}, b.w.handle()).tensor, Filled(y, {ne[0], n, ne[2], ne[3]}, {}, b.y.handle()).tensor,
            Filled(f32, {ne[1], n, ne[2], ne[3]}, {}, b.d.handle()).tensor};
}
Reason reason_of(const MulMat& x) {
    ggml::Work work;
    return adapter().prepare(x, work);
}
Reason recorded(const MulMat& x, uint64_t scratch = Arena::most_bytes) {
    ggml::Work work;
    Reason reason = adapter().prepare(x, work);
    REQUIRE(reason == Reason::SERVED);
    const Status done = device().submit([&](VkCommandBuffer commands) {
        reason = adapter().record(commands, work, {buffers().scratch.handle(), 0, scratch, 0}, rounded_memory());
        return Status{};
    });
    REQUIRE(done.code == VKGEMM_SUCCESS);
    return reason;
}

}  // namespace

TEST_CASE("reasons: each has a product") {
    CHECK(reason_of(product()) == Reason::SERVED);
    CHECK(reason_of(product(VKGEMM_TYPE_I32)) == Reason::TYPE);
    CHECK(reason_of(product(f32, q8_0)) == Reason::TYPE);
    MulMat x = product();
    x.src0.type = VKGEMM_TYPE_DEFAULT;
    CHECK(reason_of(x) == Reason::TYPE);
    x = product();
    x.src1.ne[0] = 31;
    CHECK(reason_of(x) == Reason::SHAPE);
    x = product();
    x.dst.ne[1] = 4;
    CHECK(reason_of(x) == Reason::SHAPE);
    x = product();
    x.src0.ne[2] = 0;
    CHECK(reason_of(x) == Reason::SHAPE);
    x = product();
    x.src1.nb[0] = 8;
    x.src1.nb[1] = 256;
    CHECK(reason_of(x) == Reason::STRIDES);
    x = product();
    x.src0.nb[1] = 64;  // rows that overlap
    CHECK(reason_of(x) == Reason::STRIDES);
    x = product(q8_0);
    x.src0.offset += 2;
    CHECK(reason_of(x) == Reason::ALIGNMENT);
    x = product(f32, f32, {4, 3, 20, 20}, 1);
    x.src0.nb[3] += 2;
    x.src0.nb[2] += 2;  // neither level can be the batch
    CHECK(reason_of(x) == Reason::PARTS);
    x.src0.ne[3] = x.src1.ne[3] = x.dst.ne[3] = 2;
    CHECK(reason_of(x) == Reason::ALIGNMENT);
    x = product();
    x.fused_count = 2;
    x.fused = {x.dst, x.dst};
    CHECK(reason_of(x) == Reason::FUSED);
    x = product(f32, f32, {32, 5, 1, 1});
    x.src0.ne[1] = x.dst.ne[0] = uint64_t{1} << 32;
    x.dst.nb[1] = x.dst.nb[2] = x.dst.nb[3] = uint64_t{1} << 34;
    CHECK(reason_of(x) == Reason::LIMIT);
}

TEST_CASE("reasons: operands and scratch memory") {
    MulMat x = product();
    x.dst.buffer = x.src1.buffer;  // at the same offset
    CHECK(recorded(x) == Reason::RUN);
    x = product(f32, f32, {32, 5, 4, 1});
    const Filled ids(f32, {2, 3, 1, 1}, {}, buffers().ids.handle());
    std::ranges::fill(buffers().ids.bytes().first(4096), std::byte{});
    x.src1 = Filled(f32, {32, 1, 3, 1}, {}, buffers().y.handle()).tensor;
    x.dst = Filled(f32, {5, 2, 3, 1}, {}, buffers().d.handle()).tensor;
    x.ids = &ids.tensor;
    CHECK(recorded(x, 256) == Reason::SCRATCH);
    CHECK(recorded(x) == Reason::SERVED);
    x.fused_count = 1;
    x.fused[0] = x.dst;
    CHECK(reason_of(x) == Reason::FUSED);
    x.fused_count = 0;
    x.src1.ne[1] = 3;
    CHECK(reason_of(x) == Reason::EXPERTS);
}

TEST_CASE("reasons: products of one class share a plan, and the report counts them") {
    const size_t before = adapter().plan_count();
    const uint64_t served = adapter().count_of(Reason::SERVED);
    for (uint64_t n = 33; n <= 64; ++n) {
        const MulMat x = product(f32, f32, {32, 7, 1, 1}, n);
        ggml::Work work;
        const Reason reason = adapter().prepare(x, work);
        CHECK(reason == Reason::SERVED);
        adapter().note(x, work, reason);
    }
    CHECK(adapter().plan_count() == before + 1);
    CHECK(adapter().count_of(Reason::SERVED) == served + 32);
    CHECK(adapter().report().find(std::to_string(served + 32) + " of ") == 0);
}

TEST_CASE("two levels of a batch are one recording") {
    // Attention: 32 heads of queries share 8 of keys, for two sequences; tokens are outside the heads.
    const Lie heads_inside = {.order = {0, 2, 1, 3}};
    const Buffers& b = buffers();
    const MulMat x = {Filled(f16, {128, 64, 8, 2}, heads_inside, b.w.handle()).tensor,
                      Filled(f32, {128, 5, 32, 2}, heads_inside, b.y.handle()).tensor,
                      Filled(f32, {64, 5, 32, 2}, {}, b.d.handle()).tensor};
    ggml::Products out;
    REQUIRE(ggml::describe(x, out) == Reason::SERVED);
    const VkgemmProblem& p = out.problem;
    CHECK(out.parts == 1);
    CHECK((p.m == 5 && p.batch == 32 && p.ratioB == 4 && p.outerBatch == 2));
    CHECK((p.a.batchStride == 128 && p.a.ld == 128 * 32 && p.outerStrideA == 5 * 128 * 32));
    CHECK((p.b.batchStride == 128 && p.b.ld == 128 * 8 && p.outerStrideB == 64 * 128 * 8));
    CHECK((p.d.batchStride == 5 * 64 && p.outerStrideD == 32 * 5 * 64));
}

TEST_CASE("GGML_VKGEMM: its words") {
    using ggml::parse_wish;
    CHECK_FALSE(parse_wish(nullptr).is_off);
    CHECK(parse_wish("0").is_off);
    const ggml::Wish both = parse_wish("log,force");
    CHECK((both.log && both.force && !both.is_off && both.unknown.empty()));
    CHECK(parse_wish("1").unknown.empty());
    CHECK((parse_wish("round").round && !both.round));
    CHECK((parse_wish("log,exact").exact && !both.exact));
    CHECK(parse_wish("log,fast").unknown == "fast");
}

}  // namespace vkgemm::test
