// SPDX-License-Identifier: MIT
// Schedules: their workspace and packed operands, what a kernel reads in chunks, and limits of the device.
#include "plan/choice/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "plan/choice/reach.h"
#include "plan/choice/schedule_parts.h"
#include "plan/choice/select.h"
#include "plan/choice/unfit.h"
#include "plan/repeated.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Request forced(const std::string& kernel, const std::string& tile = "") {
    Request r;
    r.kernel = kernel;
    r.tile = tile;
    r.workspace_limit = uint64_t{1} << 30;
    return r;
}

Result<Choice> choose(const DeviceCaps& caps, const std::string& line, const Request& request) {
    return select(caps, normalise(completed_line(line)).problem, request);
}

Schedule schedule_of(const DeviceCaps& caps, const std::string& line, const Request& request) {
    const Result<Choice> choice = choose(caps, line, request);
    REQUIRE_MESSAGE(bool(choice), line, ": ", choice.status().text);
    return choice->schedule;
}

std::string refusal(const DeviceCaps& caps, const std::string& line, const Request& request) {
    const Result<Choice> choice = choose(caps, line, request);
    return choice ? "" : choice.status().text;
}

Steps steps_of(const DeviceCaps& caps, const std::string& line, const Request& request) {
    const Problem p = completed_line(line);
    const Normalised n = normalise(p);
    const Result<Choice> choice = select(caps, n.problem, request);
    REQUIRE_MESSAGE(bool(choice), line, ": ", choice.status().text);
    return make_steps(*choice, p, n, caps, request);
}

}  // namespace

TEST_CASE("schedule: the workspace ends with the slices of K, which begin behind what is packed") {
    for (const char* line : {"33x35x500 batch=3 layout=tt", "9x9x99"}) {
        CAPTURE(line);
        const Schedule s = schedule_of(device("h200"), line, forced("tiled_f32_8x8", "PACK=4,SPLIT=3"));
        CHECK((s.partial_offset >= s.b.offset + s.b.bytes && s.partial_offset % region_alignment == 0));
        const uint64_t row_bytes = s.sums_pitch() * s.sum_bytes;
        CHECK(s.workspace_bytes() == s.partial_offset + s.split.workspace_bytes(s.problem, row_bytes));
    }
}

TEST_CASE("schedule: slices of K take no more workspace than there is, nor than a descriptor reaches") {
    Request request;
    int most = 0;
    for (const uint64_t limit : {16384u, 65536u, 100000u, 1000000u, 10000000u}) {
        request.workspace_limit = limit;
        const Schedule s = schedule_of(device("h200"), "64x64x100000 layout=nt", request);
        CHECK(s.workspace_bytes() <= limit);
        most = std::max(most, static_cast<int>(s.split.slices));
    }
    CHECK(most > 4);
    DeviceCaps caps = device("h200");
    caps.max_storage_range = 4 * 64 * 64 * 4 + caps.offset_alignment;
    CHECK(refusal(caps, "64x64x64", forced("tiled_f32_8x8", "SPLIT=4")).empty());
    --caps.max_storage_range;
    CHECK(has_words(refusal(caps, "64x64x64", forced("tiled_f32_8x8", "SPLIT=4")), "4 slices of K", "65536 bytes"));
}

TEST_CASE("schedule: rows that are packed as scaled parts have a factor each behind them") {
    const Schedule s = schedule_of(device("h200"), "64x64x64 accuracy=f32_split_rows", forced("f16x2_f32_64x64x32"));
    static_assert(PACKED_ROW_BLOCK == 64);
    for (const Packing* x : {&s.a, &s.b}) CHECK(x->bytes == 64 * 64 * 2 * 2 + 64 * 4);  // two parts of two bytes
}

TEST_CASE("schedule: a kernel that writes 16 bytes at a time wants a D that can be written so") {
    const Kernel& k = *std::ranges::find_if(kernels(), [](const Kernel& x) { return x.module.family.wants_wide_d; });
    const DeviceCaps caps = device("h200");
    const Request request = forced(std::string(k.name));
    CHECK(refusal(caps, "f16*f16 64x64x64", request).empty());
    CHECK(has_words(refusal(caps, "f16*f16 64x64x64 ldd=65", request), "a D whose rows, leading dimension"));
}

