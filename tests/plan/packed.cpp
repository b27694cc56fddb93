// SPDX-License-Identifier: MIT
// Operands that come packed: which plans read the same bytes, and which are refused.
#include <doctest/doctest.h>

#include <set>

#include "plan/choice/packing_key.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/steps.h"
#include "support/recorded_device.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

struct Planned {
    Problem completed;
    Normalised n;
    Result<Choice> choice;
    DeviceCaps caps;
    Request request;

    Steps steps() const { return make_steps(*choice, completed, n, caps, request); }
    Steps pack(VkgemmSlot slot) const { return make_pack_steps(*choice, completed, n, slot, caps, request); }
    uint64_t key(VkgemmSlot slot) const { return steps().packed_keys[slot]; }
};

DeviceCaps h200() { return device("h200"); }

Planned planned(const std::string& line, const std::string& kernel = "coopmat_packed_f16_128x128x32",
                const DeviceCaps& caps = h200(), const std::string& tile = "") {
    Request request;
    request.kernel = kernel;
    request.tile = tile;
    request.workspace_limit = 1 << 30;
    const Problem completed = *complete(parse_problem(line)->problem);
    const Normalised n = normalise(completed);
    return {
        .completed = completed, .n = n, .choice = select(caps, n.problem, request), .caps = caps, .request = request};
}

uint64_t key_of(const std::string& line, const std::string& kernel = "coopmat_packed_f16_128x128x32") {
    const Planned x = planned(line, kernel);
    REQUIRE_MESSAGE(bool(x.choice), line, ": ", x.choice.status().text);
    return x.key(VKGEMM_SLOT_B);
}

}  // namespace

TEST_CASE("packed: a key is the same for every M and every tile, and differs with all that the bytes depend on") {
    const uint64_t key = key_of("f16*f16 512x4096x1024 layout=nt packed_b=any");
    CHECK(key != VKGEMM_PACKED_NONE);
    CHECK(key == key_of("f16*f16 64x4096x1024 layout=nt packed_b=any", "coopmat_packed_f16_64x32x256"));
    CHECK(key == key_of("f16*f16 512x4096x1024 packed_b=any"));  // once packed, the former layout does not matter
    CHECK(key == key_of("f16*f16->f32 9x4096x1024 packed_b=any ldb=5000", "coopmat_packed_f16_f32_128x128x32"));
    CHECK(key != key_of("f16*f16 512x1024x4096 packed_b=any"));
    CHECK(key != key_of("f16*f16 512x4097x1024 packed_b=any"));
    CHECK(key != key_of("f16*f16 512x4096x1023 packed_b=any"));
    CHECK(key != key_of("f16*f16 512x4096x1024 batch=2 packed_b=any"));
    CHECK(key != key_of("bf16*bf16 512x4096x1024 packed_b=any", "coopmat_packed_bf16_128x128x32"));
    CHECK(key != key_of("f16*f16 512x4096x1024 packed_b=any", "tiled_f16_16x16"));
    CHECK(key != planned("f16*f16 4096x512x1024 packed_a=any").key(VKGEMM_SLOT_A));
    DeviceCaps newer = h200();
    ++newer.driver_version;  // which orders the elements of matrices
    CHECK(key !=
          planned("f16*f16 512x4096x1024 packed_b=any", "coopmat_packed_f16_128x128x32", newer).key(VKGEMM_SLOT_B));
    const std::string plain = "512x4096x1024 layout=nt packed_b=any";
    CHECK(planned(plain, "simt_f32_64x64x16").key(VKGEMM_SLOT_B) ==
          planned(plain, "simt_f32_64x64x16", newer).key(VKGEMM_SLOT_B));
}

