// SPDX-License-Identifier: MIT
// Runs vkgemm inside an engine that has its own instance, device, queue and command buffers, as a decode loop does: the
// weights stay, and the number of rows changes every frame.
//
//     once         fill V, W  ->  pack W
//     each frame   fill A  ->  X = A V  ->  Y = X W  ->  one weighted sum for each row of Y
//
// One plan for each product serves all frames. Around the first product the engine records its own barriers, from the
// accesses that the plan reports. Around the second product vkgemm records them, because flags ask for it. In the last
// frame the number of rows is known to the GPU alone: a pass of the engine writes it, and the product is dispatched
// from there.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vkgemm/vkgemm.hpp>

#include "engine.h"

namespace {

constexpr uint32_t m = 100, k = 70, n = 60, p = 41;  // A is at most m x k, V is k x n, W is n x p
constexpr uint32_t rows_of_frames[] = {100, 1, 1, 33, 7};
constexpr vkgemm::Problem first{.m = m, .n = n, .k = k, .upTo = VKGEMM_UP_TO_M};
constexpr vkgemm::Problem second{.m = m, .n = p, .k = n, .packedB = VKGEMM_PACKED_ANY, .upTo = VKGEMM_UP_TO_M};
constexpr vkgemm::Problem counted{
    .m = m, .n = p, .k = n, .upTo = VKGEMM_UP_TO_M, .grouping = VKGEMM_GROUPING_TABLE};  // `second`, sized by the GPU
constexpr uint32_t seed_a = 1, seed_v = 2, seed_w = 3;

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
    const vkgemm::Problem problems[] = {first, second, counted};
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
    engine::Buffer a, v, w, packed_w, x, y, sums, group, workspace;
};

struct Plans {
    vkgemm::Plan first, second, pack, counted;
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
        barrier.buffer = access.slot == VKGEMM_SLOT_A ? buffers.a.handle : buffers.v.handle;
        barrier.size = access.size;
        barriers.push_back(barrier);
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0,
                         nullptr, static_cast<uint32_t>(barriers.size()), barriers.data(), 0, nullptr);
}

/// The frames do not change the weights. W is packed once, in the layout that the plan of its product reads.
void load_weights(engine::Gpu& gpu, const engine::Passes& passes, const Plans& plans, const Buffers& on) {
    VkCommandPool pool = VK_NULL_HANDLE;
    const VkCommandBuffer commands = engine::begin_frame(gpu, &pool);
    engine::record_pass(gpu, passes, passes.fill, commands, on.v, on.v, k * n, seed_v, k * n);
    engine::record_pass(gpu, passes, passes.fill, commands, on.w, on.w, n * p, seed_w, n * p);
    need(plans.pack.record(commands, {.b = operand(on.w),
                                      .d = operand(on.packed_w),
                                      .flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER}));
    engine::end_frame(gpu, pool, commands);
}

/// One step with `rows` rows. Recording compiles and allocates nothing, also if there never was such a number.
void step(engine::Gpu& gpu, const engine::Passes& passes, const Plans& plans, const Buffers& on, uint32_t rows,
          bool gpu_counts) {
    VkCommandPool pool = VK_NULL_HANDLE;
    const VkCommandBuffer commands = engine::begin_frame(gpu, &pool);
    engine::record_pass(gpu, passes, passes.fill, commands, on.a, on.a, rows * k, seed_a, rows * k);
    barriers_before(plans.first, commands, on);
    need(plans.first.record(commands, {.a = operand(on.a),
                                       .b = operand(on.v),
                                       .d = operand(on.x),
                                       .sizes = vkgemm::Sizes{.m = rows, .n = n, .k = k}}));
    vkgemm::Run run{.a = operand(on.x),
                    .b = operand(on.packed_w),
                    .d = operand(on.y),
                    .flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER,
                    .sizes = vkgemm::Sizes{.m = rows, .n = p, .k = n}};
    if (gpu_counts) {
        constexpr uint32_t words = sizeof(VkgemmGroup) / sizeof(uint32_t);
        engine::record_pass(gpu, passes, passes.count, commands, on.group, on.group, words, rows, words);
        run.b = operand(on.w);
        run.groups = operand(on.group);
        run.workspace = operand(on.workspace);
        run.sizes.reset();
    }
    need((gpu_counts ? plans.counted : plans.second).record(commands, run));
    engine::record_pass(gpu, passes, passes.reduce, commands, on.y, on.sums, rows, p, rows);
    engine::end_frame(gpu, pool, commands);
}

