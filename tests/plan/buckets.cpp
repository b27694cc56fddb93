// SPDX-License-Identifier: MIT
// Sizes that vary: ranges cover them all, and what a run records is what a plan for its sizes would, with the kernel of
// its bucket.
#include "plan/steps/buckets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/random.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

constexpr uint64_t much = uint64_t{1} << 30;

Problem completed(const std::string& line) {
    const Result<ProblemText> read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line, ": ", read.status().text);
    const Result<Problem> full = complete(read->problem);
    REQUIRE_MESSAGE(bool(full), line, ": ", full.status().text);
    return *full;
}

/// The buckets of a plan; empty if some range has no kernel.
std::vector<Bucket> buckets_of(const Problem& p, const DeviceKernels& kernels, const Request& request) {
    const PreparedProblem whole = {.given = p, .completed = p, .normalised = normalise(p)};
    std::vector<Bucket> out;
    for (const SizeRange& range : size_ranges(p, request.operand_alignment)) {
        const PreparedProblem some = in_range(range, whole);
        Request with = request;
        with.least = &*some.least;
        Result<Choice> choice = select(kernels, some.normalised.problem, with);
        if (!choice) return {};
        out.push_back(make_bucket(range, *choice, whole, some, kernels.caps(), with));
    }
    return out;
}

void check_same(const Step& got, const Step& want) {
    CHECK(got.kernel == want.kernel);
    CHECK(std::memcmp(&got.args, &want.args, sizeof got.args) == 0);
    CHECK(got.groups_x == want.groups_x);
    CHECK(got.groups_y == want.groups_y);
    CHECK(got.offsets == want.offsets);
    CHECK(got.bytes == want.bytes);
    CHECK(got.slots == want.slots);
    CHECK(got.waits == want.waits);
}

std::string random_line(Random& random) {
    const auto size = [&] { return std::to_string(1 + random.below(random.one_in(3) ? 5000 : 200)); };
    constexpr std::array<const char*, 5> types = {"f32*f32", "f16*f16", "i8*i8", "bf16*bf16", "f16*f16->f32"};
    constexpr std::array<const char*, 6> rest = {"",           " layout=nt",  " layout=tn layout_d=t",
                                                 " layout=tt", " stride_b=0", " c=separate bias=row"};
    std::string upto;
    for (const char letter : std::string("mnkb"))
        if (random.one_in(2)) upto += letter;
    if (upto.empty()) upto = "m";
    return std::string(random.pick(types)) + " " + size() + "x" + size() + "x" + size() + random.pick(rest) +
           " batch=" + std::to_string(1 + random.below(5)) + " upto=" + upto;
}

uint64_t some(Random& random, bool varies, uint64_t most) {
    if (!varies) return most;
    const uint64_t size = 1 + random.below(random.one_in(2) ? most : std::min<uint64_t>(most, 40));
    const uint64_t whole = size >= 64 ? 64 : 16;
    return random.one_in(2) && size >= whole ? size / whole * whole : size;
}
Sizes some_sizes(Random& random, const Problem& p) {
    return {.m = some(random, p.upTo & VKGEMM_UP_TO_M, p.m),
            .n = some(random, p.upTo & VKGEMM_UP_TO_N, p.n),
            .k = some(random, p.upTo & VKGEMM_UP_TO_K, p.k),
            .batch = some(random, p.upTo & VKGEMM_UP_TO_BATCH, p.batch)};
}

}  // namespace

TEST_CASE("ranges are few and cover every size; a row or two have ranges of their own") {
    CHECK(size_ranges(completed("4096x64x64 upto=m"), 16).size() == 13);
    const auto ranges = size_ranges(completed("100x64x64 upto=m"), 16);
    CHECK(ranges.front().most.m == 1);
    CHECK(ranges.back().least.m == 65);
    CHECK(ranges.back().most.m == 100);
    const auto depths = size_ranges(completed("8x8x1000 upto=k ldb=8 layout=tn lda=8"), 16);
    CHECK(depths.front().most.k == 0);
    Random random(5);
    for (int i = 0; i < 300; ++i) {
        const std::string line = random_line(random);
        CAPTURE(line);
        const Problem p = completed(line);
        const auto all = size_ranges(p, 16);
        CHECK(all.size() <= 80);  // 40 and their multiples of 16 bytes
        CHECK(all.back().most == sizes_of(p));
        for (int j = 0; j < 50; ++j) {
            const Sizes s = some_sizes(random, p);
            CHECK(std::ranges::any_of(all, [&](const SizeRange& r) { return r.holds(s); }));
        }
    }
}

