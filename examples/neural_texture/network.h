// SPDX-License-Identifier: MIT
// A network that learns a texture: encoding -> 4 layers -> 8 numbers. Every layer is a product of vkgemm, forwards with
// its bias and ReLU in the epilogue, and backwards as two products with transposed operands:
//
//     forward    X' = relu(X W + b)        infer the same, with rows that the GPU counts
//     backward   dW += X^T dY   (beta 1)   dX = dY W^T
#pragma once
#include "graph.h"

namespace renderer {

struct Settings {
    uint32_t batch = 65536, width = 64, material = 0;
    bool f32 = false;
};

/// What compact.comp counts: a group whose m is the number of rows, and the arguments of the encoding's dispatch. As in
/// common.glsl.
struct Counted {
    VkgemmGroup group{};
    VkDispatchIndirectCommand dispatch{.x = 0, .y = 16, .z = 1};  // 128 rows; levels
    uint32_t padding = 0;
};
static_assert(sizeof(Counted) == 20 * sizeof(uint32_t));
std::vector<uint32_t> counted_rows(uint32_t count);  // as the words of a Counted

class Network {
   public:
    static constexpr uint32_t layers = 4, inputs = 32, outputs = 8, levels = 16, table = 1 << 15;  // entries of a level

    /// The problems of all products: forward, dW, dX, and infer with `rows` at most, of which the GPU counts some.
    static std::vector<vkgemm::Problem> problems(const Settings& settings, uint32_t rows);
    Network(Gpu& gpu, const Settings& settings);

    /// Initial values for all parameters.
    void reset(Graph& graph);
    /// The passes of one training step. Its loss is in `losses` afterwards.
    void train(Graph& graph, uint32_t step);
    /// The same without the update of the parameters.
    void gradients(Graph& graph, uint32_t step);
    /// The loss of one point, on average over a batch whose `losses` were read, and the colour's PSNR.
    std::pair<double, double> mean_loss(std::span<const float> read) const;

    VkDeviceSize bytes(VkDeviceSize elements) const { return elements * (settings.f32 ? 4 : 2); }
    uint32_t inputs_of(uint32_t layer) const { return layer == 0 ? inputs : settings.width; }
    uint32_t outputs_of(uint32_t layer) const { return layer + 1 == layers ? outputs : settings.width; }
    uint32_t first_weight(uint32_t layer) const;  // index of the first parameter of a kind
    uint32_t first_bias(uint32_t layer) const;
    uint32_t first_feature() const { return (first_bias(layers) + 63) / 64 * 64; }          // the gradients are aligned
    uint32_t first_gradient(uint32_t layer) const { return slices * first_weight(layer); }  // of a layer's weights
    uint32_t weights() const { return first_weight(layers); }
    uint32_t parameters_count() const { return first_feature() + levels * 2 * table; }

    const Settings settings;
    const float fixed_point;  // the unit of sums that do not depend on their order is 1 / fixed_point
    const uint32_t slices;    // of the batch, each of which has gradients of the weights of its own
    Buffer losses;            // two floats for 64 points: the loss, the colour's squared error
    Buffer parameters;        // in f32: weights, biases, features
    Buffer copy;              // of them in the type of the products
    Buffer weight_gradients;  // in f32, by layer and slice
    Buffer sums;              // gradients of biases and features, in fixed point

   private:
    void backward(Graph& graph, uint32_t step);
    void adam(Graph& graph, uint32_t step, float rate);

    Arena memory_;
    Buffer moments_, targets_, workspace_, bias_sums_, feature_sums_;  // the last two are parts of `sums`
    std::array<Buffer, layers + 1> x_, dx_;  // activations, of which the last is the output, and their gradients
    std::array<vkgemm::Plan, layers> forward_, weight_, input_;
};

/// What a frame or a picture needs to run the network: activations for `rows` points and plans that serve any number up
/// to that. A resize replaces it.
class Inference {
   public:
    Inference(Gpu& gpu, const Network& of, Arena& memory, uint32_t rows);
    /// Adds the passes from `points` to `output`: for all rows, or for as many as `counted` says on the GPU. With
    /// `side` the points are a square grid instead, with so many along each side.
    void run(Graph& graph, const Buffer* counted, uint32_t side = 0) const;

    Buffer points, output;

   private:
    const Network& of_;
    uint32_t rows_;  // at most
    Buffer x_, workspace_;
    std::array<Buffer, 2> hidden_;
    std::array<vkgemm::Plan, Network::layers> sized_, counted_;
};

}  // namespace renderer
