// SPDX-License-Identifier: MIT
//
// What the hook costs the host for each product that it leaves to ggml: nanoseconds in a loop ("warm"), and with 4 MiB
// of other memory written before each ("cold"). CMake does not build it, because it calls static functions of ggml's:
// compile it as C++17 like ggml-vulkan.cpp of a tree with the hook, with the same options and its folder among the
// includes, and link it with the other objects of ggml-vulkan in place of that one.
//
//     GGML_VKGEMM=1 hook_cost [ROUNDS]
//
// Products are those of one row by f16 and q4_k. The class of each must have been left to ggml; otherwise it ends with
// an error. Where vkgemm is faster or the machine busy, a file of times in which ggml has won decides:
// GGML_VKGEMM_TIMES=FILE.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "ggml-vulkan.cpp"  // NOLINT(bugprone-suspicious-include)

namespace {

using Clock = std::chrono::steady_clock;
double nanoseconds(Clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); }

struct Nodes {
    ggml_backend_vk_context* ctx;
    ggml_cgraph* graph;
    std::vector<std::pair<int, int>> found{};  // products, and how many additions are fused with each
};

[[gnu::noinline]] void visit(const Nodes& nodes, size_t i) {
    vk_context none;  // only what is recorded needs one
    nodes.ctx->num_additional_fused_ops = nodes.found[i].second;
    const vkgemm_node node(nodes.ctx, none, nodes.graph, nodes.found[i].first);
    nodes.ctx->num_additional_fused_ops = 0;
}

double median_of(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return x[x.size() / 2];
}

double warm(const Nodes& nodes, int rounds) {
    constexpr int each = 100;
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        const auto start = Clock::now();
        for (int again = 0; again < each; ++again)
            for (size_t i = 0; i < nodes.found.size(); ++i) visit(nodes, i);
        times.push_back(nanoseconds(Clock::now() - start) / each / double(nodes.found.size()));
    }
    return median_of(times);
}

// The time of reading the clock is taken off.
double cold(const Nodes& nodes, int rounds) {
    static std::vector<unsigned char> other(size_t{4} << 20);
    std::vector<double> times, clocks;
    for (int round = 0; round < rounds; ++round)
        for (size_t i = 0; i < nodes.found.size(); ++i) {
            for (size_t at = 0; at < other.size(); at += 64) ++other[at];
            const auto before = Clock::now(), start = Clock::now();
            visit(nodes, i);
            times.push_back(nanoseconds(Clock::now() - start));
            clocks.push_back(nanoseconds(start - before));
        }
    return median_of(times) - median_of(clocks);
}

// Matrices times a vector, every third with an addition, in a buffer of the backend that is never freed.
Nodes nodes_of(ggml_backend_t backend, ggml_type type) {
    ggml_context* const c = ggml_init({64 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true});
    Nodes out{static_cast<ggml_backend_vk_context*>(backend->context), ggml_new_graph(c)};
    constexpr int64_t sizes[][2] = {{4352, 64}, {4352, 128}, {4352, 256}, {1024, 64},
                                    {1024, 96}, {1024, 128}, {512, 2048}};
    for (size_t i = 0; i < std::size(sizes); ++i) {
        const auto [k, m] = sizes[i];
        ggml_tensor* d = ggml_mul_mat(c, ggml_new_tensor_2d(c, type, k, m), ggml_new_tensor_2d(c, GGML_TYPE_F32, k, 1));
        if (i % 3 == 2) d = ggml_add(c, d, ggml_new_tensor_2d(c, GGML_TYPE_F32, m, 1));
        ggml_build_forward_expand(out.graph, d);
    }
    ggml_backend_buffer_clear(ggml_backend_alloc_ctx_tensors(c, backend), 0);
    const int count = ggml_graph_n_nodes(out.graph);
    for (int i = 0; i < count; ++i)
        if (ggml_graph_node(out.graph, i)->op == GGML_OP_MUL_MAT)
            out.found.emplace_back(i, i + 1 < count && ggml_graph_node(out.graph, i + 1)->op == GGML_OP_ADD);
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 1000;
    ggml_backend_t const backend = ggml_backend_vk_init(0);
    for (const ggml_type type : {GGML_TYPE_F16, GGML_TYPE_Q4_K}) {
        const Nodes nodes = nodes_of(backend, type);
        for (uint32_t turn = 0; turn < 40; ++turn) ggml_backend_graph_compute(backend, nodes.graph);
        if (vkgemm::ggml::Adapter* const adapter = vkgemm::ggml::adapter_of(nodes.ctx->device->device)) {
            const auto left = [&] { return adapter->count_of(vkgemm::ggml::Reason::SLOWER); };
            const uint64_t before = left();
            ggml_backend_graph_compute(backend, nodes.graph);
            if (left() - before != nodes.found.size()) {
                std::fprintf(stderr, "%s: not all products were left to ggml\n", ggml_type_name(type));
                return 1;
            }
        }
        std::printf("%s: %.0f ns warm, %.0f ns cold\n", ggml_type_name(type), warm(nodes, rounds), cold(nodes, rounds));
    }
}
