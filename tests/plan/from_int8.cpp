// SPDX-License-Identifier: MIT
// f64 from products of int8: the constants of the shaders, and what is planned.
#include "plan/choice/from_int8.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/make_steps.h"
#include "plan/steps/pipeline_key.h"
#include "shaders/common/moduli.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

/// A whole number in limbs of 20 bits, the least significant one first; the last one has all higher bits.
using Limbs = std::array<uint64_t, MODULI_LIMBS>;

Limbs times(Limbs x, uint64_t factor) {
    uint64_t carry = 0;
    for (uint64_t& limb : x) {
        carry += limb * factor;
        const bool is_last = &limb == &x.back();
        limb = is_last ? carry : carry & 0xfffff;
        carry >>= 20;
    }
    return x;
}
uint64_t modulo(const Limbs& x, uint64_t p) {
    uint64_t rest = 0;
    for (size_t i = x.size(); i-- > 0;) rest = ((rest << 20) + x[i]) % p;
    return rest;
}
uint64_t power_of_2(uint32_t exponent, uint64_t p) {
    uint64_t out = 1;
    for (uint32_t i = 0; i < exponent; ++i) out = out * 2 % p;
    return out;
}

struct Modulus {
    uint64_t t, p, reciprocal, of_20, of_40, of_60;

    // The remainder of x, or p more, as the shaders find it (common/modulus.glsl).
    uint64_t remainder_of(uint64_t x) const { return x - (x * reciprocal >> 39) * p; }
};
constexpr Modulus moduli[] = {
#define X(...) {__VA_ARGS__},
    VKGEMM_MODULI(X)
#undef X
};
struct Share {
    uint64_t t, inverse;
    Limbs limbs;
};
constexpr Share narrow[] = {
#define X(t, inverse, ...) {t, inverse, {__VA_ARGS__}},
    VKGEMM_SHARES(X)};
constexpr Share wide[] = {VKGEMM_SHARES_WIDE(X)
#undef X
};

/// The moduli of an accuracy, and what follows from their product P.
struct Set {
    std::span<const Share> shares;
    Limbs whole, half;  // of P, and of P / 2 - 1
    uint64_t top;       // the bits of P from bit `top_at` on
    int top_at;
    uint64_t half_high, half_low;
    int half_bits;
};
#define X(i, of_narrow, of_wide) of_narrow,
const Set of_15 = {.shares = narrow,
                   .whole = {MODULI_PRODUCT(X)},
                   .half = {MODULI_HALF(X)},
                   .top = MODULI_TOP,
                   .top_at = 90,
                   .half_high = MODULI_HALF_HIGH,
                   .half_low = MODULI_HALF_LOW,
                   .half_bits = MODULI_HALF_BITS};
#undef X
#define X(i, of_narrow, of_wide) of_wide,
const Set of_18 = {.shares = wide,
                   .whole = {MODULI_PRODUCT(X)},
                   .half = {MODULI_HALF(X)},
                   .top = MODULI_TOP_WIDE,
                   .top_at = 113,
                   .half_high = MODULI_HALF_HIGH_WIDE,
                   .half_low = MODULI_HALF_LOW_WIDE,
                   .half_bits = MODULI_HALF_BITS_WIDE};
#undef X

/// So many bits from bit `first` on.
uint64_t bits_of(const Limbs& x, int first, int count) {
    uint64_t out = 0;
    for (int i = first + count; i-- > first;) {
        const size_t limb = std::min(size_t(i) / 20, x.size() - 1);
        out = out << 1 | (x[limb] >> (size_t(i) - 20 * limb) & 1);
    }
    return out;
}

Result<Plan> plan_on(const DeviceCaps& caps, const std::string& line, uint64_t workspace = uint64_t{1} << 40,
                     const std::string& wide_or_not = "") {
    Request request;
    request.workspace_limit = workspace;
    request.addresses = caps.features & need::buffer_address;
    return make_plan(DeviceKernels(caps), parse_problem(line + " accuracy=f64_split" + wide_or_not)->problem, request);
}

