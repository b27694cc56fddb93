// SPDX-License-Identifier: MIT
//
// What a program records into Vulkan's command buffers: a line for each that is submitted, with the number of commands
// and a hash of all of them in their order, with sizes, stages and push constants. Handles are not part of it, so two
// processes that record the same print the same lines, as ggml with and without the hook should where every product is
// left to ggml. CMake does not build it:
//
//     g++ -std=c++20 -O2 -shared -fPIC -I .sdk/include integrations/ggml/recorded.cpp -o recorded.so
//     LD_PRELOAD=$PWD/recorded.so RECORDED=lines.txt PROGRAM
//
// It sees programs that find Vulkan's functions through vkGetInstanceProcAddr, and only the commands that ggml and
// vkgemm use. Without RECORDED the lines go to the standard error.
#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace {

enum Command { DISPATCH, INDIRECT, BARRIER, PIPELINE, PUSH, DESCRIPTORS, COPY, FILL, TIMESTAMP, EVENT, NATIVE, COUNT };
constexpr const char* names[COUNT] = {"dispatch", "indirect", "barrier",   "pipeline", "push",  "descriptors",
                                      "copy",     "fill",     "timestamp", "event",    "native"};

struct Recorded {
    std::array<uint32_t, COUNT> counts{};
    uint64_t hash = 0;
};
std::mutex mutex;  // of what follows
std::unordered_map<VkCommandBuffer, Recorded> all;

uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}
template <class... Words>
void note(VkCommandBuffer commands, Command command, Words... words) {
    const std::lock_guard lock(mutex);
    Recorded& x = all[commands];
    ++x.counts[command];
    x.hash = mixed(x.hash, command);
    for (const uint64_t word : {uint64_t(words)..., uint64_t{0}}) x.hash = mixed(x.hash, word);
}

void print(VkCommandBuffer commands) {
    static std::FILE* const file = [] {
        const char* const name = std::getenv("RECORDED");
        std::FILE* const opened = name ? std::fopen(name, "w") : nullptr;
        return opened ? opened : stderr;
    }();
    const Recorded& x = all[commands];
    for (int i = 0; i < COUNT; ++i)
        if (x.counts[size_t(i)]) std::fprintf(file, "%u %s, ", x.counts[size_t(i)], names[i]);
    std::fprintf(file, "%016llx\n", static_cast<unsigned long long>(x.hash));
    std::fflush(file);
}

// The real functions, once they were asked for.
template <class Function>
struct Real {
    Function call = nullptr;
};
#define VKGEMM_REAL(name) Real<PFN_##name> real_##name
VKGEMM_REAL(vkGetDeviceProcAddr);
VKGEMM_REAL(vkBeginCommandBuffer);
VKGEMM_REAL(vkQueueSubmit);
VKGEMM_REAL(vkCmdDispatch);
VKGEMM_REAL(vkCmdDispatchIndirect);
VKGEMM_REAL(vkCmdPipelineBarrier);
VKGEMM_REAL(vkCmdBindPipeline);
VKGEMM_REAL(vkCmdPushConstants);
VKGEMM_REAL(vkCmdBindDescriptorSets);
VKGEMM_REAL(vkCmdPushDescriptorSetKHR);
VKGEMM_REAL(vkCmdPushDescriptorSet);
VKGEMM_REAL(vkCmdCopyBuffer);
VKGEMM_REAL(vkCmdFillBuffer);
VKGEMM_REAL(vkCmdWriteTimestamp);
VKGEMM_REAL(vkCmdSetEvent);
VKGEMM_REAL(vkCmdCuLaunchKernelNVX);
#undef VKGEMM_REAL

