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

    VkDeviceSize bytes(VkDeviceSize elements) const { return elements * (settings.f32 ? 4 : 2); }
    uint32_t inputs_of(uint32_t layer) const { return layer == 0 ? inputs : settings.width; }
    uint32_t outputs_of(uint32_t layer) const { return layer + 1 == layers ? outputs : settings.width; }
    uint32_t first_weight(uint32_t layer) const;  // index of the first parameter of a kind
    uint32_t first_bias(uint32_t layer) const;
    uint32_t first_feature() const { return first_bias(layers); }
    uint32_t parameters_count() const { return first_feature() + levels * 2 * table; }

    const Settings settings;
    const float fixed_point;  // the unit of sums that do not depend on their order is 1 / fixed_point
    Buffer losses;            // two floats for 64 points: the loss, the colour's squared error
    Buffer parameters;        // in f32
    Buffer copy;              // of them in the type of the products
    Buffer weight_gradients;  // of weights in f32, and of biases in fixed point
    Buffer feature_gradients;

   private:
    void backward(Graph& graph, uint32_t step);
    void adam(Graph& graph, uint32_t step, float rate);

    Arena memory_;
    Buffer moments_, bias_gradients_;
    std::array<Buffer, 4> workspaces_;       // one for each dW, so that they need not wait for each other
    std::array<Buffer, layers + 1> x_, dx_;  // activations, of which the last is the output, and their gradients
    std::array<vkgemm::Plan, layers> forward_, input_;
    std::array<vkgemm::Plan, 3> weight_;  // of the first layer, of those with hidden ones on both sides, of the last
};

/// What a frame or a picture needs to run the network: activations for `rows` points and plans that serve any number up
/// to that. A resize replaces it.
class Inference {
   public:
    Inference(Gpu& gpu, const Network& of, Arena& memory, uint32_t rows);
    /// Adds the passes from `points` to `output`: for all rows, or for as many as `counted` says on the GPU.
    void run(Graph& graph, const Buffer* counted) const;
    /// The same for a square grid of points with `side` points along each side, in place of `points`.
    void run_grid(Graph& graph, uint32_t side) const;

    Buffer points, output;

   private:
    void layers(Graph& graph, const Buffer* counted) const;

    const Network& of_;
    uint32_t rows_, stride_;  // at most; from one column of the encoding to the next
    Buffer x_, workspace_;
    std::array<Buffer, 2> hidden_;
    std::array<vkgemm::Plan, Network::layers> sized_, counted_;
};

}  // namespace renderer
