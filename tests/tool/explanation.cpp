// SPDX-License-Identifier: MIT
// What the library says of a choice is read back whole, and tiles are drawn to scale.
#include "tools/vkgemm/report/explanation.h"

#include <doctest/doctest.h>

#include "tools/vkgemm/cli/text.h"

using namespace vkgemm::tool;
namespace plan = vkgemm::plan;

TEST_CASE("an explanation is read line by line") {
    const Explanation e = read_explanation(
        "kernel     simt_f32_64x64x16\n"
        "tile       WG=128,BM=64,BN=64,BK=16,WM=32,WN=32,TM=8,TN=4,RASTER=8\n"
        "cost       1.34e+08\n"
        "operands   device addresses\n"
        "workspace  4096 bytes\n"
        "dispatch   simt_f32_64x64x16, 128 work groups of 128\n"
        "dispatch   reduce_f32_64, 16 work groups of 64\n"
        "tuned      NVIDIA H200 | 64x64x64 | simt_f32_64x64x16 |\n"
        "note       VKGEMM_KERNEL was not followed: why\n"
        "news       of a later version\n"
        "not        cpu_f32_8x32: costs 1.5e+07\n"
        "not        gemv_f32_1x8: gemv_f32_1x8: is for up to 16 rows or columns\n"
        "not        gemv_f32_1x16: is for up to 16 rows or columns\n"
        "not        tiled_i32_8x8: multiplies i32*i32+i32->i32, not f32*f32+f32->f32\n");
    CHECK(e.no_kernel.empty());
    CHECK(e.kernel == "simt_f32_64x64x16");
    CHECK(plan::with_constants({}, e.tile));
    CHECK(e.cost == 1.34e8);
    CHECK(e.operands == "device addresses");
    CHECK(e.workspace == 4096);
    REQUIRE(e.passes.size() == 2);
    CHECK(e.passes[1].kernel == "reduce_f32_64");
    CHECK(e.passes[1].groups == 16);
    CHECK(e.passes[1].invocations == 64);
    CHECK(e.tuned.starts_with("NVIDIA H200 |"));
    CHECK(e.notes == std::vector<std::string>{"VKGEMM_KERNEL was not followed: why", "news       of a later version"});
    REQUIRE(e.others.size() == 4);
    CHECK(e.others[0].cost == 1.5e7);
    CHECK(!e.others[1].cost);

    const std::vector<Refused> refused = by_reason(e.others);
    REQUIRE(refused.size() == 2);
    CHECK(refused[0].why == "is for up to 16 rows or columns");
    CHECK(refused[0].kernels == std::vector<std::string>{"gemv_f32_1x8", "gemv_f32_1x16"});
    CHECK(refused_types(refused[0]) == "");
    CHECK(refused_types(refused[1]) == "i32*i32+i32->i32");
}

TEST_CASE("an explanation of nothing has its reason, and no kernel") {
    const Explanation e = read_explanation("no kernel: tiled_f32_8x8: why\nnot        tiled_f32_8x8: why\n");
    CHECK(e.no_kernel == "tiled_f32_8x8: why");
    CHECK(e.kernel.empty());
    CHECK(e.notes.empty());
    CHECK(e.others.size() == 1);
    CHECK(read_explanation("").others.empty());
    CHECK(read_explanation("dispatch\ncost\nnot\n\n").passes.size() == 1);
}

TEST_CASE("a drawing names its parts and fits the page, for every row") {
    for (const plan::Kernel& k : plan::kernels()) {
        if (!k.module.is_product()) continue;
        const std::string drawing = tile_drawing(k, k.tile);
        INFO(k.name, "\n", drawing);
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
    const plan::Kernel* k = plan::find_kernel("simt_f32_64x64x16");
    REQUIRE(k);
    const std::string drawing = tile_drawing(*k, k->tile);
    const auto count = [&](std::string_view part) {
        size_t n = 0;
        for (size_t at = drawing.find(part); at != drawing.npos; at = drawing.find(part, at + part.size())) ++n;
        return n;
    };
    CHECK(count("┬") == k->tile.BN / k->tile.WN - 1);
    CHECK(count("├") == k->tile.BM / k->tile.WM - 1);
    CHECK(count("█") == 3);  // two of the picture, one of its words
}
