// SPDX-License-Identifier: MIT
// From a choice to dispatches: the grid covers every tile and stays within limits, operands span what the problem says.
#include "plan/steps/steps.h"

#include <doctest/doctest.h>

#include <bit>

#include "plan/base/rounding.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/grouped.h"
#include "plan/steps/parts.h"
#include "support/random.h"
#include "support/recorded_device.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

struct Made {
    Problem completed;
    Normalised n;
    Choice choice;
    Steps steps;
};

Request forced(const std::string& kernel) {
    Request r;
    r.kernel = kernel;
    return r;
}
Request aligned_to(uint32_t bytes) {
    Request r;
    r.operand_alignment = bytes;
    return r;
}

Made made(const std::string& line, const DeviceCaps& caps, const Request& request = {}) {
    const Result<ProblemText> read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line);
    const Result<Problem> full = complete(read->problem);
    REQUIRE_MESSAGE(bool(full), line, ": ", full.status().text);
    const Normalised n = normalise(*full);
    const Result<Choice> choice = select(caps, n.problem, request);
    REQUIRE_MESSAGE(bool(choice), line, ": ", choice.status().text);
    return {.completed = *full, .n = n, .choice = *choice, .steps = make_steps(*choice, *full, n, caps, request)};
}

uint64_t bytes_of(const Made& x, VkgemmSlot s) { return x.steps.slots[size_t(s)].bytes; }

/// Bytes of the workspace, or of a D that parts add to, that a step touches.
struct Touched {
    VkgemmSlot slot;
    uint64_t begin, end;
    bool written;
};
std::vector<Touched> touched_by(const Steps& all, const Recorded& r) {
    const Step& s = all.steps[r.step];
    std::vector<Touched> out;
    for (size_t i = 0; i < BIND_COUNT; ++i) {
        const VkgemmSlot slot = s.slots[i];
        const bool adds = slot == VKGEMM_SLOT_D && i == BIND_D && r.part->adds;
        if (slot != VKGEMM_SLOT_WORKSPACE && !adds) continue;
        const uint64_t begin = s.offsets[i] + r.part->offset(r.repetition, slot), bytes = all.slots[slot].bytes;
        const uint64_t end = s.bytes[i] ? begin + s.bytes[i] : bytes;
        out.push_back({.slot = slot, .begin = begin, .end = end, .written = i == BIND_D});
    }
    return out;
}

/// Pairs of steps without a wait between them of which one writes what the other one touches, and how many steps touch
/// something that counts.
std::pair<int, int> hazards_of(const Steps& all) {
    std::vector<Touched> since_wait;
    int hazards = 0, touching = 0;
    each_recorded(all.steps, all.parts, [&](const Recorded& r) {
        if (r.waits) since_wait.clear();
        const std::vector<Touched> now = touched_by(all, r);
        touching += !now.empty();
        for (const Touched& x : now)
            for (const Touched& y : since_wait)
                hazards += x.slot == y.slot && (x.written || y.written) && x.begin < y.end && y.begin < x.end;
        since_wait.insert(since_wait.end(), now.begin(), now.end());
    });
    return {hazards, touching};
}

}  // namespace

// The validation layer finds a missing barrier only where operands are descriptors; this is for those by address, too.
TEST_CASE("no step touches what an earlier one writes, or writes what it reads, without a wait between them") {
    for (const char* name : {"h200", "lavapipe"})
        for (const char* tile : {"SPLIT=4", "PACK=4", "PACK=2,SPLIT=2", "PACK=4,SPLIT=3", "PACK=3"})
            for (const char* line :
                 {"64x48x2000", "33x35x500 batch=3 layout=tt", "9x13x400 batch=6 outer=4 ratio_b=2 outer_ratio_a=2",
                  "9x13x400 batch=3 outer=4 stride_a=30000 outer_stride_a=5200 stride_b=0 residual"})
                for (const bool addresses : {true, false}) {
                    CAPTURE(name);
                    CAPTURE(tile);
                    CAPTURE(line);
                    Request r = forced("tiled_f32_8x8");
                    r.tile = tile;
                    r.addresses = addresses;
                    r.workspace_limit = 1 << 26;
                    const auto [hazards, touching] = hazards_of(made(line, device(name), r).steps);
                    CHECK(hazards == 0);
                    CHECK(touching > 1);
                }
    DeviceCaps d = device("h200");
    d.max_span = 3000;  // so that K is cut, and later parts add to D
    const Result<Problem> full = complete(parse_problem("20x30x400 layout=tn lda=900 ldb=400")->problem);
    const Normalised whole = normalise(*full);
    Steps all;
    for (const Normalised& n : parts_of(whole, d, Binding::addresses)) {
        const Result<Choice> choice = select(d, n.problem, forced("tiled_f32_8x8"));
        REQUIRE(choice);
        Steps one = make_steps(*choice, *full, n, d, forced("tiled_f32_8x8"));
        if (all.steps.empty())
            all = one;
        else
            add_part(all, std::move(one));
    }
    const auto [hazards, touching] = hazards_of(all);
    CHECK(hazards == 0);
    CHECK(touching > 1);
}

