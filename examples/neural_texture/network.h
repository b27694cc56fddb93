// SPDX-License-Identifier: MIT
// A network that learns a texture: encoding -> 4 layers -> 8 numbers. Every layer is a product of vkgemm, forwards with
// its bias and ReLU in the epilogue, and backwards as two products with transposed operands:
//
//     forward    X' = relu(X W + b)         layer after layer, as a chain
//     backward   dX = dY W^T, 0 where X is (the derivative of ReLU, in the epilogue), as a chain from the last layer on
//                dW = X^T dY, db = 1^T dY, to which a further batch adds by beta = 1
#pragma once
#include <array>

#include "graph.h"

namespace renderer {

#include "shared.h"

struct Settings {
    uint32_t batch = 65536, width = 64, material = 0;
    bool f32 = false;
};

std::vector<Counted> counted_rows(uint32_t count);  // one

struct Layer {
    uint32_t in = 0, out = 0, first_weight = 0, first_bias = 0;  // the latter two: among all parameters
    bool first = false, last = false;
    std::string number{};  // from 1

    uint32_t weights() const { return in * out; }
};

/// A layer's products, as problems for vkgemm. Those of `weight` and `bias` are sums over a slice of the batch.
struct Products {
    vkgemm::Problem forward, weight, bias, input;
};
Products products_of(const Settings& settings, const Layer& layer, uint32_t rows);

class Network {
   public:
    static constexpr uint32_t count = 4;  // of layers
    static std::array<Layer, count> layers_of(const Settings& settings);
    /// The problems of all products, also to infer with `rows` at most.
    static std::vector<vkgemm::Problem> problems(const Settings& settings, uint32_t rows);

    Network(Gpu& gpu, const Settings& settings);
    /// Initial values for all parameters.
    void reset(Graph& graph);
    /// The passes of one training step. Its loss is in `losses` afterwards.
    void train(Graph& graph, uint32_t step);
    /// The same without the update of the parameters. With `add`, gradients are added to those that are there; without
    /// it, those of features are added to the zeros that the update left.
    void gradients(Graph& graph, uint32_t step, bool add);
    /// What each layer reads beside its activations.
    std::vector<vkgemm::Run> runs() const;
    /// The loss of one point, on average over a batch whose `losses` were read, and the colour's PSNR.
    std::pair<double, double> mean_loss(std::span<const float> read) const;

    VkDeviceSize bytes(VkDeviceSize elements) const { return elements * (settings.f32 ? 4 : 2); }
    const Settings settings;
    const std::array<Layer, count> layers;
    const uint32_t first_feature, parameter_count;  // parameters: weights, biases, then features
    const float fixed_point;     // the unit of sums that do not depend on their order is 1 / fixed_point
    const uint32_t slices;       // of the batch, each of which has gradients of the layers of its own
    Resource losses;             // two floats for 64 points: the loss, the colour's squared error
    Resource parameters, copy;   // in f32, and in the type of the products
    Resource layer_gradients;    // in f32: of each layer's weights, then of each one's biases, both by slice
    Resource feature_gradients;  // in fixed point

   private:
    void adam(Graph& graph, uint32_t step, float rate);

    Resource moments_, targets_, ones_, workspace_;
    std::array<Resource, count + 1> x_, dx_;  // activations, from the encoding to the output, and their gradients
    vkgemm::Chain forwards_, backwards_;
    std::array<vkgemm::Plan, count> weight_, bias_;
};

/// What a frame or a picture needs to run the network for `rows` points. A resize replaces it.
class Inference {
   public:
    Inference(Gpu& gpu, const Network& of, uint32_t rows);
    /// Adds the passes from `points` to `output`, for as many rows as `counted` says on the GPU.
    void run(Graph& graph, const Resource& counted) const;

    Resource points, output;

   private:
    const Network& of_;
    uint32_t rows_;
    Resource encoded_, workspace_;
    vkgemm::Chain layers_;
};

}  // namespace renderer
