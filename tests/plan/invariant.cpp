// SPDX-License-Identifier: MIT
// The kernel of a batch-invariant problem does not depend on m and the batch, on any device.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "plan/choice/unfit.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/buckets.h"
#include "support/recorded_device.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

/// All that the order of a sum depends on.
std::string order_of(const DeviceKernels& device, const std::string& line, uint64_t m, uint64_t batch) {
    Problem given = parse_problem(line)->problem;
    given.m = m;
    given.batch = batch;
    const auto p = prepare(given);
    REQUIRE_MESSAGE(bool(p), p.status().text);
    Request request;
    request.workspace_limit = 1 << 30;
    const auto binding = choose_binding(device.caps(), p->completed, request);
    REQUIRE_MESSAGE(bool(binding), binding.status().text);
    const Result<Choice> choice = select_for(device, *p, request, *binding);
    if (!choice) return choice.status().text;
    const Steps steps = make_steps(*choice, p->completed, p->normalised, device.caps(), request);
    if (p->completed.batchInvariant)
        for (const vkgemm::plan::Step& s : steps.steps) CHECK(s.constants.WHOLE == 0);
    return std::string(choice->kernel->name) + " " + to_text(choice->tile) + " slices " +
           std::to_string(choice->schedule.split.slices);
}

}  // namespace

TEST_CASE("invariant: one kernel and tile for every m and batch, and K whole") {
    int others = 0;
    for (const char* name : {"h200", "lavapipe", "swiftshader", "huge", "bare"}) {
        const DeviceCaps caps = device(name);
        const DeviceKernels device(caps);
        for (const std::string line :
             {"1x4096x4096 layout=nt", "1x512x8192", "1x8x4096 layout=nt", "1x1x4096", "1x100x30000 layout=tn",
              "1x768x512 layout_d=t", "1x768x512 layout=tt layout_d=t stride_b=0", "f16*f16 1x4096x4096 layout=nt",
              "f16*f16 1x4096x4096 layout=tt stride_b=0", "f16*f16 1x37x129", "f32*f16 1x4096x4096 layout=nt",
              "f16*q4_0 1x4096x4096 layout=nt", "accuracy=f32_split 1x4096x4096 layout=nt", "i8*i8 1x512x512"}) {
            const std::string types = line.substr(0, line.find(' '));
            const std::string given =
                types.starts_with("accuracy") ? line.substr(types.size() + 1) + " " + types : line;
            CAPTURE(given);
            CAPTURE(std::string(name));
            const std::string one = order_of(device, given + " invariant", 256, 1);
            for (const uint64_t m : {1u, 2u, 7u, 16u, 33u, 256u, 5000u})
                for (const uint64_t batch : {1u, 3u}) {
                    CHECK(order_of(device, given + " invariant", m, batch) == one);
                    others += order_of(device, given, m, batch) != one;
                }
        }
    }
    CHECK(others > 100);  // without it they do
}

TEST_CASE("invariant: the ranges of n and k that have kernels of their own do not depend on m and the batch") {
    using Range = std::array<uint64_t, 4>;
    const auto ranges_of = [](const std::string& line) {
        std::set<Range> out;
        const auto p = parse_problem(line);
        REQUIRE_MESSAGE(bool(p), line, ": ", p.status().text);
        for (const SizeRange& r : size_ranges(*complete(p->problem), 16))
            out.insert({r.least.n, r.most.n, r.least.k, r.most.k});
        return out;
    };
    const auto differing = [&](const std::string& invariant) {
        const auto one = ranges_of("1x4000x3000 upto=nk" + invariant);
        CHECK(one.size() > 4);
        int differ = 0;
        for (const char* line :
             {"500x4000x3000 upto=mnk", "500x4000x3000 batch=9 upto=mnkb", "70x4000x3000 batch=64 upto=nkb"})
            differ += ranges_of(line + invariant) != one;
        return differ;
    };
    CHECK(differing(" invariant") == 0);
    CHECK(differing("") > 0);
}

