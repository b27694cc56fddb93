// SPDX-License-Identifier: MIT
#include "network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace renderer {
namespace {

constexpr const char* forward_names[] = {"layer 1", "layer 2", "layer 3", "layer 4"};
constexpr const char* weight_names[] = {"dW 1", "dW 2", "dW 3", "dW 4"};
constexpr const char* input_names[] = {"dX 1", "dX 2", "dX 3", "dX 4"};
constexpr const char* relu_names[] = {"relu 1 backwards", "relu 2 backwards", "relu 3 backwards"};
constexpr vkgemm::PlanOptions options{.workspaceLimit = uint64_t{64} << 20};
constexpr float rate = 0.01f;
constexpr uint32_t seed = 1;
constexpr uint32_t table_parts = 8, strip = 8192;  // work groups of a level, and points of each, in scatter.comp
enum Points : uint32_t { listed, counted_on_gpu, random_ones, grid };  // what encode.comp encodes

uint32_t groups(uint32_t work, uint32_t each) { return (work + each - 1) / each; }
uint32_t stride_of(uint32_t rows) { return groups(rows, 128) * 128; }  // from one column of the encoding to the next
uint32_t slices_of(const Settings& s) { return std::gcd(s.batch / 64, 8192 / s.width); }

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
    /// What the layer reads. The encoding lies by columns.
    vkgemm::Matrix activations(uint32_t rows) const {
        if (first) return {.type = type, .layout = vkgemm::columnMajor, .ld = stride_of(rows)};
        return {.type = type, .ld = in};
    }
    vkgemm::Problem forward(uint32_t rows) const {
        vkgemm::Problem p{.m = rows, .n = out, .k = in, .a = activations(rows), .d = {.type = type}};
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
    /// dW += X^T dY for each slice of the batch, where X^T is X read by columns.
    vkgemm::Problem weight(const Settings& s) const {
        vkgemm::Problem p{.m = in, .n = out, .k = s.batch / slices_of(s), .batch = slices_of(s)};
        p.a = activations(s.batch);
        p.a.layout = first ? vkgemm::rowMajor : vkgemm::columnMajor, p.a.batchStride = p.k * (first ? 1 : in);
        p.d.type = vkgemm::f32, p.cSource = VKGEMM_C_IS_D;
        return p;
    }
    /// dX = dY W^T
    vkgemm::Problem input(uint32_t rows) const {
        vkgemm::Problem p{.m = rows, .n = in, .k = out, .a = {.type = type}, .d = activations(rows)};
        p.b.layout = vkgemm::columnMajor;
        return p;
    }
};

uint64_t workspace_of(const vkgemm::Plan& plan) { return plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE]; }

/// Adds the pass that encodes points: those of the batch of a training step, of a list, or of a grid.
void encode(Graph& graph, const Network& of, Points which, uint32_t rows, uint32_t step_or_side, const Buffer& out,
            const Buffer* listed_points = nullptr, const Buffer* counted = nullptr) {
    Groups size{groups(rows, 128), Network::levels};
    if (counted) size.arguments = counted->part(offsetof(Counted, dispatch), sizeof(VkDispatchIndirectCommand));
    graph.compute("encode", "encode",
                  {reads(listed_points ? *listed_points : of.copy), reads(of.copy), writes(out),
                   reads(counted ? *counted : of.copy)},
                  words(uint32_t{which}, rows, stride_of(rows), step_or_side, of.first_feature()), size);
}

}  // namespace

std::vector<uint32_t> counted_rows(uint32_t count) {
    Counted c;
    c.group.m = count, c.dispatch.x = groups(count, 128);
    std::vector<uint32_t> all(sizeof c / sizeof(uint32_t));
    std::memcpy(all.data(), &c, sizeof c);
    return all;
}

