// SPDX-License-Identifier: MIT
// The problems of a draw: each function sets one dimension.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/sizes_text.h"
#include "kernels/surface.h"
#include "support/reference.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::test {
namespace {

using plan::info;
using plan::Matrix;
using plan::Problem;
using plan::rowMajor;
using plan::Type;

/// A size, at times 0 or 1, or the most.
uint64_t some_size(Random& random, uint64_t most) {
    if (random.one_in(40)) return 0;
    if (random.one_in(8)) return random.one_in(2) ? 1 : most;
    return 1 + random.below(most);
}

void set_strides(Random& random, const Draw& d, Matrix& x, uint64_t rows, uint64_t cols, uint64_t batch, bool shared) {
    const uint64_t inner = x.layout == rowMajor ? cols : rows, outer = x.layout == rowMajor ? rows : cols;
    const uint64_t grain = std::max<uint64_t>(info(x.type).block, d.aligned ? 16 : 1);
    const std::array<uint64_t, 3> lds = {0, inner, roundUp(inner + 1 + random.below(9), grain)};
    x.ld = random.pick(lds);
    if (batch <= 1 || random.one_in(3)) return;
    if (shared && random.one_in(3)) {
        x.batchStride = broadcast;
    } else if (random.one_in(3)) {  // matrices side by side
        x.batchStride = std::max(inner, grain);
        x.ld = x.batchStride * batch + grain * random.below(3);
    } else {
        x.batchStride = roundUp(std::max(x.ld, inner) * (outer + random.below(3)), grain);
    }
}

/// A stride of the outer level: dense, shared, with a gap, or below that of the inner level, which then grows.
void set_outer_stride(Random& random, const Draw& d, Matrix& x, uint64_t& stride, uint64_t rows, uint64_t cols,
                      uint64_t batch, uint64_t outer, bool shared) {
    if (outer <= 1 || random.one_in(3)) return;
    const uint64_t length = x.layout == rowMajor ? cols : rows, lines = x.layout == rowMajor ? rows : cols;
    const uint64_t grain = std::max<uint64_t>(info(x.type).block, d.aligned ? 16 : 1);
    const uint64_t one = roundUp((x.ld ? x.ld : std::max<uint64_t>(length, 1)) * lines, grain);
    const bool one_matrix = batch <= 1 || x.batchStride == broadcast;
    if (shared && random.one_in(3)) {
        stride = broadcast;
    } else if (!one_matrix && random.one_in(2)) {
        stride = one + grain * random.below(2);
        x.batchStride = stride * outer;
    } else {
        const uint64_t all = one_matrix ? one : std::max(one, batch * (x.batchStride ? x.batchStride : one));
        stride = roundUp(all, grain) + grain * random.below(2);
    }
}

/// Two levels, and matrices that neighbours share.
void set_levels(Random& random, const Draw& d, Problem& p) {
    constexpr std::array<uint64_t, 5> counts = {1, 2, 3, 4, 6};
    p.batch = random.pick(counts);
    p.outerBatch = 1 + random.below(3);
    const auto ratio = [&](uint64_t count, uint64_t& a, uint64_t& b) {
        const uint64_t some = random.pick(counts);
        if (count % some == 0) (random.one_in(2) ? a : b) = some;
    };
    ratio(p.batch, p.ratioA, p.ratioB);
    ratio(p.outerBatch, p.outerRatioA, p.outerRatioB);
    const auto set = [&](Matrix& x, uint64_t& stride, uint64_t rows, uint64_t cols, uint64_t batch, uint64_t outer,
                         bool shared) {
        set_strides(random, d, x, rows, cols, batch, shared);
        set_outer_stride(random, d, x, stride, rows, cols, batch, outer, shared);
    };
    set(p.a, p.outerStrideA, p.m, p.k, p.batch / p.ratioA, p.outerBatch / p.outerRatioA, true);
    set(p.b, p.outerStrideB, p.k, p.n, p.batch / p.ratioB, p.outerBatch / p.outerRatioB, true);
    set(p.d, p.outerStrideD, p.m, p.n, p.batch, p.outerBatch, false);
    if (p.cSource == VKGEMM_C_SEPARATE) set(p.c, p.outerStrideC, p.m, p.n, p.batch, p.outerBatch, true);
}

/// One level.
void set_batch(Random& random, const Draw& d, Problem& p) {
    if (random.one_in(3)) p.batch = 1 + random.below(4);
    set_strides(random, d, p.a, p.m, p.k, p.batch, true);
    set_strides(random, d, p.b, p.k, p.n, p.batch, true);
    set_strides(random, d, p.d, p.m, p.n, p.batch, false);
    if (p.cSource == VKGEMM_C_SEPARATE) set_strides(random, d, p.c, p.m, p.n, p.batch, true);
}

void set_alias(Random& random, Case& x) {
    Problem& p = x.problem;
    const bool residual =
        std::ranges::any_of(p.epilogue, [](const auto& s) { return info(s.kind).operand == VKGEMM_SLOT_RESIDUAL; });
    const auto has_type_of_d = [&](Type t) { return t == VKGEMM_TYPE_DEFAULT || t == p.d.type; };
    if (residual && has_type_of_d(p.residualType) && random.one_in(2)) {
        x.alias = Alias::residual;
    } else if (p.cSource == VKGEMM_C_SEPARATE && p.c.layout == p.d.layout && has_type_of_d(p.c.type) &&
               random.one_in(2)) {
        x.alias = Alias::c;
        p.c.ld = p.d.ld;
        p.c.batchStride = p.d.batchStride;
        p.outerStrideC = p.outerStrideD;
    }
}

void draw_sizes(Random& random, Case& x, bool aligned) {
    const Problem& p = x.problem;
    const uint64_t grain = aligned && random.one_in(2) ? 16 : 1;
    const auto size = [&](uint32_t bit, uint64_t most) {
        return p.upTo & bit ? std::min(roundUp(some_size(random, std::max<uint64_t>(most, 1)), grain), most) : most;
    };
    const uint64_t sharing = std::max({p.ratioA, p.ratioB, uint64_t{1}});  // of which the batch is a multiple
    x.sizes =
        plan::Sizes{.m = size(VKGEMM_UP_TO_M, p.m),
                    .n = size(VKGEMM_UP_TO_N, p.n),
                    .k = size(VKGEMM_UP_TO_K, p.k),
                    .batch = p.upTo & VKGEMM_UP_TO_BATCH ? sharing * random.below(p.batch / sharing + 1) : p.batch};
}

/// Offsets that are multiples of the draw's alignment, and of what each operand needs.
void set_shifts(Random& random, const Draw& d, Case& x) {
    const auto completed = plan::complete(x.problem);
    if (!completed) return;
    const Problem& p = *completed;
    const std::array<Type, 7> types = {p.a.type, p.b.type, p.c.type, p.d.type, p.biasType, p.scaleType, p.residualType};
    for (size_t i = 0; i < types.size(); ++i) {
        const auto slot = VkgemmSlot(i);
        const bool is_vector = slot == VKGEMM_SLOT_BIAS || slot == VKGEMM_SLOT_SCALE;
        const uint32_t bytes = info(types[i]).unit_bytes(), words = plan::is_read_in_words(p, slot) ? 4 : 1;
        const uint32_t step = std::max({1u, is_vector ? 1 : d.alignment / bytes, words / bytes});
        x.shifts[i] = static_cast<uint32_t>(random.one_in(3) ? 0 : step * random.below(4));
    }
    if (x.alias != Alias::none)
        x.shifts[x.alias == Alias::c ? VKGEMM_SLOT_C : VKGEMM_SLOT_RESIDUAL] = x.shifts[VKGEMM_SLOT_D];
}

/// Factors, and what the operands hold.
void set_numbers(Random& random, Case& x) {
    Problem& p = x.problem;
    const bool floats = info(plan::finished_in(p)).is_float;
    const std::array<double, 6> factors = {1, 1, 2, -1, floats ? 0.5 : -3, 0};
    x.alpha = random.pick(factors);
    x.beta = p.cSource == VKGEMM_C_NONE ? 0 : random.pick(factors);
    x.seed = random.bits() % 100000;
    const bool curved = std::ranges::any_of(p.epilogue, [](const auto& s) { return is_curve(s.kind); });
    const uint64_t fill = random.below(6);
    x.fill = floats && fill == 0 ? Fill::special : floats && fill < 3 ? Fill::random : Fill::exact;
    // MXINT8 has no infinity. A kernel that the context chooses may round to it or not.
    const bool unsure = x.kernel.empty();
    if (x.fill == Fill::special && p.accuracy == VKGEMM_ACCURACY_MXINT8 && unsure) x.fill = Fill::exact;
    if (curved || !can_be_exact(x)) x.fill = Fill::random;
    if (!floats || x.fill == Fill::random) return;
    constexpr std::array<double, 3> specials = {NAN, INFINITY, -INFINITY};  // with sums that are exact
    const double alpha = x.alpha, beta = x.beta;
    if (random.one_in(16)) x.alpha = random.pick(specials);
    if (random.one_in(16) && p.cSource != VKGEMM_C_NONE) x.beta = random.pick(specials);
    if (can_be_exact(x)) return;
    x.alpha = alpha;  // a beta that was 0 is not 0 any more, and C may be too much
    x.beta = beta;
}

/// A NaN or an infinity at one end of k, or between them, of A or of B.
void place_special(Random& random, Case& x) {
    const Problem& p = x.problem;
    const uint64_t k = x.sizes ? x.sizes->k : p.k;
    const auto takes = [](Type t) { return info(t).is_float && info(t).is_plain() && !plan::is_fp8(t); };
    if (x.fill != Fill::exact || !takes(p.a.type) || !takes(p.b.type) || p.accuracy != VKGEMM_ACCURACY_DEFAULT ||
        p.grouping != VKGEMM_GROUPING_NONE || k == 0 || !random.one_in(4))
        return;
    const std::array<uint64_t, 3> ends = {0, k - 1, random.below(k)};
    x.fill = Fill::placed;
    x.seed = placed_seed(random.pick(ends), random.one_in(2), static_cast<unsigned>(random.below(3)));
}

/// Many groups; their places come from the seed.
void set_groups(Random& random, Case& x) {
    x.problem.batch = 1 + random.below(9);
    x.broken = random.one_in(2);
}

}  // namespace