TEST_CASE("the grid covers every tile once and stays within the device's limits") {
    for (const uint32_t limit_x : {7u, 100u, 65535u})
        for (uint64_t seed = 1; seed <= 300; ++seed) {
            Random random(seed);
            DeviceCaps d = device("huge");
            d.max_groups_x = limit_x;
            d.max_groups_y = 65535;
            const std::string size = std::to_string(1 + random.below(900)) + "x" +
                                     std::to_string(1 + random.below(900)) + "x" + std::to_string(random.below(40));
            const Made x = made(size + " batch=" + std::to_string(1 + random.below(4)), d, forced("tiled_f32_8x8"));
            REQUIRE(x.steps.steps.size() == 1);
            const Step& step = x.steps.steps[0];
            const Problem& p = x.n.problem;
            const uint64_t tiles = div_up(p.m, step.tile.BM) * div_up(p.n, step.tile.BN) * p.batch;
            const uint64_t groups = uint64_t{step.groups_x} * step.groups_y;
            INFO(size, ", at most ", limit_x, " groups in x");
            CHECK(step.groups_x <= limit_x);
            CHECK(step.groups_y <= d.max_groups_y);
            CHECK(groups >= tiles);
            CHECK(groups - tiles < step.groups_x);  // only the last row has spare groups
        }
}

TEST_CASE("a sliced grid covers every tile once, in no more dispatches than the time demands") {
    for (const uint32_t limit_x : {7u, 100u, 65535u})
        for (uint64_t seed = 1; seed <= 300; ++seed) {
            Random random(seed);
            DeviceCaps d = device("huge");
            d.max_groups_x = limit_x;
            d.max_groups_y = 65535;
            const std::string size =
                std::to_string(1 + random.below(900)) + "x" + std::to_string(1 + random.below(900)) + "x40";
            Made x = made(size, d, forced("tiled_f32_8x8"));
            const uint64_t tiles = x.steps.steps[0].groups, parts = 1 + random.below(seed % 2 ? 20 : 9000);
            limit_dispatches(x.steps.steps, double(parts), 1, d);
            const Step& step = x.steps.steps[0];
            INFO(size, ", at most ", limit_x, " groups in x, ", parts, " parts");
            CHECK(step.is_sliced() == (parts > 1));
            CHECK(step.groups == tiles);
            CHECK(step.groups_x <= limit_x);
            CHECK(step.groups_y <= d.max_groups_y);
            const uint64_t groups = uint64_t{step.groups_x} * step.groups_y;
            CHECK(groups >= tiles);
            CHECK(groups - tiles < step.groups_x);
            if (!step.is_sliced()) continue;
            const uint64_t of_one = uint64_t{step.groups_x} * step.rows_per_dispatch();
            CHECK(of_one <= step.groups_per_dispatch);
            CHECK(of_one * step.dispatch_count() >= groups);
            CHECK(of_one * (step.dispatch_count() - 1) < groups);
            CHECK((of_one <= div_up(tiles, parts) || parts > max_dispatches));
        }
}

TEST_CASE("a sliced grid has no more rows than the device, however short its slices are") {
    DeviceCaps d = device("huge");
    d.max_groups_y = 4;
    Made x = made("64x64x40", d, forced("tiled_f32_8x8"));
    limit_dispatches(x.steps.steps, 1000, 1, d);
    const Step& step = x.steps.steps[0];
    CHECK((step.is_sliced() && step.groups == 64 && step.groups_x == 16 && step.groups_y == 4));
}

