// SPDX-License-Identifier: MIT
#include "network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace renderer {
namespace {

constexpr const char* forward_names[] = {"layer 1", "layer 2", "layer 3", "layer 4"};
constexpr const char* weight_names[] = {"dW 1", "dW 2 and 3", "dW 4"};
constexpr const char* input_names[] = {"dX 1", "dX 2", "dX 3", "dX 4"};
constexpr const char* relu_names[] = {"relu 1 backwards", "relu 2 backwards", "relu 3 backwards"};
constexpr vkgemm::PlanOptions options{.workspaceLimit = uint64_t{64} << 20};
constexpr float rate = 0.01f;
constexpr uint32_t seed = 1, slice = 4096;  // slice: entries of a table that a work group of scatter.comp has
enum Points : uint32_t { listed, counted_on_gpu, random_ones, grid };  // what encode.comp encodes

uint32_t groups(uint32_t work, uint32_t each) { return (work + each - 1) / each; }
uint32_t stride_of(uint32_t rows) { return groups(rows, 128) * 128; }

struct Layer {
    uint32_t in, out;
    bool first, last;
    vkgemm::Type type;

    Layer(const Settings& s, uint32_t i)
        : in(i == 0 ? Network::inputs : s.width),
          out(i + 1 == Network::layers ? Network::outputs : s.width),
          first(i == 0),
          last(i + 1 == Network::layers),
          type(s.f32 ? vkgemm::f32 : vkgemm::f16) {}
    /// What the layer reads. The encoding lies by columns, `stride` apart.
    vkgemm::Matrix activations(uint32_t stride) const {
        return {.type = type, .layout = first ? vkgemm::columnMajor : vkgemm::rowMajor, .ld = first ? stride : in};
    }
    vkgemm::Problem forward(uint32_t rows) const {
        vkgemm::Problem p{.m = rows, .n = out, .k = in, .a = activations(stride_of(rows)), .d = {.type = type}};
        p.epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
        if (!last) p.epilogue.add({.kind = VKGEMM_STEP_RELU});
        return p;
    }
    vkgemm::Problem infer(uint32_t rows, bool counted) const {
        vkgemm::Problem p = forward(rows);
        p.upTo = VKGEMM_UP_TO_M;
        p.grouping = counted ? VKGEMM_GROUPING_TABLE : VKGEMM_GROUPING_NONE;
        return p;
    }
    /// dW += X^T dY, where X^T is X read by columns. The layers between hidden ones are a batch.
    vkgemm::Problem weight(uint32_t rows) const {
        vkgemm::Matrix a = activations(stride_of(rows));
        a.layout = first ? vkgemm::rowMajor : vkgemm::columnMajor;
        return {.m = in,
                .n = out,
                .k = rows,
                .batch = first || last ? 1u : Network::layers - 2,
                .a = a,
                .d = {.type = vkgemm::f32},
                .cSource = VKGEMM_C_IS_D};
    }
    /// dX = dY W^T
    vkgemm::Problem input(uint32_t rows) const {
        return {.m = rows,
                .n = in,
                .k = out,
                .a = {.type = type},
                .b = {.layout = vkgemm::columnMajor},
                .d = activations(stride_of(rows))};
    }
};

uint64_t workspace_of(const vkgemm::Plan& plan) { return plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE]; }

}  // namespace

std::vector<uint32_t> counted_rows(uint32_t count) {
    Counted c;
    c.group.m = count, c.dispatch.x = groups(count, 128);
    std::vector<uint32_t> all(sizeof c / sizeof(uint32_t));
    std::memcpy(all.data(), &c, sizeof c);
    return all;
}

std::vector<vkgemm::Problem> Network::problems(const Settings& settings, uint32_t rows) {
    std::vector<vkgemm::Problem> all;
    for (uint32_t i = 0; i < layers; ++i) {
        const Layer l(settings, i);
        for (const vkgemm::Problem& p : {l.forward(settings.batch), l.weight(settings.batch), l.input(settings.batch),
                                         l.infer(rows, false), l.infer(rows, true)})
            all.push_back(p);
    }
    return all;
}

uint32_t Network::first_weight(uint32_t layer) const {
    uint32_t at = 0;
    for (uint32_t i = 0; i < layer; ++i) at += inputs_of(i) * outputs_of(i);
    return at;
}
uint32_t Network::first_bias(uint32_t layer) const {
    uint32_t at = first_weight(layers);
    for (uint32_t i = 0; i < layer; ++i) at += outputs_of(i);
    return at;
}