TEST_CASE("packed: each of a key's ingredients changes it, one at a time") {
    const Kernel& packer = *find_kernel("pack_fragments_f16_64x64");
    const Kernel& plain = *find_kernel("pack_16_64x64");
    const DeviceCaps caps = h200();
    const Matrix from{.type = f16, .layout = columnMajor, .ld = 64};
    const Matrix to{.type = f16, .layout = columnMajor, .ld = 64, .batchStride = 4096};
    const Operand x{.slot = VKGEMM_SLOT_B, .matrix = &from, .rows = 64, .cols = 64};
    const auto key = [&](const Kernel& k, const Operand& operand, const Matrix& layout, uint64_t batch,
                         const DeviceCaps& dev) { return packing_key(k, operand, layout, batch, dev); };
    std::set<uint64_t> keys = {key(packer, x, to, 1, caps)};
    const auto changed = [&](const char* what, uint64_t other) {
        CHECK_MESSAGE(keys.insert(other).second, "the same key with another ", std::string(what));
    };
    changed("operand", key(packer, {VKGEMM_SLOT_A, &from, 64, 64}, to, 1, caps));
    changed("row count", key(packer, {VKGEMM_SLOT_B, &from, 65, 64}, to, 1, caps));
    changed("column count", key(packer, {VKGEMM_SLOT_B, &from, 64, 65}, to, 1, caps));
    changed("batch", key(packer, x, to, 2, caps));
    for (const auto& [what, change] : std::initializer_list<std::pair<const char*, void (*)(Matrix&)>>{
             {"type", [](Matrix& m) { m.type = bf16; }},
             {"layout", [](Matrix& m) { m.layout = rowMajor; }},
             {"leading dimension", [](Matrix& m) { ++m.ld; }},
             {"stride", [](Matrix& m) { ++m.batchStride; }}}) {
        Matrix other = to;
        change(other);
        changed(what, key(packer, x, other, 1, caps));
    }
    for (const auto& [what, member] :
         {std::pair{"MM", &Tile::MM}, {"MN", &Tile::MN}, {"MK", &Tile::MK}, {"SG", &Tile::SG}}) {
        Tile tile = packer.tile;
        tile.*member *= 2;
        changed(what, key({packer.name, packer.module, packer.needs, tile}, x, to, 1, caps));
    }
    changed("module", key({packer.name, find_kernel("pack_fragments_bf16_64x64")->module, packer.needs, packer.tile}, x,
                          to, 1, caps));
    std::set<uint64_t> plain_keys = {key(plain, x, to, 1, caps)};
    for (const auto& [what, change] : std::initializer_list<std::pair<const char*, void (*)(DeviceCaps&)>>{
             {"vendor", [](DeviceCaps& d) { ++d.vendor; }},
             {"device", [](DeviceCaps& d) { ++d.device; }},
             {"driver version", [](DeviceCaps& d) { ++d.driver_version; }},
             {"device name", [](DeviceCaps& d) { d.name += "x"; }},
             {"driver", [](DeviceCaps& d) { d.driver += "x"; }}}) {
        DeviceCaps other = caps;
        change(other);
        changed(what, key(packer, x, to, 1, other));
        const std::string changed_one = what;  // clang 14 captures no structured binding
        CHECK_MESSAGE(!plain_keys.insert(key(plain, x, to, 1, other)).second, changed_one);
    }
}

TEST_CASE("packed: a plan takes the layout that it reads, and names any other") {
    const std::string line = "f16*f16 64x512x256 layout=nt";
    const uint64_t key = key_of(line + " packed_b=any");
    CHECK(planned(line + " packed_b=" + key_text(key)).key(VKGEMM_SLOT_B) == key);
    const auto refused = planned(line + " packed_b=" + key_text(key ^ 1)).choice;
    REQUIRE(!refused);
    CHECK(refused.status().code == VKGEMM_ERROR_UNSUPPORTED);
    CHECK(refused.status().text.find(key_text(key)) != std::string::npos);
    CHECK(refused.status().text.find(key_text(key ^ 1)) != std::string::npos);
    // Only kernels of that layout are left.
    const Planned any = planned("f16*f16 1x512x256 packed_b=" + key_text(key), "");
    REQUIRE(any.choice);
    CHECK(any.choice->kernel->module.family.name == "coopmat_packed");
}

TEST_CASE("packed: an operand that comes packed takes no pass and no workspace") {
    const auto whole = [](const char* line) {  // K is not split
        return planned(line, "coopmat_packed_f16_128x128x32", h200(), "SPLIT=1");
    };
    const Planned before = whole("f16*f16 100x200x300"), one = whole("f16*f16 100x200x300 packed_b=any"),
                  both = whole("f16*f16 100x200x300 packed_a=any packed_b=any");
    CHECK(before.steps().steps.size() == 3);
    CHECK(one.steps().steps.size() == 2);
    CHECK(both.steps().steps.size() == 1);
    CHECK(both.steps().slots[VKGEMM_SLOT_WORKSPACE].bytes == 0);
    CHECK(!both.steps().steps[0].waits);
    const uint64_t bytes = 256 * 320 * 2;  // whole row blocks, whole pairs of slices
    CHECK(one.steps().slots[VKGEMM_SLOT_B].bytes == bytes);
    CHECK(one.steps().slots[VKGEMM_SLOT_A].bytes == 100 * 300 * 2);
    const Steps pack = one.pack(VKGEMM_SLOT_B);
    REQUIRE(pack.steps.size() == 1);
    CHECK(pack.slots[VKGEMM_SLOT_B].bytes == 200 * 300 * 2);
    CHECK((pack.slots[VKGEMM_SLOT_B].reads && !pack.slots[VKGEMM_SLOT_B].writes));
    CHECK(pack.slots[VKGEMM_SLOT_D].bytes == bytes);
    CHECK((pack.slots[VKGEMM_SLOT_D].writes && !pack.slots[VKGEMM_SLOT_D].reads));
    CHECK(one.pack(VKGEMM_SLOT_A).steps.empty());
}