TEST_CASE("a run of any sizes has their arguments, keeps what its pipelines rely on, and needs no more workspace") {
    Random random(6);
    int runs = 0, split = 0, packed = 0, whole = 0;
    for (const std::string& file : device_files()) {
        const DeviceCaps caps = *parse_device_caps(file_text(file));
        const DeviceKernels kernels(caps);
        for (int i = 0; i < 60; ++i) {
            const std::string line = random_line(random);
            CAPTURE(file);
            CAPTURE(line);
            const Problem p = completed(line);
            const Normalised n = normalise(p);
            Request request;
            request.workspace_limit = random.one_in(3) ? 0 : much;
            const auto buckets = buckets_of(p, kernels, request);
            uint64_t most = 0;
            for (const Bucket& b : buckets) {
                most = std::max(most, b.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes);
                SizedSteps largest;
                set_run(largest, &b, {with_sizes(p, b.range.most), with_sizes(n, b.range.most)}, caps, 16);
                REQUIRE(largest.count == b.steps.steps.size());
                for (size_t s = 0; s < largest.count; ++s) check_same(largest.steps[s], b.steps.steps[s]);
                for (size_t s = 0; s < largest.slots.size(); ++s)
                    CHECK(largest.slots[s].bytes == b.steps.slots[s].bytes);
            }
            for (int j = 0; j < 20 && !buckets.empty(); ++j, ++runs) {
                const Sizes s = some_sizes(random, p);
                CAPTURE(to_text(with_sizes(p, s), 1, 0));
                const Bucket* const b = find_bucket(buckets, s);
                REQUIRE(b);
                SizedSteps got;
                set_run(got, b, {with_sizes(p, s), with_sizes(n, s)}, caps, 16);
                CHECK(got.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes <= most);
                const Schedule& schedule = b->choice.schedule;
                whole += got.is_whole;
                split += schedule.split.reducer != nullptr;
                packed += schedule.a.kernel || schedule.b.kernel;
                Problem own = with_sizes(n, s).problem;
                own.upTo = 0;
                const Step& product = got.steps[product_of(*b)];
                CHECK(product.args.m == own.m);
                CHECK(product.args.k == own.k);
                CHECK(uint64_t{product.args.k_chunk} * schedule.split.slices >= own.k);
                const auto all = schedule.operands();  // what the pipelines read and write 16 bytes at a time
                for (const Operand& x : {all[0], all[1], all[3]})
                    if (is_wide(x, 16) && !x.padded)
                        CHECK_MESSAGE(is_wide(operands(own)[size_t(x.slot)], 16), std::string(x.name()));
            }
        }
    }
    CHECK(runs > 2000);
    CHECK(split > 30);
    CHECK(packed > 30);
    CHECK(whole >= 15);
}

TEST_CASE(
    "a run with strides of its own keeps what its pipelines rely on, packs nothing, and needs no more workspace") {
    Random random(7);
    int runs = 0, wide = 0, split = 0, repeated = 0;
    for (const std::string& file : device_files()) {
        const DeviceCaps caps = *parse_device_caps(file_text(file));
        const DeviceKernels kernels(caps);
        for (const char* line : {"64x64x4096 upto=ns", "f16*f16 512x128x64 upto=mks layout=nt", "33x64x64 upto=s",
                                 "f16*f16->f32 32x512x128 batch=32 ratio_b=4 upto=mns layout=nt",
                                 "f16*f16 8x64x64 batch=4 ratio_a=2 outer=3 upto=ms layout_d=t",
                                 "f32*f16->f16 512x512x512 accuracy=narrow upto=ms layout=nt"}) {
            const Problem given = parse_problem(line)->problem, p = *complete(given);
            Request request;
            request.workspace_limit = much;
            request.packs = false;
            const auto buckets = buckets_of(p, kernels, request);
            uint64_t most = 0;
            for (const Bucket& b : buckets) {
                most = std::max(most, b.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes);
                CHECK((!b.choice.schedule.a.kernel && !b.choice.schedule.b.kernel));
            }
            for (int j = 0; j < 40 && !buckets.empty(); ++j) {
                const Sizes s = some_sizes(random, p);
                const uint64_t unit = random.one_in(2) ? 16 : 1;
                const auto some = [&] { return 4096 + unit * random.below(8); };
                VkgemmRunStrides strides{};
                strides.lda = some();
                strides.ldb = some();
                strides.ldd = some();
                const Result<Problem> now = of_run(given, s, strides);
                REQUIRE_MESSAGE(bool(now), now.status().text);
                const RunProblem run = {*now, normalise(*now)};
                const Bucket* const b = find_bucket(buckets, s, are_wide(run.normalised.problem));
                if (!b) continue;
                SizedSteps got;
                set_run(got, b, run, caps, 16);
                ++runs;
                wide += (b->range.multiples & VKGEMM_UP_TO_STRIDES) != 0;
                const bool is_split = b->choice.schedule.split.reducer != nullptr;
                split += is_split;
                repeated += got.part.count > 1;
                CHECK(got.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes <= most);
                CHECK(got.steps[product_of(*b) + is_split].args.ldd == strides.ldd);
                const auto planned = b->choice.schedule.operands(), own = operands(run.normalised.problem);
                for (const size_t i : {0u, 1u, 3u}) {
                    Operand tight = own[i];
                    tight.loose = tight.ragged = false;
                    if (is_wide(planned[i], 16))
                        CHECK_MESSAGE(is_wide(tight, 16), line, " ", std::string(tight.name()));
                }
            }
        }
    }
    for (const int some : {wide, split, repeated}) CHECK(some * 20 > runs);
    CHECK(runs > 300);
}