// The fixed point leaves room for a sum of 1/2 for each point of the batch in 31 bits.
Network::Network(Gpu& gpu, const Settings& s)
    : settings(s),
      fixed_point(std::min(std::ldexp(1.0f, 32 - static_cast<int>(std::bit_width(s.batch))), std::ldexp(1.0f, 20))),
      memory_(gpu) {
    const uint64_t count = parameters_count(), features = first_feature(), batch = s.batch;
    parameters = memory_.buffer("parameters", count * sizeof(float));
    moments_ = memory_.buffer("moments", count * 2 * sizeof(float));
    weight_gradients = memory_.buffer("gradients of weights and biases", features * sizeof(float));
    bias_gradients_ = weight_gradients.part(first_bias(0) * sizeof(float), (features - first_bias(0)) * sizeof(float));
    feature_gradients = memory_.buffer("gradients of features", (count - features) * sizeof(int32_t));
    copy = memory_.buffer("network", bytes(count));
    losses = memory_.buffer("losses", batch / 64 * 2 * sizeof(float));
    const VkDeviceSize hidden = bytes(batch * s.width);
    for (auto* const all : {&x_, &dx_}) {  // the hidden ones side by side, as a batch of products wants them
        const bool x = all == &x_;
        all->front() = memory_.buffer(x ? "x0" : "gradient of x0", bytes(uint64_t{stride_of(s.batch)} * inputs));
        const Buffer between = memory_.buffer(x ? "x1-3" : "gradients of x1-3", (layers - 1) * hidden);
        for (uint32_t i = 1; i < layers; ++i) (*all)[i] = between.part((i - 1) * hidden, hidden);
        all->back() = memory_.buffer(x ? "y" : "gradient of y", bytes(batch * outputs));
    }
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < layers; ++i) {
        const Layer l(s, i);
        forward_[i] = need(gpu.context.createPlan(l.forward(s.batch), options));
        input_[i] = need(gpu.context.createPlan(l.input(s.batch), options));
        workspace = std::max({workspace, workspace_of(forward_[i]), workspace_of(input_[i])});
        if (i == 2) continue;  // layer 3 is in the batch of layer 2
        vkgemm::Plan& weight = weight_[(i + 1) / 2];
        weight = need(gpu.context.createPlan(l.weight(s.batch), options));
        workspaces_[(i + 1) / 2] = memory_.buffer("dW workspace", workspace_of(weight));
    }
    workspaces_.back() = memory_.buffer("workspace", workspace);
}

void Network::reset(Graph& graph) {
    std::mt19937 engine(seed);
    std::vector<uint32_t> initial(parameters_count());
    for (uint32_t i = 0; i < layers; ++i) {  // He's
        std::normal_distribution<float> normal(
            0, std::sqrt((i + 1 == layers ? 1.0f : 2.0f) / static_cast<float>(inputs_of(i))));
        for (uint32_t w = first_weight(i); w < first_weight(i + 1); ++w)
            initial[w] = std::bit_cast<uint32_t>(normal(engine));
    }
    std::uniform_real_distribution<float> uniform(-0.02f, 0.02f);
    for (uint32_t i = first_feature(); i < initial.size(); ++i) initial[i] = std::bit_cast<uint32_t>(uniform(engine));
    graph.write("initial values", parameters, std::move(initial));
    for (const Buffer* b : {&moments_, &weight_gradients, &feature_gradients}) graph.fill("zeros", *b, 0);
    adam(graph, 0, 0);  // this only writes the copy
}

void Network::gradients(Graph& graph, uint32_t step) {
    const uint32_t batch = settings.batch;
    graph.compute("encode", "encode", {reads(parameters), reads(copy), writes(x_[0]), reads(parameters)},
                  words(uint32_t{random_ones}, batch, stride_of(batch), step, first_feature()), groups(batch, 128),
                  levels);
    for (uint32_t i = 0; i < layers; ++i)
        graph.product(forward_names[i], forward_[i],
                      {.a = x_[i].operand(),
                       .b = copy.operand(bytes(first_weight(i))),
                       .d = x_[i + 1].operand(),
                       .bias = copy.operand(bytes(first_bias(i))),
                       .workspace = workspaces_.back().operand()});
    graph.compute("loss", "loss", {reads(x_[layers]), writes(dx_[layers]), updates(bias_gradients_), writes(losses)},
                  words(settings.material, step, first_bias(layers - 1) - first_bias(0), fixed_point), batch / 64);
    backward(graph, step);
}

void Network::backward(Graph& graph, uint32_t step) {
    const uint32_t batch = settings.batch, width = settings.width;
    for (uint32_t i = layers; i-- > 0;) {
        graph.product(input_names[i], input_[i],
                      {.a = dx_[i + 1].operand(),
                       .b = copy.operand(bytes(first_weight(i))),
                       .d = dx_[i].operand(),
                       .workspace = workspaces_.back().operand()});
        if (i > 0)
            graph.compute(relu_names[i - 1], "relu_backward", {reads(x_[i]), updates(dx_[i]), updates(bias_gradients_)},
                          words(batch, width, first_bias(i - 1) - first_bias(0), fixed_point),
                          groups(batch * (width / 8), 1024));
    }
    const uint32_t slices = groups(table, slice), each = std::max(8192u, batch / 16);
    graph.compute("scatter", "scatter", {reads(dx_[0]), updates(feature_gradients)},
                  words(batch, stride_of(batch), step, slices, each, fixed_point), groups(batch, each),
                  levels * slices);
    for (const uint32_t i : {0u, 1u, 3u}) {  // layer 3 is in the batch of layer 2
        const uint32_t both = i == 1 ? layers - 2 : 1;
        graph.product(weight_names[(i + 1) / 2], weight_[(i + 1) / 2],
                      {.a = {x_[i].handle, x_[i].offset, both * x_[i].bytes},
                       .b = {dx_[i + 1].handle, dx_[i + 1].offset, both * dx_[i + 1].bytes},
                       .d = weight_gradients.operand(first_weight(i) * sizeof(float)),
                       .workspace = workspaces_[(i + 1) / 2].operand(),
                       .beta = 1});
    }
}

