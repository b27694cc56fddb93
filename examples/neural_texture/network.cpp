// SPDX-License-Identifier: MIT
#include "network.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace renderer {
namespace {

constexpr const char* forward_names[] = {"layer 1", "layer 2", "layer 3", "layer 4"};
constexpr const char* weight_names[] = {"dW 1", "dW 2 and 3", "dW 4"};
constexpr const char* input_names[] = {"dX 1", "dX 2", "dX 3", "dX 4"};
constexpr const char* relu_names[] = {"relu 1 backwards", "relu 2 backwards", "relu 3 backwards"};
constexpr vkgemm::PlanOptions options{.workspaceLimit = uint64_t{64} << 20};
constexpr uint32_t slice = 4096;  // entries of a table that a work group of scatter.comp has

struct Shape {
    uint32_t in, out;
    bool first, last;
    vkgemm::Type type;
};
Shape shape(const Settings& s, uint32_t layer, bool f16) {
    const bool first = layer == 0, last = layer + 1 == Network::layers;
    return {first ? Network::inputs : s.width, last ? Network::outputs : s.width, first, last,
            f16 ? vkgemm::f16 : vkgemm::f32};
}
/// Of the activations that a layer reads: those of the encoding lie by columns, `stride` apart.
vkgemm::Matrix activations(const Shape& s, uint32_t stride) {
    return {.type = s.type, .layout = s.first ? vkgemm::columnMajor : vkgemm::rowMajor, .ld = s.first ? stride : s.in};
}

vkgemm::Problem forward_problem(const Shape& s, uint32_t rows, uint32_t stride) {
    vkgemm::Problem p{.m = rows, .n = s.out, .k = s.in, .a = activations(s, stride), .d = {.type = s.type}};
    p.epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
    if (!s.last) p.epilogue.add({.kind = VKGEMM_STEP_RELU});
    return p;
}
uint32_t stride_of(uint32_t rows) { return (rows + 127) / 128 * 128; }
vkgemm::Problem infer_problem(const Shape& s, uint32_t rows, bool counted) {
    vkgemm::Problem p = forward_problem(s, rows, stride_of(rows));
    p.upTo = VKGEMM_UP_TO_M;
    p.grouping = counted ? VKGEMM_GROUPING_TABLE : VKGEMM_GROUPING_NONE;
    return p;
}
/// dW += X^T dY, where X^T is X read by columns. The layers between hidden ones are a batch.
vkgemm::Problem weight_problem(const Shape& s, uint32_t rows) {
    vkgemm::Matrix a = activations(s, rows);
    a.layout = s.first ? vkgemm::rowMajor : vkgemm::columnMajor;
    return {.m = s.in,
            .n = s.out,
            .k = rows,
            .batch = s.first || s.last ? 1u : Network::layers - 2,
            .a = a,
            .d = {.type = vkgemm::f32},
            .cSource = VKGEMM_C_IS_D};
}
/// dX = dY W^T
vkgemm::Problem input_problem(const Shape& s, uint32_t rows) {
    return {.m = rows,
            .n = s.in,
            .k = s.out,
            .a = {.type = s.type},
            .b = {.layout = vkgemm::columnMajor},
            .d = activations(s, rows)};
}

uint64_t workspace_of(const vkgemm::Plan& plan) { return plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE]; }
uint32_t groups(uint32_t work, uint32_t each) { return (work + each - 1) / each; }

}  // namespace