Plan planned(const DeviceCaps& caps, const std::string& line) {
    auto plan = plan_on(caps, line);
    REQUIRE_MESSAGE(bool(plan), line, ": ", plan.status().text);
    return *plan;
}

}  // namespace

TEST_CASE("f64_split: the moduli share no divisor, and every constant follows from them") {
    CHECK(std::size(moduli) == MODULI_WIDE);
    for (const Modulus& x : moduli) {
        CAPTURE(x.p);
        CHECK(&x == &moduli[x.t]);
        for (const Modulus& y : moduli) CHECK((&x == &y || std::gcd(x.p, y.p) == 1));
        const uint64_t last = (uint64_t{1} << 32) / x.p;  // if the last quotients are right, so are all before
        for (uint64_t quotient = last - 3; quotient <= last; ++quotient)
            for (uint64_t rest = 0; rest < x.p && (quotient * x.p + rest) >> 32 == 0; ++rest) {
                const uint64_t remainder = x.remainder_of(quotient * x.p + rest);
                CHECK((remainder == rest || remainder == rest + x.p));
                CHECK(remainder < 256);
            }
        CHECK(x.of_20 == power_of_2(20, x.p));
        CHECK(x.of_40 == power_of_2(40, x.p));
        CHECK(x.of_60 == power_of_2(60, x.p));
    }
}

TEST_CASE("f64_split: what follows from the product of all moduli") {
    CHECK(std::size(narrow) == MODULI);
    CHECK(std::size(wide) == MODULI_WIDE);
    for (const Set& set : {of_15, of_18}) {
        Limbs p{1};
        for (size_t t = 0; t < set.shares.size(); ++t) p = times(p, moduli[t].p);
        for (const Share& share : set.shares) {
            CAPTURE(share.t);
            CHECK(&share == &set.shares[share.t]);
            CHECK(times(share.limbs, moduli[share.t].p) == p);
            CHECK(share.inverse * modulo(share.limbs, moduli[share.t].p) % moduli[share.t].p == 1);
        }
        for (size_t i = 0; i < p.size(); ++i) {  // of the sum, with each remainder as large as it may be
            uint64_t limb = set.half[i];
            for (const Share& share : set.shares) limb += moduli[share.t].p * share.limbs[i];
            CHECK(limb < uint64_t{1} << 32);
        }
        CHECK(set.whole == p);
        Limbs twice = times(set.half, 2);
        twice[0] += 2;
        CHECK(twice == p);
        CHECK(set.top == bits_of(p, set.top_at, 32));
        CHECK(bits_of(p, set.top_at + 32, 12) == 0);
        CHECK(bits_of(set.half, set.half_bits, 20) == 1);
        CHECK(set.half_high == bits_of(set.half, set.half_bits - 31, 32));
        CHECK(set.half_low == bits_of(set.half, set.half_bits - 63, 32));
    }
}

