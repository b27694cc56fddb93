// SPDX-License-Identifier: MIT
// When one dispatch computes a chain: on a recorded device, without a GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "plan/fused_chain.h"
#include "plan/problem/problem.h"
#include "support/files.h"

using namespace vkgemm;
using namespace vkgemm::plan;

namespace {

vkgemm::plan::DeviceCaps h200() {
    auto caps = parse_device_caps(test::file_text("devices/h200.txt"));
    REQUIRE(bool(caps));
    return *caps;
}

Problem layer(uint64_t n, uint64_t k) {
    Problem p;
    p.m = 65536;
    p.n = n;
    p.k = k;
    p.a.type = f16;
    p.epilogue.add({.kind = VKGEMM_STEP_RELU});
    return p;
}

/// A chain of four layers of 64, changed by `change`.
struct Case {
    vkgemm::plan::DeviceCaps caps = h200();
    std::vector<Problem> layers{4, layer(64, 64)};
    Request request{};
    uint32_t kept = 0;

    Result<FusedChain> fuse() const {
        std::vector<Problem> completed;
        for (const Problem& p : layers) {
            const Result<Problem> one = complete(p);
            REQUIRE_MESSAGE(bool(one), one.status().text);
            completed.push_back(*one);
        }
        return plan::fuse(caps, completed, kept, request);
    }
};

Problem gradient() {
    Problem p = layer(64, 64);
    p.epilogue = {};
    p.epilogue.add({.kind = VKGEMM_STEP_DRELU});
    return p;
}

void count_rows(Case& c) {
    for (Problem& p : c.layers) {
        p.grouping = VKGEMM_GROUPING_TABLE;
        p.upTo = VKGEMM_UP_TO_M;
    }
}

uint32_t value_of(const FusedChain& f, uint32_t id) { return f.key.value(id); }

void refused(const std::function<void(Case&)>& change, const std::vector<std::string>& words) {
    Case c;
    change(c);
    const auto fused = c.fuse();
    REQUIRE_FALSE(bool(fused));
    for (const std::string& word : words)
        CHECK_MESSAGE(fused.status().text.find(word) != std::string::npos, word, " is not in: ", fused.status().text);
}

}  // namespace

TEST_CASE("fusing: four layers of 64 on an H200") {
    Case c;
    c.kept = 2;
    const auto fused = c.fuse();
    REQUIRE_MESSAGE(bool(fused), fused.status().text);
    CHECK(fused->key.module->name == "chain_f16_converted");
    CHECK(fused->tile == "WG=256,WM=32,MM=16,RESIDENT=1");
    CHECK(value_of(*fused, CHAIN_ID_SG) == 32);
    CHECK(fused->rows_at_once == 32);
    CHECK(fused->most_groups == c.caps.compute_units);
    CHECK(fused->groups(0) == 0);
    CHECK(fused->groups(1) == 1);
    CHECK(fused->groups(33) == 2);
    CHECK(fused->groups(65536) == c.caps.compute_units);
    CHECK(fused->groups(1u << 31) <= fused->most_groups);
    CHECK(value_of(*fused, CHAIN_ID_WEIGHT_CHUNKS) == 4 * 64 * 9);
    CHECK(value_of(*fused, CHAIN_ID_B_CHUNK + 3) == 3 * 64 * 9);
    const uint32_t wide = VKGEMM_STEP_RELU | CHAIN_WIDE_B | CHAIN_WIDE;
    CHECK(value_of(*fused, CHAIN_ID_FLAGS) == wide);
    CHECK(value_of(*fused, CHAIN_ID_FLAGS + 1) == (wide | CHAIN_STORED));
    CHECK(value_of(*fused, CHAIN_ID_FLAGS + 3) == (wide | CHAIN_STORED));
    c.layers.back() = layer(3, 64);  // rows of 6 bytes
    c.layers.back().b.layout = columnMajor;
    const auto narrow = c.fuse();
    REQUIRE(bool(narrow));
    CHECK(value_of(*narrow, CHAIN_ID_FLAGS + 3) == (VKGEMM_STEP_RELU | CHAIN_WIDE_B | CHAIN_TRANS_B | CHAIN_STORED));
    c.request.operand_alignment = 2;
    CHECK(value_of(*c.fuse(), CHAIN_ID_WIDE_ROWS) == 0);
}

