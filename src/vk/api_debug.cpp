// SPDX-License-Identifier: MIT
// The public functions of debug.h.
#include <algorithm>

#include "plan/base/concat.h"
#include "vk/api_guard.h"
#include "vk/checked_run.h"
#include "vk/describe_run.h"
#include "vk/hazards.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

// What a caller's commands do, in their order, and under which names.
struct Commands {
    struct One {
        std::vector<vk::Touch> touches;
        bool waits = false, is_waited_for = false;  // BARRIER_BEFORE and _AFTER of its run
        const VkDependencyInfo* barrier = nullptr;
    };
    std::vector<One> all;
    std::vector<std::string> names;
    vk::BufferAddresses addresses;
};

Status about(const char* list, uint32_t i, Status why) {
    why.text = plan::concat({list, "[", i, "]: ", why.text});
    return why;
}

Refusal refused(std::string why) { return {VKGEMM_ERROR_INVALID_ARGUMENT, std::move(why)}; }

void add(Commands& out, Commands::One& one, VkgemmSlot slot, const VkgemmRunAccess& x) {
    vk::add_address(out.addresses, x);
    one.touches.push_back({.command = static_cast<uint32_t>(out.all.size()),
                           .slot = slot,
                           .stage = x.stage,
                           .access = x.access,
                           .bytes = {},
                           .begin = 0,
                           .stated = x});
}

std::optional<Status> add_run(Commands& out, Commands::One& one, const VkgemmCommand& c) {
    VkgemmRunAccess accesses[VKGEMM_SLOT_COUNT];
    vk::CheckedRun checked;
    if (auto why = vk::check_run(checked, c.plan, c.run)) return why;
    const uint32_t count = vk::accesses_of(*c.plan, checked, accesses, VKGEMM_SLOT_COUNT);
    for (uint32_t i = 0; i < count; ++i) add(out, one, accesses[i].slot, accesses[i]);
    one.waits = checked.run.flags & VKGEMM_RECORD_BARRIER_BEFORE;
    one.is_waited_for = checked.run.flags & VKGEMM_RECORD_BARRIER_AFTER;
    return std::nullopt;
}

std::optional<Status> add_own(Commands& out, Commands::One& one, const VkgemmCommand& c) {
    for (uint32_t i = 0; i < c.accessCount; ++i) {
        const VkgemmRunAccess& x = c.accesses[i];
        const char* const lacks = !x.stage                  ? "stage is 0"
                                  : !x.access               ? "access is 0"
                                  : !x.size                 ? "size is 0; VK_WHOLE_SIZE means everything from there on"
                                  : !x.buffer && !x.address ? "there is neither a buffer nor an address"
                                                            : nullptr;
        if (lacks) return refused(plan::concat({"accesses[", i, "]: ", lacks}));
        add(out, one, VKGEMM_SLOT_MAX_ENUM, x);
    }
    return std::nullopt;
}

std::optional<Status> add_command(Commands& out, const VkgemmCommand& c) {
    Commands::One one;
    if (!c.plan != !c.run) return refused(c.plan ? "run is null, but plan is not" : "plan is null, but run is not");
    if (c.accessCount && !c.accesses) return refused("accesses is null (with a count above 0)");
    if (c.barrier && (c.plan || c.accessCount))
        return refused("it has a barrier and work; make two commands of it, in their order");
    if (c.barrier && c.barrier->sType != VK_STRUCTURE_TYPE_DEPENDENCY_INFO)
        return refused(plan::concat({"barrier has sType ", static_cast<uint32_t>(c.barrier->sType),
                                     ", not VK_STRUCTURE_TYPE_DEPENDENCY_INFO"}));
    if (c.plan)
        if (auto why = add_run(out, one, c)) return why;
    if (auto why = add_own(out, one, c)) return why;
    one.barrier = c.barrier;
    out.all.push_back(std::move(one));
    out.names.emplace_back(c.name ? c.name : "");
    return std::nullopt;
}