VkResult VKAPI_CALL our_begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
    {
        const std::lock_guard lock(mutex);
        all[commands] = {};
    }
    return real_vkBeginCommandBuffer.call(commands, info);
}
VkResult VKAPI_CALL our_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits, VkFence fence) {
    {
        const std::lock_guard lock(mutex);
        for (uint32_t i = 0; i < count; ++i)
            for (uint32_t j = 0; j < submits[i].commandBufferCount; ++j) print(submits[i].pCommandBuffers[j]);
    }
    return real_vkQueueSubmit.call(queue, count, submits, fence);
}
void VKAPI_CALL our_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    note(commands, DISPATCH, x, y, z);
    real_vkCmdDispatch.call(commands, x, y, z);
}
void VKAPI_CALL our_dispatch_indirect(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset) {
    note(commands, INDIRECT, offset);
    real_vkCmdDispatchIndirect.call(commands, buffer, offset);
}
void VKAPI_CALL our_barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after,
                            VkDependencyFlags flags, uint32_t n, const VkMemoryBarrier* memory, uint32_t buffer_count,
                            const VkBufferMemoryBarrier* buffers, uint32_t image_count,
                            const VkImageMemoryBarrier* images) {
    note(commands, BARRIER, before, after, n, buffer_count, image_count, n ? memory->srcAccessMask : 0,
         n ? memory->dstAccessMask : 0);
    real_vkCmdPipelineBarrier.call(commands, before, after, flags, n, memory, buffer_count, buffers, image_count,
                                   images);
}
void VKAPI_CALL our_bind_pipeline(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline) {
    note(commands, PIPELINE, point);
    real_vkCmdBindPipeline.call(commands, point, pipeline);
}
void VKAPI_CALL our_push_constants(VkCommandBuffer commands, VkPipelineLayout layout, VkShaderStageFlags stages,
                                   uint32_t offset, uint32_t bytes, const void* values) {
    uint64_t hash = offset;
    for (uint32_t at = 0; at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t)) {
        uint32_t word = 0;
        std::memcpy(&word, static_cast<const char*>(values) + at, sizeof word);
        hash = mixed(hash, word);
    }
    note(commands, PUSH, bytes, hash);
    real_vkCmdPushConstants.call(commands, layout, stages, offset, bytes, values);
}
void VKAPI_CALL our_bind_sets(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
                              uint32_t first, uint32_t count, const VkDescriptorSet* sets, uint32_t offset_count,
                              const uint32_t* offsets) {
    note(commands, DESCRIPTORS, first, count, offset_count);
    real_vkCmdBindDescriptorSets.call(commands, point, layout, first, count, sets, offset_count, offsets);
}
template <auto& real>
void VKAPI_CALL our_push_set(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t set,
                             uint32_t count, const VkWriteDescriptorSet* writes) {
    note(commands, DESCRIPTORS, set, count);
    real.call(commands, point, layout, set, count, writes);
}
void VKAPI_CALL our_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy* x) {
    for (uint32_t i = 0; i < count; ++i) note(commands, COPY, x[i].size);
    real_vkCmdCopyBuffer.call(commands, from, to, count, x);
}
void VKAPI_CALL our_fill(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                         uint32_t value) {
    note(commands, FILL, size, value);
    real_vkCmdFillBuffer.call(commands, buffer, offset, size, value);
}
void VKAPI_CALL our_timestamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t i) {
    note(commands, TIMESTAMP, stage);
    real_vkCmdWriteTimestamp.call(commands, stage, pool, i);
}
void VKAPI_CALL our_set_event(VkCommandBuffer commands, VkEvent event, VkPipelineStageFlags stages) {
    note(commands, EVENT, stages);
    real_vkCmdSetEvent.call(commands, event, stages);
}
void VKAPI_CALL our_native(VkCommandBuffer commands, const VkCuLaunchInfoNVX* info) {
    note(commands, NATIVE, info->gridDimX, info->gridDimY, info->gridDimZ);
    real_vkCmdCuLaunchKernelNVX.call(commands, info);
}

PFN_vkVoidFunction wrapped(PFN_vkVoidFunction found, std::string_view name);
PFN_vkVoidFunction VKAPI_CALL our_get_device_proc_addr(VkDevice device, const char* name) {
    return wrapped(real_vkGetDeviceProcAddr.call(device, name), name);
}

// Ours in place of what was found, if there is one.
PFN_vkVoidFunction wrapped(PFN_vkVoidFunction found, std::string_view name) {
    PFN_vkVoidFunction out = found;
    const auto wrap = [&]<class Function>(std::string_view one, Real<Function>& real, Function ours) {
        if (!found || name != one) return;
        real.call = reinterpret_cast<Function>(found);
        out = reinterpret_cast<PFN_vkVoidFunction>(ours);
    };
    wrap("vkGetDeviceProcAddr", real_vkGetDeviceProcAddr, &our_get_device_proc_addr);
    wrap("vkBeginCommandBuffer", real_vkBeginCommandBuffer, &our_begin);
    wrap("vkQueueSubmit", real_vkQueueSubmit, &our_submit);
    wrap("vkCmdDispatch", real_vkCmdDispatch, &our_dispatch);
    wrap("vkCmdDispatchIndirect", real_vkCmdDispatchIndirect, &our_dispatch_indirect);
    wrap("vkCmdPipelineBarrier", real_vkCmdPipelineBarrier, &our_barrier);
    wrap("vkCmdBindPipeline", real_vkCmdBindPipeline, &our_bind_pipeline);
    wrap("vkCmdPushConstants", real_vkCmdPushConstants, &our_push_constants);
    wrap("vkCmdBindDescriptorSets", real_vkCmdBindDescriptorSets, &our_bind_sets);
    wrap("vkCmdPushDescriptorSetKHR", real_vkCmdPushDescriptorSetKHR, &our_push_set<real_vkCmdPushDescriptorSetKHR>);
    wrap("vkCmdPushDescriptorSet", real_vkCmdPushDescriptorSet, &our_push_set<real_vkCmdPushDescriptorSet>);
    wrap("vkCmdCopyBuffer", real_vkCmdCopyBuffer, &our_copy);
    wrap("vkCmdFillBuffer", real_vkCmdFillBuffer, &our_fill);
    wrap("vkCmdWriteTimestamp", real_vkCmdWriteTimestamp, &our_timestamp);
    wrap("vkCmdSetEvent", real_vkCmdSetEvent, &our_set_event);
    wrap("vkCmdCuLaunchKernelNVX", real_vkCmdCuLaunchKernelNVX, &our_native);
    return out;
}

}  // namespace

extern "C" VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char* name) {
    // ggml loads its backend with names of its own, so the loader is not among the libraries that follow this one.
    static void* const loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    static const auto real =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(loader ? dlsym(loader, "vkGetInstanceProcAddr") : nullptr);
    if (!real) {
        std::fprintf(stderr, "recorded: cannot load libvulkan.so.1\n");
        std::abort();
    }
    return wrapped(real(instance, name), name);
}