TEST_CASE("schedule: what is packed is found in the same place by each repetition") {
    const Request packs = forced("tiled_f32_8x8", "PACK=2"), reads = forced("tiled_f32_8x8", "PACK=1");
    const std::string line = "9x8x8 batch=5 outer=4 stride_a=30000 outer_stride_a=5202 stride_b=0";
    const auto is_wide_a = [&](const Request& r) {
        return (steps_of(device("h200"), line, r).steps.back().constants.ALIGNED & WIDE_A) != 0;
    };
    CHECK(completed_line(line).outerStrideA == 5202);
    CHECK((is_wide_a(packs) && !is_wide_a(reads)));
}

TEST_CASE("schedule: blocks are read in chunks only where an invocation's elements end with K, and by some kernels") {
    const DeviceCaps caps = device("h200");
    const auto chunks = [&](const std::string& line, const char* kernel) {
        return steps_of(caps, line, forced(kernel, "SPLIT=1")).steps[0].constants.ALIGNED & CHUNKS_B;
    };
    std::string deep;
    for (const Kernel& k : kernels())
        if (k.module.family.name == "gemv_blocks" && k.module.family.variant.empty() && k.tile.DEPTH == 4 &&
            k.module.d == f32 && !unfit_device(k, k.tile, caps))
            deep = k.name;
    REQUIRE(!deep.empty());
    CAPTURE(deep);
    CHECK(chunks("f16*q4_1->f32 4x4096x4096 layout=nt", deep.c_str()) != 0);
    CHECK(chunks("f16*q4_1->f32 4x4096x4224 layout=nt", deep.c_str()) == 0);  // 16.5 times 256
    CHECK(chunks("f16*q4_0->f32 64x64x4096 layout=nt", "simt_mixed_f32_64x64x16") == 0);
    CHECK(chunks("f16*f32->f32 64x64x4096 layout=nt", "simt_mixed_f32_64x64x16") != 0);
    for (const auto& [line, kernel] : {std::pair{"f16*q4_0->f32 4x64x4096 layout=nt", deep.c_str()},
                                       {"f16*f32->f32 4x64x4096 layout=nt", "simt_mixed_f32_64x64x16"}}) {
        const Steps split = steps_of(caps, line, forced(kernel, "SPLIT=4"));  // slices of K are read so too
        REQUIRE(split.steps.size() == 2);
        CHECK((split.steps[0].constants.ALIGNED & CHUNKS_B) != 0);
        CHECK((split.steps[0].constants.ALIGNED & (WIDE_C | WIDE_D)) == 0);
    }
}

TEST_CASE("schedule: what a kernel promises to cost at least is no more than it costs") {
    const DeviceCaps caps = device("h200");
    const DeviceKernels all(caps);
    Request request;
    int tight = 0;
    for (const char* line : {"6144x5632x4096 layout=nt", "6144x5632x4096", "f16*f16 6144x5632x4096 layout=nt",
                             "f16*f16 12288x11264x8192 layout=nt", "f16*f16 6144x5632x4096 layout=tt", "66x64x64"}) {
        const Problem p = normalise(completed_line(line)).problem;
        for (const DeviceKernels::Product& x : all.products(p)) {
            if (!x.fits || unfit(*x.kernel, x.kernel->tile, caps, p, Binding::addresses)) continue;
            const TiledKernel tiled = {*x.kernel, x.kernel->tile, x.cost};
            const Result<Schedule> best = best_schedule(tiled, all, p, request);
            if (!best) continue;
            CAPTURE(line);
            CAPTURE(x.kernel->name);
            const double least = least_cost(tiled, all, p, request);
            CHECK(least <= best->cost);
            tight += least > 0.5 * best->cost;
        }
    }
    CHECK(tight > 20);
}

