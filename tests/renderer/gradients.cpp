// SPDX-License-Identifier: MIT
// The renderer of examples/neural_texture, in f32: gradients of its backward passes against finite differences of the
// loss.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "tests/renderer/renderer_test.h"

namespace renderer_test {
namespace {

/// Parameters of one kind: weights of a layer, biases of a layer, features of a level.
struct Kind {
    std::string name;
    uint32_t first, last;
};

std::vector<Kind> kinds(const Network& n) {
    std::vector<Kind> all;
    for (const Layer& l : n.layers) {
        all.push_back({"W " + l.number, l.first_weight, l.first_weight + l.weights()});
        all.push_back({"b " + l.number, l.first_bias, l.first_bias + l.out});
    }
    for (const uint32_t level : {0u, 5u, 10u, 15u}) {
        const uint32_t first = n.first_feature + level * features * table_size;
        all.push_back({"level " + std::to_string(level), first, first + features * table_size});
    }
    return all;
}

struct Check {
    Renderer& r;
    Resource losses = r.gpu.buffer("losses for the host", r.network.losses.bytes, true);
    Resource values = r.gpu.buffer("values for the host", r.network.parameters.bytes, true);
    Resource copies = r.gpu.buffer("network for the host", r.network.copy.bytes, true);
    Resource layers = r.gpu.buffer("gradients for the host", r.network.layer_gradients.bytes, true);
    Resource sums = r.gpu.buffer("sums for the host", r.network.feature_gradients.bytes, true);
    uint32_t step = 20;  // of the batch

    /// Of one of the two equal batches that were added up.
    double gradient(uint32_t i) const {
        const Network& n = r.network;
        double sum = 0;
        if (i >= n.first_feature)
            return 0.5 * sums.read<int32_t>()[i - n.first_feature] / static_cast<double>(n.fixed_point);
        const auto of_weight = [i](const Layer& l) { return i < l.first_weight + l.weights(); };
        const auto of_bias = [i, &n](const Layer& l) { return i < l.first_bias + n.settings.width; };
        const auto l = std::ranges::find_if(n.layers, of_weight);
        const bool is_weight = l != n.layers.end();
        const Layer& found = is_weight ? *l : *std::ranges::find_if(n.layers, of_bias);
        const uint32_t begin = is_weight ? found.first_weight : found.first_bias;
        const uint32_t size = is_weight ? found.weights() : n.settings.width;
        for (uint32_t slice = 0; slice < n.slices; ++slice)
            sum += static_cast<double>(layers.read<float>()[n.slices * begin + slice * size + i - begin]);
        return 0.5 * sum;
    }
    /// The loss of the batch if parameter `i` were `value`; the parameter is left so.
    double loss(uint32_t i, float value) {
        r.graph.write("set", r.network.parameters.part(i * sizeof value, sizeof value), std::vector{value});
        r.graph.write("set", r.network.copy.part(i * sizeof value, sizeof value), std::vector{value});
        r.network.gradients(r.graph, step, false);
        r.graph.read_back("losses", r.network.losses, losses);
        r.now();
        return r.network.mean_loss(losses.read<float>()).first * r.network.settings.batch;
    }
    /// The relative error of a gradient. A long difference crosses kinks of ReLU and a short one drowns in rounding, so
    /// the best of three counts. What is small beside the `largest` gradient of its kind is compared with that.
    double error(uint32_t i, double largest) {
        const float value = values.read<float>()[i];
        double best = 1e30;
        for (const float h : {4e-3f, 1e-3f, 2.5e-4f}) {
            const double high = loss(i, value + h), low = loss(i, value - h);
            const double expected = (high - low) / (static_cast<double>(value + h) - static_cast<double>(value - h));
            best = std::min(best, std::abs(gradient(i) - expected) / (std::abs(expected) + 0.02 * largest));
        }
        loss(i, value);
        return best;
    }
    /// Those with the largest gradients of their kind, and some at random.
    std::vector<uint32_t> choose(const Kind& kind) const {
        std::vector<uint32_t> all;
        for (uint32_t i = kind.first; i < kind.last; ++i)
            if (gradient(i) != 0) all.push_back(i);
        std::ranges::sort(all, std::greater{}, [&](uint32_t i) { return std::abs(gradient(i)); });
        std::mt19937 engine(kind.first);
        if (all.size() > 20) std::shuffle(all.begin() + 2, all.begin() + static_cast<int>(all.size() / 4), engine);
        all.resize(std::min<size_t>(all.size(), 7));
        return all;
    }
};

}  // namespace

bool check_gradients(Renderer& r) {
    Check c{r};
    for (uint32_t i = 0; i < c.step; ++i) r.network.train(r.graph, i);
    for (const bool add : {false, true}) r.network.gradients(r.graph, c.step, add);
    r.graph.read_back("values", r.network.parameters, c.values);
    r.graph.read_back("network", r.network.copy, c.copies);
    r.graph.read_back("gradients", r.network.layer_gradients, c.layers);
    r.graph.read_back("gradients", r.network.feature_gradients, c.sums);
    r.now();
    unsigned wrong = 0, checked = 0;
    if (!std::ranges::equal(c.copies.read<float>(), c.values.read<float>())) {
        std::printf("the products have other parameters than Adam\n");
        ++wrong;
    }
    for (const Kind& kind : kinds(r.network)) {
        const std::vector<uint32_t> some = c.choose(kind);
        const double largest = some.empty() ? 0 : std::abs(c.gradient(some[0]));
        std::vector<double> errors;
        for (const uint32_t i : some) errors.push_back(c.error(i, largest));
        std::ranges::sort(errors);
        checked += static_cast<unsigned>(some.size());
        // A feature that few points touch may sit on a kink; a wrong derivative is wrong everywhere.
        const bool bad = some.size() < 5 || !(errors[some.size() / 2] < 0.01) || !(errors.back() < 0.2);
        wrong += bad;
        std::printf("%-9s %zu gradients, error %.2f %%, at most %.2f %%%s\n", kind.name.c_str(), some.size(),
                    errors.empty() ? 0 : 100 * errors[some.size() / 2], errors.empty() ? 0 : 100 * errors.back(),
                    bad ? "  WRONG" : "");
    }
    std::printf("%u gradients beside finite differences, %u kinds wrong\n", checked, wrong);
    return wrong == 0;
}

}  // namespace renderer_test
