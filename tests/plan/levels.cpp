// SPDX-License-Identifier: MIT
// Batches of two levels with ratios: which level the kernel, m and n take, what is left to dispatches, and that every
// product keeps its operands.
#include "plan/problem/levels.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "plan/problem/problem_text.h"
#include "plan/repeated.h"
#include "plan/steps/buckets.h"
#include "support/recorded_device.h"
#include "support/same.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

std::string why_not(const std::string& line) {
    const auto read = parse_problem(line);
    if (!read) return read.status().text;
    const auto full = complete(read->problem);
    if (!full) return full.status().text;
    const auto why = unfit_levels(*full, normalise(*full));
    return why ? why->text : "";
}

void draw_matrix(Random& random, Matrix& x, uint64_t& outer_stride, uint64_t batch, uint64_t outer, bool is_d) {
    const uint64_t most = 6, side = 1 + random.below(3);  // no line is longer than `most`
    if (random.one_in(2)) x.layout = columnMajor;
    if (!is_d && random.one_in(3)) {
        if (random.one_in(2)) x.batchStride = broadcast;
        if (random.one_in(2)) outer_stride = broadcast;
        return;
    }
    switch (random.below(6)) {
        case 1:  // the outer level within the inner one
            outer_stride = most * most;
            x.batchStride = outer_stride * outer;
            return;
        case 2:  // side by side, then on
            x.batchStride = most;
            x.ld = most * batch * side;
            return;
        case 3:  // all side by side, the outer level next to each other
            outer_stride = most;
            x.batchStride = most * outer;
            x.ld = most * outer * batch;
            return;
        default:  // dense
            return;
    }
}

Problem draw(Random& random) {
    constexpr std::array<uint64_t, 4> counts = {1, 2, 4, 6};
    Problem p;
    p.m = 1 + random.below(3);
    p.n = 1 + random.below(3);
    p.k = random.below(4);
    p.batch = random.pick(counts);
    p.outerBatch = random.pick(counts);
    (random.one_in(2) ? p.ratioA : p.ratioB) = p.batch % 2 == 0 && random.one_in(2) ? 2 : 1;
    (random.one_in(2) ? p.outerRatioA : p.outerRatioB) = p.outerBatch % 2 == 0 && random.one_in(2) ? 2 : 1;
    p.cSource = static_cast<VkgemmC>(random.below(3));
    draw_matrix(random, p.a, p.outerStrideA, p.batch, p.outerBatch, false);
    draw_matrix(random, p.b, p.outerStrideB, p.batch, p.outerBatch, false);
    draw_matrix(random, p.d, p.outerStrideD, p.batch, p.outerBatch, true);
    if (p.cSource == VKGEMM_C_SEPARATE) draw_matrix(random, p.c, p.outerStrideC, p.batch, p.outerBatch, false);
    if (random.one_in(3)) p.epilogue.add({random.one_in(2) ? VKGEMM_STEP_BIAS_ROW : VKGEMM_STEP_BIAS_COL});
    constexpr std::array<VkgemmStepKind, 4> of_scale = {VKGEMM_STEP_SCALE_ROW, VKGEMM_STEP_SCALE_COL,
                                                        VKGEMM_STEP_CLAMP_ROW, VKGEMM_STEP_CLAMP_COL};
    if (random.one_in(3)) p.epilogue.add({random.pick(of_scale)});
    if (random.one_in(3)) p.epilogue.add({random.one_in(2) ? VKGEMM_STEP_RESIDUAL : VKGEMM_STEP_DRELU});
    return p;
}

}  // namespace

TEST_CASE("levels: every product keeps its operands, however levels are merged and repeated") {
    int repetitions = 0, taller = 0, wider = 0, one = 0;
    for (uint64_t seed = 1; seed <= 4000; ++seed) {
        Random random(seed);
        const Problem given = draw(random);
        const Result<Problem> full = complete(given);
        CAPTURE(to_text(given, 2, 3));
        REQUIRE_MESSAGE(bool(full), full.status().text);
        const Normalised n = normalise(*full);
        const vkgemm::test::Operands in = operands_for(*full, seed);
        std::vector<double> expected = in.d;
        multiply(*full, in, expected, 0, full->batch * full->outerBatch);
        REQUIRE(same_numbers(expected, repeated({n}, in)));
        const uint64_t m = n.swapped ? full->n : full->m;
        repetitions += n.repeated.count > 0;
        taller += n.problem.m > m;
        wider += n.problem.n > (n.swapped ? full->m : full->n);
        one += n.repeated.count == 0 && n.problem.batch == 1 && full->batch * full->outerBatch > 1;
    }
    for (const int some : {repetitions, taller, wider, one}) CHECK(some > 50);
}