void Network::adam(Graph& graph, uint32_t step, float at_rate) {
    const auto t = static_cast<float>(step + 1);
    graph.compute(
        "adam", "adam",
        {updates(parameters), updates(moments_), updates(weight_gradients), updates(feature_gradients), writes(copy)},
        words(parameters_count(), first_bias(0), first_feature(), at_rate, 1.0f - std::pow(0.9f, t),
              1.0f - std::pow(0.99f, t), 1.0f / fixed_point),
        groups(parameters_count(), 1024));
}

void Network::train(Graph& graph, uint32_t step) {
    graph.part("train");
    gradients(graph, step);
    const float late = std::max(0.0f, static_cast<float>(step) - 999.0f) / 2000.0f;  // smaller steps later
    adam(graph, step, rate * std::max(std::pow(0.33f, late), 0.03f));
}

Inference::Inference(Gpu& gpu, const Network& of, Arena& memory, uint32_t rows)
    : of_(of), rows_(rows), stride_(stride_of(rows)) {
    const uint32_t most = gpu.properties.limits.maxComputeWorkGroupCount[0];
    if (groups(rows, 64) > most)
        fail(std::to_string(rows) + " points need " + std::to_string(groups(rows, 64)) +
             " work groups, and the device has " + std::to_string(most) + " at most; take a smaller --size or --batch");
    points = memory.buffer("uv", VkDeviceSize{stride_} * 2 * sizeof(float));
    x_ = memory.buffer("encoded", of.bytes(VkDeviceSize{stride_} * Network::inputs));
    output = memory.buffer("materials", of.bytes(VkDeviceSize{rows} * Network::outputs));
    hidden_ = {memory.buffer("hidden a", of.bytes(VkDeviceSize{rows} * of.settings.width)),
               memory.buffer("hidden b", of.bytes(VkDeviceSize{rows} * of.settings.width))};
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < Network::layers; ++i) {
        const Layer l(of.settings, i);
        sized_[i] = need(gpu.context.createPlan(l.infer(rows, false), options));
        counted_[i] = need(gpu.context.createPlan(l.infer(rows, true), options));
        workspace = std::max({workspace, workspace_of(sized_[i]), workspace_of(counted_[i])});
    }
    workspace_ = memory.buffer("draw workspace", workspace);
}

void Inference::run(Graph& graph, const Buffer* counted) const {
    std::vector<Use> uses{reads(points), reads(of_.copy), writes(x_), reads(counted ? *counted : points)};
    const auto push = words(uint32_t{counted ? counted_on_gpu : listed}, rows_, stride_, 0u, of_.first_feature());
    if (counted)
        graph.compute("encode", "encode", std::move(uses), push,
                      counted->part(offsetof(Counted, dispatch), sizeof(VkDispatchIndirectCommand)));
    else
        graph.compute("encode", "encode", std::move(uses), push, groups(rows_, 128), Network::levels);
    layers(graph, counted);
}

void Inference::run_grid(Graph& graph, uint32_t side) const {
    graph.compute("encode", "encode", {reads(points), reads(of_.copy), writes(x_), reads(points)},
                  words(uint32_t{grid}, rows_, stride_, side, of_.first_feature()), groups(rows_, 128),
                  Network::levels);
    layers(graph, nullptr);
}

void Inference::layers(Graph& graph, const Buffer* counted) const {
    for (uint32_t i = 0; i < Network::layers; ++i) {
        vkgemm::Run run{.a = i == 0 ? x_.operand() : hidden_[(i + 1) % 2].operand(),
                        .b = of_.copy.operand(of_.bytes(of_.first_weight(i))),
                        .d = i + 1 == Network::layers ? output.operand() : hidden_[i % 2].operand(),
                        .bias = of_.copy.operand(of_.bytes(of_.first_bias(i))),
                        .workspace = workspace_.operand()};
        if (counted)
            run.groups = counted->operand();
        else
            run.sizes = vkgemm::Sizes{.m = rows_, .n = of_.outputs_of(i), .k = of_.inputs_of(i)};
        graph.product(forward_names[i], counted ? counted_[i] : sized_[i], run);
    }
}

}  // namespace renderer