std::vector<vkgemm::Problem> Network::problems(const Settings& s, uint32_t rows) {
    std::vector<vkgemm::Problem> all;
    for (uint32_t i = 0; i < layers; ++i) {
        const Layer l(s, i);
        for (const vkgemm::Problem& p :
             {l.forward(s.batch), l.weight(s), l.input(s.batch), l.infer(rows, false), l.infer(rows, true)})
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
    uint32_t at = weights();
    for (uint32_t i = 0; i < layer; ++i) at += outputs_of(i);
    return at;
}

// The fixed point leaves room for a sum of 1/2 for each point of the batch in 31 bits.
Network::Network(Gpu& gpu, const Settings& s)
    : settings(s),
      fixed_point(std::min(std::ldexp(1.0f, 32 - static_cast<int>(std::bit_width(s.batch))), std::ldexp(1.0f, 20))),
      slices(slices_of(s)),
      memory_(gpu) {
    const VkDeviceSize count = parameters_count(), batch = s.batch, word = sizeof(float);
    parameters = memory_.buffer("parameters", count * word);
    moments_ = memory_.buffer("moments", count * 2 * word);
    copy = memory_.buffer("network", bytes(count));
    losses = memory_.buffer("losses", batch / 64 * 2 * word);
    targets_ = memory_.buffer("targets", bytes(batch * outputs));
    weight_gradients = memory_.buffer("gradients of weights", VkDeviceSize{slices} * weights() * word);
    sums = memory_.buffer("gradients of biases and features", (count - weights()) * word);
    bias_sums_ = sums.part(0, (first_feature() - weights()) * word);
    feature_sums_ = sums.part(bias_sums_.bytes, sums.bytes - bias_sums_.bytes);
    constexpr const char* names[2][layers + 1] = {
        {"x0", "x1", "x2", "x3", "y"},
        {"gradient of x0", "gradient of x1", "gradient of x2", "gradient of x3", "gradient of y"}};
    for (uint32_t i = 0; i <= layers; ++i) {
        const VkDeviceSize elements = i == 0 ? VkDeviceSize{stride_of(s.batch)} * inputs : batch * outputs_of(i - 1);
        x_[i] = memory_.buffer(names[0][i], bytes(elements));
        dx_[i] = memory_.buffer(names[1][i], bytes(elements));
    }
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < layers; ++i) {
        const Layer l(s, i);
        forward_[i] = need(gpu.context.createPlan(l.forward(s.batch), options));
        weight_[i] = need(gpu.context.createPlan(l.weight(s), options));
        input_[i] = need(gpu.context.createPlan(l.input(s.batch), options));
        for (const auto* plan : {&forward_[i], &weight_[i], &input_[i]})
            workspace = std::max(workspace, workspace_of(*plan));
    }
    workspace_ = memory_.buffer("workspace", workspace);
}

void Network::reset(Graph& graph) {
    std::mt19937 engine(seed);
    std::vector<uint32_t> initial(parameters_count());
    for (uint32_t i = 0; i < layers; ++i) {  // He's
        const float gain = i + 1 == layers ? 1 : 2;
        std::normal_distribution<float> normal(0, std::sqrt(gain / static_cast<float>(inputs_of(i))));
        for (uint32_t w = first_weight(i); w < first_weight(i + 1); ++w)
            initial[w] = std::bit_cast<uint32_t>(normal(engine));
    }
    std::uniform_real_distribution<float> uniform(-0.02f, 0.02f);
    for (uint32_t i = first_feature(); i < initial.size(); ++i) initial[i] = std::bit_cast<uint32_t>(uniform(engine));
    graph.write("initial values", parameters, std::move(initial));
    for (const Buffer& b : {moments_, weight_gradients, sums})
        graph.pass("zeros", {copied_to(b)},
                   [b](VkCommandBuffer commands) { vkCmdFillBuffer(commands, b.handle, b.offset, b.bytes, 0); });
    adam(graph, 0, 0);  // this only writes the copy
}

void Network::gradients(Graph& graph, uint32_t step) {
    const uint32_t batch = settings.batch;
    encode(graph, *this, random_ones, batch, step, x_[0]);
    graph.compute("reference", "reference", {writes(targets_)}, words(batch, step, settings.material), {batch / 64});
    for (uint32_t i = 0; i < layers; ++i)
        graph.product(forward_names[i], forward_[i],
                      {.a = x_[i].operand(),
                       .b = copy.operand(bytes(first_weight(i))),
                       .d = x_[i + 1].operand(),
                       .bias = copy.operand(bytes(first_bias(i))),
                       .workspace = workspace_.operand()});
    graph.compute("loss", "loss",
                  {reads(x_[layers]), reads(targets_), writes(dx_[layers]), updates(bias_sums_), writes(losses)},
                  words(first_bias(layers - 1) - weights(), fixed_point), {batch / 64});
    backward(graph, step);
}

