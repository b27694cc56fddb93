// SPDX-License-Identifier: MIT
#include "graph.h"

#include <algorithm>
#include <cstdio>

namespace renderer {
namespace {

constexpr VkAccessFlags2 all_writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |
                                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;

bool overlap(const Use& a, const Use& b) { return a.offset < b.offset + b.size && b.offset < a.offset + a.size; }
bool inside(const Use& a, const Use& b) { return b.offset <= a.offset && a.offset + a.size <= b.offset + b.size; }

}  // namespace

Use use(const Buffer& b, VkAccessFlags2 access, VkPipelineStageFlags2 stage) {
    return {std::bit_cast<uint64_t>(b.handle), b.handle, VK_NULL_HANDLE, b.offset, b.bytes, access, stage};
}
Use use(const Image& i, VkAccessFlags2 access, VkPipelineStageFlags2 stage) {
    const VkDeviceSize bytes = VkDeviceSize{4} * i.size.width * i.size.height;
    return {std::bit_cast<uint64_t>(i.handle), VK_NULL_HANDLE, i.view, 0, bytes, access, stage};
}
bool Use::reads() const { return (access & ~all_writes) != 0; }
bool Use::writes() const { return (access & all_writes) != 0; }

void Graph::pass(const char* name, std::vector<Use> uses, std::function<void(VkCommandBuffer)> record) {
    passes_.push_back({name, part_, std::move(uses), std::move(record)});
}

void Graph::compute(const char* name, const char* shader, std::vector<Use> uses, std::vector<uint32_t> push,
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

/// The node of a matrix product: its accesses, in the words of synchronization2, come from vkgemm.
void Graph::product(const char* name, const vkgemm::Plan& plan, const vkgemm::Run& run) {
    std::vector<Use> uses;
    for (const VkgemmRunAccess& a : need(plan.accesses(run)))
        uses.push_back(use(Buffer{a.buffer, a.size, a.offset}, a.access, a.stage));
    pass(name, std::move(uses), [&plan, run](VkCommandBuffer commands) { check(plan.record(commands, run)); });
    passes_.back().kernel = plan.info().kernel;
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
        const VkBufferCopy all{from.offset, to.offset, std::min(from.bytes, to.bytes)};
        vkCmdCopyBuffer(commands, from.handle, to.handle, 1, &all);
    });
    pass("to the host", {use(to, VK_ACCESS_2_HOST_READ_BIT, VK_PIPELINE_STAGE_2_HOST_BIT)}, [](VkCommandBuffer) {});
}

void Graph::read_back(const char* name, const Image& from, const Buffer& to) {
    pass(name, {copied_from(from), copied_to(to)}, [from, to](VkCommandBuffer commands) {
        const VkBufferImageCopy all{.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {from.size.width, from.size.height, 1}};
        vkCmdCopyImageToBuffer(commands, from.handle, VK_IMAGE_LAYOUT_GENERAL, to.handle, 1, &all);
    });
    pass("to the host", {use(to, VK_ACCESS_2_HOST_READ_BIT, VK_PIPELINE_STAGE_2_HOST_BIT)}, [](VkCommandBuffer) {});
}

void Graph::bind(VkCommandBuffer commands, VkPipeline pipeline, const std::vector<Use>& uses,
                 const std::vector<uint32_t>& push) const {
    std::array<VkDescriptorBufferInfo, 7> buffers{};
    std::array<VkDescriptorImageInfo, 2> images{};
    std::vector<VkWriteDescriptorSet> writes;
    uint32_t buffer = 0;
    for (const Use& use : uses) {
        VkWriteDescriptorSet w{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .descriptorCount = 1};
        if (use.buffer) {
            buffers.at(buffer) = {use.buffer, use.offset, use.size};
            w.dstBinding = buffer, w.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            w.pBufferInfo = &buffers[buffer++];
        } else {
            VkDescriptorImageInfo& image = images[use.writes() ? 1 : 0];
            image = {VK_NULL_HANDLE, use.view, VK_IMAGE_LAYOUT_GENERAL};
            w.dstBinding = use.writes() ? 8 : 7, w.pImageInfo = &image;
            w.descriptorType = use.writes() ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
        }
        writes.push_back(w);
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu_.layout, 0,
                              static_cast<uint32_t>(writes.size()), writes.data());
    vkCmdPushConstants(commands, gpu_.layout, Gpu::stages, 0, static_cast<uint32_t>(push.size() * sizeof push[0]),
                       push.data());
}