TEST_CASE("a band of tiles may be higher than the grid, and changes neither grid nor pipeline") {
    Request plain = forced("tiled_f32_8x8"), banded = plain;
    banded.tile = "RASTER=4096";
    for (const std::string line : {"1x8388608x1", "8388608x1x1", "20x20x20"}) {
        CAPTURE(line);
        const Made x = made(line, device("bare"), banded), y = made(line, device("bare"), plain);
        REQUIRE((x.steps.steps.size() == 1 && y.steps.steps.size() == 1));
        const Step &with = x.steps.steps[0], &without = y.steps.steps[0];
        CHECK(with.args.raster == 4096);
        CHECK(with.groups_x == without.groups_x);
        CHECK(with.groups_y == without.groups_y);
        CHECK(with.tile == without.tile);
    }
    const Made x = made("1x8388608x1", device("bare"), banded);  // 1,048,576 tiles, 65,535 to a line of the grid
    CHECK(x.steps.steps[0].groups_x == 65535);
    CHECK(x.steps.steps[0].groups_y == 17);
}

TEST_CASE("the arguments of operands at the index limit are exact") {
    Request by_address;
    by_address.addresses = true;
    const Made x = made("2x1x1 lda=2147483646 c=separate ldc=2147483645 ldd=2147483644", device("huge"), by_address);
    const vkgemm::abi::GemmArgs& args = x.steps.steps[0].args;
    CHECK(args.lda == 2147483646u);
    CHECK(args.ldc == 2147483645u);
    CHECK(args.ldd == 2147483644u);
    CHECK(bytes_of(x, VKGEMM_SLOT_A) == 4 * uint64_t{2147483647});
    CHECK(bytes_of(x, VKGEMM_SLOT_D) == 4 * uint64_t{2147483645});
    const Made batched = made("1x1x1 batch=2 stride_b=2147483646", device("huge"), by_address);
    CHECK(batched.steps.steps[0].args.batch_b == 2147483646u);
    CHECK(bytes_of(batched, VKGEMM_SLOT_B) == 4 * uint64_t{2147483647});
}

TEST_CASE("an empty product has no dispatch and asks for nothing") {
    for (const std::string line : {"0x5x5", "5x0x5", "0x0x0", "0x5x5 batch=3 beta=1"}) {
        const Made x = made(line, device("bare"));
        CAPTURE(line);
        CHECK(x.steps.steps.empty());
        for (const Requirement& r : x.steps.slots) CHECK(r.bytes == 0);
    }
    CHECK(made("5x5x0 beta=1", device("bare")).steps.steps.size() == 1);  // k 0 still scales C
}

TEST_CASE("operands span from their first element to their last") {
    const Made x =
        made("4x5x6 batch=3 lda=10 stride_b=0 layout_d=t ldd=9 stride_d=100 c=separate bias=row scale=all residual",
             device("huge"));
    CHECK(bytes_of(x, VKGEMM_SLOT_A) == ((2 * 40) + 3 * 10 + 6) * 4);
    CHECK(bytes_of(x, VKGEMM_SLOT_B) == 30 * 4);
    CHECK(bytes_of(x, VKGEMM_SLOT_C) == 3 * 20 * 4);
    CHECK(bytes_of(x, VKGEMM_SLOT_D) == (2 * 100 + 4 * 9 + 4) * 4);
    CHECK(bytes_of(x, VKGEMM_SLOT_BIAS) == 4 * 4);
    CHECK(bytes_of(x, VKGEMM_SLOT_SCALE) == 4);
    CHECK(bytes_of(x, VKGEMM_SLOT_RESIDUAL) == bytes_of(x, VKGEMM_SLOT_D));
    CHECK(bytes_of(x, VKGEMM_SLOT_WORKSPACE) == 0);
    CHECK(bytes_of(made("4x5x6 bias=col scale=col", device("huge")), VKGEMM_SLOT_BIAS) == 5 * 4);
    CHECK(bytes_of(made("4x5x6 bias=col scale=row", device("huge")), VKGEMM_SLOT_SCALE) == 4 * 4);
    CHECK(bytes_of(made("4x5x0", device("huge")), VKGEMM_SLOT_A) == 0);
    CHECK(bytes_of(made("4x5x6", device("huge")), VKGEMM_SLOT_C) == 0);
}