TEST_CASE("schedule: bf16 is not rounded to f16, which cannot hold it") {
    const Kernel& k = *find_kernel("coopmat_packed_f16_128x128x32");
    CHECK(k.module.has_types_of(completed_line("f16*q8_0->f16 64x64x64 layout=nt accuracy=narrow")));
    CHECK(!k.module.has_types_of(completed_line("bf16*q8_0->f16 64x64x64 layout=nt accuracy=narrow")));
    CHECK(!k.module.has_types_of(completed_line("f32*bf16->f16 64x64x64 layout=nt accuracy=narrow")));
}

TEST_CASE("schedule: a residual that is larger than D must be within a descriptor's reach") {
    DeviceCaps caps = device("h200");
    caps.max_storage_range = 16 * 16 * 4 + caps.offset_alignment - 1;
    const auto is_beyond = [&](const char* line) {
        const Problem p = completed_line(line);
        return beyond_reach(p, operands(p)[3], caps, Binding::descriptors);
    };
    CHECK(!is_beyond("f16*f16 16x16x4 residual"));
    CHECK(is_beyond("f16*f16 16x16x4 residual residual_type=f32"));
}

TEST_CASE("schedule: work groups are counted for the whole batch, and the smallest sizes must be served too") {
    DeviceCaps caps = device("bare");
    caps.max_groups_x = 10;
    caps.max_groups_y = 3;
    const Request request = forced("tiled_f32_8x8");
    CHECK(refusal(caps, "8x8x1 batch=30", request).empty());
    CHECK(has_words(refusal(caps, "8x8x1 batch=31", request), "31 work groups", "30"));
    const Problem wide = completed_line("16x512x512"), tall = completed_line("17x512x512");
    Request gemv = forced("gemv_f32_16x1");
    const Kernel& k = *find_kernel(gemv.kernel);
    const DeviceCaps h200 = device("h200");
    CHECK(KernelRule(h200, wide, gemv, Binding::addresses).serves(k, k.tile));
    gemv.least = &tall;
    CHECK(!KernelRule(h200, wide, gemv, Binding::addresses).serves(k, k.tile));
}

TEST_CASE("schedule: the largest |D| needs atomics of the device's scope where the memory model is on") {
    DeviceCaps caps = device("h200");
    caps.features |= need::memory_model | need::memory_model_device;
    const Problem p = completed_line("8x8x8 scalars=largest");
    CHECK(bool(choose_binding(caps, p, {})));
    caps.features &= ~need::memory_model_device;
    const Result<Binding> refused = choose_binding(caps, p, {});
    REQUIRE(!refused);
    CHECK(has_words(refused.status().text, "vulkanMemoryModelDeviceScope"));
    CHECK(bool(choose_binding(caps, completed_line("8x8x8 scalars=monitor"), {})));
}

TEST_CASE("matrix units must have the shape of the tile for these very types") {
    const Kernel& k = *find_kernel("coopmat_f16_f32_128x128x32");
    DeviceCaps d = device("h200");
    CHECK(!unfit_device(k, k.tile, d));
    for (MatrixShape& s : d.matrix_shapes) s.k *= 2;
    const auto why = unfit_device(k, k.tile, d);
    REQUIRE(why);
    CHECK(has_words(why->text, "have no product of 16x16x16", "they have 16x16x32 16x8x32"));
}

TEST_CASE("slices of K cost the memory of their sums, in the accumulator's type") {
    const DeviceCaps d = device("h200");
    const Kernel& k = *find_kernel("simt_f32_128x128x8");
    const Problem p = normalise(completed_line("4096x4096x32")).problem;
    const KernelCost of_kernel(k, k.tile, d);
    const ProductCost cost(of_kernel, p, false);
    const OperandEffects effects = cost.effects_of(operands(p), 16);
    const auto traffic = [&](uint32_t slices) {  // of which work hides some
        const CostParts parts = cost.parts({slices, 32, nullptr}, effects);
        const double work = parts.steps + parts.results;
        return std::pow(std::pow(work + parts.memory, 4) - std::pow(work, 4), 0.25);
    };
    CHECK(traffic(4) > traffic(1));
    CHECK((traffic(8) - traffic(4)) / (traffic(4) - traffic(1)) == doctest::Approx(16.0 / 12));  // bytes of an element
}
