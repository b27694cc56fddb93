// SPDX-License-Identifier: MIT
#include "network.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace renderer {
namespace {

constexpr const char* forward_names[] = {"layer 1", "layer 2", "layer 3", "layer 4"};
constexpr const char* weight_names[] = {"dW 1", "dW 2", "dW 3", "dW 4"};
constexpr const char* input_names[] = {"dX 1", "dX 2", "dX 3", "dX 4"};
constexpr const char* relu_names[] = {"relu 1 backwards", "relu 2 backwards", "relu 3 backwards"};
constexpr vkgemm::PlanOptions options{.workspaceLimit = uint64_t{64} << 20};

struct Shape {
    uint32_t in, out;
    bool last;
    vkgemm::Type type;
};
Shape shape(const Settings& s, uint32_t layer, bool f16) {
    const bool last = layer + 1 == Network::layers;
    return {layer == 0 ? Network::inputs : s.width, last ? Network::outputs : s.width, last,
            f16 ? vkgemm::f16 : vkgemm::f32};
}

vkgemm::Problem forward_problem(const Shape& s, uint32_t rows) {
    vkgemm::Problem p{.m = rows, .n = s.out, .k = s.in, .a = {.type = s.type}, .d = {.type = s.type}};
    p.epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
    if (!s.last) p.epilogue.add({.kind = VKGEMM_STEP_RELU});
    return p;
}
vkgemm::Problem infer_problem(const Shape& s, uint32_t rows, bool counted) {
    vkgemm::Problem p = forward_problem(s, rows);
    p.upTo = VKGEMM_UP_TO_M;
    p.grouping = counted ? VKGEMM_GROUPING_TABLE : VKGEMM_GROUPING_NONE;
    return p;
}
/// dW += X^T dY: A is X, which is stored by rows of the batch, so it is column-major as X^T.
vkgemm::Problem weight_problem(const Shape& s, uint32_t batch) {
    return {.m = s.in,
            .n = s.out,
            .k = batch,
            .a = {.type = s.type, .layout = vkgemm::columnMajor},
            .d = {.type = vkgemm::f32},
            .cSource = VKGEMM_C_IS_D};
}
/// dX = dY W^T
vkgemm::Problem input_problem(const Shape& s, uint32_t batch) {
    return {.m = batch,
            .n = s.in,
            .k = s.out,
            .a = {.type = s.type},
            .b = {.layout = vkgemm::columnMajor},
            .d = {.type = s.type}};
}

uint64_t workspace_of(const vkgemm::Plan& plan) { return plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE]; }
uint32_t groups(uint32_t rows) { return (rows + 63) / 64; }

}  // namespace

std::vector<vkgemm::Problem> Network::problems(const Settings& settings, uint32_t rows, bool f16) {
    std::vector<vkgemm::Problem> all;
    for (uint32_t i = 0; i < layers; ++i) {
        const Shape s = shape(settings, i, f16);
        for (const vkgemm::Problem& p :
             {forward_problem(s, settings.batch), weight_problem(s, settings.batch), input_problem(s, settings.batch),
              infer_problem(s, rows, false), infer_problem(s, rows, true)})
            all.push_back(p);
    }
    return all;
}

uint32_t Network::first_weight(uint32_t layer) const {
    uint32_t at = 0;
    for (uint32_t i = 0; i < layer; ++i) at += rows_of_weights(i) * columns(i);
    return at;
}
uint32_t Network::first_bias(uint32_t layer) const {
    uint32_t at = first_weight(layers);
    for (uint32_t i = 0; i < layer; ++i) at += columns(i);
    return at;
}

