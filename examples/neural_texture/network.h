// SPDX-License-Identifier: MIT
// A network that learns a texture: encoding -> 4 layers -> 8 numbers. Every layer is a product of vkgemm, forwards with
// its bias and ReLU in the epilogue, and backwards as two products with transposed operands:
//
//     forward    X' = relu(X W + b)        infer the same, with rows that the GPU counts
//     backward   dW += X^T dY   (beta 1)   dX = dY W^T
#pragma once
#include <optional>

#include "graph.h"

namespace renderer {

struct Settings {
    uint32_t batch = 65536, width = 64, table_log2 = 15, seed = 1, material = 0;
    float rate = 0.01f;
    bool f32 = false;
};

/// A group whose m the GPU counts, and the arguments of the encoding's dispatch; as in common.glsl.
struct Counted {
    VkgemmGroup group{};
    VkDispatchIndirectCommand dispatch{.x = 0, .y = 16, .z = 1};  // 128 rows; levels
    uint32_t padding = 0;

    static Counted rows(uint32_t count) {
        Counted c;
        c.group.m = count, c.dispatch.x = (count + 127) / 128;
        return c;
    }
};
static_assert(sizeof(Counted) == 20 * sizeof(uint32_t));

class Network {
   public:
    static constexpr uint32_t layers = 4, inputs = 32, outputs = 8, levels = 16;

    /// The problems of all products: forward, dW, dX, and infer with `rows` at most, of which the GPU counts some.
    static std::vector<vkgemm::Problem> problems(const Settings& settings, uint32_t rows, bool f16);
    Network(Gpu& gpu, const Settings& settings);

    /// The passes of one training step. Its loss is in losses() afterwards.
    void train(Graph& graph, uint32_t step);
    /// The same without the update of the parameters.
    void gradients(Graph& graph, uint32_t step);
    void update(Graph& graph, uint32_t step);
    /// Initial values for all parameters.
    void reset(Graph& graph);

    const Settings& settings() const { return settings_; }
    VkDeviceSize bytes(VkDeviceSize elements) const { return elements * (gpu_.f16 ? 2 : 4); }
    uint32_t parameters() const { return first_feature() + levels * 2 * (1u << settings_.table_log2); }
    uint32_t first_feature() const { return first_bias(layers); }  // index of the first parameter of a kind
    uint32_t first_weight(uint32_t layer) const;
    uint32_t first_bias(uint32_t layer) const;
    uint32_t columns(uint32_t layer) const { return layer + 1 == layers ? outputs : settings_.width; }
    uint32_t rows_of_weights(uint32_t layer) const { return layer == 0 ? inputs : settings_.width; }
    float fixed_point() const { return fixed_point_; }
    const Buffer& losses() const { return losses_; }  // two floats for 64 points: the loss, the colour's squared error
    const Buffer& master() const { return parameters_; }
    const Buffer& network() const { return network_; }
    const Buffer& parameter_gradients() const { return gradients_; }  // weights in f32, biases in fixed point
    const Buffer& sums() const { return sums_; }                      // gradients of features, in fixed point

   private:
    friend class Inference;
    std::vector<uint32_t> encode_push(uint32_t rows, uint32_t stride, bool counted) const;
    void make_plans();
    void forward(Graph& graph);
    void backward(Graph& graph);
    void adam(Graph& graph, uint32_t step, float rate);

    Gpu& gpu_;
    Settings settings_;
    Arena memory_;
    float fixed_point_;
    Buffer parameters_, moments_, gradients_, bias_gradients_, sums_, network_, points_, losses_, workspace_;
    std::array<Buffer, 3> weight_workspace_;  // one each, so that the products of dW need not wait for each other
    std::array<Buffer, layers + 1> x_, dx_;   // activations, of which the last is the output, and their gradients
    std::array<vkgemm::Plan, layers> forward_, input_;
    std::array<vkgemm::Plan, 3> weight_;  // of the first layer, of those with hidden ones on both sides, of the last
    VkPipeline sample_, encode_, scatter_, loss_, relu_, adam_;
};

/// What a frame or a picture needs to run the network: activations for `rows` points and plans that serve any number up
/// to that. A resize replaces it.
class Inference {
   public:
    Inference(Gpu& gpu, const Network& of, Arena& memory, uint32_t rows);
    /// Adds the passes from points() to output(): for `rows` of them, or for as many as `counted` says on the GPU.
    void run(Graph& graph, uint32_t rows, const Buffer* counted) const;
    const Buffer& points() const { return points_; }
    const Buffer& output() const { return y_; }

   private:
    const Network& of_;
    uint32_t rows_, stride_;  // at most; from one column of the encoding to the next
    Buffer points_, x_, y_, workspace_;
    std::array<Buffer, 2> hidden_;
    std::array<vkgemm::Plan, Network::layers> sized_, counted_;
    VkPipeline encode_;
};

}  // namespace renderer
