// SPDX-License-Identifier: MIT
// The network of src/plan/choice/tile_terms.h, while it is trained.
#pragma once
#include "timed.h"

namespace vkgemm::fit {

class Network {
   public:
    /// Tiles of one family and size of elements share offsets, to which each adds its own: so those of which little was
    /// timed are judged as their like. `known`: what facts add to the hidden units, and the units' output, are those of
    /// fact_weights.def, and stay.
    Network(const std::vector<TileInFit>& tiles, unsigned seed, bool known = false);

    /// The logarithm of the factor on the cost, without its limits; and the hidden units, for add_gradient().
    float value(const Sample&, HiddenUnits& units) const;
    /// Adds to `gradient` what a change of each weight adds to `of_value` times the value.
    void add_gradient(const Sample&, const HiddenUnits&, float of_value, std::vector<float>& gradient) const;
    /// From here on value() reads the weights rounded to what tables can hold, or as they are.
    void round(bool);

    size_t size() const { return weights_.size(); }
    /// Of Adam, one step against a gradient; weights that say little fade.
    void step(const std::vector<float>& gradient, float rate);

    // As they are written to tables: whole numbers of the units of tile_terms.h.
    std::vector<int> weights_of_fact(size_t fact) const;  // fact TileFact::count: the output
    std::vector<int> offsets_of(size_t tile) const;
    std::vector<int> terms_of(size_t tile) const;

   private:
    struct Part {  // of the weights
        size_t begin, end;
        float unit, fading;
        bool stays = false;
    };
    std::vector<int> in_units(const Part&, size_t begin, size_t count) const;

    std::array<const Part*, 5> parts() const { return {&facts_, &output_, &shared_, &offsets_, &terms_}; }

    std::vector<size_t> group_;  // of each tile: those that share offsets
    Part facts_, output_, shared_, offsets_, terms_;
    std::vector<float> weights_, read_;  // read_ has in offsets_ the sums with those that are shared
    std::vector<float> mean_, square_;   // of gradients
    double mean_left_ = 1, square_left_ = 1;
};

}  // namespace vkgemm::fit
