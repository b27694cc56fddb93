// SPDX-License-Identifier: MIT
// The rules of the families: every built-in row keeps them, every injected bad tile names all that it breaks, with
// numbers.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "plan/kernels/kernels.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using vkgemm::test::has_words;

namespace {

TileRules broken(const Kernel& kernel, const Tile& tile, const TileLimits& limits = {}) {
    return broken_rules(kernel.module.family, tile, kernel.module.element_bytes(), limits);
}

const Kernel& find_kernel_by_name(std::string_view name) {
    const Kernel* kernel = find_kernel(name);
    REQUIRE_MESSAGE(kernel, "no row named ", name);
    return *kernel;
}

}  // namespace

TEST_CASE("no two rows have one name") {  // that a row keeps its family's rules is a static_assert in kernels.cpp
    std::set<std::string_view> names;
    for (const Kernel& kernel : kernels()) {
        CAPTURE(kernel.name);
        CHECK(names.insert(kernel.name).second);
        CHECK(find_kernel(kernel.name) == &kernel);
    }
}

TEST_CASE("no two rows of a module have one tile") {
    for (const Kernel& kernel : kernels())
        for (const Kernel& other : kernels())
            CHECK_MESSAGE((&kernel == &other || &kernel.module != &other.module || kernel.tile != other.tile),
                          kernel.name, " and ", other.name);
}

TEST_CASE("the fallback asks for 64 invocations, at most 1 KiB, and nothing else") {
    const Kernel& least = find_kernel_by_name("tiled_f32_8x8");
    CHECK(least.needs == 0);
    CHECK(broken(least, least.tile, {.shared_bytes = 1024, .max_invocations = 64}).count == 0);
    CHECK(broken(least, least.tile, {.shared_bytes = 1024, .max_invocations = 63}).count == 1);
}

TEST_CASE("the ladder's shared memory is that of the texts") {
    const struct {
        std::string kernel;
        uint32_t bytes;
    } rows[] = {{"naive_f32_8x8", 0},        {"tiled_f32_16x16", 2048},  {"tiled_f32_8x8x32", 2048},
                {"vec4_f32_64x64", 8192},    {"vec4_f32_128x64", 12288}, {"vec4_f32_64x128", 12288},
                {"vec4_f32_128x128", 16384}, {"tiled_i32_16x16", 2048}};
    for (const auto& row : rows) {
        CAPTURE(row.kernel);
        const Kernel& kernel = find_kernel_by_name(row.kernel);
        CHECK(kernel.module.family.shared_bytes(kernel.tile, kernel.module.element_bytes()) == row.bytes);
        CHECK(broken(kernel, kernel.tile, {.shared_bytes = row.bytes}).count == 0);
        if (row.bytes) {
            const std::string why = to_text(broken(kernel, kernel.tile, {.shared_bytes = row.bytes - 1}));
            CHECK_MESSAGE(has_words(why, row.bytes, row.bytes - 1), why);
        }
    }
}

TEST_CASE("a bad tile lists every rule that it breaks, with both numbers") {
    const struct {
        std::string kernel, change;
        size_t rules;
        std::vector<std::string> words;
    } rows[] = {
        {"naive_f32_8x8", "WG=32", 1, {"BM*BN 64", "WG 32"}},
        {"naive_f32_8x8", "TM=2", 1, {"TM*TN 2"}},
        {"tiled_f32_8x8", "BK=12", 0, {}},
        {"tiled_f32_8x8", "BM=7,TN=2,BK=0", 3, {"BM*BN 56", "WG 64", "TM*TN 2", "BK 0"}},
        {"tiled_f32_8x8", "BK=0", 1, {"BK 0"}},
        {"vec4_f32_64x64", "BK=8", 3, {"BK*BK 64", "WG 256", "BM 64", "BK*TM 32", "BN 64"}},
        {"vec4_f32_64x64", "TM=6,BM=96", 1, {"TM 6", "vector 4"}},
        {"block_f32_64x64", "TM=0", 2, {"TM 0"}},
        {"block_f32_64x64", "BM=60", 2, {"BM 60", "TM 8", "(BM/TM)*(BN/TN) 56"}},
        {"block_f32_64x64", "BK=7", 1, {"BK 7", "vector 4"}},
        {"block_f32_64x64", "TM=64,TN=64,WG=1", 1, {"TM*TN 4096", "256"}},
        {"block_f32_64x64", "BM=8192", 1, {"BM 8192", "limit 4096"}},
        {"tiled_f32_8x8", "WG=0", 1, {"at least one"}},
        {"gemv_f32_16x1", "DEPTH=33", 1, {"DEPTH 33", "limit 32"}},
        {"gemv_f32_16x1", "TEAM=48", 1, {"WG 512", "TEAM 48"}},
        {"reduce_f32_64", "TEAM=8", 1, {"BN 64", "4*WG/TEAM 128"}},
        {"gemv_blocks_f32_1x8", "BN=24", 1, {"WG 128", "BN 24"}},
        {"gemv_blocks_f32_1x8", "BN=24,STAGES=1", 0, {}},
        {"tiled_f32_8x8", "PACK=4", 0, {}},
        {"tiled_f32_8x8", "PACK=5", 1, {"PACK 5", "limit 4"}},
    };
    for (const auto& row : rows) {
        const Kernel& kernel = find_kernel_by_name(row.kernel);
        const Result<Tile> tile = with_constants(kernel.tile, row.change);
        REQUIRE(tile);
        const TileRules rules = broken(kernel, *tile);
        const std::string why = to_text(rules);
        INFO(row.kernel, " ", row.change, ": ", why);
        CHECK(rules.count == row.rules);
        for (const std::string& word : row.words) CHECK_MESSAGE(why.find(word) != std::string::npos, word);
    }
}

