// SPDX-License-Identifier: MIT
#include "network.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace vkgemm::fit {
namespace {

constexpr size_t fact_count = size_t(plan::TileFact::count);
constexpr double mean_decay = 0.9, square_decay = 0.99;
constexpr int most = 127;  // of a weight in its unit

// Of each fact, and the output, in the order of the facts: the rows of fact_weights.def.
constexpr int known_weights[fact_count + 1][hidden_units] = {
#define FITTED_ON(part_of_name)
#define FACT_WEIGHTS(fact, ...) {__VA_ARGS__},
#include "plan/choice/fact_weights.def"
#undef FITTED_ON
#undef FACT_WEIGHTS
};

}  // namespace

Network::Network(const std::vector<TileInFit>& tiles, unsigned seed, bool known) {
    std::map<std::pair<std::string, uint32_t>, size_t> groups;
    for (const TileInFit& t : tiles)
        group_.push_back(
            groups
                .try_emplace({std::string(t.kernel->module.family.name), t.kernel->module.element_bytes().a},
                             groups.size())
                .first->second);
    size_t end = 0;
    const auto part = [&](size_t count, float unit, float fading) {
        const size_t begin = end;
        end += count;
        return Part{.begin = begin, .end = end, .unit = unit, .fading = fading};
    };
    facts_ = part(fact_count * hidden_units, plan::weight_unit, 1e-4F);
    output_ = part(hidden_units, plan::weight_unit, 1e-4F);
    shared_ = part(groups.size() * hidden_units, plan::offset_unit, 0);
    offsets_ = part(tiles.size() * hidden_units, plan::offset_unit, 1e-3F);
    terms_ = part(tiles.size() * fact_count, plan::term_unit, 1e-2F);
    weights_.assign(end, 0);
    mean_ = square_ = weights_;
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const auto scatter = [&](const Part& p, double by) {
        for (size_t i = p.begin; i < p.end; ++i) weights_[i] = normal(random) * static_cast<float>(by);
    };
    scatter(facts_, 1 / std::sqrt(fact_count / 2.0));
    scatter(output_, 0.3 / std::sqrt(double(hidden_units)));
    scatter(shared_, 0.3);
    scatter(offsets_, 0.1);
    for (size_t i = 0; known && i < output_.end; ++i) {  // the facts' and then the output's
        const auto& of_fact = known_weights[i / hidden_units];
        weights_[i] = plan::weight_unit * float(of_fact[i % hidden_units]);
    }
    facts_.stays = output_.stays = known;
    round(false);
}

float Network::value(const Sample& x, HiddenUnits& units) const {
    if (x.tile == no_tile) return 0;
    const float* const offsets = &read_[offsets_.begin + x.tile * hidden_units];
    const float* const terms = &read_[terms_.begin + x.tile * fact_count];
    HiddenUnits sum;
    std::copy_n(offsets, hidden_units, sum.begin());
    float out = 0;
    for (size_t fact = 0; fact < fact_count; ++fact) {
        const float size = x.facts[fact];
        if (size == 0) continue;
        const float* const weights = &read_[facts_.begin + fact * hidden_units];
        for (size_t i = 0; i < hidden_units; ++i) sum[i] += size * weights[i];
        out += size * terms[fact];
    }
    for (size_t i = 0; i < hidden_units; ++i) {
        units[i] = std::max(sum[i], 0.0F);
        out += units[i] * read_[output_.begin + i];
    }
    return out;
}

void Network::add_gradient(const Sample& x, const HiddenUnits& units, float of_value,
                           std::vector<float>& gradient) const {
    if (x.tile == no_tile) return;
    HiddenUnits of_sum;
    float* const offsets = &gradient[offsets_.begin + x.tile * hidden_units];
    float* const shared = &gradient[shared_.begin + group_[x.tile] * hidden_units];
    float* const terms = &gradient[terms_.begin + x.tile * fact_count];
    for (size_t i = 0; i < hidden_units; ++i) {
        gradient[output_.begin + i] += of_value * units[i];
        of_sum[i] = units[i] > 0 ? of_value * read_[output_.begin + i] : 0;
        offsets[i] += of_sum[i];
        shared[i] += of_sum[i];
    }
    for (size_t fact = 0; fact < fact_count; ++fact) {
        const float size = x.facts[fact];
        if (size == 0) continue;
        float* const weights = &gradient[facts_.begin + fact * hidden_units];
        for (size_t i = 0; i < hidden_units; ++i) weights[i] += size * of_sum[i];
        terms[fact] += size * of_value;
    }
}

void Network::round(bool rounded) {
    read_ = weights_;
    for (size_t tile = 0; tile < group_.size(); ++tile)
        for (size_t i = 0; i < hidden_units; ++i)
            read_[offsets_.begin + tile * hidden_units + i] +=
                weights_[shared_.begin + group_[tile] * hidden_units + i];
    if (!rounded) return;
    for (const Part* p : parts())
        for (size_t i = p->begin; i < p->end; ++i)
            read_[i] = p->unit * std::clamp(std::nearbyint(read_[i] / p->unit), float(-most), float(most));
}

void Network::step(const std::vector<float>& gradient, float rate) {
    mean_left_ *= mean_decay;
    square_left_ *= square_decay;
    const auto of_mean = static_cast<float>(1 / (1 - mean_left_)),
               of_square = static_cast<float>(1 / (1 - square_left_));
    for (const Part* p : parts())
        for (size_t i = p->begin; i < p->end && !p->stays; ++i) {
            mean_[i] += float(1 - mean_decay) * (gradient[i] - mean_[i]);
            square_[i] += float(1 - square_decay) * (gradient[i] * gradient[i] - square_[i]);
            weights_[i] -=
                rate * (mean_[i] * of_mean / std::sqrt(square_[i] * of_square + 1e-14F) + p->fading * weights_[i]);
        }
}

std::vector<int> Network::in_units(const Part& p, size_t begin, size_t count) const {
    std::vector<int> out(count);
    for (size_t i = 0; i < count; ++i)
        out[i] = std::clamp(static_cast<int>(std::lround(read_[p.begin + begin + i] / p.unit)), -most, most);
    return out;
}
std::vector<int> Network::weights_of_fact(size_t fact) const {
    return fact == fact_count ? in_units(output_, 0, hidden_units)
                              : in_units(facts_, fact * hidden_units, hidden_units);
}
std::vector<int> Network::offsets_of(size_t tile) const {
    return in_units(offsets_, tile * hidden_units, hidden_units);
}
std::vector<int> Network::terms_of(size_t tile) const { return in_units(terms_, tile * fact_count, fact_count); }

}  // namespace vkgemm::fit