TEST_CASE("invariant: kernels that the strides of some batches rule out serve none") {
    const DeviceCaps caps = device("h200");
    int wide = 0;
    for (const Kernel& k : kernels()) {
        if (!k.module.is_product() || !(k.module.family.wants_wide || k.module.family.wants_pitches)) continue;
        CAPTURE(k.name);
        Problem p = sample_of(k, {});
        p.batchInvariant = true;
        const auto full = prepare(p);
        if (!full || unfit_device(k, k.tile, caps)) continue;
        const auto why = unfit(k, k.tile, caps, full->normalised.problem, Binding::addresses);
        REQUIRE(why);
        CHECK(why->text.find("not for batchInvariant") != std::string::npos);
        ++wide;
    }
    CHECK(wide > 3);
}

TEST_CASE("invariant: a kernel that refuses one row is not chosen for more") {
    const DeviceCaps caps = device("h200");
    Request request;
    request.kernel = "coopmat_f16_128x128x32";
    const auto choice = [&](const char* line) {
        return select_for(caps, *prepare(parse_problem(line)->problem), request, Binding::addresses);
    };
    CHECK(bool(choice("f16*f16 256x512x4")));
    CHECK(bool(choice("f16*f16 256x512x8 invariant")));
    CHECK(!choice("f16*f16 256x512x4 invariant"));  // whose first row is shorter than 16 bytes
}

TEST_CASE("invariant: a plan takes the keys of its own packed operands, and refuses others") {
    for (const char* name : {"h200", "lavapipe", "swiftshader"}) {
        const DeviceCaps caps = device(name);
        const DeviceKernels device(caps);
        Request request;
        request.workspace_limit = 1 << 30;
        const auto planned = [&](const Problem& given) {
            const auto p = prepare(given);
            REQUIRE_MESSAGE(bool(p), p.status().text);
            const auto binding = choose_binding(caps, p->completed, request);
            REQUIRE_MESSAGE(bool(binding), binding.status().text);
            const Result<Choice> choice = select_for(device, *p, request, *binding);
            if (!choice) return Result<Steps>(choice.status());
            return Result<Steps>(make_steps(*choice, p->completed, p->normalised, caps, request));
        };
        for (const char* line :
             {"f32*f32 5x26x112 invariant packed_a=any", "f32*f32 11x26x94 batch=6 invariant packed_b=any",
              "f32*f32 7x40x96 layout_d=t invariant packed_a=any packed_b=any",
              "f16*f16 300x512x256 batch=2 layout=nt invariant packed_a=any packed_b=any"}) {
            CAPTURE(std::string(name));
            CAPTURE(std::string(line));
            Problem given = parse_problem(line)->problem;
            const auto any = planned(given);
            if (!any) continue;  // the device has no f16
            for (const auto& [key, slot] : {std::pair{&given.packedA, VKGEMM_SLOT_A}, {&given.packedB, VKGEMM_SLOT_B}})
                if (*key != VKGEMM_PACKED_NONE) *key = any->packed_keys[slot];
            const auto own = planned(given);
            REQUIRE_MESSAGE(bool(own), own.status().text);
            CHECK(own->packed_keys == any->packed_keys);
            CHECK(own->steps[0].kernel == any->steps[0].kernel);
            (given.packedA != VKGEMM_PACKED_NONE ? given.packedA : given.packedB) ^= 2;
            CHECK(planned(given).status().code == VKGEMM_ERROR_UNSUPPORTED);
        }
    }
}

TEST_CASE("invariant: a named kernel needs the workspace of its plan, and no more") {
    const DeviceCaps caps = device("h200");
    const DeviceKernels device(caps);
    const auto p = prepare(parse_problem("21x13x20 accuracy=f32_split invariant layout=tn")->problem);
    REQUIRE_MESSAGE(bool(p), p.status().text);
    Request request;
    request.kernel = "bf16x3_f32_64x32x32";
    const auto choose = [&](uint64_t limit) {
        request.workspace_limit = limit;
        const auto binding = choose_binding(device.caps(), p->completed, request);
        REQUIRE_MESSAGE(bool(binding), binding.status().text);
        return select_for(device, *p, request, *binding);
    };
    const Result<Choice> any = choose(1 << 30);
    REQUIRE_MESSAGE(bool(any), any.status().text);
    const Steps steps = make_steps(*any, p->completed, p->normalised, device.caps(), request);
    const uint64_t needed = steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes;
    CHECK(needed > 0);
    const Result<Choice> same = choose(needed), none = choose(needed - 1);
    CHECK_MESSAGE(bool(same), same.status().text);
    CHECK_FALSE(bool(none));
}