TEST_CASE("fusing: a subgroup takes more rows at once where its turns are full") {
    Case c;
    const uint64_t turn = uint64_t{c.caps.compute_units} * 8;             // of blocks of rows
    for (const auto& [rows, at_once] : {std::pair{uint64_t{1}, 32u},      // 1 turn either way
                                        {turn * 32 + 1, 48u},             // 2 turns, or 1 of more rows
                                        {uint64_t{65536}, 32u},           // 2 and 2
                                        {uint64_t{262144}, 32u},          // 8 and 6, which take as long as 8.2
                                        {uint64_t{1920} * 1080, 48u}}) {  // 62 and 41
        CAPTURE(rows);
        for (Problem& p : c.layers) p.m = rows;
        const auto fused = c.fuse();
        REQUIRE_MESSAGE(bool(fused), fused.status().text);
        CHECK(fused->rows_at_once == at_once);
        CHECK(value_of(*fused, CHAIN_ID_WM) == at_once);
        CHECK_FALSE(unfit(fused->key, c.caps));
    }
    for (const auto& change : std::vector<std::function<void(Case&)>>{
             [](Case& x) { x.layers[0].a.layout = columnMajor; }, [](Case& x) { x.layers[3].d.layout = columnMajor; },
             [](Case& x) {
                 x.layers[1] = gradient();
                 x.layers[1].m = x.layers[0].m;
             }}) {
        Case other = c;
        change(other);
        const auto fused = other.fuse();
        REQUIRE_MESSAGE(bool(fused), fused.status().text);
        CHECK(fused->tile == "WG=256,WM=32,MM=16,RESIDENT=1");
    }
    for (Problem& p : c.layers) p.a.type = bf16;
    CHECK(c.fuse()->tile == "WG=384,WM=32,MM=16,RESIDENT=1");
    for (Problem& p : c.layers) p.m = 262144;
    CHECK(c.fuse()->tile == "WG=256,WM=32,MM=16,RESIDENT=1");
}

TEST_CASE(
    "fusing: the key of each tile is read back, fits, and does not with a constant beyond the limits of an H200") {
    Case two_layers, screen, wide;
    two_layers.layers = {layer(16, 32), layer(16, 16)};
    for (Problem& p : screen.layers) p.m = 1920 * 1080;
    wide.layers.assign(4, layer(128, 128));
    const struct {
        uint32_t id, value;
        std::string_view why;
    } rows[] = {{CHAIN_ID_MAX_WIDTH, 144, "MAX_WIDTH is 144; it must be a multiple of 16 up to 128"},
                {CHAIN_ID_MAX_WIDTH, 24, "MAX_WIDTH is 24; it must be a multiple of 16 up to 128"},
                {CHAIN_ID_WM, 80, "WM is 80; it must be a multiple of 16 up to 64"},
                {CHAIN_ID_WG, 1056, "WG is 1056; it must be a multiple of 32 up to 1024"},
                {CHAIN_ID_SG, 64, "MM is 16 and SG 64; the device has 16 and 32"},
                {CHAIN_ID_LAYERS, 7, "LAYERS is 7; it must be 1 to 6"},
                {CHAIN_ID_INPUTS, 129, "INPUTS is 129; it must be 1 to MAX_WIDTH ("},
                {CHAIN_ID_WIDTH + 1, 0, "WIDTH_1 is 0; it must be 1 to MAX_WIDTH ("},
                {CHAIN_ID_WEIGHT_CHUNKS, 3072, "bytes of shared memory; the device has 49152"}};
    for (const Case* c : {&two_layers, &screen, &wide}) {
        const auto fused = c->fuse();
        REQUIRE_MESSAGE(bool(fused), fused.status().text);
        const auto read = parse_chain_key(to_text(fused->key));
        REQUIRE_MESSAGE(bool(read), read.status().text);
        CHECK(*read == fused->key);
        CHECK_FALSE(unfit(fused->key, c->caps));
        for (const auto& row : rows) {
            ChainKey key = fused->key;
            std::ranges::find(key.constants, row.id, &ChainConstant::id)->value = row.value;
            const auto why = unfit(key, c->caps);
            REQUIRE_MESSAGE(bool(why), row.why);
            CHECK_MESSAGE(why->text.find(row.why) != std::string::npos, why->text, row.why);
        }
    }
}