/// Adds to `barrier` what `use` by `pass` needs after all earlier passes, also those of earlier frames: there is one
/// queue. Returns the first pass that the barrier may stand before, or 0 if there is nothing to wait for.
uint64_t Graph::order(const Use& use, uint64_t pass, VkMemoryBarrier2& barrier) {
    std::vector<Past>& past = history_[use.handle];
    uint64_t first = 0;
    for (Past& p : past) {
        if (!overlap(p.use, use) || (!use.writes() && !p.use.writes())) continue;
        const bool seen = (use.stage & ~p.seen_stage) == 0 && (use.access & ~p.seen_access) == 0;
        if (!use.writes() && seen) continue;
        barrier.srcStageMask |= p.use.stage, barrier.srcAccessMask |= p.use.access & all_writes;
        barrier.dstStageMask |= use.stage, barrier.dstAccessMask |= use.access;
        first = std::max(first, p.pass + 1);
        if (!use.writes()) p.seen_stage |= use.stage, p.seen_access |= use.access;
    }
    std::erase_if(past, [&](const Past& p) {
        return inside(p.use, use) &&
               (use.writes() || (!p.use.writes() && p.use.stage == use.stage && p.use.access == use.access));
    });
    past.push_back({use, pass});
    return first;
}

void Graph::place_barriers() {
    Pass* latest = nullptr;  // the last pass with a barrier before it
    uint64_t latest_number = 0;
    for (Pass& p : passes_) {
        const uint64_t number = ++recorded_;
        VkMemoryBarrier2 own{};
        uint64_t first = 0;
        unsigned waits = 0;
        for (const Use& use : p.uses) {
            const uint64_t after = order(use, number, own);
            first = std::max(first, after), waits += after != 0;
        }
        if (waits == 0) continue;
        if (!latest || first > latest_number) latest = &p, latest_number = number;
        latest->waits += waits;
        latest->barrier.srcStageMask |= own.srcStageMask, latest->barrier.srcAccessMask |= own.srcAccessMask;
        latest->barrier.dstStageMask |= own.dstStageMask, latest->barrier.dstAccessMask |= own.dstAccessMask;
    }
}

Times Graph::record(VkCommandBuffer commands, VkQueryPool queries, uint32_t query_count) {
    Times times;
    uint64_t bytes = 0;
    vkCmdResetQueryPool(commands, queries, 0, query_count);
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries, 0);
    place_barriers();
    for (size_t i = 0; i < passes_.size(); ++i) {
        const Pass& p = passes_[i];
        const VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO, nullptr, 0, 1, &p.barrier};
        if (p.waits) vkCmdPipelineBarrier2(commands, &info);
        p.record(commands);
        for (const Use& use : p.uses) bytes += use.size * (use.reads() && use.writes() ? 2 : 1);
        const bool last = time_each || i + 1 == passes_.size() || passes_[i + 1].part != p.part;
        if (last && times.size() + 1 < query_count) {
            times.push_back({time_each ? p.name : p.part, time_each ? p.kernel : "", std::exchange(bytes, 0)});
            vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries,
                                 static_cast<uint32_t>(times.size()));
        }
        if (print_next) print(p);
    }
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
        if (time == all.end()) time = all.insert(time, {recorded[i].name, recorded[i].kernel});
        time->milliseconds += static_cast<double>(at[i + 1] - at[i]) * unit;
        time->bytes += recorded[i].bytes;
    }
    return all;
}

void Graph::print(const Pass& pass) const {
    const auto list = [&](bool writing) {
        std::string text;
        std::vector<uint64_t> seen;
        for (const Use& use : pass.uses) {
            if (use.writes() != writing || std::ranges::find(seen, use.handle) != seen.end()) continue;
            const auto name = gpu_.names.find(use.handle);
            if (name != gpu_.names.end()) text += (text.empty() ? "" : ", ") + std::string(name->second);
            seen.push_back(use.handle);
        }
        return text;
    };
    std::printf("%-6s  %-16s waits for %u  %s -> %s%s%s\n", pass.part, pass.name, pass.waits, list(false).c_str(),
                list(true).c_str(), pass.kernel.empty() ? "" : "  vkgemm: ", pass.kernel.c_str());
}

}  // namespace renderer