double fill_value(uint32_t i, uint32_t seed) { return static_cast<double>((i * 7 + seed * 13) % 5) - 2; }

/// Counts the rows with a wrong sum. All numbers are integers below 2^24, so floats hold them exactly.
unsigned wrong_rows(const float* sums, uint32_t rows) {
    unsigned wrong = 0;
    for (uint32_t row = 0; row < rows; ++row) {
        std::vector<double> x(n);
        for (uint32_t col = 0; col < n; ++col)
            for (uint32_t i = 0; i < k; ++i)
                x[col] += fill_value(row * k + i, seed_a) * fill_value(i * n + col, seed_v);
        double sum = 0;
        for (uint32_t col = 0; col < p; ++col)
            for (uint32_t i = 0; i < n; ++i) sum += x[i] * fill_value(i * p + col, seed_w) * (col % 7 + 1);
        wrong += static_cast<double>(sums[row]) != sum;
    }
    return wrong;
}

size_t floats(uint64_t bytes) { return std::max<size_t>(static_cast<size_t>(bytes / sizeof(float)), 1); }

}  // namespace

int main() {
    engine::Gpu gpu;
    engine::start(gpu);
    unsigned wrong = 0;
    {
        const vkgemm::Context context = embed(gpu);
        vkgemm::Plan of_second = need(context.createPlan(second));
        vkgemm::Plan pack = need(of_second.createPack(VKGEMM_SLOT_B));
        const Plans plans{.first = need(context.createPlan(first)),
                          .second = std::move(of_second),
                          .pack = std::move(pack),
                          .counted = need(context.createPlan(counted))};
        gpu.addresses =
            plans.first.info().usesAddresses || plans.second.info().usesAddresses || plans.counted.info().usesAddresses;
        const auto bytes = [](const vkgemm::Plan& plan, VkgemmSlot slot) { return plan.info().requiredBytes[slot]; };
        Buffers on{engine::make_buffer(gpu, m * k, false),
                   engine::make_buffer(gpu, k * n, false),
                   engine::make_buffer(gpu, n * p, false),
                   engine::make_buffer(gpu, floats(bytes(plans.second, VKGEMM_SLOT_B)), false),
                   engine::make_buffer(gpu, m * n, false),
                   engine::make_buffer(gpu, m * p, false),
                   engine::make_buffer(gpu, m, true),
                   engine::make_buffer(gpu, floats(sizeof(VkgemmGroup)), false),
                   engine::make_buffer(gpu, floats(bytes(plans.counted, VKGEMM_SLOT_WORKSPACE)), false)};
        engine::Passes passes = engine::make_passes(gpu);
        load_weights(gpu, passes, plans, on);
        uint32_t rows = 0;
        for (const uint32_t of_frame : rows_of_frames) {
            const bool last = &of_frame == std::end(rows_of_frames) - 1;
            step(gpu, passes, plans, on, of_frame, last);
            wrong += wrong_rows(on.sums.mapped, of_frame);
            rows += of_frame;
        }
        std::printf(
            "%s: %zu frames of two products between two passes (%s, %s, %s), %u of %u rows wrong, "
            "%u validation messages\n",
            gpu.name, std::size(rows_of_frames), plans.first.info().kernel, plans.second.info().kernel,
            plans.counted.info().kernel, wrong, rows, gpu.messages);
        engine::destroy(gpu, passes);
        for (engine::Buffer* buffer :
             {&on.a, &on.v, &on.w, &on.packed_w, &on.x, &on.y, &on.sums, &on.group, &on.workspace})
            engine::destroy(gpu, *buffer);
    }
    engine::stop(gpu);
    return wrong || gpu.messages ? 1 : 0;
}