TEST_CASE("fusing: rows of up to 128 elements of f16") {
    Case c;
    c.layers.assign(4, layer(128, 128));
    const auto fused = c.fuse();
    REQUIRE_MESSAGE(bool(fused), fused.status().text);
    CHECK(fused->tile == "WG=256,WM=32,MM=16,RESIDENT=0");
    CHECK(fused->most_groups == c.caps.compute_units);
    CHECK_FALSE(unfit(fused->key, c.caps));
    c.layers.assign(2, layer(96, 96));
    CHECK(c.fuse()->tile == "WG=256,WM=32,MM=16,RESIDENT=1");
    for (const auto& change : std::vector<std::function<void(Case&)>>{
             [](Case& x) { x.layers[0].a.layout = columnMajor; }, [](Case& x) { x.caps.max_subgroups = 4; },
             [](Case& x) {
                 for (Problem& p : x.layers) p.a.type = bf16;
             },
             [](Case& x) { x.caps.matrix_shapes.clear(); }}) {
        Case other = c;
        change(other);
        CHECK_FALSE(bool(other.fuse()));
    }
}

TEST_CASE("fusing: a column-major A and D, gradients, and rows that the GPU counts") {
    Case c;
    c.layers[0].a.layout = columnMajor;
    c.layers[1] = gradient();
    c.layers[3].d = {.layout = columnMajor, .ld = 65540};  // columns of whole 8 bytes
    count_rows(c);
    const auto fused = c.fuse();
    REQUIRE_MESSAGE(bool(fused), fused.status().text);
    CHECK(fused->key.module->name == "chain_f16_converted");
    CHECK(value_of(*fused, CHAIN_ID_TRANS_A) == 1);
    CHECK(value_of(*fused, CHAIN_ID_LDA) == 65536);
    CHECK(value_of(*fused, CHAIN_ID_WIDE_ROWS) == 1);
    CHECK(value_of(*fused, CHAIN_ID_COUNTED) == 1);
    CHECK(value_of(*fused, CHAIN_ID_FLAGS + 1) == (VKGEMM_STEP_DRELU | CHAIN_WIDE_B | CHAIN_WIDE));
    CHECK(value_of(*fused, CHAIN_ID_FLAGS + 3) == (VKGEMM_STEP_RELU | CHAIN_WIDE_B | CHAIN_STORED | CHAIN_TRANS_D));
    ChainKey key = fused->key;
    CHECK_FALSE(unfit(key, c.caps));
    c.layers.assign(6, layer(64, 64));
    key = c.fuse()->key;
    CHECK_FALSE(unfit(key, c.caps));
    std::ranges::find(key.constants, uint32_t{CHAIN_ID_COUNTED}, &ChainConstant::id)->value = 1;
    REQUIRE(unfit(key, c.caps));
    CHECK(unfit(key, c.caps)->text.find("LAYERS is 6; it must be 1 to 5") != std::string::npos);
    c.layers.assign(3, layer(64, 64));  // with the group, four places
    count_rows(c);
    c.caps.max_push_constant_bytes = 128;
    CHECK(c.fuse()->key.module->name == "chain_simt_f16_4");
}

