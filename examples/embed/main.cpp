// SPDX-License-Identifier: MIT
// Runs vkgemm inside an engine that has its own instance, device, queue and command buffer:
//
//     fill A, B, W  ->  X = A B  ->  Y = X W  ->  one weighted sum for each row of Y
//
// The first and the last pass are the engine's. Around the first product the engine records its own barriers, from the
// accesses that the plan reports. Around the second product vkgemm records them, because flags ask for it.
#include <cstdio>
#include <cstdlib>
#include <vkgemm/vkgemm.hpp>

#include "engine.h"

namespace {

constexpr uint32_t m = 100, k = 70, n = 60, p = 41;  // A is m x k, B is k x n, W is n x p
constexpr vkgemm::Problem first{.m = m, .n = n, .k = k}, second{.m = m, .n = p, .k = n};
constexpr uint32_t seed_a = 1, seed_b = 2, seed_w = 3;

/// Returns the value, or prints the error and ends the program.
template <class T>
T need(vkgemm::Result<T> result) {
    if (result) return *std::move(result);
    std::fprintf(stderr, "%s\n", result.status().text.c_str());
    std::exit(1);
}
void need(const vkgemm::Status& status) {
    if (status) return;
    std::fprintf(stderr, "%s\n", status.text.c_str());
    std::exit(1);
}

/// Makes the engine's device with the extensions and features that the products need, and lends it to vkgemm.
vkgemm::Context embed(engine::Gpu& gpu) {
    const vkgemm::Problem problems[] = {first, second};
    const vkgemm::Needs needs = need(vkgemm::queryNeeds({.instance = gpu.instance,
                                                         .physicalDevice = gpu.physical,
                                                         .apiVersion = gpu.api_version,
                                                         .getInstanceProcAddr = vkGetInstanceProcAddr,
                                                         .problems = problems}));
    VkPhysicalDeviceFeatures2 features{};  // an engine has its own chain here; mergeFeatures adds to it
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    std::vector<std::byte> memory;
    need(vkgemm::mergeFeatures(needs.requiredFeatures, gpu.api_version, features, memory));
    engine::make_device(gpu, needs.requiredExtensions, features);
    return need(vkgemm::Context::create({.instance = gpu.instance,
                                         .physicalDevice = gpu.physical,
                                         .device = gpu.device,
                                         .apiVersion = gpu.api_version,
                                         .getInstanceProcAddr = vkGetInstanceProcAddr,
                                         .enabledFeatures = &features,
                                         .enabledExtensions = needs.requiredExtensions}));
}

struct Buffers {
    engine::Buffer a, b, w, x, y, sums;
};

vkgemm::Operand operand(const engine::Buffer& buffer) { return {.buffer = buffer.handle, .size = buffer.bytes}; }

/// Records one barrier for each operand that the plan reads, because the fill passes have just written them.
void barriers_before(const vkgemm::Plan& plan, VkCommandBuffer commands, const Buffers& buffers) {
    std::vector<VkBufferMemoryBarrier> barriers;
    for (const VkgemmAccess& access : plan.accesses()) {
        if (!(access.access & VK_ACCESS_SHADER_READ_BIT)) continue;
        VkBufferMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
        barrier.dstAccessMask = access.access;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.buffer = access.slot == VKGEMM_SLOT_A ? buffers.a.handle : buffers.b.handle;
        barrier.size = access.size;
        barriers.push_back(barrier);
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0,
                         nullptr, static_cast<uint32_t>(barriers.size()), barriers.data(), 0, nullptr);
}

double fill_value(uint32_t i, uint32_t seed) { return static_cast<double>((i * 7 + seed * 13) % 5) - 2; }

/// Counts the rows with a wrong sum. All numbers are integers below 2^24, so floats hold them exactly.
unsigned wrong_rows(const float* sums) {
    unsigned wrong = 0;
    for (uint32_t row = 0; row < m; ++row) {
        std::vector<double> x(n);
        for (uint32_t col = 0; col < n; ++col)
            for (uint32_t i = 0; i < k; ++i)
                x[col] += fill_value(row * k + i, seed_a) * fill_value(i * n + col, seed_b);
        double sum = 0;
        for (uint32_t col = 0; col < p; ++col)
            for (uint32_t i = 0; i < n; ++i) sum += x[i] * fill_value(i * p + col, seed_w) * (col % 7 + 1);
        wrong += static_cast<double>(sums[row]) != sum;
    }
    return wrong;
}

}  // namespace

int main() {
    engine::Gpu gpu;
    engine::start(gpu);
    unsigned wrong = 0;
    {
        const vkgemm::Context context = embed(gpu);
        const vkgemm::Plan product1 = need(context.createPlan(first)), product2 = need(context.createPlan(second));
        gpu.addresses = product1.info().usesAddresses || product2.info().usesAddresses;
        Buffers on{engine::make_buffer(gpu, m * k, false), engine::make_buffer(gpu, k * n, false),
                   engine::make_buffer(gpu, n * p, false), engine::make_buffer(gpu, m * n, false),
                   engine::make_buffer(gpu, m * p, false), engine::make_buffer(gpu, m, true)};
        engine::Passes passes = engine::make_passes(gpu);

        VkCommandPool pool = VK_NULL_HANDLE;
        const VkCommandBuffer commands = engine::begin_frame(gpu, &pool);
        engine::record_pass(gpu, passes, passes.fill, commands, on.a, on.a, m * k, seed_a, m * k);
        engine::record_pass(gpu, passes, passes.fill, commands, on.b, on.b, k * n, seed_b, k * n);
        engine::record_pass(gpu, passes, passes.fill, commands, on.w, on.w, n * p, seed_w, n * p);

        barriers_before(product1, commands, on);
        need(product1.record(commands, {.a = operand(on.a), .b = operand(on.b), .d = operand(on.x)}));
        need(product2.record(commands, {.a = operand(on.x),
                                        .b = operand(on.w),
                                        .d = operand(on.y),
                                        .flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER}));

        engine::record_pass(gpu, passes, passes.reduce, commands, on.y, on.sums, m, p, m);
        engine::end_frame(gpu, pool, commands);
        wrong = wrong_rows(on.sums.mapped);
        std::printf("%s: two products between two passes (%s, %s), %u of %u rows wrong, %u validation messages\n",
                    gpu.name, product1.info().kernel, product2.info().kernel, wrong, m, gpu.messages);
        engine::destroy(gpu, passes);
        for (engine::Buffer* buffer : {&on.a, &on.b, &on.w, &on.x, &on.y, &on.sums}) engine::destroy(gpu, *buffer);
    }
    engine::stop(gpu);
    return wrong || gpu.messages ? 1 : 0;
}