Network::Network(Gpu& gpu, const Settings& settings) : gpu_(gpu), settings_(settings), memory_(gpu) {
    // Room for a sum of 1/2 for each point of the batch in 31 bits.
    fixed_point_ =
        std::min(std::ldexp(1.0f, 32 - static_cast<int>(std::bit_width(settings.batch))), std::ldexp(1.0f, 20));
    const uint32_t batch = settings.batch;
    parameters_ = memory_.buffer("parameters", parameters() * sizeof(float));
    moments_ = memory_.buffer("moments", parameters() * 2 * sizeof(float));
    weight_gradients_ = memory_.buffer("weight gradients", weights() * sizeof(float));
    sums_ = memory_.buffer("sums", (parameters() - weights()) * sizeof(int32_t));
    network_ = memory_.buffer("network", row_bytes(first_feature()));
    points_ = memory_.buffer("batch uv", batch * 2 * sizeof(float));
    losses_ = memory_.buffer("losses", groups(batch) * 2 * sizeof(float));
    constexpr const char* x_names[] = {"x0", "x1", "x2", "x3", "y"};
    for (uint32_t i = 0; i <= layers; ++i)
        x_[i] = memory_.buffer(x_names[i], VkDeviceSize{batch} * row_bytes(i == 0 ? inputs : columns(i - 1)));
    gradient_ = {memory_.buffer("gradient a", VkDeviceSize{batch} * row_bytes(settings.width)),
                 memory_.buffer("gradient b", VkDeviceSize{batch} * row_bytes(settings.width))};
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < layers; ++i) {
        const Shape s = shape(settings, i, gpu.f16);
        forward_[i] = need(gpu.context.createPlan(forward_problem(s, batch), options));
        weight_[i] = need(gpu.context.createPlan(weight_problem(s, batch), options));
        input_[i] = need(gpu.context.createPlan(input_problem(s, batch), options));
        for (const vkgemm::Plan* p : {&forward_[i], &weight_[i], &input_[i]})
            workspace = std::max(workspace, workspace_of(*p));
    }
    workspace_ = memory_.buffer("workspace", workspace);
    sample_ = gpu.compute(shader("sample", false));
    encode_ = gpu.compute(shader("encode", gpu.f16));
    scatter_ = gpu.compute(shader("scatter", gpu.f16));
    loss_ = gpu.compute(shader("loss", gpu.f16));
    relu_ = gpu.compute(shader("relu_backward", gpu.f16));
    adam_ = gpu.compute(shader("adam", gpu.f16));
}

void Network::reset(Graph& graph) {
    std::mt19937 engine(settings_.seed);
    std::vector<float> initial(parameters());
    for (uint32_t i = 0; i < layers; ++i) {  // He's
        std::normal_distribution<float> normal(
            0, std::sqrt((i + 1 == layers ? 1.0f : 2.0f) / static_cast<float>(rows_of_weights(i))));
        for (uint32_t w = first_weight(i); w < first_weight(i + 1); ++w) initial[w] = normal(engine);
    }
    std::uniform_real_distribution<float> uniform(-0.02f, 0.02f);
    for (uint32_t i = first_feature(); i < parameters(); ++i) initial[i] = uniform(engine);
    // In pieces of the size that vkCmdUpdateBuffer takes. A loader would stage this.
    graph.pass("initial values", {copies(parameters_, VK_ACCESS_2_TRANSFER_WRITE_BIT)},
               [this, initial](VkCommandBuffer commands) {
                   for (size_t at = 0; at < initial.size(); at += 16384)
                       vkCmdUpdateBuffer(commands, parameters_.handle, at * sizeof(float),
                                         std::min<size_t>(initial.size() - at, 16384) * sizeof(float), &initial[at]);
               });
    graph.fill("no moments", moments_, 0);
    graph.fill("no gradients", weight_gradients_, 0);
    graph.fill("no sums", sums_, 0);
    update(graph, 0);  // without gradients, this only writes the network's copy
}

void Network::forward(Graph& graph) {
    for (uint32_t i = 0; i < layers; ++i)
        graph.product(forward_names[i], forward_[i],
                      {.a = x_[i].operand(),
                       .b = network_.operand(row_bytes(first_weight(i))),
                       .d = x_[i + 1].operand(),
                       .bias = network_.operand(row_bytes(first_bias(i))),
                       .workspace = workspace_.operand()});
}

void Network::backward(Graph& graph) {
    for (uint32_t i = layers; i-- > 0;) {
        const Buffer &dy = gradient_[(i + 1) % 2], &dx = gradient_[i % 2];
        graph.product(weight_names[i], weight_[i],
                      {.a = x_[i].operand(),
                       .b = dy.operand(),
                       .d = weight_gradients_.operand(first_weight(i) * sizeof(float)),
                       .workspace = workspace_.operand(),
                       .beta = 1});
        graph.product(input_names[i], input_[i],
                      {.a = dy.operand(),
                       .b = network_.operand(row_bytes(first_weight(i))),
                       .d = dx.operand(),
                       .workspace = workspace_.operand()});
        if (i > 0)
            graph.compute(relu_names[i - 1], relu_, {reads(x_[i]), updates(dx), updates(sums_)},
                          words(settings_.batch, settings_.width, first_bias(i - 1) - weights(), fixed_point_),
                          groups(settings_.batch));
    }
}