std::optional<Status> read_commands(Commands& out, const char* list, const VkgemmCommand* first, uint32_t count) {
    if (!first && count) return refused(plan::concat({list, " is null (with a count above 0)"}));
    for (uint32_t i = 0; i < count; ++i) {
        const VkgemmCommand* const given = vk::array_element(first, i);
        if (given->structSize != first->structSize)
            return about(list, i,
                         refused(plan::concat({"VkgemmCommand::structSize is ", given->structSize, ", but that of ",
                                               list, "[0] is ", first->structSize, "; all must be the same"})));
        const auto command = vk::read_struct(given);
        if (!command) return about(list, i, command.status());
        if (auto why = add_command(out, *command)) return about(list, i, *why);
    }
    return std::nullopt;
}

vk::Barrier masks_of(const VkMemoryBarrier2& b) {
    return {.src_stage = b.srcStageMask,
            .dst_stage = b.dstStageMask,
            .src_access = b.srcAccessMask,
            .dst_access = b.dstAccessMask};
}

void follow(const VkDependencyInfo& d, const vk::BufferAddresses& addresses, vk::HazardFinder& finder) {
    for (uint32_t i = 0; i < d.memoryBarrierCount; ++i) finder.barrier(masks_of(d.pMemoryBarriers[i]));
    for (uint32_t i = 0; i < d.bufferMemoryBarrierCount; ++i) {
        const VkBufferMemoryBarrier2& b = d.pBufferMemoryBarriers[i];
        const vk::Bytes bytes = vk::bytes_of(addresses, b.buffer, b.offset, b.size);
        finder.barrier({.src_stage = b.srcStageMask,
                        .dst_stage = b.dstStageMask,
                        .src_access = b.srcAccessMask,
                        .dst_access = b.dstAccessMask,
                        .bytes = &bytes});
    }
    for (uint32_t i = 0; i < d.imageMemoryBarrierCount; ++i)  // whose memory is no buffer's
        finder.barrier({.src_stage = d.pImageMemoryBarriers[i].srcStageMask,
                        .dst_stage = d.pImageMemoryBarriers[i].dstStageMask,
                        .src_access = 0,
                        .dst_access = 0});
}

// As vk::record records them.
constexpr vk::Barrier before_run = {.src_stage = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                    .dst_stage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                    .src_access = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                    .dst_access = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT};
constexpr vk::Barrier after_run = {.src_stage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                   .dst_stage = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                   .src_access = VK_ACCESS_2_SHADER_WRITE_BIT,
                                   .dst_access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT};

std::vector<vk::FoundHazard> hazards_of(Commands& commands) {
    vk::HazardFinder finder;
    for (Commands::One& one : commands.all) {
        for (vk::Touch& t : one.touches) {
            t.bytes = vk::bytes_of(commands.addresses, t.stated);
            t.begin = t.bytes.begin;
        }
        if (one.barrier) follow(*one.barrier, commands.addresses, finder);
        if (one.waits) finder.barrier(before_run);
        finder.command(one.touches);
        if (one.is_waited_for) finder.barrier(after_run);
    }
    return finder.found();
}

// Writes what fits of `all` to the caller's array, and their number.
template <class T>
VkgemmResult write_all(const std::vector<T>& all, const char* what, uint32_t* count, T* out, VkgemmError* error) {
    const uint32_t capacity = *count;
    *count = static_cast<uint32_t>(all.size());
    if (!out) return vk::success(error);
    std::copy_n(all.begin(), std::min<size_t>(capacity, all.size()), out);
    if (capacity >= all.size()) return vk::success(error);
    return vk::to_result(error, VKGEMM_INCOMPLETE,
                         plan::concat({"there are ", all.size(), " ", what, ", and room for ", capacity}));
}

void widen(VkMemoryBarrier2& b, const VkgemmHazard& h) {
    const bool is_written = h.kind != VKGEMM_HAZARD_WRITE_AFTER_READ;
    b.srcStageMask |= h.firstStage;
    b.dstStageMask |= h.secondStage;
    b.srcAccessMask |= is_written ? h.firstAccess : 0;
    b.dstAccessMask |= is_written ? h.secondAccess : 0;
}

