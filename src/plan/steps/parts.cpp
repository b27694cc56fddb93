// SPDX-License-Identifier: MIT
#include "plan/steps/parts.h"

#include <algorithm>
#include <numeric>

#include "plan/base/rounding.h"
#include "plan/choice/from_int8.h"
#include "plan/choice/reach.h"
#include "shaders/common/moduli.h"

namespace vkgemm::plan {
namespace {

constexpr uint64_t good_side = 256;  // of a block: rows or columns that a kernel is fast with

// Whether the first `count` operands, A and B first, can be reached by one dispatch.
struct Reach {
    const DeviceCaps& dev;
    Binding binding;
    uint64_t workspace_limit;  // of problems that are computed from int8

    bool holds(const Problem& p, size_t count) const {
        const auto all = operands(p);
        return std::all_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                           [&](const Operand& x) { return !beyond_reach(p, x, dev, binding); }) &&
               (!is_from_int8(p) || holds_int8(p, count == all.size()));
    }

    // `whole`: with its workspace.
    bool holds_int8(const Problem& p, bool whole) const {
        if (p.k > MODULI_MOST_K) return false;
        return !whole || (reaches_workspace(p, dev, binding) && least_workspace(p, dev) <= workspace_limit);
    }

    // The largest size, of those up to the problem's, with which it is so; 0: there is none.
    uint64_t largest(Problem p, uint64_t Problem::*size, size_t count) const {
        uint64_t low = 0, high = p.*size;
        while (low < high) {
            const uint64_t middle = p.*size = high - (high - low) / 2;
            if (holds(p, count))
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
};

// Blocks of nearly equal size: multiples of `unit`, or of a smaller power of two (at least `grain`) if that is much.
uint64_t even(uint64_t size, uint64_t most, uint64_t unit, uint64_t grain = 1) {
    if (most >= size || most == 0) return most;
    while (unit > grain && unit * 4 > most) unit /= 2;
    const uint64_t block = round_up(div_up(size, div_up(size, most)), unit);
    return block <= most ? block : most / unit * unit;
}

// The sizes of a block; one of them is 0 if there is none. K is cut only where even small blocks of A and B would reach
// too far, and then so that their other sizes are whole.
Sizes block_of(const Problem& p, const Reach& reach) {
    Problem block = p;
    block.batch = 1;
    block.m = std::min(p.m, good_side);
    block.n = std::min(p.n, good_side);
    if (!reach.holds(block, 2)) {
        block.m = p.a.layout == columnMajor ? p.m : 1;
        block.n = p.b.layout == rowMajor ? p.n : 1;
        const uint64_t grain = std::max(info(p.a.type).block, info(p.b.type).block);
        block.k = even(p.k, reach.largest(block, &Problem::k, 2), good_side, grain);
    }
    block.m = std::min(p.m, good_side);
    block.n = p.n;
    if (!reach.largest(block, &Problem::n, 4)) block.m = 1;  // whose rows are very long
    block.n = even(p.n, reach.largest(block, &Problem::n, 4), good_side);
    block.m = p.m;
    block.m = even(p.m, reach.largest(block, &Problem::m, 4), good_side);
    block.batch = p.batch;
    block.batch = even(p.batch, reach.largest(block, &Problem::batch, 4), 1);
    return sizes_of(block);
}

// f64 from int8 is cut along K only for the limit of its sums, so that every device cuts alike, and the bits are the
// same.
bool may_cut_k(const Problem& p, uint64_t block) {
    return block && adds_up_in_d(p) && (!is_from_int8(p) || block == even(p.k, MODULI_MOST_K, good_side));
}

// Blocks of one size along one dimension.
struct Blocks {
    uint64_t begin, size, count;
};
// All of them, the last one apart if it is smaller, or if `end_apart`.
std::vector<Blocks> blocks_of(uint64_t size, uint64_t block, bool end_apart = false) {
    if (block == size) return {{0, size, 1}};
    const uint64_t whole = (size - (end_apart ? 1 : 0)) / block;
    std::vector<Blocks> out = {{0, block, whole}};
    if (whole * block < size) out.push_back({whole * block, size - whole * block, 1});
    return out;
}

// How far operands move by so many rows, columns, elements along K, and products.
Level moved(const Problem& p, const Sizes& by) {
    const auto at = [&](const Matrix& x, uint64_t rows, uint64_t cols) {
        return (x.layout == rowMajor ? rows * x.ld + cols : cols * x.ld + rows) + by.batch * x.batchStride;
    };
    return {.count = 1,
            .stride = {at(p.a, by.m, by.k), at(p.b, by.k, by.n), at(p.c, by.m, by.n), at(p.d, by.m, by.n)},
            .rows = by.m,
            .columns = by.n};
}

void add_level(Normalised& normalised, const Level& level) {
    Problem& p = normalised.problem;
    normalised.repeated.add(level);
    p.outerBatch *= level.count;
    size_t i = 0;
    for (uint64_t* step : {&p.outerStrideA, &p.outerStrideB, &p.outerStrideC, &p.outerStrideD})
        *step = std::gcd(*step, level.stride[i++]);
}

Normalised part_of(const Normalised& whole, const std::array<Blocks, 4>& mnkb) {
    const auto& [m, n, k, batch] = mnkb;
    Normalised out = whole;
    Problem& p = out.problem;
    out.is_part = true;
    out.begin = moved(p, {m.begin, n.begin, k.begin, batch.begin});
    add_level(out, out.begin);
    for (const auto& [count, by] : {std::pair{m.count, Sizes{m.size, 0, 0, 0}},
                                    {n.count, Sizes{0, n.size, 0, 0}},
                                    {batch.count, Sizes{0, 0, 0, batch.size}},
                                    {k.count, Sizes{0, 0, k.size, 0}}}) {
        Level l = moved(p, by);
        l.count = count;
        if (count > 1) add_level(out, l);
    }
    p.m = m.size;
    p.n = n.size;
    p.k = k.size;
    p.batch = batch.size;
    if (k.begin + k.count * k.size < whole.problem.k) {  // what follows finishes D
        p.epilogue = {};
        p.scalars &= VKGEMM_SCALARS_ALPHA | VKGEMM_SCALARS_BETA;
    }
    if (k.begin > 0) {
        out.adds = true;
        p.cSource = VKGEMM_C_IS_D;
        p.c = p.d;
        p.outerStrideC = p.outerStrideD;
        p.scalars &= ~uint32_t{VKGEMM_SCALARS_BETA};
    }
    return out;
}

// Along K: the first block, which has C, those that add to it, and the last, which finishes D.
std::vector<Blocks> blocks_of_k(uint64_t size, uint64_t block) {
    if (block == size) return {{0, size, 1}};
    std::vector<Blocks> out = {{0, block, 1}};
    for (Blocks b : blocks_of(size - block, block, true)) {
        b.begin += block;
        if (b.count) out.push_back(b);
    }
    return out;
}

}  // namespace

std::vector<Normalised> parts_of(const Normalised& normalised, const DeviceCaps& dev, Binding binding,
                                 uint64_t workspace_limit) {
    const Problem& p = normalised.problem;
    const Reach reach = {dev, binding, workspace_limit};
    if (is_empty(p) || is_never_cut(p) || reach.holds(p, 4)) return {normalised};
    const Sizes block = block_of(p, reach);
    if (!block.m || !block.n || !block.batch || (block.k < p.k && !may_cut_k(p, block.k))) return {normalised};
    std::vector<Normalised> out;
    for (const Blocks& k : blocks_of_k(p.k, block.k))
        for (const Blocks& batch : blocks_of(p.batch, block.batch))
            for (const Blocks& cols : blocks_of(p.n, block.n))
                for (const Blocks& rows : blocks_of(p.m, block.m))
                    out.push_back(part_of(normalised, {rows, cols, k, batch}));
    return out;
}

}  // namespace vkgemm::plan