void Network::gradients(Graph& graph, uint32_t step) {
    const uint32_t batch = settings_.batch;
    graph.compute("random points", sample_, {writes(points_)}, words(batch, step, settings_.seed, 0u), groups(batch));
    graph.compute("encode", encode_, {reads(points_), reads(parameters_), writes(x_[0]), reads(points_)},
                  words(batch, 0u, settings_.table_log2, first_feature()), groups(batch));
    forward(graph);
    graph.compute("loss", loss_,
                  {reads(points_), reads(x_[layers]), writes(gradient_[layers % 2]), updates(sums_), writes(losses_)},
                  words(batch, settings_.material, first_bias(layers - 1) - weights(), fixed_point_), groups(batch));
    backward(graph);
    graph.compute("scatter", scatter_, {reads(points_), reads(gradient_[0]), updates(sums_)},
                  words(batch, settings_.table_log2, first_feature() - weights(), fixed_point_), groups(batch));
}

void Network::update(Graph& graph, uint32_t step) {
    const auto t = static_cast<float>(step + 1);
    const float decay = std::pow(0.33f, std::max(0.0f, t - 1000.0f) / 2000.0f);  // smaller steps later
    const uint32_t work_groups = groups(parameters()), across = std::min(work_groups, 32768u);
    graph.compute(
        "adam", adam_,
        {updates(parameters_), updates(moments_), updates(weight_gradients_), updates(sums_), writes(network_)},
        words(parameters(), weights(), first_feature(), across, settings_.rate * std::max(decay, 0.03f),
              1.0f - std::pow(0.9f, t), 1.0f - std::pow(0.99f, t), 1.0f / fixed_point_),
        across, (work_groups + across - 1) / across);
}

void Network::train(Graph& graph, uint32_t step) {
    graph.part("train");
    gradients(graph, step);
    update(graph, step);
}

Inference::Inference(Gpu& gpu, const Network& of, Arena& memory, uint32_t rows) : of_(of), rows_(rows) {
    const uint32_t most = gpu.properties.limits.maxComputeWorkGroupCount[0];
    if (groups(rows) > most)
        fail(std::to_string(rows) + " points need " + std::to_string(groups(rows)) +
             " work groups, and the device has " + std::to_string(most) + " at most; take a smaller --size or --batch");
    points_ = memory.buffer("uv", VkDeviceSize{rows} * 2 * sizeof(float));
    x_ = memory.buffer("encoded", VkDeviceSize{rows} * of.row_bytes(Network::inputs));
    y_ = memory.buffer("materials", VkDeviceSize{rows} * of.row_bytes(Network::outputs));
    hidden_ = {memory.buffer("hidden a", VkDeviceSize{rows} * of.row_bytes(of.settings().width)),
               memory.buffer("hidden b", VkDeviceSize{rows} * of.row_bytes(of.settings().width))};
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < Network::layers; ++i) {
        const Shape s = shape(of.settings(), i, gpu.f16);
        sized_[i] = need(gpu.context.createPlan(infer_problem(s, rows, false), options));
        counted_[i] = need(gpu.context.createPlan(infer_problem(s, rows, true), options));
        workspace = std::max({workspace, workspace_of(sized_[i]), workspace_of(counted_[i])});
    }
    workspace_ = memory.buffer("draw workspace", workspace);
    encode_ = of.encode_;
}

void Inference::run(Graph& graph, uint32_t rows, const Buffer* counted) const {
    const Settings& s = of_.settings();
    std::vector<Use> uses{reads(points_), reads(of_.parameters_), writes(x_), reads(counted ? *counted : points_)};
    const auto push = words(std::min(rows, rows_), counted ? 1u : 0u, s.table_log2, of_.first_feature());
    if (counted)
        graph.compute("encode", encode_, std::move(uses), push, *counted, offsetof(Counted, dispatch));
    else
        graph.compute("encode", encode_, std::move(uses), push, groups(rows));
    for (uint32_t i = 0; i < Network::layers; ++i) {
        vkgemm::Run run{.a = i == 0 ? x_.operand() : hidden_[(i + 1) % 2].operand(),
                        .b = of_.network_.operand(of_.row_bytes(of_.first_weight(i))),
                        .d = i + 1 == Network::layers ? y_.operand() : hidden_[i % 2].operand(),
                        .bias = of_.network_.operand(of_.row_bytes(of_.first_bias(i))),
                        .workspace = workspace_.operand()};
        if (counted)
            run.groups = counted->operand();
        else
            run.sizes = vkgemm::Sizes{.m = rows, .n = of_.columns(i), .k = of_.rows_of_weights(i)};
        graph.product(forward_names[i], counted ? counted_[i] : sized_[i], run);
    }
}

}  // namespace renderer