// A barrier for each range of a buffer. Ranges that meet become one.
std::vector<VkBufferMemoryBarrier2> buffer_barriers(std::vector<VkgemmHazard> hazards) {
    std::ranges::sort(hazards, [](const VkgemmHazard& x, const VkgemmHazard& y) {
        return x.buffer != y.buffer ? std::less<>()(x.buffer, y.buffer) : x.offset < y.offset;
    });
    std::vector<VkBufferMemoryBarrier2> out;
    for (const VkgemmHazard& h : hazards) {
        VkMemoryBarrier2 masks = {};
        widen(masks, h);
        const bool joins = !out.empty() && out.back().buffer == h.buffer &&
                           (out.back().size == VK_WHOLE_SIZE || h.offset <= out.back().offset + out.back().size);
        if (!joins) {
            VkBufferMemoryBarrier2 b = {};
            b.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2;
            b.srcQueueFamilyIndex = b.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
            b.buffer = h.buffer;
            b.offset = h.offset;
            out.push_back(b);
        }
        VkBufferMemoryBarrier2& b = out.back();
        const bool is_whole = b.size == VK_WHOLE_SIZE || h.size == VK_WHOLE_SIZE;
        b.size = is_whole ? VK_WHOLE_SIZE : std::max(b.size, h.offset + h.size - b.offset);
        b.srcStageMask |= masks.srcStageMask;
        b.srcAccessMask |= masks.srcAccessMask;
        b.dstStageMask |= masks.dstStageMask;
        b.dstAccessMask |= masks.dstAccessMask;
    }
    return out;
}

// What is missing between the two lists, of which the first one has `before` commands.
Result<std::vector<VkgemmHazard>> hazards_between(Commands& commands, size_t before, bool wants_buffers) {
    std::vector<VkgemmHazard> out;
    for (const vk::FoundHazard& h : hazards_of(commands)) {
        if (h.first.command >= before || h.second.command < before) continue;
        out.push_back(vk::to_hazard(h, commands.names));
        if (wants_buffers && !out.back().buffer)
            return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                           plan::concat({"before[", h.first.command, "] and after[", h.second.command - before,
                                         "] share memory that both state as an address without a buffer; use the ",
                                         "VkMemoryBarrier2"})};
    }
    return out;
}

}  // namespace

VkgemmResult vkgemmFindHazards(const VkgemmCommand* commands, uint32_t commandCount, uint32_t* count,
                               VkgemmHazard* hazards, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!count) return vk::to_result(error, refused("count is null"));
        Commands read;
        if (auto why = read_commands(read, "commands", commands, commandCount)) return vk::to_result(error, *why);
        std::vector<VkgemmHazard> all;
        for (const vk::FoundHazard& h : hazards_of(read)) all.push_back(vk::to_hazard(h, read.names));
        return write_all(all, "hazards", count, hazards, error);
    });
}

VkgemmResult vkgemmBarrierBetween(const VkgemmCommand* before, uint32_t beforeCount, const VkgemmCommand* after,
                                  uint32_t afterCount, VkMemoryBarrier2* barrier, uint32_t* count,
                                  VkBufferMemoryBarrier2* barriers, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (barriers && !count) return vk::to_result(error, refused("count is null, but barriers is not"));
        Commands read;
        if (auto why = read_commands(read, "before", before, beforeCount)) return vk::to_result(error, *why);
        if (auto why = read_commands(read, "after", after, afterCount)) return vk::to_result(error, *why);
        const auto all = hazards_between(read, beforeCount, count != nullptr);
        if (!all) return vk::to_result(error, all.status());
        if (barrier) {
            *barrier = {};
            barrier->sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
            for (const VkgemmHazard& h : *all) widen(*barrier, h);
        }
        if (!count) return vk::success(error);
        return write_all(buffer_barriers(*all), "barriers", count, barriers, error);
    });
}

VkgemmResult vkgemmDescribeRun(VkgemmPlan plan, const VkgemmRun* run, const VkgemmRunData* data, char* text,
                               size_t* size, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!size) return vk::to_result(error, refused("size is null"));
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        Result<VkgemmRunData> bytes = VkgemmRunData{};
        if (data) bytes = vk::read_struct(data);
        if (!bytes) return vk::to_result(error, bytes.status());
        const auto described = vk::describe_run(*plan, checked, data ? &*bytes : nullptr);
        if (!described) return vk::to_result(error, described.status());
        const VkgemmResult code = vk::copy_text(*described, text, size);
        if (code == VKGEMM_SUCCESS) return vk::success(error);
        return vk::to_result(error, code, plan::concat({"the text has ", *size, " bytes"}));
    });
}
