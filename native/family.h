// SPDX-License-Identifier: MIT
// The family of Hopper's warp-group matrix units, in machine code (native/): the rules that its kernels rely on.
#pragma once
#include "native/native_args.h"
#include "plan/kernels/family.h"

namespace vkgemm::plan::family {

namespace wgmma_rules {
/// What the epilogue of the machine code lacks. Without a default, the compiler warns of a step that is missing
/// here. Add it to finish.cuh too, or refuse it.
constexpr const char* unfinished(VkgemmStepKind step) {
    switch (step) {
        case VKGEMM_STEP_CLAMP_ROW:
        case VKGEMM_STEP_CLAMP_COL:
            return "has no clamp by row or column";
        case VKGEMM_STEP_DRELU:
            return "has no derivative of ReLU";
        case VKGEMM_STEP_GATE_RELU:
        case VKGEMM_STEP_GATE_GELU:
        case VKGEMM_STEP_GATE_SILU:
            return "has no gates";
        case VKGEMM_STEP_BIAS_ROW:
        case VKGEMM_STEP_BIAS_COL:
        case VKGEMM_STEP_SCALE_ROW:
        case VKGEMM_STEP_SCALE_COL:
        case VKGEMM_STEP_SCALE_ALL:
        case VKGEMM_STEP_RESIDUAL:
        case VKGEMM_STEP_RELU:
        case VKGEMM_STEP_GELU:
        case VKGEMM_STEP_SILU:
        case VKGEMM_STEP_CLAMP:
        case VKGEMM_STEP_LEAKY_RELU:
        case VKGEMM_STEP_PAIR_RELU:  // takes_pairs is false
        case VKGEMM_STEP_PAIR_GELU:
        case VKGEMM_STEP_PAIR_SILU:
        case VKGEMM_STEP_NONE:
        case VKGEMM_STEP_MAX_ENUM:
            break;
    }
    return nullptr;
}
constexpr const char* unfinished(const Problem& p) {
    if (p.scalars & VKGEMM_SCALARS_LARGEST) return "does not find the largest |D|";
    for (const EpilogueStep& s : p.epilogue)
        if (const char* why = unfinished(s.kind)) return why;
    return nullptr;
}
}  // namespace wgmma_rules

namespace wgmma {

inline constexpr Family plain = {
    .name = "wgmma",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::STAGES,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM == 64 || t.BM == 128, "two warp groups share 64 rows or 128", "BM", t.BM, "at most", 128);
            const bool shares_tile = t.BM == 64 && (t.BN == 32 || t.BN == 64);
            if (shares_tile)
                r.multiple("each of two warp groups has every other stage", "STAGES", t.STAGES, "groups", 2);
            else
                r.multiple("a block is whole boxes of 64 columns", "BN", t.BN, "columns", 64);
            r.check(t.BN <= 256, "a matrix instruction has at most 256 columns", "BN", t.BN, "limit", 256);
            r.check(t.WG == 384, "one warp group loads, and two multiply", "WG", t.WG, "must be", 384);
            r.check(t.STAGES >= 2, "tiles are loaded while others are multiplied", "STAGES", t.STAGES, "least", 2);
        },
    .copy_rules =
        [](const Tile& t, const ElementBytes& e, TileRules& r) {
            r.check(t.BK * e.a == 128, "a row of a stage is one row of the swizzle", "BK in bytes", t.BK * e.a,
                    "must be", 128);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        return native::wgmma_shared_bytes(t.BM, t.BN, t.BK, t.STAGES, e.a, e.d);
    },
    .refuses = [](const Problem& p) -> const char* {
        if (const char* why = wgmma_rules::unfinished(p)) return why;
        if (p.accumulate != f64) return nullptr;
        for (const EpilogueStep& s : p.epilogue)
            if (s.kind == VKGEMM_STEP_GELU || s.kind == VKGEMM_STEP_SILU) return "has no GELU and SiLU of f64";
        return p.scalars ? "reads no scalars of f64 in memory" : nullptr;
    },
    .sample =
        [](const Tile& t, const Problem& like) {
            Problem p = like;
            if (t.BN >= 64) return p;
            p.b.layout = columnMajor;  // boxes of a row-major B have 64 columns
            p.d.layout = rowMajor;     // a column-major D swaps A and B
            return p;
        },
    .wants_pitches = true,
    .wants_addresses = true,
    .takes_converted = true,
    .gpu_cost = {.mac = 0.000589,
                 .step = 218,
                 .step_overlapped = 218,
                 .element = 0.185,
                 .ragged = 0.0265,
                 .group = 68,
                 .launch = 8610,
                 .passes = 0.756,
                 .bytes_per_cycle = 17.9,
                 .overlaps = true,
                 .transposed_bytes = 2,
                 .other_rows = 35},
    .cpu_weight = 1,
};

// Of kernels whose tiles have no factors (terms.def): comparable with the costs of shaders without their terms.
constexpr Family unfitted(Family f) {
    f.gpu_cost = {.mac = 0.00058,
                  .step = 150,
                  .step_overlapped = 150,
                  .element = 0.07,
                  .ragged = 0.6,
                  .group = 1500,
                  .launch = 3200,
                  .bytes_per_cycle = 19,
                  .overlaps = true,
                  .transposed_bytes = 2,
                  .other_rows = 45};
    return f;
}

constexpr Family make_f64() {
    Family f = unfitted(plain);
    f.variant = "f64";
    // What a step loads counts, too, so that a tile of half the columns takes a twentieth longer in all.
    f.gpu_cost.mac = 0.000524;
    f.gpu_cost.load = 0.0018;
    return f;
}
inline constexpr Family f64 = make_f64();

}  // namespace wgmma
}  // namespace vkgemm::plan::family
