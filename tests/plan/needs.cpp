// SPDX-License-Identifier: MIT
// What to enable, and whether operands share elements.
#include "plan/needs.h"

#include <doctest/doctest.h>

#include <set>

#include "plan/problem/overlap.h"
#include "plan/problem/problem_text.h"
#include "support/random.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem problem(const std::string& line) { return parse_problem(line)->problem; }

std::set<uint64_t> bytes_of(const Footprint& f, uint64_t runs, uint64_t batch) {
    std::set<uint64_t> out;
    for (uint64_t z = 0; z < batch; ++z)
        for (uint64_t r = 0; r < runs; ++r)
            for (uint64_t i = 0; i < f.run_bytes; ++i) out.insert(f.begin + z * f.stride + r * f.pitch + i);
    return out;
}

}  // namespace

TEST_CASE("what is required is the least that serves, what is optional is only what the device has") {
    const std::vector<Problem> plain = {problem("64x64x64"), problem("i32*i32 5x5x5")};
    const Result<Needs> h200 = needs_of(device("h200"), plain);
    REQUIRE(h200);
    CHECK(h200->required == need::push_descriptor);
    CHECK((h200->optional & need::buffer_address) != 0);
    CHECK((h200->optional & h200->required) == 0);

    const Result<Needs> bare = needs_of(device("bare"), plain);
    REQUIRE(bare);
    CHECK(bare->required == need::buffer_address);
    CHECK(bare->optional == 0);

    // A CPU is faster with addresses, but push descriptors are enough.
    DeviceCaps cpu = device("h200");
    cpu.kind = DeviceKind::cpu;
    const Result<Needs> both = needs_of(cpu, plain), by_address = needs_of(cpu, plain, true);
    REQUIRE((both && by_address));
    CHECK(both->required == need::push_descriptor);
    CHECK((both->optional & need::buffer_address) != 0);
    CHECK(by_address->required == need::buffer_address);
    const Result<Needs> by_descriptor = needs_of(cpu, plain, false, true);
    REQUIRE(by_descriptor);
    CHECK(by_descriptor->required == need::push_descriptor);

    const Result<Needs> any = needs_of(device("huge"), {});
    REQUIRE(any);
    CHECK((any->required | any->optional) == ((any->required | any->optional) & device("huge").features));
}

TEST_CASE("the memory model comes with its device scope, where the device has it") {
    const std::vector<Problem> on_matrix_units = {problem("f16*f16 256x256x256")}, plain = {problem("i32*i32 5x5x5")};
    DeviceCaps with = device("h200"), without = with;
    with.features |= need::memory_model_device;
    without.features &= ~need::memory_model_device;
    const auto all = [](const Result<Needs>& x) { return x->required | x->optional; };
    CHECK((all(needs_of(with, on_matrix_units)) & need::memory_model) != 0);
    CHECK((needs_of(with, on_matrix_units)->optional & need::memory_model_device) != 0);
    CHECK((needs_of(with, {})->optional & need::memory_model_device) != 0);
    CHECK((all(needs_of(with, plain)) & need::memory_model_device) == 0);
    CHECK((all(needs_of(without, on_matrix_units)) & need::memory_model_device) == 0);
}

TEST_CASE("needs of what cannot be served are refused with the reason") {
    const std::vector<Problem> odd = {problem("64x64x64"), problem("f32*f32+f64->f32 2x2x2")};
    const Result<Needs> refused = needs_of(device("huge"), odd);
    REQUIRE(!refused);
    CHECK(refused.status().text.find("f32*f32+f64->f32") != std::string::npos);
    CHECK(refused.status().text.starts_with("problems[1]: "));
    DeviceCaps none = device("bare");
    none.features = 0;
    none.is_physical = true;
    CHECK(has_words(needs_of(none, {}).status().text, "bufferDeviceAddress", "neither is offered"));
    CHECK(has_words(needs_of(none, {}, true).status().text, "not offered by the physical device"));
    CHECK(bool(needs_of(device("bare"), std::vector<Problem>{problem("0x5x5")})));  // empty: anything serves
}

TEST_CASE("operands that share a byte are always found") {
    int overlapping = 0, told_apart = 0;
    for (uint64_t seed = 1; seed <= 20000; ++seed) {
        Random random(seed);
        const auto any = [&](uint64_t& runs, uint64_t& batch, uint64_t pitch) {
            Footprint f{};
            f.pitch = pitch;
            f.run_bytes = 1 + random.below(pitch);
            runs = 1 + random.below(4);
            batch = 1 + random.below(3);
            f.stride = batch == 1 ? 0 : random.one_in(2) ? pitch * (runs + random.below(2)) : random.below(60);
            f.begin = random.below(60);
            f.end = f.begin + (batch - 1) * f.stride + (runs - 1) * pitch + f.run_bytes;
            return f;
        };
        uint64_t runs[2], batch[2];
        const uint64_t pitch = 1 + random.below(20);
        const Footprint x = any(runs[0], batch[0], pitch),
                        y = any(runs[1], batch[1], random.one_in(4) ? 1 + random.below(20) : pitch);
        const std::set<uint64_t> bytes = bytes_of(x, runs[0], batch[0]);
        bool share = false;
        for (const uint64_t byte : bytes_of(y, runs[1], batch[1])) share |= bytes.contains(byte);
        REQUIRE_MESSAGE((!share || may_overlap(x, y)), "seed ", seed);
        CHECK(may_overlap(x, y) == may_overlap(y, x));
        overlapping += share;
        told_apart += !may_overlap(x, y) && x.begin < y.end && y.begin < x.end;
    }
    CHECK(overlapping > 2000);
    CHECK(told_apart > 100);
}

TEST_CASE("two halves of one matrix, side by side, do not overlap") {
    const auto columns = [](uint64_t begin, uint64_t end, uint64_t bytes) {  // of ten rows of 64 bytes
        return Footprint{.begin = begin, .end = end, .run_bytes = bytes, .pitch = 64, .stride = 0};
    };
    const Footprint left = columns(0, 10 * 64 - 32, 32), right = columns(32, 10 * 64, 32);
    const Footprint wide = columns(28, 10 * 64, 36);
    CHECK(!may_overlap(left, right));
    CHECK(may_overlap(left, wide));
    CHECK(may_overlap(left, left));
    CHECK(!may_overlap(left, columns(5, 5, 0)));  // empty
}

TEST_CASE("a kernel fits a device exactly if no reason is against it") {
    size_t fit = 0, unfit = 0;
    for (const char* name : {"bare", "h200", "huge", "lavapipe", "swiftshader"}) {
        DeviceCaps caps = device(name);
        caps.disabled.push_back({"tiled_f32_8x8", "injected"});
        for (const Kernel& k : kernels())
            for (const char* tile : {"", "SG=32", "BM=24", "SG=3", "MM=3"}) {
                const Tile t = *with_constants(k.tile, tile);
                const bool fits = fits_device(k, t, caps);
                CHECK_MESSAGE(fits == !unfit_device(k, t, caps), k.name, " ", tile, " on ", name);
                ++(fits ? fit : unfit);
            }
        CHECK(!fits_device(*find_kernel("tiled_f32_8x8"), find_kernel("tiled_f32_8x8")->tile, caps));
    }
    CHECK(fit > 500);
    CHECK(unfit > 500);
}