TEST_CASE("accesses: A and B are read, D is written, and read where it is C") {
    const auto slot = [](const Made& x, VkgemmSlot s) { return x.steps.slots[size_t(s)]; };
    const Made plain = made("4x5x6", device("huge")), updating = made("4x5x6 c=d", device("huge")),
               apart = made("4x5x6 c=separate", device("huge"));
    CHECK((slot(plain, VKGEMM_SLOT_A).reads && !slot(plain, VKGEMM_SLOT_A).writes));
    CHECK((!slot(plain, VKGEMM_SLOT_D).reads && slot(plain, VKGEMM_SLOT_D).writes));
    CHECK((slot(updating, VKGEMM_SLOT_D).reads && slot(updating, VKGEMM_SLOT_D).writes));
    CHECK(
        (!slot(apart, VKGEMM_SLOT_D).reads && slot(apart, VKGEMM_SLOT_C).reads && !slot(apart, VKGEMM_SLOT_C).writes));
    CHECK(!slot(plain, VKGEMM_SLOT_C).reads);
}

TEST_CASE("a transposed problem swaps its operands, and only those") {
    const Made x = made("4x5x6 layout_d=t c=separate bias=row", device("huge"));
    REQUIRE(x.steps.steps.size() == 1);
    const Step& step = x.steps.steps[0];
    CHECK(step.slots[BIND_A] == VKGEMM_SLOT_B);
    CHECK(step.slots[BIND_B] == VKGEMM_SLOT_A);
    CHECK(step.slots[BIND_C] == VKGEMM_SLOT_C);
    CHECK(step.slots[BIND_D] == VKGEMM_SLOT_D);
    CHECK(step.args.m == 5);
    CHECK(step.args.n == 4);
    CHECK(step.constants.STEP_0 == VKGEMM_STEP_BIAS_COL);
    CHECK(step.constants.TRANS_A == 1);
    CHECK(step.constants.TRANS_C == 0);
    CHECK(step.slots[BIND_SCALE] == VKGEMM_SLOT_D);  // every binding is bound to something
    const Made straight = made("4x5x6 layout=nt", device("huge"));
    CHECK(straight.steps.steps[0].slots[BIND_A] == VKGEMM_SLOT_A);
    CHECK(straight.steps.steps[0].constants.TRANS_B == 1);
}

TEST_CASE("wide loads are promised only where every row begins at 16 bytes") {
    const auto aligned = [](const std::string& line, uint32_t alignment) {
        return made(line, device("huge"), aligned_to(alignment)).steps.steps[0].constants.ALIGNED;
    };
    CHECK(aligned("8x8x8", 16) == (WIDE_A | WIDE_B | WIDE_C | WIDE_D));
    CHECK(aligned("8x8x8", 8) == 0);
    CHECK(aligned("8x8x8", 4) == 0);
    CHECK((aligned("8x8x7", 16) & WIDE_A) == 0);  // lda 7
    CHECK((aligned("8x8x7", 16) & WIDE_B) != 0);  // ldb 8
    CHECK((aligned("8x8x8 lda=12", 16) & WIDE_A) != 0);
    CHECK((aligned("8x8x8 lda=9", 16) & WIDE_A) == 0);
    CHECK((aligned("8x8x8 batch=2 stride_b=65", 16) & WIDE_B) == 0);
    CHECK((aligned("8x7x8", 16) & WIDE_D) == 0);
}

TEST_CASE("bounds of a clamp are arguments: products that differ in them alone share their pipelines") {
    for (const std::string tile : {"SPLIT=1", "SPLIT=3"}) {
        Request request = forced("tiled_f32_8x8");
        request.tile = tile;
        request.workspace_limit = 1 << 20;
        const Made x = made("9x9x99 clamp=-1:2", device("huge"), request),
                   y = made("9x9x99 clamp=-3:0.5", device("huge"), request);
        REQUIRE(x.steps.steps.size() == (tile == "SPLIT=3" ? 2 : 1));
        REQUIRE(y.steps.steps.size() == x.steps.steps.size());
        for (size_t i = 0; i < x.steps.steps.size(); ++i)
            CHECK(constant_values(x.steps.steps[i]) == constant_values(y.steps.steps[i]));
        const Step &in_x = x.steps.steps.back(), &in_y = y.steps.steps.back();
        CHECK(std::bit_cast<float>(in_x.args.clamp_or_scalars.clamp.low) == -1.0F);
        CHECK(std::bit_cast<float>(in_x.args.clamp_or_scalars.clamp.high) == 2.0F);
        CHECK(std::bit_cast<float>(in_y.args.clamp_or_scalars.clamp.low) == -3.0F);
        CHECK(std::bit_cast<float>(in_y.args.clamp_or_scalars.clamp.high) == 0.5F);
    }
}

