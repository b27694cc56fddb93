// SPDX-License-Identifier: MIT
#include "graph.h"

#include <algorithm>
#include <utility>

namespace renderer {
namespace {

constexpr VkAccessFlags2 all_writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |
                                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
constexpr VkAccessFlags2 read = VK_ACCESS_2_SHADER_STORAGE_READ_BIT, write = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;

VkDeviceSize end(const Use& use) { return use.size == VK_WHOLE_SIZE ? VK_WHOLE_SIZE : use.offset + use.size; }
bool overlap(const Use& a, const Use& b) { return a.offset < end(b) && b.offset < end(a); }
bool inside(const Use& a, const Use& b) { return b.offset <= a.offset && end(a) <= end(b); }

}  // namespace

bool Use::writes() const { return (access & all_writes) != 0; }
uint64_t Use::bytes() const {
    const uint64_t once =
        buffer ? (size == VK_WHOLE_SIZE ? 0 : size) : uint64_t{4} * image.size.width * image.size.height;
    return once * (writes() && (access & ~all_writes) ? 2 : 1);
}
Use reads(const Buffer& b) { return {.buffer = b.handle, .access = read, .offset = b.offset, .size = b.bytes}; }
Use writes(const Buffer& b) { return {.buffer = b.handle, .access = write, .offset = b.offset, .size = b.bytes}; }
Use updates(const Buffer& b) {
    return {.buffer = b.handle, .access = read | write, .offset = b.offset, .size = b.bytes};
}
Use samples(const Image& i) { return {.image = i, .access = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT}; }
Use writes(const Image& i) { return {.image = i, .access = write}; }
Use copies(const Buffer& b, VkAccessFlags2 access) {
    return {.buffer = b.handle, .stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, .access = access, .size = b.bytes};
}
Use copies(const Image& i, VkAccessFlags2 access) {
    return {.image = i, .stage = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, .access = access};
}

void Graph::pass(const char* name, std::vector<Use> uses, std::function<void(VkCommandBuffer)> record) {
    passes_.push_back({name, part_, std::move(uses), std::move(record)});
}

void Graph::compute(const char* name, VkPipeline pipeline, std::vector<Use> uses, std::vector<uint32_t> push,
                    uint32_t x, uint32_t y) {
    pass(name, uses, [this, pipeline, uses, push, x, y](VkCommandBuffer commands) {
        bind(commands, pipeline, uses, push);
        vkCmdDispatch(commands, x, y, 1);
    });
}

void Graph::compute(const char* name, VkPipeline pipeline, std::vector<Use> uses, std::vector<uint32_t> push,
                    const Buffer& arguments, VkDeviceSize offset) {
    std::vector<Use> all = uses;
    all.push_back({.buffer = arguments.handle,
                   .stage = VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
                   .access = VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT,
                   .offset = offset,
                   .size = sizeof(VkDispatchIndirectCommand)});
    pass(name, std::move(all), [this, pipeline, uses, push, from = arguments.handle, offset](VkCommandBuffer commands) {
        bind(commands, pipeline, uses, push);
        vkCmdDispatchIndirect(commands, from, offset);
    });
}

/// The node of a matrix product: its accesses, in the words of synchronization2, come from vkgemm.
void Graph::product(const char* name, const vkgemm::Plan& plan, const vkgemm::Run& run) {
    std::vector<Use> uses;
    for (const VkgemmRunAccess& a : need(plan.accesses(run)))
        uses.push_back({.buffer = a.buffer, .stage = a.stage, .access = a.access, .offset = a.offset, .size = a.size});
    pass(name, std::move(uses), [&plan, run](VkCommandBuffer commands) { check(plan.record(commands, run)); });
    passes_.back().detail = plan.info().kernel;
}

void Graph::fill(const char* name, const Buffer& buffer, uint32_t word) {
    pass(name, {copies(buffer, VK_ACCESS_2_TRANSFER_WRITE_BIT)}, [buffer, word](VkCommandBuffer commands) {
        vkCmdFillBuffer(commands, buffer.handle, 0, VK_WHOLE_SIZE, word);
    });
}

void Graph::copy(const char* name, const Buffer& from, const Buffer& to) {
    pass(name, {copies(from, VK_ACCESS_2_TRANSFER_READ_BIT), copies(to, VK_ACCESS_2_TRANSFER_WRITE_BIT)},
         [from, to](VkCommandBuffer commands) {
             const VkBufferCopy all{0, 0, std::min(from.bytes, to.bytes)};
             vkCmdCopyBuffer(commands, from.handle, to.handle, 1, &all);
         });
    // The host reads it after the fence.
    pass("to the host",
         {{.buffer = to.handle, .stage = VK_PIPELINE_STAGE_2_HOST_BIT, .access = VK_ACCESS_2_HOST_READ_BIT}},
         [](VkCommandBuffer) {});
}

void Graph::bind(VkCommandBuffer commands, VkPipeline pipeline, const std::vector<Use>& uses,
                 const std::vector<uint32_t>& push) const {
    std::array<VkDescriptorBufferInfo, 7> buffers{};
    std::array<VkDescriptorImageInfo, 2> images{};
    std::array<VkWriteDescriptorSet, 9> writes{};
    uint32_t buffer = 0, image = 0;
    for (const Use& use : uses) {
        VkWriteDescriptorSet& w = writes.at(buffer + image);
        w = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .descriptorCount = 1};
        if (use.buffer) {
            buffers.at(buffer) = {use.buffer, use.offset, use.size};
            w.dstBinding = buffer, w.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            w.pBufferInfo = &buffers.at(buffer++);
        } else {
            images.at(image) = {VK_NULL_HANDLE, use.image.view, VK_IMAGE_LAYOUT_GENERAL};
            w.dstBinding = 7 + image;
            w.descriptorType = use.writes() ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
            w.pImageInfo = &images.at(image++);
        }
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu_.layout, 0, buffer + image, writes.data());
    vkCmdPushConstants(commands, gpu_.layout, Gpu::stages, 0, static_cast<uint32_t>(push.size() * sizeof push[0]),
                       push.data());
}