TEST_CASE("a constant that the family does not read is refused by name, with those that it reads") {
    const struct {
        std::string kernel, change;
        std::vector<std::string> words;
    } rows[] = {
        {"naive_f32_8x8", "STAGES=2", {"STAGES 2", "naive reads WG, BM, BN, TM, TN, SG, RASTER, SPLIT"}},
        {"naive_f32_8x8", "BK=8", {"BK 8"}},
        {"naive_f32_8x8", "MM=16,WM=4", {"MM 16", "WM 4"}},
        {"tiled_f32_8x8", "STAGES=1", {"STAGES 1", "tiled reads WG, BM, BN, BK, TM"}},
        {"vec4_f32_64x64", "WM=32", {"WM 32", "vec4 reads"}},
        {"block_f32_64x64", "WN=32", {"WN 32", "block reads"}},
        {"simt_f32_64x64x16", "MK=16", {"MK 16", "simt reads"}},
        {"gemv_f32_16x1", "WM=16", {"WM 16", "gemv reads", "TEAM, DEPTH"}},
        {"gemv_f32_16x1", "TM=32,TN=4", {"TM 32", "TN 4", "gemv reads", "TEAM, DEPTH"}},
        {"simt_f32_64x64x16", "TEAM=32", {"TEAM 32", "simt reads"}},
        {"reduce_f32_64", "TM=16", {"TM 16", "reduce_k reads", "TEAM"}},
        {"coopmat_f16_64x64x32", "TM=8", {"TM 8", "coopmat reads", "MM, MN, MK"}},
        {"reduce_f32_64", "SPLIT=2", {"SPLIT 2", "reduce_k reads"}},
        {"reduce_f32_64", "RASTER=8", {"RASTER 8"}},
    };
    for (const auto& row : rows) {
        const Kernel& kernel = find_kernel_by_name(row.kernel);
        const std::string why = to_text(broken(kernel, *with_constants(kernel.tile, row.change)));
        INFO(row.kernel, " ", row.change, ": ", why);
        CHECK(why.find("does not read this constant") != std::string::npos);
        for (const std::string& word : row.words) CHECK_MESSAGE(why.find(word) != std::string::npos, word);
    }
    for (const Kernel& kernel : kernels()) {  // the host reads these, whatever the shader
        if (!kernel.module.is_product()) continue;
        CHECK(to_text(broken(kernel, *with_constants(kernel.tile, "RASTER=3,SPLIT=4"))) == "");
        if (!kernel.tile.SG) CHECK(to_text(broken(kernel, *with_constants(kernel.tile, "SG=32"))) == "");
    }
}

TEST_CASE("no product of constants wraps around into something that looks right") {
    const Kernel& naive = find_kernel_by_name("naive_f32_8x8");
    for (const std::string text :
         {"BM=1073741840,BN=4", "BM=65536,BN=65537,WG=65536", "WG=4294967295", "TM=65536,TN=65537"}) {
        CAPTURE(text);
        const Result<Tile> tile = with_constants(naive.tile, text);
        REQUIRE(tile);
        CHECK(broken(naive, *tile).count >= 1);
    }
}

TEST_CASE("a tile is written and read back") {
    for (const Kernel& kernel : kernels()) {
        const Result<Tile> again = with_constants(Tile{}, to_text(kernel.tile));
        REQUIRE(again);
        CHECK(*again == kernel.tile);
    }
    CHECK(to_text(find_kernel_by_name("tiled_f32_8x8").tile) == "WG=64,BM=8,BN=8,BK=8,TM=1,TN=1");
    CHECK(to_text(Tile{}) == "");
}

TEST_CASE("broken tile text is refused in words") {
    const struct {
        std::string text;
        std::vector<std::string> words;
    } rows[] = {
        {"BM", {"BM", "NAME=NUMBER"}},      {"BX=8", {"BX", "did you mean", "BM"}},
        {"BM=8,BM=16", {"BM", "twice"}},    {"BM=", {"BM", "whole number"}},
        {"BM=-8", {"-8", "whole number"}},  {"BM=8x", {"8x", "whole number"}},
        {"BM=4294967296", {"4294967296"}},  {",BM=8", {"NAME=NUMBER"}},
        {"BM=8,,BN=8", {"NAME=NUMBER"}},    {"BM=8,", {"NAME=NUMBER"}},
        {"elephant=1", {"elephant", "WG"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const Result<Tile> tile = with_constants(Tile{}, row.text);
        REQUIRE(!tile);
        CHECK(tile.status().code == VKGEMM_ERROR_TILE);
        for (const std::string& word : row.words)
            CHECK_MESSAGE(tile.status().text.find(word) != std::string::npos, tile.status().text);
    }
}

TEST_CASE("a misspelt kernel gets the nearest name") {
    CHECK(!find_kernel("tiled_f32_8x9"));
    CHECK_MESSAGE(has_words(unknown_kernel("tiled_f32_8x9"), "tiled_f32_8x9", "tiled_f32_8x8"),
                  unknown_kernel("tiled_f32_8x9"));
    CHECK_MESSAGE(has_words(unknown_kernel("zzz"), "zzz", "vkgemm kernels"), unknown_kernel("zzz"));
}