TEST_CASE("fusing: weights that do not fit are loaded for each turn, and conversions are not required") {
    Case c;
    c.layers.assign(6, layer(64, 64));
    c.caps.features &= ~need::coopmat2_conversions;
    const auto fused = c.fuse();
    REQUIRE_MESSAGE(bool(fused), fused.status().text);
    CHECK(fused->key.module->name == "chain_f16");
    CHECK(value_of(*fused, CHAIN_ID_RESIDENT) == 0);
    CHECK(value_of(*fused, CHAIN_ID_WEIGHT_CHUNKS) == 64 * 9);
    CHECK(value_of(*fused, CHAIN_ID_B_CHUNK + 5) == 0);
}

TEST_CASE("fusing: a work group has no more subgroups than the device allows") {
    Case c;
    for (const auto& [most, tile] : {std::pair{0u, "WG=256,WM=32,MM=16,RESIDENT=1"},
                                     {4u, "WG=128,WM=32,MM=16,RESIDENT=1"},
                                     {3u, "WG=64,WM=32,MM=16,RESIDENT=0"},
                                     {1u, "WG=32,WM=32,MM=16,RESIDENT=0"}}) {
        CAPTURE(most);
        c.caps.max_subgroups = most;
        const auto fused = c.fuse();
        REQUIRE_MESSAGE(bool(fused), fused.status().text);
        CHECK(fused->tile == tile);
    }
}

TEST_CASE("fusing: a work group has no more subgroups than its registers are for") {
    Case c;
    c.caps.vendor = 0x1002;
    c.caps.subgroup_size = 64;
    c.caps.features &= ~need::coopmat2_conversions;
    for (const auto& [name, width, tile] : {std::tuple{"RADV NAVI31", 64, "WG=512,WM=32,MM=16,RESIDENT=1"},
                                            {"RADV STRIX1", 64, "WG=256,WM=32,MM=16,RESIDENT=1"},
                                            {"RADV STRIX1", 48, "WG=512,WM=32,MM=16,RESIDENT=1"}}) {
        CAPTURE(name);
        c.caps.name = name;
        c.layers.assign(4, layer(uint64_t(width), uint64_t(width)));
        const auto fused = c.fuse();
        REQUIRE_MESSAGE(bool(fused), fused.status().text);
        CHECK(fused->tile == tile);
    }
}

TEST_CASE("fusing: without what matrix units need, ordinary arithmetic") {
    for (const auto& change : std::vector<std::function<void(Case&)>>{
             [](Case& c) { c.caps.max_push_constant_bytes = 128; }, [](Case& c) { c.caps.matrix_shapes.clear(); },
             [](Case& c) { c.caps.features &= ~need::coopmat; },
             [](Case& c) { c.caps.api_version = 1u << 22 | 2u << 12; }, [](Case& c) { c.caps.subgroup_size = 0; }}) {
        Case c;
        change(c);
        const auto fused = c.fuse();
        REQUIRE_MESSAGE(bool(fused), fused.status().text);
        CHECK(fused->key.module->name == "chain_simt_f16_4");
        CHECK(fused->tile == "WG=128,BM=64,BK=16");
        CHECK(fused->groups(65536) == 1024);
        CHECK(fused->groups(65) == 2);
    }
    Case c;
    c.layers.assign(5, layer(63, 63));
    for (Problem& p : c.layers) p.a.type = f32;
    c.caps.shared_bytes = 16384;
    const auto fused = c.fuse();
    REQUIRE_MESSAGE(bool(fused), fused.status().text);
    CHECK(fused->key.module->name == "chain_simt_f32");
    CHECK(fused->tile == "WG=64,BM=32,BK=16");
    CHECK(value_of(*fused, CHAIN_ID_MAX_WIDTH) == 64);
    CHECK((value_of(*fused, CHAIN_ID_FLAGS) & (CHAIN_WIDE_B | CHAIN_WIDE)) == 0);
}