void Network::backward(Graph& graph, uint32_t step) {
    const uint32_t batch = settings.batch, width = settings.width;
    for (uint32_t i = layers; i-- > 0;) {
        graph.product(input_names[i], input_[i],
                      {.a = dx_[i + 1].operand(),
                       .b = copy.operand(bytes(first_weight(i))),
                       .d = dx_[i].operand(),
                       .workspace = workspace_.operand()});
        if (i > 0)
            graph.compute(relu_names[i - 1], "relu_backward", {reads(x_[i]), updates(dx_[i]), updates(bias_sums_)},
                          words(batch, width, first_bias(i - 1) - weights(), fixed_point),
                          {groups(batch * (width / 8), 1024)});
    }
    graph.compute("scatter", "scatter", {reads(dx_[0]), updates(feature_sums_)},
                  words(batch, stride_of(batch), step, fixed_point), {groups(batch, strip), levels * table_parts});
    for (uint32_t i = 0; i < layers; ++i)
        graph.product(weight_names[i], weight_[i],
                      {.a = x_[i].operand(),
                       .b = dx_[i + 1].operand(),
                       .d = weight_gradients.operand(first_gradient(i) * sizeof(float)),
                       .workspace = workspace_.operand(),
                       .beta = 1});
}

void Network::adam(Graph& graph, uint32_t step, float at_rate) {
    const auto t = static_cast<float>(step + 1);
    graph.compute("adam", "adam",
                  {updates(parameters), updates(moments_), updates(weight_gradients), updates(sums), writes(copy)},
                  words(parameters_count(), weights(), settings.width, slices, at_rate, 1.0f - std::pow(0.9f, t),
                        1.0f - std::pow(0.99f, t), 1.0f / fixed_point),
                  {weights() / 64 + groups(parameters_count() - weights(), 1024)});
}

void Network::train(Graph& graph, uint32_t step) {
    graph.part("train");
    gradients(graph, step);
    const float late = std::max(0.0f, static_cast<float>(step) - 999.0f) / 2000.0f;  // smaller steps later
    adam(graph, step, rate * std::max(std::pow(0.33f, late), 0.03f));
}

std::pair<double, double> Network::mean_loss(std::span<const float> read) const {
    double loss = 0, squares = 0;
    for (size_t i = 0; i + 1 < read.size(); i += 2)
        loss += static_cast<double>(read[i]), squares += static_cast<double>(read[i + 1]);
    return {loss / settings.batch, -10 * std::log10(squares / 3 / settings.batch)};
}

Inference::Inference(Gpu& gpu, const Network& of, Arena& memory, uint32_t rows) : of_(of), rows_(rows) {
    const uint32_t most = gpu.properties.limits.maxComputeWorkGroupCount[0];
    if (groups(rows, 64) > most)
        fail(std::to_string(rows) + " points need " + std::to_string(groups(rows, 64)) +
             " work groups, and the device has " + std::to_string(most) + " at most; take a smaller --size or --batch");
    points = memory.buffer("uv", VkDeviceSize{stride_of(rows)} * 2 * sizeof(float));
    x_ = memory.buffer("encoded", of.bytes(VkDeviceSize{stride_of(rows)} * Network::inputs));
    output = memory.buffer("materials", of.bytes(VkDeviceSize{rows} * Network::outputs));
    for (const bool first : {true, false})
        hidden_[first ? 0 : 1] =
            memory.buffer(first ? "hidden a" : "hidden b", of.bytes(VkDeviceSize{rows} * of.settings.width));
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < Network::layers; ++i) {
        const Layer l(of.settings, i);
        sized_[i] = need(gpu.context.createPlan(l.infer(rows, false), options));
        counted_[i] = need(gpu.context.createPlan(l.infer(rows, true), options));
        workspace = std::max({workspace, workspace_of(sized_[i]), workspace_of(counted_[i])});
    }
    workspace_ = memory.buffer("draw workspace", workspace);
}

void Inference::run(Graph& graph, const Buffer* counted, uint32_t side) const {
    encode(graph, of_, side ? grid : counted ? counted_on_gpu : listed, rows_, side, x_, &points, counted);
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
