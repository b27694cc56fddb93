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

TEST_CASE("ANV's words") {
    const PipelineReport told = {{{"Code size", 81696},
                                  {"Spills", 134},
                                  {"Fills", 162},
                                  {"Scratch Memory Size", 4096},
                                  {"GRF registers", 0},
                                  {"Max live registers", 204},
                                  {"Workgroup Memory Size", 12800}},
                                 {{"Final NIR", ""}, {"GEN Assembly", "dpas.8x8 (8) r10 r20\nmad (8) r1\n"}}};
    const ShaderStats f = shader_stats_of(told);
    CHECK(f.code == 81696);
    CHECK(f.spills == 134);
    CHECK(f.scratch == 4096);
    CHECK(f.registers == 204);
    CHECK(f.shared == 12800);
    CHECK(f.matrix == "1 dpas");
}

TEST_CASE("Honeykrisp's words") {
    const ShaderStats f =
        shader_stats_of({{{"GPRs", 255}, {"Scratch", 32}, {"Threads", 384}, {"Spills", 8}, {"Code size", 13616}}, {}});
    CHECK(f.registers == 255);
    CHECK(f.scratch == 32);
    CHECK(f.spills == 8);
    CHECK(f.code == 13616);
}

TEST_CASE("a driver that tells nothing, or in other words, has no figures") {
    CHECK(!assembly_of({}));
    const ShaderStats f = shader_stats_of({{{"Wonders", 7}}, {{"NIR", "hmma"}}});
    CHECK(!f.registers);
    CHECK(!f.code);
    CHECK(f.matrix.empty());
}