/// Adds the barrier that `use` by `pass` needs after all earlier passes, also those of earlier frames: there is one
/// queue. Returns the first pass that it may stand before.
uint64_t Graph::order(const Use& use, uint64_t pass, Barriers& barriers) {
    std::vector<Past>& past = history_[use.key()];
    uint64_t first = 0;
    VkPipelineStageFlags2 stage = 0;
    VkAccessFlags2 access = 0;
    for (Past& p : past) {
        if (!overlap(p.use, use) || (!use.writes() && !p.use.writes())) continue;
        const bool seen = (use.stage & ~p.seen_stage) == 0 && (use.access & ~p.seen_access) == 0;
        if (!use.writes() && seen) continue;
        stage |= p.use.stage, access |= p.use.access & all_writes, first = std::max(first, p.pass + 1);
        if (!use.writes()) p.seen_stage |= use.stage, p.seen_access |= use.access;
    }
    const bool fresh = use.image.handle && past.empty();  // an image that nothing has touched yet
    if (stage && use.buffer)
        barriers.buffers.push_back({.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
                                    .srcStageMask = stage,
                                    .srcAccessMask = access,
                                    .dstStageMask = use.stage,
                                    .dstAccessMask = use.access,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .buffer = use.buffer,
                                    .offset = use.offset,
                                    .size = use.size});
    else if (stage || fresh)
        barriers.images.push_back(
            {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
             .srcStageMask = stage,
             .srcAccessMask = access,
             .dstStageMask = use.stage,
             .dstAccessMask = use.access,
             .oldLayout = fresh ? VK_IMAGE_LAYOUT_UNDEFINED : VK_IMAGE_LAYOUT_GENERAL,
             .newLayout = VK_IMAGE_LAYOUT_GENERAL,
             .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
             .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
             .image = use.image.handle,
             .subresourceRange = {
                 use.image.format == VK_FORMAT_D32_SFLOAT ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 1,
                 0, 1}});
    const auto same = [&](const Past& p) { return p.use.stage == use.stage && p.use.access == use.access; };
    if (use.writes())
        std::erase_if(past, [&](const Past& p) { return inside(p.use, use); });
    else
        std::erase_if(past, [&](const Past& p) { return !p.use.writes() && inside(p.use, use) && same(p); });
    past.push_back({use, pass});
    return first;
}

