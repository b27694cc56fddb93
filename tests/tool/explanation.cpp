// SPDX-License-Identifier: MIT
// What the tool makes of the library's candidates, and tiles drawn to scale.
#include "tools/vkgemm/report/explanation.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tools/vkgemm/cli/text.h"

using namespace vkgemm::tool;

TEST_CASE("refused kernels are grouped by the reason, those of other types by their types") {
    const std::vector<Other> others = {
        {"cpu_f32_8x32", VKGEMM_CANDIDATE_SERVES, 1.5e7},
        {"gemv_f32_1x8", VKGEMM_CANDIDATE_REJECTED, 0, VKGEMM_ERROR_UNSUPPORTED, "few rows"},
        {"gemv_f32_1x16", VKGEMM_CANDIDATE_DISABLED, 0, VKGEMM_ERROR_UNSUPPORTED, "few rows"},
        {"tiled_f32_8x8", VKGEMM_CANDIDATE_REJECTED, 0, VKGEMM_ERROR_LIMIT, "too large"},
        {"tiled_i32_8x8", VKGEMM_CANDIDATE_REJECTED, 0, VKGEMM_ERROR_UNSUPPORTED, "other types", true},
        {"naive_i32_8x8", VKGEMM_CANDIDATE_REJECTED, 0, VKGEMM_ERROR_UNSUPPORTED, "other types", true},
        {"tiled_f16_8x8", VKGEMM_CANDIDATE_REJECTED, 0, VKGEMM_ERROR_UNSUPPORTED, "other types too", true}};
    const std::vector<Refused> refused = by_reason(others);
    REQUIRE(refused.size() == 2);
    CHECK(refused[0].why == "few rows");
    CHECK(refused[0].kernels == std::vector<std::string>{"gemv_f32_1x8", "gemv_f32_1x16"});
    CHECK(refused[1].kernels == std::vector<std::string>{"tiled_f32_8x8"});
    const std::string types = other_types(others);
    CHECK(types.starts_with("i32*i32+i32->i32 (2), f16*f16+"));
    CHECK(types.ends_with(" (1)"));
    CHECK(other_types({}) == "");
}

TEST_CASE("every state of a candidate has a word of its own") {
    std::vector<std::string> words;
    for (const auto state : {VKGEMM_CANDIDATE_CHOSEN, VKGEMM_CANDIDATE_SERVES, VKGEMM_CANDIDATE_REJECTED,
                             VKGEMM_CANDIDATE_DISABLED, VKGEMM_CANDIDATE_NOT_BUILT}) {
        const std::string word = state_word(state);
        CHECK(std::ranges::find(words, word) == words.end());
        words.push_back(word);
    }
}

TEST_CASE("a drawing names its parts and fits the page, for every row") {
    for (const Kernel& k : all_kernels()) {
        if (!k.is_product()) continue;
        const std::string drawing = tile_drawing(k.tile, k.traits.sharedBytes);
        INFO(k.name(), "\n", drawing);
        std::string_view rest = drawing;
        size_t lines = 0;
        for (; !rest.empty(); ++lines) {
            const size_t end = rest.find('\n');
            CHECK(columns(rest.substr(0, end)) <= page_width);
            rest.remove_prefix(end + 1);
        }
        CHECK(lines <= 50);
        const auto size = [](uint32_t a, uint32_t b) { return std::to_string(a) + " x " + std::to_string(b); };
        CHECK(drawing.find("D, BM x BN = " + size(k.tile.BM, k.tile.BN)) != std::string::npos);
        CHECK((drawing.find("A, BM x BK = " + size(k.tile.BM, k.tile.BK)) != std::string::npos) == (k.tile.BK > 0));
        CHECK((drawing.find("▒ " + size(k.tile.WM, k.tile.WN) + ": ") != std::string::npos) == (k.tile.WM > 0));
    }
}

TEST_CASE("a block of four parts is drawn as four cells") {
    const Kernel* k = find_kernel("simt_f32_64x64x16");
    REQUIRE(k);
    const std::string drawing = tile_drawing(k->tile, k->traits.sharedBytes);
    const auto count = [&](std::string_view part) {
        size_t n = 0;
        for (size_t at = drawing.find(part); at != drawing.npos; at = drawing.find(part, at + part.size())) ++n;
        return n;
    };
    CHECK(count("┬") == k->tile.BN / k->tile.WN - 1);
    CHECK(count("├") == k->tile.BM / k->tile.WM - 1);
    CHECK(count("█") == 3);  // two of the picture, one of its words
}

TEST_CASE("tiles as numbers: constants replaced, and broken rules refused") {
    const Kernel* k = find_kernel("tiled_f32_8x8");
    REQUIRE(k);
    CHECK((k->tile.BM == 8 && k->tile.BN == 8 && k->tile.WM == 0));
    const auto larger = tile_with(*k, "BM=16,WG=128");
    REQUIRE_MESSAGE(bool(larger), larger.status().text);
    CHECK((larger->BM == 16 && larger->BN == 8));
    CHECK(tile_with(*k, "BM=7").status().code == VKGEMM_ERROR_TILE);
    CHECK(tile_with(*k, "XY=7").status().code == VKGEMM_ERROR_TILE);
}
