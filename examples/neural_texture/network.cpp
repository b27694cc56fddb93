// SPDX-License-Identifier: MIT
#include "network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

namespace renderer {
namespace {

constexpr float rate = 0.01f;
constexpr uint32_t seed = 1;
constexpr const char* activation_names[] = {"x0", "x1", "x2", "x3", "y"};
constexpr const char* gradient_names[] = {"gradient of x0", "gradient of x1", "gradient of x2", "gradient of x3",
                                          "gradient of y"};

uint32_t stride_of(uint32_t rows) { return divide_up(rows, 128) * 128; }  // from one column of the encoding to the next
uint32_t slices_of(const Settings& s) { return std::gcd(s.batch / 64, most_slices * 64 / s.width); }

constexpr uint32_t all_kept = 7;  // of four products: the last D always is
constexpr vkgemm::PlanOptions options{.workspaceLimit = uint64_t{64} << 20};

/// Makes a chain, and `workspace` as large as it needs.
vkgemm::Chain make_chain(Gpu& gpu, const std::vector<vkgemm::Problem>& problems, uint32_t kept, uint64_t& workspace) {
    vkgemm::Chain chain = need(vkgemm::Chain::create(gpu.context, {problems, kept}, options));
    workspace = std::max(workspace, chain.info().workspaceBytes);
    return chain;
}

/// All layers forwards, for as many rows as the GPU counts, up to `rows`.
std::vector<vkgemm::Problem> counted(const Settings& s, uint32_t rows) {
    std::vector<vkgemm::Problem> all;
    for (const Layer& l : Network::layers_of(s)) {
        all.push_back(products_of(s, l, rows).forward);
        all.back().upTo = VKGEMM_UP_TO_M;
        all.back().grouping = VKGEMM_GROUPING_TABLE;
    }
    return all;
}

}  // namespace

static_assert(offsetof(Counted, dispatch_x) == sizeof(VkgemmGroup));

std::vector<Counted> counted_rows(uint32_t count) {
    return {{.m = count, .dispatch_x = divide_up(count, 128), .dispatch_y = levels, .dispatch_z = 1}};
}

Products products_of(const Settings& s, const Layer& l, uint32_t rows) {
    const uint32_t slices = slices_of(s), part = rows / slices;
    vkgemm::Matrix x{.type = s.f32 ? vkgemm::f32 : vkgemm::f16, .ld = l.in};
    if (l.first) {
        x.layout = vkgemm::columnMajor;
        x.ld = stride_of(rows);  // the encoding lies by columns
    }

    Products p;
    p.forward = {.m = rows, .n = l.out, .k = l.in, .a = x, .d = {.type = x.type}};
    p.forward.epilogue.add({.kind = VKGEMM_STEP_BIAS_COL});
    if (!l.last) p.forward.epilogue.add({.kind = VKGEMM_STEP_RELU});

    p.weight = {.m = l.in, .n = l.out, .k = part, .batch = slices, .a = x, .d = {.type = vkgemm::f32}};
    p.weight.a.layout = l.first ? vkgemm::rowMajor : vkgemm::columnMajor;  // X^T is X read the other way
    p.weight.a.batchStride = l.first ? part : part * l.in;
    p.weight.cSource = VKGEMM_C_IS_D;
    p.bias = p.weight;
    p.bias.m = 1;
    p.bias.a = {.type = x.type, .batchStride = vkgemm::broadcast};  // one row of ones for all slices
    p.bias.d.batchStride = s.width;

    p.input = {.m = rows, .n = l.in, .k = l.out, .a = {.type = x.type}, .b = {.layout = vkgemm::columnMajor}, .d = x};
    if (!l.first) p.input.epilogue.add({.kind = VKGEMM_STEP_DRELU});
    return p;
}

std::array<Layer, Network::count> Network::layers_of(const Settings& s) {
    std::array<Layer, count> all;
    uint32_t parameters = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Layer& l = all[i];
        l = {.first_weight = parameters, .first = i == 0, .last = i + 1 == count};
        l.in = l.first ? levels * features : s.width;
        l.out = l.last ? outputs : s.width;
        l.number = std::to_string(i + 1);
        parameters += l.weights();
    }
    for (Layer& l : all) l.first_bias = std::exchange(parameters, parameters + s.width);
    return all;
}

std::vector<vkgemm::Problem> Network::problems(const Settings& s, uint32_t rows) {
    std::vector<vkgemm::Problem> all = counted(s, rows);
    for (const Layer& l : layers_of(s)) {
        const Products p = products_of(s, l, s.batch);
        all.insert(all.end(), {p.forward, p.weight, p.bias, p.input});
    }
    return all;
}