TEST_CASE("levels: every product of a batch that varies keeps its operands, and none beyond the run's is computed") {
    int repetitions = 0, taller = 0, shared = 0, none = 0;
    for (uint64_t seed = 1; seed <= 4000; ++seed) {
        Random random(seed);
        Problem given = draw(random);
        given.upTo = VKGEMM_UP_TO_BATCH;
        const Result<PreparedProblem> whole = prepare(given);
        CAPTURE(to_text(given, 2, 3));
        REQUIRE_MESSAGE(bool(whole), whole.status().text);
        const Problem& full = whole->completed;
        const uint64_t ratio = std::max(full.ratioA, full.ratioB), most = full.batch / ratio;
        Sizes sizes = sizes_of(full);
        sizes.batch = ratio * random.below(most + 1);
        CAPTURE(sizes.batch);
        REQUIRE(!unfit_sizes(full, sizes));
        const RunProblem run = with_sizes(*whole, sizes);
        const vkgemm::test::Operands in = operands_for(full, seed);
        std::vector<double> expected = in.d;
        multiply(run.completed, in, expected, 0, sizes.batch * full.outerBatch);
        REQUIRE(same_numbers(expected, repeated({run.normalised}, in)));
        CHECK(run.normalised.problem.batch == sizes.batch / ratio);
        repetitions += run.normalised.repeated.count > 0;
        taller += run.normalised.problem.m > (run.normalised.swapped ? full.n : full.m);
        shared += ratio > 1;
        none += sizes.batch == 0;
    }
    for (const int some : {repetitions, taller, shared, none}) CHECK(some > 50);
}

TEST_CASE("levels: ranges of a batch that varies have whole numbers of products that share a matrix") {
    for (const std::string line : {"4x5x6 batch=36 ratio_b=3 upto=b", "4x5x6 batch=64 ratio_a=4 upto=mb",
                                   "4x5x6 batch=5 upto=b", "4x5x6 batch=4 ratio_b=4 upto=b"}) {
        CAPTURE(line);
        const auto whole = prepare(parse_problem(line)->problem);
        REQUIRE(whole);
        const Problem& p = whole->completed;
        const uint64_t ratio = std::max(p.ratioA, p.ratioB);
        const std::vector<SizeRange> ranges = size_ranges(p, 16);
        for (const SizeRange& range : ranges) {
            const PreparedProblem part = in_range(range, *whole);
            CHECK(range.most.batch % ratio == 0);
            CHECK(part.normalised.problem.batch == range.most.batch / ratio);
            CHECK(part.least->batch <= part.normalised.problem.batch);
            CHECK((part.least->batch >= 1 && (part.least->batch - 1) * ratio < range.least.batch));
        }
        for (uint64_t batch = 1; batch <= p.batch; ++batch) {
            Sizes sizes = sizes_of(p);
            sizes.batch = batch;
            const auto why = unfit_sizes(p, sizes);
            CHECK(why.has_value() == (batch % ratio != 0));
            if (why)
                CHECK(has_words(why->text, "batch is " + std::to_string(batch),
                                std::to_string(ratio) + " products share a matrix", "multiple"));
            if (why) continue;
            const auto fits = [&](const SizeRange& r) { return r.holds(sizes); };
            CHECK(std::ranges::any_of(ranges, fits));
        }
    }
}

TEST_CASE("levels: those that are repeated have the greatest step that all of their strides are multiples of") {
    Levels all;
    all.add({2, {18, 0, 7, 4}});
    all.add({5, {100, 200, 300, 400}});  // the kernel's
    all.add({3, {27, 8, 7, 6}});
    Problem p;
    p.cSource = VKGEMM_C_SEPARATE;
    give_kernel_level(p, all);
    CHECK((p.batch == 5 && p.outerBatch == 6));
    CHECK((p.outerStrideA == 9 && p.outerStrideB == 8 && p.outerStrideC == 7 && p.outerStrideD == 2));
}

