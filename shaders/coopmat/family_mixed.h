// SPDX-License-Identifier: MIT
// The family of the matrix units for operands of mixed types: coopmat with the rules of its loads.
#pragma once
#include "shaders/coopmat/family.h"

namespace vkgemm::plan::family::coopmat {

constexpr Family make_mixed() {
    Family f = plain;
    f.variant = "mixed";
    f.accuracy = VKGEMM_ACCURACY_NARROW;
    f.takes_converted = false;
    f.takes_straight = false;
    f.rules = [](const Tile& t, TileRules& r) {
        r.check(t.STAGES == 1, "tiles of mixed types are decoded one at a time", "STAGES", t.STAGES, "must be", 1);
        plain.rules(t, r);
    };
    // The fragments are of f16. Eight elements in flight have words for the codes and the scales of blocks.
    f.live_registers = [](const Tile& t, const ElementBytes& e, const Registers& r) {
        const ElementBytes of_units = {.a = 2, .b = 2, .d = e.d, .accumulator = e.accumulator};
        return coopmat_rules::live_registers(t, of_units, r) + 12;
    };
    f.narrow_registers = nullptr;
    f.gpu_cost = {.mac = 0.00022,
                  .step = 700,
                  .step_overlapped = 1160,
                  .element = 0.29,
                  .group = 2500,
                  .launch = 4000,
                  .bytes_per_cycle = 37,
                  .misaligned = 2.4,
                  .transposed_bytes = 2,
                  .decode = 0.14};
    f.refuses = [](const Problem& p) -> const char* {
        for (const Type t : {p.a.type, p.b.type})
            if (t == bf16) return "rounds to f16, which is not for bf16";
        const uint64_t along_a = p.a.layout == rowMajor ? p.k : p.m, along_b = p.b.layout == rowMajor ? p.n : p.k;
        return along_a % 8 || along_b % 8 ? "is for operands whose rows are a multiple of 8 elements" : nullptr;
    };
    f.sample = [](const Tile&, const Problem& like) {
        Problem p = like;
        p.k = round_up(p.k, 8);
        if (p.a.layout == columnMajor) p.m = round_up(p.m, 8);
        if (p.b.layout == rowMajor && info(p.b.type).is_plain()) p.n = round_up(p.n, 8);
        return p;
    };
    return f;
}
inline constexpr Family mixed = make_mixed();

}  // namespace vkgemm::plan::family::coopmat
