// SPDX-License-Identifier: MIT
// The facts of a problem and its schedule that the terms of tiles depend on, as numbers near 1.
#include <algorithm>
#include <cmath>

#include "plan/base/rounding.h"
#include "plan/choice/cost.h"

#if VKGEMM_HAS_TILE_TERMS
namespace vkgemm::plan {
namespace {

float log2_of(double x) { return std::log2(static_cast<float>(x)); }
float log2_size(double x) { return (log2_of(std::max(x, 1.0)) - 7) / 4; }
float flag(bool x) { return x ? 1.0F : 0.0F; }

}  // namespace

// Those that a split of K does not change.
std::array<float, size_t(TileFact::groups)> ProductCost::facts_of(const std::array<Operand, 4>& all,
                                                                  const OperandEffects& effects) const {
    const bool a = is_k_contiguous(all[0]), b = is_k_contiguous(all[1]);
    const bool a_narrow = effects.a_narrow, b_narrow = effects.b_narrow;
    const double tiles_m = std::max(ceil_of(double(p_.m), k_.rows), 1.0);
    const double tiles_n = std::max(ceil_of(double(p_.n), k_.cols), 1.0);
    const float m = log2_size(double(p_.m)), n = log2_size(double(p_.n));
    const auto edge = [](double tiles, double of_tile, uint64_t size) {
        return std::clamp(log2_of(tiles * of_tile / double(std::max<uint64_t>(size, 1))), 0.0F, 4.0F);
    };
    const auto some = [](double tiles) { return std::min(log2_of(tiles), 3.0F) / 2; };
    const std::array facts = {flag(a),
                              flag(b),
                              flag(a && b),
                              flag(a_narrow),
                              flag(b_narrow),
                              flag(a && a_narrow),
                              flag(b && b_narrow),
                              flag(a_narrow && b_narrow),
                              flag(all[0].padded),
                              flag(all[1].padded),
                              m,
                              m * m,
                              n,
                              n * n,
                              edge(tiles_m, k_.rows, p_.m),
                              edge(tiles_n, k_.cols, p_.n),
                              some(tiles_m),
                              some(tiles_n),
                              log2_of(double(std::max<uint64_t>(p_.batch, 1))) / 4,
                              flag(p_.d.ld * info(p_.d.type).bytes % 16 != 0)};
    return facts;
}

// The others.
std::array<float, size_t(TileFact::count) - size_t(TileFact::groups)> ProductCost::facts_of(
    const CostParts& parts, const SplitK& split, const OperandEffects& operands) const {
    const double cost = std::max(parts.weighted(no_weights), 1.0);
    const double chunk = double(std::max<uint64_t>(split.chunk, 1)), steps = ceil_of(chunk, k_.depth);
    const double groups = std::max(tiles_ * split.slices, 1.0), busiest = ceil_of(groups, k_.units);
    const double rounds = groups / k_.units / operands.at_once;
    const float log2_busiest = log2_of(busiest), log2_rounds = log2_of(busiest / operands.at_once);
    const float log2_steps = log2_of(steps), log2_chunk = log2_of(chunk), k = (log2_chunk - 7) / 4;
    const float idle = std::clamp(log2_of(k_.units / groups), 0.0F, 4.0F) / 2;
    const float near = std::clamp(log2_rounds, -3.0F, 3.0F) / 2;
    const auto part = [&](double x) { return static_cast<float>(std::clamp(x / cost, -1.0, 1.0)); };
    const std::array facts = {std::min(log2_busiest, 5.0F) / 3,
                              near,
                              std::clamp(log2_rounds, 0.0F, 4.0F) / 2,
                              idle,
                              groups > k_.units ? static_cast<float>(busiest * k_.units / groups - 1) : 0,
                              rounds > 1 ? static_cast<float>(std::min(std::ceil(rounds) / rounds - 1, 1.0)) : 0,
                              k,
                              k * k,
                              std::clamp(log2_of(steps * k_.depth / chunk), 0.0F, 4.0F),
                              std::min(log2_steps, 8.0F) / 4,
                              std::min(log2_of(split.slices), 7.0F) / 3,
                              flag(split.slices > 1),
                              k * idle,
                              k * near,
                              operands.a_narrow ? near : 0,
                              operands.b_narrow ? near : 0,
                              (log2_of(cost) - 15) / 3,
                              part(parts.launch),
                              part(parts.steps),
                              part(parts.results),
                              part(parts.memory),
                              part(parts.passes)};
    return facts;
}

double ProductCost::correction(const CostParts& parts, const SplitK& split, const OperandEffects& operands) const {
    if (!terms_) return 1;
    TermSum out = operands.terms;
    out.add(TileFact::groups, facts_of(parts, split, operands));
    return out.factor();
}

TileFacts ProductCost::facts(const std::array<Operand, 4>& all, const CostParts& parts, const SplitK& split,
                             const OperandEffects& operands) const {
    TileFacts out;
    const auto of_schedule = facts_of(parts, split, operands);
    std::ranges::copy(of_schedule, std::ranges::copy(facts_of(all, operands), out.begin()).out);
    return out;
}

}  // namespace vkgemm::plan
#endif