std::vector<vkgemm::Problem> Network::problems(const Settings& settings, uint32_t rows, bool f16) {
    std::vector<vkgemm::Problem> all;
    for (uint32_t i = 0; i < layers; ++i) {
        const Shape s = shape(settings, i, f16);
        for (const vkgemm::Problem& p :
             {forward_problem(s, settings.batch, settings.batch), weight_problem(s, settings.batch),
              input_problem(s, settings.batch), infer_problem(s, rows, false), infer_problem(s, rows, true)})
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
    gradients_ = memory_.buffer("parameter gradients", first_feature() * sizeof(float));
    bias_gradients_ = gradients_.part(first_bias(0) * sizeof(float), (first_feature() - first_bias(0)) * sizeof(float));
    sums_ = memory_.buffer("sums", (parameters() - first_feature()) * sizeof(int32_t));
    network_ = memory_.buffer("network", bytes(parameters()));
    points_ = memory_.buffer("batch uv", batch * 2 * sizeof(float));
    losses_ = memory_.buffer("losses", groups(batch, 64) * 2 * sizeof(float));
    const VkDeviceSize hidden = bytes(VkDeviceSize{batch} * settings.width);
    for (auto* const all : {&x_, &dx_}) {  // the hidden ones side by side, as a batch of products wants them
        const bool x = all == &x_;
        all->front() = memory_.buffer(x ? "x0" : "gradient of x0", bytes(VkDeviceSize{batch} * inputs));
        const Buffer between = memory_.buffer(x ? "x1-3" : "gradients of x1-3", (layers - 1) * hidden);
        for (uint32_t i = 1; i < layers; ++i) (*all)[i] = between.part((i - 1) * hidden, hidden);
        all->back() = memory_.buffer(x ? "y" : "gradient of y", bytes(VkDeviceSize{batch} * outputs));
    }
    make_plans();
    sample_ = gpu.compute("sample");
    encode_ = gpu.compute("encode");
    scatter_ = gpu.compute("scatter");
    loss_ = gpu.compute("loss");
    relu_ = gpu.compute("relu_backward");
    adam_ = gpu.compute("adam");
}

void Network::make_plans() {
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < layers; ++i) {
        const Shape s = shape(settings_, i, gpu_.f16);
        forward_[i] = need(gpu_.context.createPlan(forward_problem(s, settings_.batch, settings_.batch), options));
        input_[i] = need(gpu_.context.createPlan(input_problem(s, settings_.batch), options));
        workspace = std::max({workspace, workspace_of(forward_[i]), workspace_of(input_[i])});
        if (i == 2) continue;  // layer 3 is in the batch of layer 2
        vkgemm::Plan& weight = weight_[(i + 1) / 2];
        weight = need(gpu_.context.createPlan(weight_problem(s, settings_.batch), options));
        weight_workspace_[(i + 1) / 2] = memory_.buffer("dW workspace", workspace_of(weight));
    }
    workspace_ = memory_.buffer("workspace", workspace);
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
    graph.fill("no gradients", gradients_, 0);
    graph.fill("no sums", sums_, 0);
    adam(graph, 0, 0);  // this only writes the network's copy
}

void Network::forward(Graph& graph) {
    for (uint32_t i = 0; i < layers; ++i)
        graph.product(forward_names[i], forward_[i],
                      {.a = x_[i].operand(),
                       .b = network_.operand(bytes(first_weight(i))),
                       .d = x_[i + 1].operand(),
                       .bias = network_.operand(bytes(first_bias(i))),
                       .workspace = workspace_.operand()});
}

void Network::backward(Graph& graph) {
    const uint32_t batch = settings_.batch, width = settings_.width;
    for (uint32_t i = layers; i-- > 0;) {
        graph.product(input_names[i], input_[i],
                      {.a = dx_[i + 1].operand(),
                       .b = network_.operand(bytes(first_weight(i))),
                       .d = dx_[i].operand(),
                       .workspace = workspace_.operand()});
        if (i > 0)
            graph.compute(relu_names[i - 1], relu_, {reads(x_[i]), updates(dx_[i]), updates(bias_gradients_)},
                          words(batch, width, first_bias(i - 1) - first_bias(0), fixed_point_),
                          groups(batch * (width / 8), 1024));
    }
    const uint32_t slices = groups(1u << settings_.table_log2, slice), each = std::max(8192u, batch / 16);
    graph.compute("scatter", scatter_, {reads(points_), reads(dx_[0]), updates(sums_)},
                  words(batch, settings_.table_log2, slices, each, fixed_point_), groups(batch, each), levels * slices);
    for (const uint32_t i : {0u, 1u, 3u}) {  // layer 3 is in the batch of layer 2
        const uint32_t both = i == 1 ? layers - 2 : 1;
        graph.product(weight_names[(i + 1) / 2], weight_[(i + 1) / 2],
                      {.a = {x_[i].handle, x_[i].offset, both * x_[i].bytes},
                       .b = {dx_[i + 1].handle, dx_[i + 1].offset, both * dx_[i + 1].bytes},
                       .d = gradients_.operand(first_weight(i) * sizeof(float)),
                       .workspace = weight_workspace_[(i + 1) / 2].operand(),
                       .beta = 1});
    }
}

