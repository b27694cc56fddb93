// SPDX-License-Identifier: MIT
#include "graph.h"

#include <algorithm>
#include <cstdio>

namespace renderer {
namespace {

// A frame waits for the frame before it: there is one queue. The host waits for what it reads.
constexpr vk::MemoryBarrier2 around_frames(Stage::eAllCommands, Access::eMemoryWrite,
                                           Stage::eAllCommands | Stage::eHost,
                                           Access::eMemoryRead | Access::eMemoryWrite);

/// The accesses of a matrix product, in the words of synchronization2, come from vkgemm.
std::vector<Use> uses_of(const std::vector<VkgemmRunAccess>& all) {
    std::vector<Use> uses;
    for (const VkgemmRunAccess& a : all)
        uses.push_back(
            {Resource{a.buffer, a.size, a.offset}, vk::AccessFlags2(a.access), vk::PipelineStageFlags2(a.stage)});
    return uses;
}

void add_once(std::vector<uint64_t>& ids, uint64_t id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

}  // namespace

void Graph::pass(const std::string& name, std::vector<Use> uses, Record record, const char* kernel) {
    passes_.push_back(
        {.name = name, .part = part_, .kernel = kernel, .uses = std::move(uses), .record = std::move(record)});
}

void Graph::compute(const char* name, const std::vector<Use>& uses, const std::vector<uint32_t>& push,
                    const Groups& groups) {
    std::vector<Use> all = uses;
    const vk::Buffer arguments = groups.arguments.handle;
    if (arguments) all.push_back({groups.arguments, Access::eIndirectCommandRead, Stage::eDrawIndirect});
    pass(name, std::move(all), [=, this, pipeline = gpu_.compute(name)](const Commands& commands) {
        bind(commands, pipeline, uses, push);
        if (arguments)
            commands.dispatchIndirect(arguments, groups.arguments.offset);
        else
            commands.dispatch(groups.x, groups.y, 1);
    });
}

void Graph::bind(const Commands& commands, vk::Pipeline pipeline, const std::vector<Use>& uses,
                 const std::vector<uint32_t>& push) const {
    std::vector<vk::DescriptorBufferInfo> buffers;
    vk::DescriptorImageInfo depth({}, {}, vk::ImageLayout::eGeneral);
    for (const Use& use : uses)
        if (use.what.view)
            depth.imageView = use.what.view;
        else
            buffers.emplace_back(use.what.handle, use.what.offset, use.what.bytes);
    std::vector<vk::WriteDescriptorSet> writes;
    writes.push_back(vk::WriteDescriptorSet()
                         .setDstBinding(0)
                         .setDescriptorType(vk::DescriptorType::eStorageBuffer)
                         .setBufferInfo(buffers));
    if (depth.imageView)
        writes.push_back(vk::WriteDescriptorSet()
                             .setDstBinding(7)
                             .setDescriptorType(vk::DescriptorType::eSampledImage)
                             .setImageInfo(depth));
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline);
    commands.pushDescriptorSetKHR(vk::PipelineBindPoint::eCompute, *gpu_.layout, 0, writes);
    if (!push.empty()) commands.pushConstants<uint32_t>(*gpu_.layout, Gpu::stages, 0, push);
}

void Graph::product(const std::string& name, const vkgemm::Plan& plan, const vkgemm::Run& run) {
    pass(
        name, uses_of(need(plan.accesses(run))),
        [&plan, run](const Commands& commands) { check(plan.record(*commands, run)); }, plan.info().kernel);
}

void Graph::chain(const char* name, const vkgemm::Chain& chain, const std::vector<vkgemm::Run>& runs,
                  const Resource& space) {
    const auto run = [space](const auto& all) { return vkgemm::ChainRun{.runs = all, .workspace = space.operand()}; };
    pass(
        name, uses_of(need(chain.accesses(run(runs)))),
        [&chain, run, runs](const Commands& commands) { check(chain.record(*commands, run(runs))); },
        chain.info().isOneDispatch ? chain.info().kernel : "a plan for each layer");
}

void Graph::fill(const Resource& b, uint32_t value) {
    pass("fill", {copied_to(b)}, [=](const Commands& c) { c.fillBuffer(b.handle, b.offset, b.bytes, value); });
}

void Graph::read_back(const char* name, const Resource& from, const Resource& to) {
    pass(name, {copied_from(from), copied_to(to)}, [=](const Commands& commands) {
        commands.copyBuffer(from.handle, to.handle,
                            vk::BufferCopy(from.offset, to.offset, std::min(from.bytes, to.bytes)));
    });
}

/// Passes form batches. Those of a batch do not conflict, so they run at once. Before the next batch is one barrier,
/// which makes it wait for all of the batch before, and so for all earlier batches.
void Graph::place_barriers() {
    std::vector<Use> batch;                // what its passes touch
    vk::MemoryBarrier2* before = nullptr;  // the batch
    for (Pass& p : passes_) {
        for (const Use& use : p.uses)
            if (std::ranges::any_of(batch, [&](const Use& other) { return use.conflicts(other); }))
                add_once(p.waits_for, use.what.id());
        if (!p.waits_for.empty()) {
            before = &p.barrier;
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

Times Graph::record(const Commands& commands, const vk::raii::QueryPool& queries) {
    Times times;
    uint64_t bytes = 0;
    const auto stamp = [&] {
        commands.writeTimestamp2(Stage::eAllCommands, *queries, static_cast<uint32_t>(times.size()));
    };
    commands.resetQueryPool(*queries, 0, most_times);
    stamp();
    commands.pipelineBarrier2({{}, around_frames, {}, gpu_.new_images});
    gpu_.new_images.clear();
    place_barriers();
    for (size_t i = 0; i < passes_.size(); ++i) {
        const Pass& p = passes_[i];
        if (!p.waits_for.empty()) commands.pipelineBarrier2({{}, p.barrier});
        p.record(commands);
        for (const Use& use : p.uses) bytes += use.what.bytes * (use.reads() && use.writes() ? 2 : 1);
        const bool last = time_each || i + 1 == passes_.size() || passes_[i + 1].part != p.part;
        if (last && times.size() + 1 < most_times) {
            times.push_back({time_each ? p.name : p.part, time_each ? p.kernel : "", std::exchange(bytes, 0)});
            stamp();
        }
        if (print_next) print(p);
    }
    commands.pipelineBarrier2({{}, around_frames});
    print_next = false;
    passes_.clear();
    return times;
}

Times Graph::finish(const Times& recorded, const vk::raii::QueryPool& queries) const {
    const auto count = static_cast<uint32_t>(recorded.size() + 1);
    const std::vector<uint64_t> at =
        queries
            .getResults<uint64_t>(0, count, count * sizeof(uint64_t), sizeof(uint64_t),
                                  vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait)
            .value;
    const double unit = static_cast<double>(gpu_.properties.limits.timestampPeriod) * 1e-6;
    Times all;
    for (size_t i = 0; i < recorded.size(); ++i) {
        auto time = std::ranges::find(all, recorded[i].name, &Time::name);
        if (time == all.end()) time = all.insert(time, {recorded[i].name, recorded[i].kernel});
        time->milliseconds += static_cast<double>(at[i + 1] - at[i]) * unit;
        time->bytes += recorded[i].bytes;
    }
    return all;
}

std::string Graph::names(const std::vector<uint64_t>& ids) const {
    std::string text;
    for (const uint64_t id : ids) {
        const auto name = gpu_.names.find(id);
        if (name != gpu_.names.end()) text += (text.empty() ? "" : ", ") + std::string(name->second);
    }
    return text;
}

void Graph::print(const Pass& pass) const {
    std::vector<uint64_t> read, written;
    for (const Use& use : pass.uses) add_once(use.writes() ? written : read, use.what.id());
    std::printf("%-6s  %-16s  %s -> %s", pass.part, pass.name.c_str(), names(read).c_str(), names(written).c_str());
    if (!pass.waits_for.empty()) std::printf("  waits for %s", names(pass.waits_for).c_str());
    std::printf("%s%s\n", *pass.kernel ? "  vkgemm: " : "", pass.kernel);
}

}  // namespace renderer