TEST_CASE("fusing: the reason of the products against one dispatch") {
    refused(
        [](Case& c) {
            c.layers[2] = layer(65, 64);
            c.kept = 1;
        },
        {"product 2", "n is 65", "up to 64"});
    refused(
        [](Case& c) {
            c.layers[0] = layer(64, 80);
            for (Problem& p : c.layers) p.m = 65535;
        },
        {"product 0", "k is 80", "up to 64", "65536"});
    refused([](Case& c) { c.layers[2] = layer(129, 64); }, {"product 2", "n is 129", "up to 128"});
    refused([](Case& c) { c.layers.assign(7, layer(64, 64)); }, {"7 products", "up to 6"});
    refused([](Case& c) { c.layers[1].a.type = f32; }, {"product 1", "type f32", "product 0", "f16"});
    refused([](Case& c) { c.layers[1].accumulate = f16; }, {"product 1", "sums of f32"});
    refused([](Case& c) { c.layers[1].cSource = VKGEMM_C_IS_D; }, {"product 1", "C"});
    refused(
        [](Case& c) {
            c.layers.assign(6, layer(64, 64));
            count_rows(c);
        },
        {"6 products", "GPU counts", "up to 5"});
    refused(
        [](Case& c) {
            count_rows(c);
            c.caps.max_push_constant_bytes = 128;
        },
        {"184 bytes of push constants", "128"});
    refused([](Case& c) { c.layers[1].epilogue.add({.kind = VKGEMM_STEP_DRELU}); }, {"product 1", "ReLU alone"});
    refused(
        [](Case& c) {
            c.layers[1] = gradient();
            c.layers[1].residualType = f32;
        },
        {"product 1", "residual is f32", "f16"});
    refused([](Case& c) { c.layers[0].batchInvariant = true; }, {"batch-invariant"});
    refused([](Case& c) { c.layers[0].epilogue.add({.kind = VKGEMM_STEP_BIAS_COL}); },
            {"product 0", "bias of columns"});
    refused(
        [](Case& c) {
            for (Problem& p : c.layers) p.batch = 2;
        },
        {"batch is 2"});
    refused(
        [](Case& c) {
            for (Problem& p : c.layers) p.m = 1u << 26;
        },
        {"spans more than"});
    refused(
        [](Case& c) {
            c.kept = 15;
            for (Problem& p : c.layers) p.m = 131073;
        },
        {"every D is kept", "131073", "131072"});
}

TEST_CASE("fusing: the reason of the request, the device and the types against one dispatch") {
    refused([](Case& c) { c.request.kernel = "naive_f32_8x8"; }, {"kernel"});
    refused([](Case& c) { c.request.preferred_kernel = "naive_f32_8x8"; }, {"kernel"});
    refused([](Case& c) { c.request.dispatch_seconds = 1; }, {"dispatchSeconds"});
    refused([](Case& c) { c.request.descriptors = true; }, {"descriptors"});
    refused(
        [](Case& c) {
            c.caps.max_push_constant_bytes = 128;
            c.layers.assign(5, layer(64, 64));
        },
        {"184 bytes of push constants", "128"});
    refused([](Case& c) { c.caps.features &= ~need::buffer_address; }, {"not enabled", "buffer_address"});
    refused([](Case& c) { c.caps.shared_bytes = 8192; }, {"shared memory", "8192"});
    refused([](Case& c) { c.caps.kind = DeviceKind::cpu; }, {"CPU"});
    refused(
        [](Case& c) {
            c.caps.matrix_shapes.clear();
            c.caps.shared_bytes = 8192;
        },
        {"12800 bytes of shared memory", "8192"});
    refused(
        [](Case& c) {
            c.layers.assign(2, layer(64, 64));
            for (Problem& p : c.layers) p.a.type = f32;
            c.layers[1].epilogue = {};
            c.layers[1].epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
            c.layers[1].biasType = f16;
        },
        {"product 1", "bias is f16", "f32"});
}