TEST_CASE("f64_split: two splits, a batch of products, and a join, each part of the workspace its own") {
    for (const char* const name : {"h200", "lavapipe", "swiftshader", "bare", "a770", "m1", "adreno830"}) {
        DeviceCaps caps = device(name);
        caps.features &= ~FeatureSet{need::float64};
        for (const char* const line : {"f64*f64 300x200x1000", "f64*f64 33x70x20000 layout=tt layout_d=t"}) {
            CAPTURE(name);
            CAPTURE(line);
            const Plan plan = planned(caps, line);
            const std::vector<vkgemm::plan::Step>& s = plan.steps.steps;
            REQUIRE(s.size() == 4);
            CHECK(s[0].kernel->module.role == Role::splitter);
            CHECK(s[1].kernel->module.role == Role::splitter);
            CHECK(s[2].kernel == plan.choice.kernel);
            CHECK(s[3].kernel->module.role == Role::joiner);
            CHECK((s[2].waits && s[3].waits && !s[0].waits && !s[1].waits));
            CHECK(s[2].args.batch == MODULI);
            CHECK(s[2].args.k % MODULI_PAD_K == 0);
            CHECK(info(s[2].kernel->module.a).bytes == (caps.features & need::storage8 ? 1 : 4));
            CHECK(s[2].constants.PARTIAL == 1);
            const Problem& p = plan.problem.normalised.problem;
            const uint64_t exponents = s[1].offsets[BIND_C] + 4 * p.n, bytes = info(s[2].kernel->module.a).bytes;
            CHECK(s[0].offsets[BIND_D] >= exponents);
            CHECK(s[1].offsets[BIND_C] >= 4 * p.m);
            CHECK(s[1].offsets[BIND_C] % 256 == 0);  // so that no descriptors overlap
            CHECK(s[3].offsets[BIND_RESIDUAL] == s[1].offsets[BIND_C]);
            CHECK(s[0].bytes[BIND_D] == MODULI * p.m * s[2].args.k * bytes);
            CHECK(s[1].offsets[BIND_D] >= s[0].offsets[BIND_D] + s[0].bytes[BIND_D]);
            CHECK(s[2].offsets[BIND_D] >= s[1].offsets[BIND_D] + s[1].bytes[BIND_D]);
            CHECK(s[3].offsets[BIND_BIAS] == s[2].offsets[BIND_D]);
            const uint64_t stored_bytes = bytes == 1 ? 1 : 4;  // remainders, or sums
            const uint64_t sums = stored_bytes * MODULI * p.m * s[3].args.batch_a * plan.choice.schedule.split.slices;
            CHECK(s[2].constants.FORMAT_D == (stored_bytes == 1 ? VKGEMM_TYPE_U8 : 0));
            CHECK(s[3].constants.FORMAT_BIAS == s[2].constants.FORMAT_D);
            CHECK((stored_bytes == 4 || s[2].args.ldd % MODULI_PAD_N == 0));
            CHECK(s[3].args.batch_a == s[2].args.ldd);
            CHECK(plan.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes == s[2].offsets[BIND_D] + sums);
            CHECK(s[3].args.k_chunk == s[2].args.k_chunk);
        }
    }
}

TEST_CASE("f64_split: a plan needs no more workspace than it states, whatever kernel has how many slices of K") {
    const DeviceCaps caps = device("h200");
    size_t padded = 0;
    for (const Kernel& kernel : kernels()) {
        if (!kernel.module.is_product() || kernel.module.a != i8 || kernel.module.d != i32) continue;
        for (const char* line : {"f64*f64 4x33x6000", "f64*f64 70x1x9000", "f64*f64 64x65x20000 act=relu"})
            for (const char* tile : {"SPLIT=1", "SPLIT=2", "SPLIT=3"}) {
                CAPTURE(std::string(kernel.name) + " " + line + " " + tile);
                const Problem p = parse_problem(std::string(line) + " accuracy=f64_split")->problem;
                Request request;
                request.workspace_limit = uint64_t{1} << 40;
                request.kernel = kernel.name;
                request.tile = tile;
                const auto plan = make_plan(DeviceKernels(caps), p, request);
                if (!plan) continue;
                request.workspace_limit = plan->steps.slots[VKGEMM_SLOT_WORKSPACE].bytes;
                const auto again = make_plan(DeviceKernels(caps), p, request);
                REQUIRE_MESSAGE(again, again.status().text);
                CHECK(again->steps.steps.size() == plan->steps.steps.size());  // not in more parts
                CHECK(again->choice.schedule.split.slices == plan->choice.schedule.split.slices);
                padded += kernel.module.family.pads_sums && plan->choice.schedule.split.slices > 1;
            }
    }
    CHECK(padded > 0);
}

TEST_CASE("f64_split: kernels in machine code store remainders of sums, as shaders do") {
    const DeviceCaps caps = device("h200_native");
    Request request;
    request.workspace_limit = uint64_t{1} << 40;
    request.addresses = true;
    for (const auto native : {Request::Native::allowed, Request::Native::excluded}) {
        request.native = native;
        const auto plan = make_plan(DeviceKernels(caps),
                                    parse_problem("f64*f64 4096x4096x4096 accuracy=f64_split")->problem, request);
        REQUIRE(plan);
        CHECK(stores_remainders(plan->choice.schedule));
    }
}