TEST_CASE("levels: which of them m, n and the kernel take") {
    const struct {
        std::string line;
        uint64_t m, n, batch, repetitions;
    } rows[] = {
        {"64x48x32 batch=32 ratio_b=4", 256, 48, 8, 1},           // grouped-query attention, dense
        {"64x48x32 batch=32 ratio_b=4 bias=col", 256, 48, 8, 1},  // every product has the same n elements
        {"64x48x32 batch=32 ratio_b=4 bias=row", 64, 48, 8, 4},   // and the same m ones, which a taller one lacks
        {"64x48x32 batch=32 ratio_b=4 upto=m", 64, 48, 8, 4},     // rows are not always equally far apart
        {"64x48x32 batch=32 ratio_b=4 upto=n", 256, 48, 8, 1},
        {"64x48x32 batch=32 ratio_b=4 layout=tn", 64, 48, 8, 4},
        {"64x48x32 batch=32 ratio_b=4 layout=tn lda=128 stride_a=64", 64, 48, 8, 4},  // columns overlap
        {"64x48x32 batch=32 ratio_b=4 residual", 256, 48, 8, 1},
        {"64x48x32 batch=32 ratio_b=4 c=separate", 256, 48, 8, 1},
        {"64x48x32 batch=32 ratio_b=4 c=separate stride_c=5000", 64, 48, 8, 4},
        {"1x48x32 batch=32 ratio_b=4 stride_a=40 stride_d=100", 4, 48, 8, 1},  // one row is as long as it likes
        {"1x48x32 batch=32 ratio_b=4 stride_a=8 stride_d=100", 1, 48, 8, 4},   // but these overlap
        {"1073741823x2x3 batch=2 stride_b=0", 2147483646, 2, 1, 1},
        {"1073741824x2x3 batch=2 stride_b=0", 1073741824, 2, 2, 1},  // a product has less than 2^31 rows
        {"64x48x32 batch=32 ratio_a=4", 64, 48, 8, 4},
        {"64x48x32 batch=32 ratio_a=4 ldb=1536 stride_b=48 ldd=1536 stride_d=48", 64, 192, 8, 1},
        {"64x48x32 batch=32 ratio_a=4 layout=nt ldd=1536 stride_d=48", 64, 192, 8, 1},
        {"64x48x32 batch=32 ratio_a=4 ldb=1536 stride_b=48 ldd=1536 stride_d=48 bias=col", 64, 48, 8, 4},
        {"64x48x32 batch=32 ratio_b=4 layout_d=t", 48, 64, 8, 4},  // transposed
        {"64x48x32 batch=32 ratio_a=4 layout=nt layout_d=t", 192, 64, 8, 1},
        {"64x48x32 batch=6 outer=5", 64, 48, 30, 1},
        {"64x48x32 batch=6 outer=5 stride_b=0 outer_stride_b=0", 1920, 48, 1, 1},
        {"64x48x32 batch=6 outer=5 stride_b=0", 384, 48, 5, 1},
        {"64x48x32 batch=6 outer=5 outer_stride_b=0", 64, 48, 6, 5},
        {"64x48x32 batch=3 outer=5 outer_stride_b=0", 64, 48, 5, 3},
        {"64x48x32 batch=6 outer=5 outer_stride_a=20000", 64, 48, 6, 5},
        {"64x48x32 batch=6 outer=8 ratio_b=2 outer_ratio_b=2 outer_stride_a=20000 stride_d=4000", 64, 48, 4, 12},
        {"64x48x32 batch=6 upto=b", 64, 48, 6, 1},
        {"64x48x32 batch=32 ratio_b=4 upto=b", 256, 48, 8, 1},  // heads of all sequences, as in a decoder
        {"1x48x32 batch=32 ratio_b=4 upto=b", 4, 48, 8, 1},
        {"64x48x32 batch=32 ratio_b=4 upto=mb", 64, 48, 8, 4},
        {"64x48x32 batch=4 ratio_b=4 upto=b", 256, 48, 1, 1},  // the batch of runs is 0 or 4
        {"64x48x32 batch=6 outer=5 upto=b", 64, 48, 6, 5},     // which no merging makes 30
        {"64x48x32 batch=6 outer=8 outer_ratio_b=4 upto=b", 64, 48, 6, 8},
        {"64x48x32 outer=5 upto=b", 64, 48, 1, 5},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        const Problem p = completed_line(row.line);
        const Normalised n = normalise(p);
        CHECK(n.problem.m == row.m);
        CHECK(n.problem.n == row.n);
        CHECK(n.problem.batch == row.batch);
        CHECK(n.problem.outerBatch == row.repetitions);
        CHECK(!unfit_levels(p, n));
    }
}

