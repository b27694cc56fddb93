// SPDX-License-Identifier: MIT
#include "graph.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace renderer {
namespace {

constexpr VkAccessFlags2 all_writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |
                                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
// A frame waits for the frame before it: there is one queue. The host waits for what it reads.
constexpr VkMemoryBarrier2 around_frames{
    .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
    .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
    .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT,
    .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT};

void add_once(std::vector<uint64_t>& handles, uint64_t handle) {
    if (std::ranges::find(handles, handle) == handles.end()) handles.push_back(handle);
}

void record_barrier(VkCommandBuffer commands, const VkMemoryBarrier2& memory,
                    std::span<const VkImageMemoryBarrier2> images = {}) {
    const VkDependencyInfo info{.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                .memoryBarrierCount = 1,
                                .pMemoryBarriers = &memory,
                                .imageMemoryBarrierCount = static_cast<uint32_t>(images.size()),
                                .pImageMemoryBarriers = images.data()};
    vkCmdPipelineBarrier2(commands, &info);
}

}  // namespace

Use use(const Buffer& b, VkAccessFlags2 access, VkPipelineStageFlags2 stage) {
    return {.handle = std::bit_cast<uint64_t>(b.handle),
            .buffer = b.handle,
            .offset = b.offset,
            .size = b.bytes,
            .access = access,
            .stage = stage};
}
Use use(const Image& i, VkAccessFlags2 access, VkPipelineStageFlags2 stage) {
    return {.handle = std::bit_cast<uint64_t>(i.handle),
            .view = i.view,
            .size = VkDeviceSize{4} * i.size.width * i.size.height,
            .access = access,
            .stage = stage};
}
bool Use::reads() const { return (access & ~all_writes) != 0; }
bool Use::writes() const { return (access & all_writes) != 0; }
bool Use::conflicts(const Use& other) const {
    const bool overlap = offset < other.offset + other.size && other.offset < offset + size;
    return handle == other.handle && overlap && (writes() || other.writes());
}

void Graph::pass(const std::string& name, std::vector<Use> uses, Record record, const char* kernel) {
    passes_.push_back(
        {.name = name, .part = part_, .kernel = kernel, .uses = std::move(uses), .record = std::move(record)});
}

void Graph::compute(const std::string& name, const char* shader, std::vector<Use> uses, std::vector<uint32_t> push,
                    const Groups& groups) {
    std::vector<Use> all = uses;
    const Buffer& arguments = groups.arguments;
    if (arguments.handle)
        all.push_back(use(arguments, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT, VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT));
    pass(name, std::move(all), [this, pipeline = gpu_.compute(shader), uses, push, groups](VkCommandBuffer commands) {
        bind(commands, pipeline, uses, push);
        if (groups.arguments.handle)
            vkCmdDispatchIndirect(commands, groups.arguments.handle, groups.arguments.offset);
        else
            vkCmdDispatch(commands, groups.x, groups.y, 1);
    });
}

void Graph::bind(VkCommandBuffer commands, VkPipeline pipeline, const std::vector<Use>& uses,
                 const std::vector<uint32_t>& push) const {
    std::array<VkDescriptorBufferInfo, 7> buffers{};
    VkDescriptorImageInfo depth{.imageLayout = VK_IMAGE_LAYOUT_GENERAL};
    std::vector<VkWriteDescriptorSet> writes;
    uint32_t binding = 0;
    for (const Use& use : uses) {
        VkWriteDescriptorSet w{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .descriptorCount = 1};
        if (use.buffer) {
            buffers.at(binding) = {.buffer = use.buffer, .offset = use.offset, .range = use.size};
            w.dstBinding = binding;
            w.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            w.pBufferInfo = &buffers[binding++];
        } else {
            depth.imageView = use.view;
            w.dstBinding = 7;
            w.descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
            w.pImageInfo = &depth;
        }
        writes.push_back(w);
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu_.layout, 0,
                              static_cast<uint32_t>(writes.size()), writes.data());
    if (!push.empty())
        vkCmdPushConstants(commands, gpu_.layout, Gpu::stages, 0, static_cast<uint32_t>(push.size() * sizeof push[0]),
                           push.data());
}

/// The node of a matrix product: its accesses, in the words of synchronization2, come from vkgemm.
void Graph::product(const std::string& name, const vkgemm::Plan& plan, const vkgemm::Run& run) {
    std::vector<Use> uses;
    for (const VkgemmRunAccess& a : need(plan.accesses(run)))
        uses.push_back(use(Buffer{.handle = a.buffer, .bytes = a.size, .offset = a.offset}, a.access, a.stage));
    pass(
        name, std::move(uses), [&plan, run](VkCommandBuffer commands) { check(plan.record(commands, run)); },
        plan.info().kernel);
}

void Graph::fill(const Buffer& buffer, uint32_t value) {
    pass("fill", {copied_to(buffer)}, [=](VkCommandBuffer commands) {
        vkCmdFillBuffer(commands, buffer.handle, buffer.offset, buffer.bytes, value);
    });
}