TEST_CASE("f64_split: what comes packed is not split again, and has the same key for every product") {
    const Plan plan = planned(device("h200"), "f64*f64 300x200x1000 packed_b=any");
    REQUIRE(plan.steps.steps.size() == 3);
    CHECK(plan.steps.slots[VKGEMM_SLOT_B].packed);
    CHECK(plan.cost < planned(device("h200"), "f64*f64 300x200x1000").cost);
    const Steps& pack = plan.packs[VKGEMM_SLOT_B];
    REQUIRE(pack.steps.size() == 1);
    const PipelineKey pipeline = key_of(pack.steps[0], pack.binding);
    CHECK(!unfit(pipeline, device("h200")));
    CHECK(bool(parse_pipeline_key(to_text(pipeline))));
    CHECK(pack.slots[VKGEMM_SLOT_D].bytes == plan.steps.slots[VKGEMM_SLOT_B].bytes);
    const uint64_t key = plan.steps.packed_keys[VKGEMM_SLOT_B];
    for (const char* const name : {"h200_native", "lavapipe"})
        CHECK(planned(device(name), "f64*f64 7x200x1000 packed_b=any").steps.packed_keys[VKGEMM_SLOT_B] == key);
    CHECK(planned(device("h200"), "f64*f64 300x200x1001 packed_b=any").steps.packed_keys[VKGEMM_SLOT_B] != key);
    const Plan both = planned(device("h200"), "f64*f64 300x200x1000 packed_a=any packed_b=any");
    CHECK(both.steps.steps.size() == 2);
    CHECK(!both.steps.steps[0].waits);
    CHECK(both.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes == both.steps.steps[1].offsets[BIND_BIAS] + 15 * 300 * 208);
}

TEST_CASE("f64_split: the bound is below that of f64 arithmetic") {
    for (const char* const line :
         {"f64*f64 8x8x1", "f64*f64 8x8x2", "f64*f64 8x8x100", "f64*f64 8x8x131072", "f64*f64 8x8x10000000"}) {
        CAPTURE(line);
        const Problem exact = *complete(parse_problem(line)->problem);
        CHECK(planned(device("h200"), line).steps.error_bound < error_bound_of(exact, nullptr));
        CHECK(planned(device("h200"), line).steps.error_bound > 0x1p-53 * double(exact.k));
    }
}

TEST_CASE("f64_split: products of a batch repeat the steps, and blocks of what is too large do") {
    const Plan batch = planned(device("h200"), "f64*f64 64x64x64 batch=6 outer=2 layout=tn");
    REQUIRE(batch.steps.parts.size() == 1);
    CHECK(batch.steps.parts[0].count == 12);
    CHECK(batch.steps.parts[0].are_ordered);
    CHECK(batch.steps.steps.size() == 4);
    const Plan large = planned(device("h200"), "f64*f64 20000x20000x64");  // 6e9 sums
    CHECK(large.steps.parts[0].count * large.steps.parts.size() >= 3);
    const Plan empty = planned(device("h200"), "f64*f64 64x64x0 beta=2");
    CHECK(empty.steps.steps.size() == 1);
}

TEST_CASE("f64_split_wide: 18 products, with packed operands and a bound of their own") {
    const Plan plan = planned(device("h200"), "f64*f64 300x200x1000 packed_b=any");
    const auto wide_plan = plan_on(device("h200"), "f64*f64 300x200x1000 packed_b=any", uint64_t{1} << 40, "_wide");
    REQUIRE(wide_plan);
    const std::vector<vkgemm::plan::Step>& s = wide_plan->steps.steps;
    REQUIRE(s.size() == 3);
    CHECK(s[0].constants.PRODUCTS == MODULI_WIDE);
    CHECK(s[1].args.batch == MODULI_WIDE);
    CHECK(s[2].constants.PRODUCTS == MODULI_WIDE);
    CHECK(plan.steps.steps[2].constants.PRODUCTS == MODULI);
    CHECK(wide_plan->steps.packed_keys[VKGEMM_SLOT_B] != plan.steps.packed_keys[VKGEMM_SLOT_B]);
    CHECK(wide_plan->steps.error_bound < plan.steps.error_bound);
    CHECK(wide_plan->steps.error_bound > 0x1p-53 * 1000);
}