/// The barriers before each pass.
std::vector<Graph::Barriers> Graph::barriers_of_passes() {
    std::vector<Barriers> all(passes_.size());
    size_t latest = 0;  // the last pass that has barriers before it, or the first one
    for (size_t i = 0; i < passes_.size(); ++i) {
        Barriers own;
        uint64_t first = 0;
        for (const Use& use : passes_[i].uses) first = std::max(first, order(use, recorded_passes_ + i, own));
        if (own.count() == 0) continue;
        if (first > recorded_passes_ + latest) latest = i;
        Barriers& at = all[latest];
        at.buffers.insert(at.buffers.end(), own.buffers.begin(), own.buffers.end());
        at.images.insert(at.images.end(), own.images.begin(), own.images.end());
    }
    recorded_passes_ += passes_.size();
    return all;
}

void Graph::record(VkCommandBuffer commands, VkQueryPool queries, uint32_t query_count) {
    Times& parts = parts_[frames_++];
    uint64_t bytes = 0;
    parts_.erase(parts_.begin(), parts_.lower_bound(frames_ > 4 ? frames_ - 4 : 0));
    if (std::exchange(forgot_, false)) {
        constexpr VkAccessFlags2 both = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
        const VkMemoryBarrier2 all{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                   .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                   .srcAccessMask = both,
                                   .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                   .dstAccessMask = both};
        const VkDependencyInfo info{
            .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &all};
        vkCmdPipelineBarrier2(commands, &info);
    }
    if (queries) {
        vkCmdResetQueryPool(commands, queries, 0, query_count);
        vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries, 0);
    }
    const std::vector<Barriers> all_barriers = barriers_of_passes();
    for (size_t i = 0; i < passes_.size(); ++i) {
        const Pass& p = passes_[i];
        const Barriers& barriers = all_barriers[i];
        const VkDependencyInfo info{.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                    .bufferMemoryBarrierCount = static_cast<uint32_t>(barriers.buffers.size()),
                                    .pBufferMemoryBarriers = barriers.buffers.data(),
                                    .imageMemoryBarrierCount = static_cast<uint32_t>(barriers.images.size()),
                                    .pImageMemoryBarriers = barriers.images.data()};
        if (barriers.count() != 0) vkCmdPipelineBarrier2(commands, &info);
        p.record(commands);
        for (const Use& use : p.uses) bytes += use.bytes();
        // A timestamp after the last pass of each part.
        const bool last = each_ || i + 1 == passes_.size() || passes_[i + 1].part != p.part;
        if (last && queries && parts.size() + 1 < query_count) {
            parts.push_back({each_ ? p.name : p.part, each_ ? p.detail : "", 0, std::exchange(bytes, 0)});
            vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries,
                                 static_cast<uint32_t>(parts.size()));
        }
        if (print_) print(p, barriers.count());
    }
    print_ = false;
    passes_.clear();
}

Times Graph::times(VkQueryPool queries, uint64_t frame) const {
    Times all;
    const auto found = parts_.find(frame);
    if (found == parts_.end() || found->second.empty()) return all;
    std::vector<uint64_t> at(found->second.size() + 1);
    check(vkGetQueryPoolResults(gpu_.device, queries, 0, static_cast<uint32_t>(at.size()), at.size() * sizeof at[0],
                                at.data(), sizeof at[0], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    for (size_t i = 0; i + 1 < at.size(); ++i) {
        const Time& part = found->second[i];
        auto time = std::ranges::find(all, part.name, &Time::name);
        if (time == all.end()) time = all.insert(time, {part.name, part.kernel});
        time->milliseconds +=
            static_cast<double>(at[i + 1] - at[i]) * static_cast<double>(gpu_.properties.limits.timestampPeriod) * 1e-6;
        time->bytes += part.bytes;
    }
    return all;
}

double milliseconds_of(const Times& times, const std::string& name) {
    const auto found = std::ranges::find(times, name, &Time::name);
    return found == times.end() ? 0 : found->milliseconds;
}

void Graph::print(const Pass& pass, size_t barriers) const {
    const auto list = [&](bool writing) {
        std::string text;
        std::vector<uint64_t> seen;
        for (const Use& use : pass.uses) {
            if (use.writes() != writing || std::ranges::find(seen, use.key()) != seen.end()) continue;
            const auto name = gpu_.names.find(use.key());
            if (name != gpu_.names.end()) text += (text.empty() ? "" : ", ") + std::string(name->second);
            seen.push_back(use.key());
        }
        return text;
    };
    std::printf("%-6s  %-16s %zu barriers  %s -> %s%s%s\n", pass.part, pass.name, barriers, list(false).c_str(),
                list(true).c_str(), pass.detail.empty() ? "" : "  vkgemm: ", pass.detail.c_str());
}

}  // namespace renderer
