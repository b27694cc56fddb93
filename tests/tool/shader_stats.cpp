// SPDX-License-Identifier: MIT
// Drivers' own words become figures.
#include "tools/vkgemm/report/shader_stats.h"

#include <doctest/doctest.h>

using vkgemm::host::PipelineReport;
using vkgemm::tool::assembly_of;
using vkgemm::tool::shader_stats_of;
using vkgemm::tool::ShaderStats;

TEST_CASE("RADV's words") {
    const PipelineReport told = {{{"VGPRs", 96}, {"SGPRs", 108}, {"Spilled VGPRs", 3}, {"Code size", 8800}},
                                 {{"ACO IR", "v_wmma"}, {"Assembly", "v_wmma_f32 a\nv_add b\nv_wmma_f32 c\n"}}};
    const ShaderStats f = shader_stats_of(told);
    CHECK(f.registers == 96);
    CHECK(f.spills == 3);
    CHECK(f.spill());
    CHECK(f.code == 8800);
    CHECK(!f.shared);
    CHECK(f.matrix == "2 v_wmma");
    REQUIRE(assembly_of(told));
    CHECK(assembly_of(told)->name == "Assembly");
}

TEST_CASE("Turnip counts its code in words of four bytes") {
    const ShaderStats f = shader_stats_of({{{"Code size", 1030}, {"Registers used", 6}, {"STP Count", 0}}, {}});
    CHECK(f.code == 4120);
    CHECK(f.registers == 6);
    CHECK(!f.spill());
}

TEST_CASE("a driver that tells nothing, or in other words, has no figures") {
    CHECK(!assembly_of({}));
    const ShaderStats f = shader_stats_of({{{"Wonders", 7}}, {{"NIR", "hmma"}}});
    CHECK(!f.registers);
    CHECK(!f.code);
    CHECK(f.matrix.empty());
}