std::optional<VkgemmRunStrides> strides_for(Random& random, const Case& x) {
    if (!(x.problem.upTo & VKGEMM_UP_TO_STRIDES) || !x.sizes || random.one_in(5)) return std::nullopt;
    for (int tries = 0; tries < 20; ++tries) {
        const uint64_t unit = random.one_in(2) ? 16 : 1;
        std::array<uint64_t, 12> all{};
        const auto draw = [&](size_t i, uint64_t least) {
            const uint64_t some = roundUp(least, unit) + unit * random.below(3);
            all[i] = random.one_in(4) ? 0 : some;
        };
        const auto [m, n, k, batch] = *x.sizes;
        const std::array<std::array<uint64_t, 2>, 4> shapes = {{{m, k}, {k, n}, {m, n}, {m, n}}};
        const Matrix* const matrices[] = {&x.problem.a, &x.problem.b, &x.problem.c, &x.problem.d};
        for (size_t i = 0; i < 4; ++i) {
            const auto [rows, cols] = shapes[i];
            const bool by_rows = matrices[i]->layout == rowMajor;
            draw(i, by_rows ? cols : rows);
            draw(4 + i,
                 std::max<uint64_t>(all[i], by_rows ? cols : rows) * std::max<uint64_t>(by_rows ? rows : cols, 1));
            draw(8 + i, std::max<uint64_t>(all[4 + i], 1) * std::max<uint64_t>(batch, 1) * 2);
        }
        const VkgemmRunStrides out = strides_of(all);
        const auto run = plan::of_run(x.problem, *x.sizes, out);
        if (run && !plan::unfit_levels(*run, plan::normalise(*run))) return out;
    }
    return std::nullopt;
}

Case some_case(Random& random, const Draw& d) {
    Case x = d.base;
    Problem& p = x.problem;
    const uint64_t grain = d.aligned ? 16 : 1;
    p.m = roundUp(some_size(random, d.most_m), grain);
    p.n = roundUp(some_size(random, d.most_n), grain);
    p.k = roundUp(some_size(random, random.one_in(6) ? 300 : 60), std::max(grain, d.grain_k));
    const bool grouped = p.grouping != VKGEMM_GROUPING_NONE;
    if (grouped)
        set_groups(random, x);
    else if (random.one_in(4))
        set_levels(random, d, p);
    else
        set_batch(random, d, p);
    set_numbers(random, x);
    if (!grouped) set_alias(random, x);
    if (!grouped && p.upTo) draw_sizes(random, x, d.aligned);
    if (!grouped && x.alias == Alias::none) x.strides = strides_for(random, x);
    place_special(random, x);
    set_shifts(random, d, x);
    return x;
}

}  // namespace vkgemm::test