TEST_CASE("levels: a level that is shared, or has one product, is none") {
    const Problem p = completed_line("4x5x6 batch=4 outer=1 ratio_a=4 ratio_b=2");
    CHECK((p.ratioA == 1 && p.a.batchStride == 0 && p.ratioB == 2 && p.b.batchStride == 30));
    const Levels all = levels_of(p);
    REQUIRE(all.count == 2);
    CHECK(all.level[0] == Level{2, {0, 0, 20, 20}});
    CHECK(all.level[1] == Level{2, {0, 30, 40, 40}});
    CHECK(levels_of(completed_line("4x5x6")).count == 0);
    const Problem varying = completed_line("4x5x6 batch=4 ratio_b=4 upto=b");  // its level has one matrix, or none
    CHECK((varying.ratioB == 4 && varying.b.batchStride == 0));
    CHECK(same(*complete(restated(varying)), varying));
}

TEST_CASE("levels: what is refused, with values and limits") {
    const struct {
        std::string line;
        std::vector<std::string> words;
    } rows[] = {
        {"4x5x6 batch=32 ratio_a=3", {"ratio_a is 3", "batch is 32", "divide"}},
        {"4x5x6 outer=4 outer_ratio_b=3", {"outer_ratio_b is 3", "outer is 4", "divide"}},
        {"4x5x6 batch=12 ratio_a=2 ratio_b=3", {"ratio_a is 2", "ratio_b is 3", "must be 1"}},
        {"4x5x6 outer=4 outer_stride_d=0", {"D cannot be broadcast", "4 batches"}},
        {"4x5x6 batch=3 outer=4 outer_stride_d=40", {"20 (batch)", "40 (outer)", "60 elements", "overwrite"}},
        // by one element
        {"4x5x6 batch=3 outer=4 outer_stride_d=59", {"59 (outer)", "59 is less than the 60 elements"}},
        {"4x5x6 batch=3 outer=4 stride_d=79 outer_stride_d=20", {"79 (batch)", "79 is less than the 80 elements"}},
        {"4x5x6 batch=3 outer=4 ldd=59 stride_d=5 outer_stride_d=15", {"59 (ld)", "59 is less than the 60 elements"}},
        {"4x5x6 batch=3 outer=4 ldd=19 stride_d=5 outer_stride_d=15", {"19 (ld)", "less than the 60", "overwrite"}},
        {"4x5x6 batch=4 ratio_a=2 ratio_b=4 upto=b", {"ratio_a is 2", "ratio_b is 4", "must be 1"}},
        {"4x5x6 batch=6 ratio_a=4 upto=b", {"ratio_a is 4", "batch is 6", "divide"}},
        {"4x5x6 batch=2 outer=5000 ratio_a=2 upto=b", {"10000 repetitions", "batch=1", "4096"}},
        {"4x5x6 batch=4 outer=2 groups=table", {"groups", "outerBatch (2)", "0"}},
        {"4x5x6 outer=5000 batch=6000 outer_stride_b=0", {"5000 repetitions", "6000", "4096"}},
        {"f16*f16 4x5x6 batch=3 outer=4 outer_stride_a=0 packed_b=any outer_stride_b=100",
         {"B comes packed", "3", "4"}},
        {"f16*f16 4x5x6 layout_d=t batch=3 outer=4 stride_b=0 packed_a=any outer_stride_a=100",
         {"A comes packed", "3", "4"}},
        {"f16*q8_0 8x8x64 layout=nt outer=2 outer_stride_b=530", {"outer stride is 530", "544"}},
        {"4x5x6 c=d outer=2 outer_stride_c=100", {"C is D"}},
        {"4x5x6 outer=2 outer_stride_c=100", {"C is described"}},
        {"4x5x6 outer=4 outer_stride_b=9223372036854775807", {"b spans more than 2^64"}},
        {"4x5x6 outer=0", {"character 13"}},
        {"4x5x6 ratio_a=0", {"character 15"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        const std::string why = why_not(row.line);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(why.find(word) != std::string::npos, "'", word, "' is not in: ", why);
    }
    CHECK(why_not("4x5x6 batch=3 outer=4 ldd=60 stride_d=5 outer_stride_d=15") == "");
    CHECK(why_not("4x5x6 batch=3 outer=4 stride_d=80 outer_stride_d=20") == "");
    CHECK(why_not("4x5x6 batch=3 outer=4 outer_stride_d=60") == "");
    CHECK(why_not("f16*f16 4x5x6 batch=3 outer=4 packed_b=any outer_stride_a=1000 outer_stride_b=0") == "");
    CHECK(why_not("4x5x6 outer=4096 batch=6000 outer_stride_b=0") == "");
    CHECK(why_not("4x5x6 batch=2 outer=4 outer_stride_a=1000000000") == "");  // steps have 64 bits
}

TEST_CASE("levels: steps move by whole chunks of 16 bytes, or nothing is read in chunks") {
    const DeviceCaps caps = device("h200");
    const auto steps = [&](const std::string& line, const Request& request = {}) {
        const Problem p = completed_line(line);
        const Normalised n = normalise(p);
        const Result<Choice> choice = select(caps, n.problem, request);
        REQUIRE_MESSAGE(bool(choice), line);
        return make_steps(*choice, p, n, caps, request);
    };
    const std::string line = "64x64x64 batch=6 outer=2 outer_stride_b=0 ";
    CHECK((steps(line).steps.back().constants.ALIGNED & 15) == 15);
    CHECK((steps(line + "outer_stride_a=24580").steps.back().constants.ALIGNED & 15) == 15);
    CHECK((steps(line + "outer_stride_a=24577").steps.back().constants.ALIGNED & 15) == 14);
    CHECK((steps(line + "outer_stride_d=24577").steps.back().constants.ALIGNED & WIDE_D) == 0);
    CHECK((steps("64x64x64 batch=3 outer=3 outer_stride_b=12289 outer_stride_a=0").steps.back().constants.ALIGNED &
           WIDE_B) == 0);
    const Steps two = steps(line + "outer_stride_a=30000 layout_d=t residual c=separate");
    CHECK(two.parts[0].count == 2);
    CHECK(dispatch_count(two.steps, two.parts) == 2 * two.steps.size());
    CHECK(two.parts[0].offset(1, VKGEMM_SLOT_A) == 120000);
    CHECK(two.parts[0].offset(1, VKGEMM_SLOT_B) == 0);
    CHECK(two.parts[0].offset(1, VKGEMM_SLOT_D) == 4 * 64 * 64 * 6);
    CHECK(two.parts[0].offset(1, VKGEMM_SLOT_RESIDUAL) == two.parts[0].offset(1, VKGEMM_SLOT_D));
    CHECK(two.parts[0].offset(1, VKGEMM_SLOT_C) == two.parts[0].offset(1, VKGEMM_SLOT_D));
    CHECK(two.parts[0].reach[VKGEMM_SLOT_A] == 4 * 64 * 64 * 6);
    CHECK(two.slots[VKGEMM_SLOT_A].bytes == 120000 + 4 * 64 * 64 * 6);
    CHECK(!two.parts[0].are_ordered);
    // Descriptors of a D whose repetitions lie between each other: validation layers want them ordered.
    const std::string between =
        "64x64x64 batch=3 outer=2 stride_d=8192 outer_stride_d=4096 stride_a=8192 outer_stride_a=4096";
    Request by_address;
    by_address.addresses = true;
    CHECK(steps(between + " outer_stride_b=0 bias=row").parts[0].count == 2);
    CHECK(steps(between + " outer_stride_b=0 bias=row").parts[0].are_ordered);
    CHECK(!steps(between + " outer_stride_b=0 bias=row", by_address).parts[0].are_ordered);
}