TEST_CASE("whole tiles are known to be whole") {
    const auto whole = [](const std::string& line) {
        return made(line, device("huge"), forced("tiled_f32_16x16")).steps.steps[0].constants.WHOLE;
    };
    CHECK(whole("32x48x64") == 1);
    for (const char* line : {"33x48x64", "32x47x64", "32x48x63"}) CHECK(whole(line) == 0);
}

TEST_CASE("the error bound grows with k and is 0 for integers") {
    const auto bound = [](const std::string& line) { return made(line, device("huge")).steps.error_bound; };
    CHECK(bound("i32*i32 9x9x999") == 0);
    CHECK(bound("9x9x10") > 0);
    CHECK(bound("9x9x1000") > bound("9x9x10"));
    CHECK(bound("9x9x1000") > 1000 * 1000 * 0x1p-25);  // a rounding of every partial sum, k/2 large on average
    // Elements that are decoded have a rounding each, and scales another one.
    CHECK(bound("f16*q8_0->f32 9x9x32 layout=nt") ==
          doctest::Approx(bound("9x9x32") * (32 + 5) / (32 + 1)).epsilon(0.01).scale(0));
    Request parts = forced("f16x2_f32_64x64x32");
    parts.workspace_limit = 1 << 20;
    CHECK(made("64x64x64 accuracy=f32_split_rows", device("huge"), parts).steps.error_bound > 3.9 * bound("64x64x64"));
}

TEST_CASE("a slope of 0 is ReLU, which a driver cannot take for 0 times x") {
    const auto constants = [](const char* line) { return made(line, device("huge")).steps.steps.back().constants; };
    CHECK((constants("9x9x9 leaky=0").STEP_0 == VKGEMM_STEP_RELU && constants("9x9x9 leaky=0").SLOPE == 0));
    CHECK(constants("9x9x9 leaky=0.5").STEP_0 == VKGEMM_STEP_LEAKY_RELU);
}

TEST_CASE("repetitions: levels are counted one after another, and operands move with them") {
    Repeats all;
    all.levels[0].count = 2;
    all.levels[0].bytes[VKGEMM_SLOT_A] = 10;
    all.levels[1].count = 3;
    all.levels[1].bytes[VKGEMM_SLOT_A] = 700;
    all.begin[VKGEMM_SLOT_A] = 4;
    for (const auto& [number, offset] : {std::pair{0u, 4u}, {1u, 14u}, {2u, 704u}, {5u, 1414u}})
        CHECK(all.offset(number, VKGEMM_SLOT_A) == offset);

    DeviceCaps d = device("h200");
    d.max_span = 400;  // so that n is cut
    const Problem p = *complete(parse_problem("1x300x8 layout=nt bias=col c=separate")->problem);
    const auto parts = parts_of(normalise(p), d, Binding::addresses);
    const Normalised& n = parts[0];
    REQUIRE((n.repeated.count == 1 && n.problem.n < 300));
    const Result<Choice> choice = select(d, n.problem, forced("tiled_f32_8x8"));
    REQUIRE(choice);
    const Repeats cut = make_steps(*choice, p, n, d, forced("tiled_f32_8x8")).parts[0];
    CHECK(cut.offset(1, VKGEMM_SLOT_B) == 4 * 8 * n.problem.n);
    for (const VkgemmSlot slot : {VKGEMM_SLOT_C, VKGEMM_SLOT_D, VKGEMM_SLOT_BIAS})
        CHECK(cut.offset(1, slot) == 4 * n.problem.n);
    CHECK(cut.offset(1, VKGEMM_SLOT_A) == 0);
}

TEST_CASE("repetitions wait for each other where descriptors of D that begin at the device's alignment overlap") {
    DeviceCaps d = device("h200");
    d.offset_alignment = 64;
    const auto ordered = [&](const std::string& line, bool addresses = false) {
        Request request = forced("tiled_f32_8x8");
        request.addresses = addresses;
        const Made x = made(line, d, request);
        REQUIRE(x.steps.parts[0].count == 2);
        return x.steps.parts[0].are_ordered;
    };
    const std::string line = "4x5x6 batch=3 outer=2 stride_a=0 outer_stride_a=100 outer_stride_b=100 outer_stride_d=";
    // One reaches over 240 bytes from a multiple of 16, so its descriptor begins up to 48 bytes below; up to 60 bytes
    // where the next one is at a multiple of 4.
    CHECK(!ordered(line + "72"));
    CHECK(ordered(line + "71"));
    CHECK(ordered(line + "73"));
    CHECK(!ordered(line + "75"));
    CHECK(!ordered(line + "73", true));
}