std::vector<uint32_t> Network::encode_push(uint32_t rows, uint32_t stride, bool counted) const {
    return words(rows, stride, counted ? 1u : 0u, settings_.table_log2, first_feature());
}

void Network::gradients(Graph& graph, uint32_t step) {
    const uint32_t batch = settings_.batch;
    graph.compute("random points", sample_, {writes(points_)}, words(batch, step, settings_.seed, 0u),
                  groups(batch, 64));
    graph.compute("encode", encode_, {reads(points_), reads(network_), writes(x_[0]), reads(points_)},
                  encode_push(batch, batch, false), groups(batch, 128), levels);
    forward(graph);
    graph.compute("loss", loss_,
                  {reads(points_), reads(x_[layers]), writes(dx_[layers]), updates(bias_gradients_), writes(losses_)},
                  words(settings_.material, first_bias(layers - 1) - first_bias(0), fixed_point_), groups(batch, 64));
    backward(graph);
}

void Network::adam(Graph& graph, uint32_t step, float rate) {
    const auto t = static_cast<float>(step + 1);
    const uint32_t work_groups = groups(parameters(), 256), across = std::min(work_groups, 32768u);
    graph.compute("adam", adam_,
                  {updates(parameters_), updates(moments_), updates(gradients_), updates(sums_), writes(network_)},
                  words(parameters(), first_bias(0), first_feature(), across, rate, 1.0f - std::pow(0.9f, t),
                        1.0f - std::pow(0.99f, t), 1.0f / fixed_point_),
                  across, groups(work_groups, across));
}

void Network::update(Graph& graph, uint32_t step) {
    const float late = std::max(0.0f, static_cast<float>(step) - 999.0f) / 2000.0f;  // smaller steps later
    adam(graph, step, settings_.rate * std::max(std::pow(0.33f, late), 0.03f));
}

void Network::train(Graph& graph, uint32_t step) {
    graph.part("train");
    gradients(graph, step);
    update(graph, step);
}

Inference::Inference(Gpu& gpu, const Network& of, Arena& memory, uint32_t rows)
    : of_(of), rows_(rows), stride_(stride_of(rows)) {
    const uint32_t most = gpu.properties.limits.maxComputeWorkGroupCount[0];
    if (groups(rows, 64) > most)
        fail(std::to_string(rows) + " points need " + std::to_string(groups(rows, 64)) +
             " work groups, and the device has " + std::to_string(most) + " at most; take a smaller --size or --batch");
    points_ = memory.buffer("uv", VkDeviceSize{stride_} * 2 * sizeof(float));
    x_ = memory.buffer("encoded", of.bytes(VkDeviceSize{stride_} * Network::inputs));
    y_ = memory.buffer("materials", of.bytes(VkDeviceSize{rows} * Network::outputs));
    hidden_ = {memory.buffer("hidden a", of.bytes(VkDeviceSize{rows} * of.settings().width)),
               memory.buffer("hidden b", of.bytes(VkDeviceSize{rows} * of.settings().width))};
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
    std::vector<Use> uses{reads(points_), reads(of_.network_), writes(x_), reads(counted ? *counted : points_)};
    const auto push = of_.encode_push(std::min(rows, rows_), stride_, counted != nullptr);
    if (counted)
        graph.compute("encode", encode_, std::move(uses), push, *counted, offsetof(Counted, dispatch));
    else
        graph.compute("encode", encode_, std::move(uses), push, groups(rows, 128), Network::levels);
    for (uint32_t i = 0; i < Network::layers; ++i) {
        vkgemm::Run run{.a = i == 0 ? x_.operand() : hidden_[(i + 1) % 2].operand(),
                        .b = of_.network_.operand(of_.bytes(of_.first_weight(i))),
                        .d = i + 1 == Network::layers ? y_.operand() : hidden_[i % 2].operand(),
                        .bias = of_.network_.operand(of_.bytes(of_.first_bias(i))),
                        .workspace = workspace_.operand()};
        if (counted)
            run.groups = counted->operand();
        else
            run.sizes = vkgemm::Sizes{.m = rows, .n = of_.columns(i), .k = of_.rows_of_weights(i)};
        graph.product(forward_names[i], counted ? counted_[i] : sized_[i], run);
    }
}

}  // namespace renderer