// The fixed point leaves room for a sum of 1/2 for each point in 31 bits.
Network::Network(Gpu& gpu, const Settings& s)
    : settings(s),
      layers(layers_of(s)),
      first_feature(layers.back().first_bias + s.width),
      parameter_count(first_feature + levels * features * table_size),
      fixed_point(std::min(std::ldexp(1.0f, 32 - static_cast<int>(std::bit_width(s.batch))), std::ldexp(1.0f, 20))),
      slices(slices_of(s)) {
    constexpr VkDeviceSize word = sizeof(float);
    const VkDeviceSize batch = s.batch;
    parameters = gpu.buffer("parameters", parameter_count * word);
    moments_ = gpu.buffer("moments", parameter_count * 2 * word);
    copy = gpu.buffer("network", bytes(parameter_count));
    losses = gpu.buffer("losses", batch / 64 * 2 * word);
    targets_ = gpu.buffer("targets", bytes(batch * outputs));
    layer_gradients = gpu.buffer("gradients of layers", slices * first_feature * word);
    feature_gradients = gpu.buffer("gradients of features", (parameter_count - first_feature) * word);
    ones_ = gpu.buffer("ones", bytes(batch / slices));
    for (uint32_t i = 0; i <= count; ++i) {
        const VkDeviceSize elements =
            i == 0 ? VkDeviceSize{stride_of(s.batch)} * layers[0].in : batch * layers[i - 1].out;
        x_[i] = gpu.buffer(activation_names[i], bytes(elements));
        dx_[i] = gpu.buffer(gradient_names[i], bytes(elements));
    }
    uint64_t workspace = 0;
    const auto make_plan = [&](const vkgemm::Problem& problem) {
        vkgemm::Plan plan = need(gpu.context.createPlan(problem, options));
        workspace = std::max(workspace, plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE]);
        return plan;
    };
    std::vector<vkgemm::Problem> forwards, backwards;
    for (uint32_t i = 0; i < count; ++i) {
        const Products p = products_of(s, layers[i], s.batch);
        weight_[i] = make_plan(p.weight);
        bias_[i] = make_plan(p.bias);
        forwards.push_back(p.forward);
        backwards.insert(backwards.begin(), p.input);
    }
    forwards_ = make_chain(gpu, forwards, all_kept, workspace);
    backwards_ = make_chain(gpu, backwards, all_kept, workspace);
    workspace_ = gpu.buffer("workspace", workspace);
}

void Network::reset(Graph& graph) {
    std::mt19937 engine(seed);  // NOLINT(cert-msc32-c,cert-msc51-cpp): every run starts from the same network
    std::vector<float> initial(parameter_count);
    for (const Layer& l : layers) {  // He's
        std::normal_distribution<float> normal(0, std::sqrt((l.last ? 1.0f : 2.0f) / static_cast<float>(l.in)));
        for (uint32_t i = 0; i < l.weights(); ++i) initial[l.first_weight + i] = normal(engine);
    }
    std::uniform_real_distribution<float> uniform(-0.02f, 0.02f);
    for (uint32_t i = first_feature; i < parameter_count; ++i) initial[i] = uniform(engine);
    graph.write("initial values", parameters, std::move(initial));
    const uint32_t one = settings.f32 ? std::bit_cast<uint32_t>(1.0f) : 0x3c003c00;  // two of f16
    for (const auto& [b, value] :
         {std::pair{moments_, 0u}, {layer_gradients, 0u}, {feature_gradients, 0u}, {ones_, one}})
        graph.fill(b, value);
    adam(graph, 0, 0);  // this only writes the copy
}

std::vector<vkgemm::Run> Network::runs() const {
    std::vector<vkgemm::Run> all;
    for (const Layer& l : layers)
        all.push_back({.b = copy.operand(bytes(l.first_weight)), .bias = copy.operand(bytes(l.first_bias))});
    return all;
}

