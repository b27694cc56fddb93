// SPDX-License-Identifier: MIT
// The family of the matrix units for a small K: the rules that the shader coopmat_resident relies on.
#pragma once
#include <algorithm>

#include "plan/problem/epilogue.h"
#include "shaders/common/live_registers.h"
#include "shaders/common/shared_memory.h"
#include "shaders/common/short_operands.h"

namespace vkgemm::plan::family {

namespace coopmat_resident_rules {

constexpr uint64_t shared_bytes(const Tile& t, const ElementBytes& e, KContiguous k_contiguous) {
    const uint64_t chunk = 16 / e.a, subgroups = t.WG / t.SG;
    const auto rows = [&](uint64_t count, uint64_t length) { return PADDED_CHUNKS(count, length, chunk); };
    const uint64_t a = k_contiguous.a ? rows(t.WM, t.BK) : rows(t.BK, t.WM);
    const uint64_t b = k_contiguous.b ? rows(t.BN, t.BK) : rows(t.BK, t.BN), part = std::max(a, rows(t.WM, t.WN));
    return 16 * (std::max(subgroups * part, b) + t.BN / 4);
}

}  // namespace coopmat_resident_rules

inline constexpr Family coopmat_resident = {
    .name = "coopmat_resident",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::WM |
             constant::WN | constant::MM | constant::MN | constant::MK,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.SG >= 1, "the size of a subgroup must be known", "SG", t.SG, "least", 1);
            r.multiple("a block must be whole parts of subgroups", "BN", t.BN, "WN", t.WN);
            if (r.count) return;
            r.multiple("a work group must be whole rows of subgroups", "WG", t.WG, "BN/WN*SG", t.BN / t.WN * t.SG);
            if (r.count) return;
            r.multiple("a block must be whole turns of the work group", "BM", t.BM, "WG/(BN/WN*SG)*WM",
                       t.WG / (t.BN / t.WN * t.SG) * t.WM);
            r.multiple("a subgroup's part must be whole matrices", "WM", t.WM, "MM", t.MM);
            r.multiple("a subgroup's part must be pairs of matrices", "WN", t.WN, "2*MN", 2 * t.MN);
            r.multiple("a block must be whole matrices", "BK", t.BK, "MK", t.MK);
            r.check(t.BN <= 4 * t.WG, "the bias of a block is loaded at once", "BN", t.BN, "4*WG", 4 * t.WG);
            r.multiple("results leave 32 bytes an invocation", "WM*WN", t.WM * t.WN, "16*SG", 16 * t.SG);
        },
    .copy_rules =
        [](const Tile& t, const ElementBytes& e, TileRules& r) {
            const uint32_t chunk = 16 / e.a;
            r.multiple("a tile is copied in 16-byte chunks", "WM", t.WM, "elements", chunk);
            r.multiple("a tile is copied in 16-byte chunks", "BN", t.BN, "elements", chunk);
            r.multiple("a tile is copied in 16-byte chunks", "BK", t.BK, "elements", chunk);
            r.multiple("the invocations must share B evenly", "BN*BK", t.BN * t.BK, "WG*elements", t.WG * chunk);
            if (r.count) return;
            const uint32_t along = t.BK / chunk, across = t.WM / chunk;  // chunks in a row of A, k-contiguous or not
            r.multiple("rows of a tile are copied by whole numbers of invocations", "SG", t.SG, "BK in chunks", along);
            r.multiple("rows of a tile are copied by whole numbers of invocations", "SG", t.SG, "WM in chunks", across);
            if (r.count) return;
            r.multiple("the invocations must share A evenly", "WM", t.WM, "SG/(BK in chunks)", t.SG / along);
            r.multiple("the invocations must share A evenly", "BK", t.BK, "SG/(WM in chunks)", t.SG / across);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) -> uint64_t {
        using coopmat_resident_rules::shared_bytes;
        return std::max({shared_bytes(t, e, {false, false}), shared_bytes(t, e, {false, true}),
                         shared_bytes(t, e, {true, false}), shared_bytes(t, e, {true, true})});
    },
    .shared_bytes_of_layouts = coopmat_resident_rules::shared_bytes,
    .refuses = [](const Problem& p) -> const char* {
        if (p.cSource != VKGEMM_C_NONE || (p.scalars & (VKGEMM_SCALARS_MONITOR | VKGEMM_SCALARS_LARGEST)))
            return "finishes D in registers: neither adds C nor looks at what it stores";
        bool is_first = true;
        for (const EpilogueStep& step : p.epilogue) {
            const StepShape shape = info(step.kind).shape;
            if (shape != StepShape::NONE && shape != StepShape::ONE && !(is_first && step.kind == VKGEMM_STEP_BIAS_COL))
                return "finishes D in registers: of the steps that depend on the place, a bias of columns alone, first";
            is_first = false;
        }
        return too_short(p);
    },
    .sample =
        [](const Tile& t, const Problem& like) {
            Problem p = like;  // no more of K than the kernel keeps, and rows of multiples of 16 bytes
            if (p.k > 0) p.k = round_up((p.k - 1) % t.BK + 1, 8);
            p.n = round_up(p.n, 8);
            if (p.a.layout == columnMajor || p.d.layout == columnMajor) p.m = round_up(p.m, 8);
            return p;
        },
    .wants_wide = true,
    .wants_wide_d = true,
    .in_one_step = true,
    .uses_matrix_units = true,
    .registers = [](const Tile& t, const ElementBytes& e) -> double {
        return (double(t.WM) * t.WN + (double(t.BK) * t.WN + t.WM * t.BK) * e.a / 4) / t.SG + 50;
    },
    .live_registers = [](const Tile& t, const ElementBytes& e, const Registers& r) -> double {
        return sum_registers(t, e, r) + fragment_registers(t, e.a, r) * t.BK / t.MK + 70;
    },
    .gpu_cost = {.mac = 0.00082,
                 .own_load = 7.8,
                 .step = 2750,
                 .together = 8,
                 .element = 0.174,
                 .start = 94,
                 .launch = 4000,
                 .bytes_per_cycle = 21,
                 .overlaps = true},
    .cpu_weight = 9,
};

}  // namespace vkgemm::plan::family