TEST_CASE("f64_split: D is computed in blocks where the workspace is small, and K in slices") {
    for (const char* const line : {"f64*f64 4096x4096x4096", "f64*f64 5000x300x2000 layout=tn beta=1"}) {
        CAPTURE(line);
        const uint64_t whole = planned(device("h200"), line).steps.slots[VKGEMM_SLOT_WORKSPACE].bytes;
        for (const uint64_t limit : {whole - 1, whole / 2, whole / 4}) {
            const auto plan = plan_on(device("h200"), line, limit);
            REQUIRE_MESSAGE(bool(plan), plan.status().text);
            CHECK(plan->steps.slots[VKGEMM_SLOT_WORKSPACE].bytes <= limit);
            CHECK(plan->steps.slots[VKGEMM_SLOT_WORKSPACE].bytes > limit / 4);
        }
    }
    const Plan sliced = planned(device("h200"), "f64*f64 64x64x300000");  // 3 slices of 100,096 at most
    uint64_t slices = 0;
    for (const Repeats& part : sliced.steps.parts) slices += part.count;
    CHECK(slices == 3);
    CHECK(sliced.steps.parts.back().adds);
    CHECK(sliced.steps.steps[2].args.k == 100096);
    const auto refused = plan_on(device("h200"), "f64*f64 64x64x300000 invariant");
    REQUIRE(!refused);
    CHECK(has_words(refused.status().text, "k is 300000"));
}

TEST_CASE("f64_split: an epilogue is a pass of its own, between which and the join the products wait") {
    const std::string line = "f64*f64 300x200x1000 bias=col act=relu clamp=-1:2 beta=1";
    const DeviceCaps caps = device("h200");
    const Plan plan = planned(caps, line), bare = planned(caps, "f64*f64 300x200x1000 beta=1");
    const std::vector<vkgemm::plan::Step>& s = plan.steps.steps;
    REQUIRE(s.size() == 5);
    CHECK(s[4].kernel->module.role == Role::finisher);
    CHECK(s[3].constants.PARTIAL == 1);
    CHECK(s[3].constants.USE_C == 0);
    CHECK(s[4].constants.USE_C == 1);
    CHECK(s[4].constants.STEP_2 == VKGEMM_STEP_CLAMP);
    CHECK(s[4].args.batch_d == 0x40000000);  // 2.0f
    CHECK(s[4].waits);
    CHECK(s[3].slots[BIND_D] == VKGEMM_SLOT_WORKSPACE);
    CHECK(s[3].offsets[BIND_D] == s[4].offsets[BIND_A]);
    CHECK(s[3].offsets[BIND_D] + 8 * 300 * 200 <= s[3].offsets[BIND_BIAS]);
    CHECK(s[2].offsets[BIND_B] + s[2].bytes[BIND_B] <= s[3].offsets[BIND_D]);
    CHECK(plan.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes ==
          bare.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes + (8 * 300 * 200 + 255) / 256 * 256);
    CHECK(plan.cost > bare.cost);
    CHECK(planned(caps, "f64*f64 30x20x0 act=silu").steps.steps.size() == 1);
    const Plan sliced = planned(caps, "f64*f64 64x64x300000 bias=row");  // the last slice of K finishes D
    size_t finishers = 0;
    for (const auto& step : sliced.steps.steps) finishers += step.kernel->module.role == Role::finisher;
    CHECK(finishers == 1);
    CHECK(sliced.steps.steps.back().kernel->module.role == Role::finisher);
}

