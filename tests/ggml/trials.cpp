// SPDX-License-Identifier: MIT
// Which side multiplies: classes of products, what their times decide, and both on the device.
#include "vkgemm_ggml/trials.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "ggml/run.h"
#include "vkgemm_ggml/stopwatch.h"

namespace vkgemm::test {
namespace {

using ggml::MulMat;
using ggml::Reason;
using ggml::Trial;

MulMat product_of(uint64_t n, const Sizes4& weights = {64, 5, 1, 1}, Type type = f32, uint64_t heads = 1) {
    const Buffers& b = buffers();
    return {Filled(type, weights, {}, b.w.handle()).tensor,
            Filled(f32, {weights[0], n, weights[2] * heads, weights[3]}, {}, b.y.handle()).tensor,
            Filled(f32, {weights[1], n, weights[2] * heads, weights[3]}, {}, b.d.handle()).tensor};
}

/// Both sides take turns with these times, the first of each a thousand times as long. The number of turns, and who
/// won.
std::pair<uint32_t, Trial::State> decided(const std::vector<double>& ggml, const std::vector<double>& vkgemm) {
    Trial trial;
    std::array<size_t, 2> at{};
    uint32_t turn = 0;
    for (; turn < Trial::turns && trial.state() == Trial::State::RUNNING; ++turn) {
        const bool ours = Trial::is_ours(turn);
        const auto& times = ours ? vkgemm : ggml;
        const size_t i = at[ours]++;
        trial.add(ours, i == 0 ? 1000 * times[0] : times[i % times.size()]);
    }
    return {turn, trial.state()};
}

/// Records `copies` products for ggml, or ours, where the adapter wants it. The turn.
ggml::Turn take_turn(ggml::Adapter& usual, const MulMat& x, uint32_t copies) {
    const ggml::Turn turn = usual.turn_of(x);
    const Status done = device().submit([&](VkCommandBuffer commands) {
        if (turn.is_timed()) usual.stamp(commands, turn, false);
        const bool ours = turn.reason == Reason::SERVED;
        ggml::Adapter& who = ours ? usual : adapter();
        for (uint32_t i = 0; i < (ours ? 1 : copies); ++i) {
            ggml::Work work;
            REQUIRE(who.prepare(x, work) == Reason::SERVED);
            REQUIRE(who.record(commands, work, scratch_memory(), rounded_memory()) == Reason::SERVED);
        }
        if (turn.is_timed()) usual.stamp(commands, turn, true);
        return Status{};
    });
    REQUIRE(done.code == VKGEMM_SUCCESS);
    return turn;
}

/// Turns until the class is decided.
Reason winner(ggml::Adapter& usual, const MulMat& x, uint32_t copies, uint32_t* turns = nullptr) {
    uint32_t count = 0;
    for (; count <= Trial::turns; ++count) {
        const ggml::Turn turn = take_turn(usual, x, copies);
        if (!turn.is_timed()) {
            if (turns) *turns = count;
            return turn.reason;
        }
        CHECK((turn.reason == Reason::SERVED) == Trial::is_ours(count));
        CHECK((turn.reason == Reason::SERVED || turn.reason == Reason::TRIAL));
    }
    return Reason::COUNT;
}

}  // namespace

TEST_CASE("trials: both sides have as many turns, and neither is always first") {
    uint32_t ours = 0, first = 0;
    for (uint32_t turn = 0; turn < Trial::turns; ++turn) ours += Trial::is_ours(turn);
    for (uint32_t turn = 0; turn < Trial::turns; turn += 2) {
        CHECK(Trial::is_ours(turn) != Trial::is_ours(turn + 1));
        first += Trial::is_ours(turn);
    }
    CHECK(ours == Trial::turns / 2);
    CHECK((first >= 3 && first <= 4));
    CHECK_FALSE(Trial::is_ours(0));
}

TEST_CASE("trials: what times decide") {
    using State = Trial::State;
    // Clear ones early: one that does not count and two that do, of each side.
    CHECK(decided({100}, {80}) == std::pair{6u, State::VKGEMM});
    CHECK(decided({80}, {100}) == std::pair{6u, State::GGML});
    // Close ones by medians, and 2 % are asked of vkgemm.
    CHECK(decided({100}, {97}) == std::pair{Trial::turns, State::VKGEMM});
    CHECK(decided({100}, {99}) == std::pair{Trial::turns, State::GGML});
    // A slow one among the times of the faster side.
    CHECK(decided({100, 100, 500, 100, 100, 100, 100}, {95}) == std::pair{Trial::turns, State::VKGEMM});
    CHECK(decided({90}, {100, 100, 20, 100, 100, 100, 100}) == std::pair{Trial::turns, State::GGML});
    Trial dropped;
    dropped.drop();
    dropped.add(false, 1);
    CHECK(dropped.state() == State::VKGEMM);
    CHECK(dropped.medians() == std::array<double, 2>{});
}

TEST_CASE("trials: classes of products") {
    const auto same = [](const MulMat& x, const MulMat& y) {
        const bool is_same = ggml::class_of(x) == ggml::class_of(y);
        CHECK(is_same == (ggml::text_of(ggml::class_of(x)) == ggml::text_of(ggml::class_of(y))));
        return is_same;
    };
    CHECK(same(product_of(257), product_of(512)));
    CHECK(same(product_of(9), product_of(16)));
    CHECK_FALSE(same(product_of(256), product_of(257)));
    CHECK_FALSE(same(product_of(7), product_of(8)));
    CHECK_FALSE(same(product_of(8), product_of(9)));
    CHECK_FALSE(same(product_of(1, {64, 5, 1, 1}), product_of(1, {64, 6, 1, 1})));
    CHECK_FALSE(same(product_of(1, {64, 5, 1, 1}), product_of(1, {64, 5, 1, 1}, f16)));
    // Attention: keys and values grow.
    CHECK(same(product_of(1, {64, 300, 2, 1}), product_of(1, {64, 400, 2, 1})));
    CHECK_FALSE(same(product_of(1, {64, 500, 2, 1}), product_of(1, {64, 520, 2, 1})));
    CHECK_FALSE(same(product_of(1, {64, 300, 2, 1}), product_of(1, {64, 300, 4, 1})));
    CHECK_FALSE(same(product_of(1, {64, 300, 2, 1}), product_of(1, {64, 300, 1, 1}, f32, 2)));
    MulMat x = product_of(4, {64, 8, 1, 1}), y = x;
    y.is_precise = true;
    CHECK_FALSE(same(x, y));
    y = x;
    y.src0.offset += 4;
    CHECK_FALSE(same(x, y));
    y = x;
    y.fused_count = 1;
    CHECK_FALSE(same(x, y));
    y = x;
    y.src1.nb[0] = 8;
    CHECK_FALSE(same(x, y));
    ggml::Tensor ids = x.src0;
    ids.ne = Sizes4{2, 4, 1, 1};
    y = x;
    y.ids = &ids;
    CHECK_FALSE(same(x, y));
}

TEST_CASE("trials: the faster side multiplies") {
    const auto usual = new_adapter({.keeps_notes = true});
    uint32_t turns = 0;
    const MulMat few = product_of(40, {256, 64, 1, 1}), many = product_of(100, {256, 64, 1, 1});
    CHECK(winner(*usual, few, 0, &turns) == Reason::SLOWER);  // than nothing at all
    CHECK((turns >= 6 && turns <= Trial::turns));
    CHECK(winner(*usual, many, 40) == Reason::SERVED);
    CHECK(take_turn(*usual, few, 0).reason == Reason::SLOWER);
    CHECK(usual->report().find("by vkgemm: MUL_MAT f32*f32 64x128x256\n") != std::string::npos);
    const auto noted_times = [&] {
        usual->note(few, {}, Reason::TYPE);
        const std::string report = usual->report(), line = " x MUL_MAT f32*f32 64x40x256: ";
        const size_t at = report.find(line);
        return at == std::string::npos ? 0 : std::stoi(report.substr(report.rfind('\n', at)));
    };
    CHECK(noted_times() == 1);
    usual->keep_notes(false);
    CHECK(noted_times() == 1);
    usual->keep_notes(true);
    CHECK(noted_times() == 2);
    CHECK(device().messageCount() == 0);
}

TEST_CASE("trials: what is not recorded is not held back") {
    const auto usual = new_adapter({});
    MulMat x = product_of(3);
    x.src0.type = VKGEMM_TYPE_I32;
    CHECK(usual->turn_of(x).reason == Reason::TRIAL);
    CHECK(usual->turn_of(x).reason == Reason::SERVED);
    ggml::Work work;
    CHECK(usual->prepare(x, work) == Reason::TYPE);
    usual->drop(x);
    for (int i = 0; i < 3; ++i) {
        const ggml::Turn turn = usual->turn_of(x);
        CHECK((turn.reason == Reason::SERVED && !turn.is_timed()));
    }
}

TEST_CASE("trials: timers that nobody reads run out, and classes, too") {
    const auto usual = new_adapter({.most_plans = 300});
    for (uint64_t m = 1; m <= ggml::Stopwatch::count; ++m)
        CHECK(usual->turn_of(product_of(1, {8, m, 1, 1})).is_timed());
    const ggml::Turn late = usual->turn_of(product_of(1, {16, 1, 1, 1}));
    CHECK((late.reason == Reason::TRIAL && !late.is_timed()));
    for (uint64_t m = 2; m <= 100; ++m) usual->turn_of(product_of(1, {16, m, 1, 1}));
    CHECK(usual->turn_of(product_of(1, {24, 1, 1, 1})).reason == Reason::CACHE);
}

TEST_CASE("trials: the short cut for what is left to ggml") {
    const auto usual = new_adapter({});
    const uint64_t one = ggml::mixed(1, 2), other = ggml::mixed(2, 1);
    CHECK(one != other);
    CHECK(ggml::mixed(one, one) != ggml::mixed(other, other));
    CHECK_FALSE((usual->is_left(one) || usual->is_left(0)));
    CHECK(usual->count_of(Reason::SLOWER) == 0);
    usual->leave(one);
    usual->leave(0);
    CHECK((usual->is_left(one) && !usual->is_left(other) && !usual->is_left(0)));
    CHECK(usual->count_of(Reason::SLOWER) == 1);
    // turn_of and note() have the product then.
    usual->take_all(true);
    CHECK_FALSE(usual->is_left(one));
    usual->take_all(false);
    usual->keep_notes(true);
    CHECK_FALSE(usual->is_left(one));
    usual->keep_notes(false);
    CHECK(usual->is_left(one));
    // A hash with the same place in the table.
    usual->leave(one ^ uint64_t{1} << 63);
    CHECK_FALSE(usual->is_left(one));
    CHECK(usual->is_left(one ^ uint64_t{1} << 63));
}

TEST_CASE("trials: times are kept in a file") {
    const std::string name = (std::filesystem::temp_directory_path() / "vkgemm_ggml_times.txt").string();
    std::filesystem::remove(name);
    const MulMat x = product_of(40, {256, 64, 1, 1}), y = product_of(100, {256, 64, 1, 1});
    CHECK(winner(*new_adapter({.times = name}), x, 0) == Reason::SLOWER);
    const auto next = new_adapter({.times = name});
    CHECK(next->turn_of(x).reason == Reason::SLOWER);
    CHECK(next->turn_of(y).reason == Reason::TRIAL);
    // Rows are rounded otherwise, so these times are of other kernels.
    CHECK(new_adapter({.rounds = ggml::Rounds::ALWAYS, .times = name})->turn_of(x).reason == Reason::TRIAL);

    std::ofstream(name, std::ios::app) << "a\tb\n\n\t\t\t\nhere\tC\t10.00\t5.00\nhere\tD\t0\t5\nthere\tE\t1\t1\n";
    ggml::TimesFile file(name, "here");
    REQUIRE(file.find("C"));
    CHECK(*file.find("C") == std::array<double, 2>{10, 5});
    CHECK((!file.find("D") && !file.find("E") && !file.find("b")));
    CHECK(file.add("F", {1.5, 2}));
    CHECK(ggml::TimesFile(name, "here").find("F"));
    CHECK_FALSE(ggml::TimesFile("/nowhere/at/all", "here").add("F", {1, 2}));
    CHECK(ggml::TimesFile("", "here").add("F", {1, 2}));
    std::filesystem::remove(name);
}

TEST_CASE("trials: a device without timestamps has no timers") {
    VkgemmContextInfo info{};
    info.getInstanceProcAddr = [](VkInstance, const char*) -> PFN_vkVoidFunction { return nullptr; };
    ggml::Stopwatch none(info);
    CHECK_FALSE(none.works());
    CHECK(none.take() == -1);
}

}  // namespace vkgemm::test