TEST_CASE(
    "what coopmat_packed reads is coopmat_packed first: whole row_blocks of lines, whole steps of k, once for a "
    "broadcast operand") {
    Request request = forced("coopmat_packed_f16_128x128x32");
    request.workspace_limit = 1 << 20;
    const Made x = made("f16*f16 100x70x33 batch=3 stride_b=0 layout=tn", device("huge"), request);
    REQUIRE(x.steps.steps.size() == 3);
    const Step &a = x.steps.steps[0], &b = x.steps.steps[1], &product = x.steps.steps[2];
    CHECK(a.kernel->name == "pack_fragments_f16_64x64");
    CHECK(!b.waits);
    CHECK(product.waits);
    CHECK(a.args.m == 100);  // lines
    CHECK(a.args.k == 33);
    CHECK(a.args.n == 64);  // of k, in steps of 32
    CHECK(a.args.batch == 3);
    CHECK(a.args.batch_d == 128 * 64);
    CHECK(a.constants.TRANS_A == 1);  // k is not the fast index
    CHECK(a.constants.TRANS_B == 0);
    CHECK(b.args.m == 70);
    CHECK(b.args.batch == 1);
    CHECK(b.constants.TRANS_A == 1);
    CHECK(b.constants.TRANS_B == 1);  // B, in columns
    CHECK(bytes_of(x, VKGEMM_SLOT_WORKSPACE) == 2 * 64 * (3 * 128 + 128));
    CHECK(product.args.batch_b == 0);

    const auto refusal = [&](uint64_t limit, const char* tile) {
        request.workspace_limit = limit;
        request.tile = tile;
        return select(device("huge"), x.n.problem, request).status().text;
    };
    CHECK(refusal(1000, "").find("want a workspace of 65536 bytes") != std::string::npos);
    CHECK(refusal(1 << 20, "PACK=1").find("PACK is 1, and must be 0 or 4") != std::string::npos);
}

TEST_CASE("bare sums of simt are in rows of whole vectors, which the second pass loads by fours") {
    const auto split = [](const char* kernel, const char* line) {
        Request request = forced(kernel);
        request.tile = "SPLIT=3,PACK=1";
        request.workspace_limit = 1 << 20;
        return made(line, device("huge"), request);
    };
    const Made simt = split("simt_f32_32x32x16", "33x65x96 batch=2 ldd=71");
    REQUIRE(simt.steps.steps.size() == 2);
    CHECK(simt.steps.steps[0].args.ldd == 68);
    CHECK(simt.steps.steps[1].args.lda == 68);
    CHECK(simt.steps.steps[1].args.ldd == 71);
    CHECK(simt.steps.steps[1].constants.ALIGNED == WIDE_A);
    CHECK(bytes_of(simt, VKGEMM_SLOT_WORKSPACE) == 4 * 3 * 2 * 33 * 68);

    const Made tiled = split("tiled_f32_8x8", "33x65x96 batch=2 ldd=71");
    REQUIRE(tiled.steps.steps.size() == 2);
    CHECK(tiled.steps.steps[1].args.lda == 65);
    CHECK(tiled.steps.steps[1].constants.ALIGNED == 0);
}

TEST_CASE("where indices spread rows over groups by chance, a tile holds more than an even share") {
    const auto search = [](const std::string& sizes) {
        const auto p =
            prepare(parse_problem("f16*f16 " + sizes + " groups=indexed per_row=8 upto=m layout=nt")->problem);
        const GroupedSearch grouped(*p, {});
        const Result<Choice> choice = select_for(device("h200"), grouped.problem, grouped.request, Binding::addresses);
        REQUIRE_MESSAGE(bool(choice), choice.status().text);
        return std::pair{grouped.problem.normalised.problem.m, choice->tile.BM};
    };
    const auto [rows, tile] = search("4096x2048x768 batch=64");
    CHECK(rows == 64 + 8);
    CHECK(tile >= rows);
    CHECK(search("4096x2048x768").first == 4096);  // no choice
    CHECK(search("8x2048x768 batch=128").first == 1);
    CHECK(made("f16*f16 64x2048x768 batch=64 layout=nt", device("h200")).choice.tile.BM == 64);
}

TEST_CASE("slots have names") {
    CHECK(slot_name(VKGEMM_SLOT_A) == "a");
    CHECK(slot_name(VKGEMM_SLOT_WORKSPACE) == "workspace");
}
