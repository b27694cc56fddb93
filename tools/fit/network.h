// SPDX-License-Identifier: MIT
// The network of src/plan/choice/tile_terms.h, while it is trained.
#pragma once
#include "timed.h"

namespace vkgemm::fit {

class Network {
   public:
    Network(size_t tiles, unsigned seed);

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
    };
    std::vector<int> in_units(const Part&, size_t begin, size_t count) const;

    Part facts_, output_, offsets_, terms_;
    std::vector<float> weights_, read_;
    std::vector<float> mean_, square_;  // of gradients
    double mean_left_ = 1, square_left_ = 1;
};

}  // namespace vkgemm::fit