TEST_CASE("sizes that a plan does not serve are refused with the value and the limit") {
    const Problem p = completed("64x32x16 batch=3 upto=mb");
    CHECK(!unfit_sizes(p, {64, 32, 16, 3}));
    CHECK(!unfit_sizes(p, {0, 32, 16, 0}));
    const struct {
        Sizes sizes;
        VkgemmResult code;
        std::vector<std::string> words;
    } rows[] = {
        {{65, 32, 16, 3}, VKGEMM_ERROR_LIMIT, {"m is 65", "64"}},
        {{1, 32, 16, 4}, VKGEMM_ERROR_LIMIT, {"batch is 4", "3"}},
        {{1, 31, 16, 1}, VKGEMM_ERROR_INVALID_ARGUMENT, {"n is 31", "32", "upTo"}},
        {{1, 32, 0, 1}, VKGEMM_ERROR_INVALID_ARGUMENT, {"k is 0", "16", "upTo"}},
    };
    for (const auto& row : rows) {
        const auto why = unfit_sizes(p, row.sizes);
        REQUIRE(why);
        CHECK(why->code == row.code);
        for (const std::string& word : row.words) CHECK_MESSAGE(has_words(why->text, word), why->text);
    }
}

TEST_CASE("a range has a pipeline for whole tiles only if some of its sizes are whole tiles") {
    const DeviceCaps caps = device("h200");
    Request request;
    request.kernel = "simt_f32_64x64x16";
    const auto some = [&](const char* line) {
        return std::ranges::any_of(buckets_of(completed(line), caps, request), &Bucket::may_be_whole);
    };
    CHECK(some("128x128x64 upto=n"));
    CHECK(some("100x128x64 upto=m"));
    for (const char* line : {"100x128x64 upto=n", "128x100x64 upto=m", "128x128x60 upto=m", "63x128x64 upto=m"})
        CHECK_MESSAGE(!some(line), std::string(line));
}

TEST_CASE("the smallest sizes of a range are those of the caller's problem, also of a transposed one") {
    for (const std::string layout : {"", " layout_d=t"}) {
        const Problem p = completed("64x32x16 batch=9 upto=mb invariant" + layout);
        const PreparedProblem whole = {.given = p, .completed = p, .normalised = normalise(p)};
        for (const SizeRange& range : size_ranges(p, 16))
            CHECK(sizes_of(smallest(in_range(range, whole))) == range.least);
    }
}

TEST_CASE("a size of 0 is in no range but that of a K of 0") {
    const auto buckets = buckets_of(completed("64x64x64 batch=3 upto=mkb"), device("h200"), {});
    REQUIRE(!buckets.empty());
    CHECK(find_bucket(buckets, {1, 64, 0, 1}));
    CHECK(!find_bucket(buckets, {0, 64, 64, 1}));
    CHECK(!find_bucket(buckets, {64, 64, 64, 0}));
}

TEST_CASE("multiples of 16 bytes are so for the narrowest of A, B and D, also of a transposed problem") {
    const DeviceCaps caps = device("h200");
    for (const auto& range : size_ranges(completed("f32*q4_0->f16 64x512x512 layout=nt upto=n"), 16))
        CHECK((range.multiples == 0 || range.quantum == 8));
    int multiples = 0;
    for (const Bucket& b : buckets_of(completed("f16*f16 512x64x512 layout=tt layout_d=t upto=m"), caps, {})) {
        const uint32_t aligned = b.steps.steps[product_of(b)].constants.ALIGNED;
        CHECK(((aligned & WIDE_D) != 0) == (b.range.multiples != 0));
        multiples += b.range.multiples != 0;
    }
    CHECK(multiples > 0);
}

TEST_CASE("one row gets the kernel for one row, and rows of any length are not read 16 bytes at a time") {
    const DeviceCaps caps = device("h200");
    const Problem p = completed("f16*f16 512x4096x4096 layout=nt upto=m");
    Request request;
    request.workspace_limit = much;
    const auto buckets = buckets_of(p, caps, request);
    REQUIRE(!buckets.empty());
    CHECK(find_bucket(buckets, {1, 4096, 4096, 1})->choice.kernel->module.family.name == "gemv");
    CHECK(find_bucket(buckets, {500, 4096, 4096, 1})->choice.kernel->module.family.uses_matrix_units);
    const Problem q = completed("f16*f16 64x512x512 upto=n");  // the rows of B and D
    for (const Bucket& b : buckets_of(q, caps, {})) {
        const uint32_t aligned = b.steps.steps[product_of(b)].constants.ALIGNED;
        CHECK(((aligned & WIDE_B) != 0) == (b.range.multiples != 0));
        CHECK(((aligned & WIDE_D) != 0) == (b.range.multiples != 0));
        CHECK((aligned & WIDE_A) != 0);
    }
}
