// SPDX-License-Identifier: MIT
// The family of few rows by a B of a block format: the rules that the shader gemv_blocks relies on.
#pragma once
#include <algorithm>

#include "plan/kernels/family.h"
#include "shaders/gemv_blocks/shared_memory.h"

namespace vkgemm::plan::family {

/// What the row CHUNK64 of a format in shaders/formats states.
struct Chunk64 {
    Type format;
    bool has_dots;  // there are codes as signed bytes; formats with a table of values have none
};
inline constexpr Chunk64 chunk64_formats[] = {
#define CHUNK64(name, elements, bytes, words, fours, factors, bias, offset, dots) {VKGEMM_TYPE_##name, dots != 0},
#include "shaders/formats/all.glsl"
#undef CHUNK64
};

/// Whether the shaders decode a format: those with sub-blocks, signs or tables, not codes with a scale and a zero point
/// for each group.
constexpr bool has_chunk64(Type format) {
    return std::ranges::any_of(chunk64_formats, [=](const Chunk64& x) { return x.format == format; });
}

/// The format of has_chunk64() that takes the least shared memory.
inline constexpr Type least_chunk64 =
    std::ranges::min(chunk64_formats, {}, [](const Chunk64& x) { return info(x.format).bytes_of(256); }).format;

/// Words that a step of a column takes, with one more where chunks begin between words.
constexpr uint64_t staged_words(const Tile& t, Type format) {
    const uint64_t words = info(format).bytes_of(uint64_t{t.TEAM} * t.DEPTH * 64) / 4;
    return words + (info(format).bytes_of(256) % 16 == 0 ? 0 : 1);
}

/// Shared memory for B of this format.
constexpr uint64_t staged_bytes(const Tile& t, Type format) {
    if (t.STAGES <= 1) return 16;
    const uint64_t words = staged_words(t, format);
    const uint64_t column = t.DEPTH == 1 ? (words + 7) / 32 * 32 + 25 : (words + 23) / 32 * 32 + 8;
    return (4 * column * t.BN + 15) / 16 * 16;
}

constexpr uint64_t gemv_blocks_bytes(const Tile& t, const ElementBytes& e, Type format) {
    const uint64_t a = uint64_t{t.BM} * GEMV_BLOCKS_ROW(t.TEAM * t.DEPTH),
                   parts = (uint64_t{t.BM} * t.BN * t.TEAM + 3) / 4;  // A, or at the end the sums
    return 4 * e.accumulator * (a > parts ? a : parts) + staged_bytes(t, format);
}

/// Few rows, and columns of whole blocks. Staged by fours, q8_0 takes more than the 32 KiB of shared memory that many
/// devices have.
inline Problem gemv_blocks_sample(const Tile& t, const Problem& like) {
    Problem p = like;
    (t.BM <= t.BN ? p.m : p.n) = std::min(t.BM, t.BN);
    if (info(p.b.type).is_plain()) p.b.type = t.STAGES > 1 && t.DEPTH > 1 ? VKGEMM_TYPE_Q4_0 : VKGEMM_TYPE_Q8_0;
    p.a.layout = p.d.layout = rowMajor;  // a column-major D swaps A and B
    p.b.layout = columnMajor;
    p.k = round_up(p.k, 64);
    return p;
}

namespace gemv_blocks {

inline constexpr Family plain = {
    .name = "gemv_blocks",
    .reads = constant::of_every_product | constant::WG | constant::BM | constant::BN | constant::BK | constant::TEAM |
             constant::STAGES | constant::DEPTH,
    .rules =
        [](const Tile& t, TileRules& r) {
            r.check(t.BM <= 16, "rows are at most 16", "BM", t.BM, "limit", 16);
            r.check(t.STAGES <= 2, "B is staged at most once", "STAGES", t.STAGES, "limit", 2);
            r.multiple("teams must fill the work group exactly", "WG", t.WG, "TEAM", t.TEAM);
            const bool by_fours = !r.count && t.STAGES == 2 && t.DEPTH == 4 && t.WG / t.TEAM % 4 == 0;
            r.multiple("invocations of a team are neighbours by eights, or by fours where four teams share A", "TEAM",
                       t.TEAM, "neighbours", by_fours ? 4 : 8);
            r.multiple("a slice of K is whole blocks", "BK", t.BK, "elements", 256);
            r.check(t.DEPTH == 1 || t.DEPTH == 4, "an invocation has 64 elements or 256", "DEPTH", t.DEPTH, "limit", 4);
            if (t.STAGES > 1)
                r.multiple("invocations must share the columns of a staged B evenly", "WG", t.WG, "BN", t.BN);
            if (r.count) return;
            r.multiple("teams must share the outputs evenly", "BN", t.BN, "WG/TEAM", t.WG / t.TEAM);
            r.check(t.BN * t.TEAM / t.WG * t.BM <= 64, "sums must fit the registers", "sums of an invocation",
                    t.BN * t.TEAM / t.WG * t.BM, "limit", 64);
        },
    .shared_bytes = [](const Tile& t, const ElementBytes& e) { return gemv_blocks_bytes(t, e, least_chunk64); },
    .shared_bytes_of_format = gemv_blocks_bytes,
    .refuses = [](const Problem& p) -> const char* {
        if (p.m > 16) return "is for up to 16 rows";
        if (p.a.layout != rowMajor || p.b.layout != columnMajor) return "is for a row-major A and a column-major B";
        if (!has_chunk64(p.b.type)) return "is for a B of the block formats from q8_0 to nvfp4";
        if (p.k % 64 != 0 || p.b.ld % 64 != 0 || p.b.batchStride % 64 != 0 || p.outerStrideB % 64 != 0)
            return "is for columns of B that are, and begin at, multiples of 64 elements";
        if ((has_table(p) || p.upTo & VKGEMM_UP_TO_STRIDES) && info(p.b.type).block == 32)
            return "is for groups, and strides that vary, of blocks of more than 32 elements, whose columns begin on "
                   "words whatever their number";
        return nullptr;
    },
    .sample = gemv_blocks_sample,
    .reads_chunk64 = true,
    .takes_pairs = true,
    // The words of the columns' chunks, and of the next ones if they do not come from shared memory; what is in flight
    // of A; the sums, and what is decoded for each.
    .live_registers = [](const Tile& t, const ElementBytes&, const Registers&) -> double {
        const uint32_t columns = t.BN * t.TEAM / t.WG, chunks = t.STAGES == 2 && t.DEPTH == 4 ? 1 : 2;
        return 17 * columns * t.DEPTH * chunks + double(t.BM) * t.TEAM * 16 * t.DEPTH / t.WG + 5 * columns * t.BM + 80;
    },
    .gpu_cost = {.mac = 0.0175, .bytes_per_cycle = 20, .reread = 0.5, .misaligned = 1.5, .decode = 0.006},
    .cpu_weight = 68,
};

}  // namespace gemv_blocks
}  // namespace vkgemm::plan::family