TEST_CASE("f64_split: sizes that vary have a kernel for each range, and stay within the largest workspace") {
    for (const char* const name : {"h200", "lavapipe", "bare", "m1"}) {
        CAPTURE(name);
        const DeviceCaps caps = device(name);
        const Plan plan = planned(caps, "f64*f64 3000x200x5000 batch=3 upto=mnkb bias=col");
        CHECK(plan.buckets.size() > 10);
        CHECK(plan.buckets.size() <= 40);
        for (const Sizes& sizes : {Sizes{3000, 200, 5000, 3}, {1, 1, 1, 1}, {17, 200, 65, 2}, {2999, 31, 4999, 3}}) {
            CAPTURE(sizes.k);
            SizedSteps run;
            set_run(run, find_bucket(plan.buckets, sizes), with_sizes(plan.problem, sizes), caps, 16);
            REQUIRE(run.count == most_steps);
            CHECK(run.part.count == sizes.batch);
            CHECK(run.part.are_ordered);
            const auto& [split_a, split_b, product, join, finish] = run.steps;
            CHECK(split_a.args.m == sizes.m);
            CHECK(split_b.args.m == sizes.n);
            CHECK(split_a.bytes[BIND_D] == split_a.args.ldd * sizes.m * MODULI * info(product.kernel->module.a).bytes);
            CHECK(split_a.offsets[BIND_D] + split_a.bytes[BIND_D] <= split_b.offsets[BIND_D]);
            CHECK(product.offsets[BIND_B] == split_b.offsets[BIND_D]);
            CHECK(product.args.k == (sizes.k + 63) / 64 * 64);
            CHECK(product.args.batch == MODULI);
            CHECK(join.args.k == sizes.k);
            CHECK(join.offsets[BIND_BIAS] == product.offsets[BIND_D]);
            CHECK(finish.args.m == sizes.m);
            const uint64_t slices = (product.args.k + product.args.k_chunk - 1) / product.args.k_chunk;
            const uint64_t stored_bytes = product.constants.FORMAT_D == VKGEMM_TYPE_U8 ? 1 : 4;
            const uint64_t end = product.offsets[BIND_D] + stored_bytes * MODULI * slices * sizes.m * join.args.batch_a;
            CHECK(run.slots[VKGEMM_SLOT_WORKSPACE].bytes == end);
            CHECK(end <= plan.steps.slots[VKGEMM_SLOT_WORKSPACE].bytes);
        }
        SizedSteps empty;
        const Sizes no_k = {30, 20, 0, 3};
        set_run(empty, find_bucket(plan.buckets, no_k), with_sizes(plan.problem, no_k), caps, 16);
        CHECK(empty.count == 1);
    }
}

TEST_CASE("f64_split: a tuned row names the kernel that multiplies") {
    const DeviceCaps caps = device("h200");
    const std::string line = "f64*f64 1000x1024x1024 accuracy=f64_split", other = "coopmat_i8_64x64x64";
    REQUIRE(planned(caps, "f64*f64 1000x1024x1024").choice.kernel->name != other);
    const TunedRows rows(tuned_for(caps, *parse_tuned("H200 | " + line + " | " + other + " | SPLIT=1,PACK=1")));
    Request request;
    request.workspace_limit = uint64_t{1} << 40;
    request.tuned = &rows;
    const auto plan = make_plan(DeviceKernels(caps), parse_problem(line)->problem, request);
    REQUIRE(plan);
    CHECK(plan->choice.kernel->name == other);
    CHECK(plan->choice.tuned);
}

TEST_CASE("f64_split: a workspace that is too small is refused with the bytes that would do") {
    const uint64_t needed = planned(device("h200"), "f64*f64 64x64x64").steps.slots[VKGEMM_SLOT_WORKSPACE].bytes;
    const auto refused = plan_on(device("h200"), "f64*f64 64x64x64", 1000);
    REQUIRE(!refused);
    CHECK(refused.status().code == VKGEMM_ERROR_WORKSPACE);
    CHECK(has_words(refused.status().text, "workspaceLimit is 1000"));
    CHECK(plan_on(device("h200"), "f64*f64 64x64x64", needed));
}