TEST_CASE("packed: a transposed product packs the operand of the caller's slot") {
    const Planned x = planned("f16*f16 100x200x300 layout_d=t packed_b=any");
    CHECK(x.n.swapped);
    CHECK(x.key(VKGEMM_SLOT_B) != VKGEMM_PACKED_NONE);
    CHECK(x.key(VKGEMM_SLOT_A) == VKGEMM_PACKED_NONE);
    CHECK(x.pack(VKGEMM_SLOT_B).slots[VKGEMM_SLOT_B].bytes == 200 * 300 * 2);
}

TEST_CASE("packed: nothing is packed for an empty sum, and a tile that forbids it is refused") {
    CHECK(planned("f16*f16 100x200x0 packed_b=any", "tiled_f16_16x16").key(VKGEMM_SLOT_B) == VKGEMM_PACKED_NONE);
    Planned x = planned("64x64x64 packed_b=any", "simt_f32_64x64x16");
    for (const auto& [tile, code] : {std::pair{"PACK=1", VKGEMM_ERROR_TILE},
                                     {"PACK=2", VKGEMM_ERROR_TILE},
                                     {"PACK=3", VKGEMM_SUCCESS},
                                     {"PACK=4", VKGEMM_SUCCESS}}) {
        x.request.tile = tile;
        const Status got = select(x.caps, x.n.problem, x.request).status();
        CHECK(got.code == code);
        if (code) CHECK(got.text.find("B comes packed; PACK must be 0, 3 or 4") != std::string::npos);
    }
    x = planned("64x64x64 packed_a=any packed_b=any", "simt_f32_64x64x16");
    x.request.tile = "PACK=3";
    CHECK(select(x.caps, x.n.problem, x.request).status().text.find("must be 0 or 4") != std::string::npos);
}

TEST_CASE("packed: the text of a problem has the keys") {
    const std::string line = "f16*f16+f32->f16 4x5x6 packed_a=any packed_b=00000000000000ff";
    const Result<ProblemText> read = parse_problem(line);
    REQUIRE(read);
    CHECK(read->problem.packedA == VKGEMM_PACKED_ANY);
    CHECK(read->problem.packedB == 255);
    CHECK(to_text(read->problem, 1, 0) == line);
    for (const char* wrong : {"packed_b=", "packed_b=ff", "packed_b=0000000000000000", "packed_b=ffffffffffffffff",
                              "packed_b=00000000000000fg", "packed_b=best", "packed_b=any packed_b=any"})
        CHECK(parse_problem(std::string("4x5x6 ") + wrong).status().code == VKGEMM_ERROR_PARSE);
}

TEST_CASE("packed: on a CPU driver in panels, where that is worth two passes and a workspace allows it") {
    const auto family = [](const std::string& line, const std::string& name, uint64_t workspace_limit) {
        const DeviceCaps caps = device(name);
        Request request;
        request.workspace_limit = workspace_limit;
        const Problem p = normalise(*complete(parse_problem(line)->problem)).problem;
        return select(caps, p, request)->kernel->module.family.name;
    };
    constexpr uint64_t enough = 64 << 20;
    for (const std::string large : {"320x320x320", "1024x1024x1024 layout=tt", "1600x1600x1007", "2000x300x700"}) {
        CHECK(family(large, "lavapipe", enough) == "cpu_packed");
        CHECK(family(large, "lavapipe", 0) == "cpu");
        CHECK(family(large + " invariant", "lavapipe", enough) == "cpu");
        CHECK(family(large, "swiftshader", enough) == "cpu");  // its subgroups have four invocations
    }
    for (const char* small : {"64x64x64", "256x256x256", "8x4096x1024", "1024x1x1024", "i32*i32 1024x1024x1024"})
        CHECK(family(small, "lavapipe", enough) == "cpu");
}