void Network::gradients(Graph& graph, uint32_t step, bool add) {
    const uint32_t batch = settings.batch;
    graph.compute("encode", {reads(copy), writes(x_[0]), reads(copy.part(0, 16))},  // no list
                  words(1u, batch, stride_of(batch), step, first_feature), {.x = divide_up(batch, 128), .y = levels});
    std::vector<vkgemm::Run> forwards = runs(), backwards;
    for (uint32_t i = count; i-- > 0;) {
        forwards[i].d = x_[i + 1].operand();
        backwards.push_back({.b = forwards[i].b, .d = dx_[i].operand()});
        if (!layers[i].first) backwards.back().residual = x_[i].operand();  // the inputs have no ReLU
    }
    forwards.front().a = x_[0].operand();
    backwards.front().a = dx_[count].operand();
    graph.chain("layers", forwards_, forwards, workspace_);
    graph.compute("reference", {writes(targets_)}, words(batch, step, settings.material), {.x = batch / 64});
    graph.compute("loss", {reads(x_[count]), reads(targets_), writes(dx_[count]), writes(losses)}, {},
                  {.x = batch / 64});
    graph.chain("dX", backwards_, backwards, workspace_);
    graph.compute("scatter", {reads(dx_[0]), updates(feature_gradients)},
                  words(batch, stride_of(batch), step, fixed_point),
                  {.x = divide_up(batch, strip), .y = levels * table_parts});
    for (uint32_t i = count; i-- > 0;) {
        const Layer& l = layers[i];
        const auto sum = [&](const char* what, const vkgemm::Plan& plan, const Resource& rows, uint32_t first) {
            graph.product(what + l.number, plan,
                          {.a = rows.operand(),
                           .b = dx_[i + 1].operand(),
                           .d = layer_gradients.operand(slices * first * sizeof(float)),
                           .workspace = workspace_.operand(),
                           .beta = add ? 1.0f : 0.0f});
        };
        sum("dW ", weight_[i], x_[i], l.first_weight);
        sum("db ", bias_[i], ones_, l.first_bias);
    }
}

void Network::adam(Graph& graph, uint32_t step, float at_rate) {
    const auto t = static_cast<float>(step + 1);
    std::vector<uint32_t> push = words(parameter_count, slices, at_rate, 1.0f - std::pow(0.9f, t),
                                       1.0f - std::pow(0.99f, t), 1.0f / fixed_point);
    for (const Layer& l : layers) push.push_back(l.first_weight);
    for (const Layer& l : layers) push.push_back(l.first_bias);
    push.push_back(first_feature);
    graph.compute(
        "adam",
        {updates(parameters), updates(moments_), reads(layer_gradients), updates(feature_gradients), writes(copy)},
        push, {.x = first_feature / 64 + divide_up(parameter_count - first_feature, 1024)});
}

void Network::train(Graph& graph, uint32_t step) {
    graph.part("train");
    gradients(graph, step, false);
    const float late = std::max(0.0f, static_cast<float>(step) - 999.0f) / 2000.0f;  // smaller steps later
    adam(graph, step, rate * std::max(std::pow(0.33f, late), 0.03f));
}

std::pair<double, double> Network::mean_loss(std::span<const float> read) const {
    double loss = 0, squares = 0;
    for (size_t i = 0; i + 1 < read.size(); i += 2) {
        loss += static_cast<double>(read[i]);
        squares += static_cast<double>(read[i + 1]);
    }
    return {loss / settings.batch, -10 * std::log10(squares / 3 / settings.batch)};
}

Inference::Inference(Gpu& gpu, const Network& of, uint32_t rows) : of_(of), rows_(rows) {
    const uint32_t most = gpu.properties.limits.maxComputeWorkGroupCount[0];
    if (divide_up(rows, 64) > most)
        fail(std::to_string(rows) + " points need " + std::to_string(divide_up(rows, 64)) +
             " work groups, and the device has " + std::to_string(most) + " at most; take a smaller --size or --batch");
    points = gpu.buffer("uv", VkDeviceSize{stride_of(rows)} * 2 * sizeof(float));
    encoded_ = gpu.buffer("encoded", of.bytes(VkDeviceSize{stride_of(rows)} * of.layers[0].in));
    output = gpu.buffer("materials", of.bytes(VkDeviceSize{rows} * outputs));
    uint64_t workspace = 0;
    layers_ = make_chain(gpu, counted(of.settings, rows), 0, workspace);
    workspace_ = gpu.buffer("draw workspace", workspace);
}

void Inference::run(Graph& graph, const Resource& counted) const {
    graph.compute("encode", {reads(of_.copy), writes(encoded_), reads(points)},
                  words(0u, rows_, stride_of(rows_), 0u, of_.first_feature),
                  {.arguments = counted.part(offsetof(Counted, dispatch_x), sizeof(VkDispatchIndirectCommand))});
    std::vector<vkgemm::Run> runs = of_.runs();
    runs.front().a = encoded_.operand();
    runs.back().d = output.operand();
    runs.front().groups = counted.operand();
    graph.chain("layers", layers_, runs, workspace_);
}

}  // namespace renderer