void Graph::write(const char* name, const Buffer& buffer, std::vector<uint32_t> data, VkDeviceSize offset) {
    pass(name, {copied_to(buffer)}, [buffer, offset, data = std::move(data)](VkCommandBuffer commands) {
        constexpr size_t most = 65536 / sizeof(uint32_t);  // that vkCmdUpdateBuffer takes. A loader would stage this.
        for (size_t at = 0; at < data.size(); at += most)
            vkCmdUpdateBuffer(commands, buffer.handle, buffer.offset + offset + at * sizeof(uint32_t),
                              std::min(data.size() - at, most) * sizeof(uint32_t), &data[at]);
    });
}

void Graph::read_back(const char* name, const Buffer& from, const Buffer& to) {
    pass(name, {copied_from(from), copied_to(to)}, [from, to](VkCommandBuffer commands) {
        const VkBufferCopy all{
            .srcOffset = from.offset, .dstOffset = to.offset, .size = std::min(from.bytes, to.bytes)};
        vkCmdCopyBuffer(commands, from.handle, to.handle, 1, &all);
    });
}

/// Passes form batches. Those of a batch do not conflict, so they run at once. Before the next batch is one barrier,
/// which makes it wait for all of the batch before, and so for all earlier batches.
void Graph::place_barriers() {
    std::vector<Use> batch;              // what its passes touch
    VkMemoryBarrier2* before = nullptr;  // the batch
    for (Pass& p : passes_) {
        for (const Use& use : p.uses)
            if (std::ranges::any_of(batch, [&](const Use& other) { return use.conflicts(other); }))
                add_once(p.waits_for, use.handle);
        if (!p.waits_for.empty()) {
            before = &p.barrier;
            before->sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
            for (const Use& use : std::exchange(batch, {})) {
                before->srcStageMask |= use.stage;
                before->srcAccessMask |= use.access & all_writes;
            }
        }
        for (const Use& use : p.uses) {
            batch.push_back(use);
            if (!before) continue;
            before->dstStageMask |= use.stage;
            before->dstAccessMask |= use.access;
        }
    }
}

Times Graph::record(VkCommandBuffer commands, VkQueryPool queries, uint32_t query_count) {
    Times times;
    uint64_t bytes = 0;
    vkCmdResetQueryPool(commands, queries, 0, query_count);
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries, 0);
    record_barrier(commands, around_frames, std::exchange(gpu_.new_images, {}));
    place_barriers();
    for (size_t i = 0; i < passes_.size(); ++i) {
        const Pass& p = passes_[i];
        if (!p.waits_for.empty()) record_barrier(commands, p.barrier);
        p.record(commands);
        for (const Use& use : p.uses) bytes += use.size * (use.reads() && use.writes() ? 2 : 1);
        const bool last = time_each || i + 1 == passes_.size() || passes_[i + 1].part != p.part;
        if (last && times.size() + 1 < query_count) {
            times.push_back({.name = time_each ? p.name : p.part,
                             .kernel = time_each ? p.kernel : "",
                             .bytes = std::exchange(bytes, 0)});
            vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries,
                                 static_cast<uint32_t>(times.size()));
        }
        if (print_next) print(p);
    }
    record_barrier(commands, around_frames);
    print_next = false;
    passes_.clear();
    return times;
}

Times Graph::finish(const Times& recorded, VkQueryPool queries) const {
    Times all;
    std::vector<uint64_t> at(recorded.size() + 1);
    check(vkGetQueryPoolResults(gpu_.device, queries, 0, static_cast<uint32_t>(at.size()), at.size() * sizeof at[0],
                                at.data(), sizeof at[0], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    const double unit = static_cast<double>(gpu_.properties.limits.timestampPeriod) * 1e-6;
    for (size_t i = 0; i < recorded.size(); ++i) {
        auto time = std::ranges::find(all, recorded[i].name, &Time::name);
        if (time == all.end()) time = all.insert(time, {.name = recorded[i].name, .kernel = recorded[i].kernel});
        time->milliseconds += static_cast<double>(at[i + 1] - at[i]) * unit;
        time->bytes += recorded[i].bytes;
    }
    return all;
}

std::string Graph::names(const std::vector<uint64_t>& handles) const {
    std::string text;
    for (const uint64_t handle : handles) {
        const auto name = gpu_.names.find(handle);
        if (name != gpu_.names.end()) text += (text.empty() ? "" : ", ") + std::string(name->second);
    }
    return text;
}

void Graph::print(const Pass& pass) const {
    std::vector<uint64_t> read, written;
    for (const Use& use : pass.uses) add_once(use.writes() ? written : read, use.handle);
    std::printf("%-6s  %-16s  %s -> %s", pass.part, pass.name.c_str(), names(read).c_str(), names(written).c_str());
    if (!pass.waits_for.empty()) std::printf("  waits for %s", names(pass.waits_for).c_str());
    std::printf("%s%s\n", *pass.kernel ? "  vkgemm: " : "", pass.kernel);
}

}  // namespace renderer
