// SPDX-License-Identifier: MIT
#include "vk/record.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/factors.h"
#include "plan/steps/grouped.h"

namespace vkgemm::vk {
namespace {

using plan::Binding;

void memory_barrier(const DeviceFunctions& f, VkCommandBuffer cmd, VkPipelineStageFlags from, VkAccessFlags writes,
                    VkPipelineStageFlags to, VkAccessFlags uses) {
    VkMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = writes;
    barrier.dstAccessMask = uses;
    f.CmdPipelineBarrier(cmd, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

constexpr VkAccessFlags shader_access = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
constexpr VkAccessFlags any_access = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;

// What a binding refers to: D stands in for an operand that has no elements, for something must be bound.
VkgemmSlot bound_slot(const Work& work, const plan::Step& step, size_t binding) {
    const VkgemmSlot slot = step.slots[binding];
    return (*work.slots)[size_t(slot)].bytes ? slot : VKGEMM_SLOT_D;
}

// Where an operand ends, in bytes from its beginning at `offset` of its buffer, for a repetition that begins `past`
// bytes later. What is read in words ends at a word of the buffer.
VkDeviceSize end_of(const Work& work, const plan::Repeats& part, VkgemmSlot slot, VkDeviceSize offset,
                    VkDeviceSize past) {
    const VkDeviceSize all = (*work.slots)[size_t(slot)].bytes, reach = part.reach[size_t(slot)];
    return reach ? std::min(all, plan::round_up(offset + past + reach, sizeof(uint32_t)) - offset) : all;
}

abi::uvec2 two_words(uint64_t x) { return {static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)}; }

// Pushes the operands of one step, and writes into `args` where each begins.
void bind(const VkgemmPlan_T& p, const Work& work, const plan::Recorded& recorded, VkCommandBuffer cmd,
          const ResolvedOperands& operands, abi::GemmArgs& args) {
    const plan::Step& step = work.steps[recorded.step];
    const std::array<abi::uvec2*, BIND_COUNT> where = {&args.a,    &args.b,     &args.c,       &args.d,
                                                       &args.bias, &args.scale, &args.residual};
    const plan::Module& m = step.kernel->module;
    const std::array<uint32_t, BIND_COUNT> bytes = counted_in(step);
    if (p.plan.steps.binding == Binding::addresses) {
        for (size_t i = 0; i < BIND_COUNT; ++i) {
            const VkgemmSlot slot = bound_slot(work, step, i);
            *where[i] = two_words(operands[size_t(slot)].address + step.offsets[i] +
                                  recorded.part->offset(recorded.repetition, slot));
        }
        return;
    }
    // A descriptor begins at the device's alignment; the arguments carry the rest of the offset.
    const VkDeviceSize alignment = p.context->caps.offset_alignment;
    std::array<VkDescriptorBufferInfo, BIND_COUNT> buffers;
    std::array<VkWriteDescriptorSet, BIND_COUNT> writes;
    for (uint32_t i = 0; i < BIND_COUNT; ++i) {
        const VkgemmSlot slot = bound_slot(work, step, i);
        const Resolved& x = operands[size_t(slot)];
        const VkDeviceSize past = step.offsets[i] + recorded.part->offset(recorded.repetition, slot);
        const VkDeviceSize begin = x.offset + past, below = begin % alignment;
        const VkDeviceSize span =
            below + (step.bytes[i] ? step.bytes[i] : end_of(work, *recorded.part, slot, x.offset, past) - past);
        *where[i] = {static_cast<uint32_t>(below / bytes[i]), 0};
        buffers[i] = {x.buffer, begin - below, span};
        writes[i] = {};
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &buffers[i];
    }
    p.context->device.functions.CmdPushDescriptorSet(cmd, VK_PIPELINE_BIND_POINT_COMPUTE,
                                                     p.context->pipelines.layout(Binding::descriptors, m), 0,
                                                     BIND_COUNT, writes.data());
}

// alpha and beta, or where they are.
void set_scalars(const VkgemmPlan_T& p, const VkgemmRun& run, const plan::Repeats& part,
                 const ResolvedOperands& operands, abi::GemmArgs& args) {
    const auto [alpha, beta] = plan::known_factors(p.plan.problem.completed, run.alpha, run.beta);
    plan::set_factors(args, alpha, part.adds ? 1 : beta, plan::finished_in(p.plan.problem.completed));
    if (!p.plan.problem.completed.scalars) return;
    args.clamp_or_scalars.scalars = two_words(operands[VKGEMM_SLOT_SCALARS].address);
}

// Those of a product of groups, without what list and indices choose.
abi::GroupedArgs grouped_args(const abi::GemmArgs& x) {
    abi::GroupedArgs out = {};
    out.m = x.m;
    out.n = x.n;
    out.k = x.k;
    out.batch = x.batch;
    out.lda = x.lda;
    out.ldb = x.ldb;
    out.ldd = x.ldd;
    out.raster = x.raster;
    out.batch_a = x.batch_a;
    out.batch_d = x.batch_d;
    out.alpha = x.alpha;
    out.beta = x.beta;
    out.clamp_or_scalars = x.clamp_or_scalars;
    out.a = x.a;
    out.b = x.b;
    out.d = x.d;
    out.bias = x.bias;
    out.scale = x.scale;
    out.residual = x.residual;
    out.alpha_high = x.alpha_high;
    out.beta_high = x.beta_high;
    return out;
}

// Lists the tiles of a table of groups in the workspace, or only counts indices. It is the first step.
void record_list(const VkgemmPlan_T& p, VkCommandBuffer cmd, const Work& work, const abi::TableArgs& table) {
    const DeviceFunctions& f = p.context->device.functions;
    const plan::Step& list = work.steps[0];
    f.CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, work.programs[0].pipeline);
    f.CmdPushConstants(cmd, p.context->pipelines.layout(Binding::addresses, list.kernel->module),
                       VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof table, &table);
    f.CmdDispatch(cmd, list.groups_x, list.groups_y, 1);
}

// Dispatches the product of a table of groups from that list.
void record_listed(const VkgemmPlan_T& p, VkCommandBuffer cmd, const VkgemmRun& run, const Work& work,
                   const ResolvedOperands& operands) {
    const DeviceFunctions& f = p.context->device.functions;
    const plan::Step& product = work.steps[1];
    const Resolved& workspace = operands[VKGEMM_SLOT_WORKSPACE];
    const bool indirect = product.groups == 0;
    memory_barrier(f, cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | (indirect ? VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT : 0),
                   VK_ACCESS_SHADER_READ_BIT | (indirect ? VK_ACCESS_INDIRECT_COMMAND_READ_BIT : 0));

    abi::GemmArgs args = product.args;
    set_scalars(p, run, work.parts[0], operands, args);
    const plan::Recorded once = {.part = work.parts.data(), .step = 1, .repetition = 0, .waits = false};
    bind(p, work, once, cmd, operands, args);
    abi::GroupedArgs grouped = grouped_args(args);
    grouped.list = two_words(workspace.address + plan::list_begin_bytes);
    const plan::Module& m = product.kernel->module;
    f.CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, work.programs[1].pipeline);
    f.CmdPushConstants(cmd, p.context->pipelines.layout(Binding::addresses, m), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       plan::argument_bytes(m.accumulate), &grouped);
    if (indirect) return f.CmdDispatchIndirect(cmd, workspace.buffer, workspace.offset + plan::list_begin_bytes);
    f.CmdDispatch(cmd, product.groups_x, product.groups_y, 1);
}

// The arguments of a batch whose matrices of B indices choose.
abi::GroupedArgs selecting_args(const Work& work, const ResolvedOperands& operands, const abi::GemmArgs& args) {
    const plan::Selectable b = plan::selectable(*work.problem, operands[VKGEMM_SLOT_B].bytes);
    abi::GroupedArgs out = grouped_args(args);
    out.indices = two_words(operands[VKGEMM_SLOT_INDICES].address);
    out.matrices_b = b.matrices;
    out.apart_b = b.apart;
    return out;
}

// The arguments of the step that checks those indices.
abi::TableArgs counting_args(const Work& work, const ResolvedOperands& operands) {
    abi::TableArgs out = {};
    out.count = static_cast<uint32_t>(work.problem->batch);
    out.list = two_words(operands[VKGEMM_SLOT_WORKSPACE].address + plan::list_begin_bytes);
    out.indices = two_words(operands[VKGEMM_SLOT_INDICES].address);
    out.index_count = plan::selectable(*work.problem, operands[VKGEMM_SLOT_B].bytes).matrices;
    return out;
}

// The dispatches [begin, end) of a step. No work group reads what another one of the step writes; but all have the same
// descriptors, whose ranges validation layers compare, so slices with descriptors wait for each other.
void dispatch(const DeviceFunctions& f, VkCommandBuffer cmd, const plan::Step& step, Binding binding, uint32_t begin,
              uint32_t end) {
    if (!step.is_sliced()) return f.CmdDispatch(cmd, step.groups_x, step.groups_y, 1);
    const uint32_t rows = step.rows_per_dispatch();
    for (uint32_t i = begin; i < end; ++i) {
        if (i > 0 && binding == Binding::descriptors) record_barrier(f, cmd);
        f.CmdDispatchBase(cmd, 0, i * rows, 0, step.groups_x, std::min(rows, step.groups_y - i * rows), 1);
    }
}

// A label around the commands that are recorded while it lives, unless its text is "".
class Label {
   public:
    Label(const DeviceFunctions& f, VkCommandBuffer cmd, const std::string& text) : f_(f), cmd_(cmd) {
        shown_ = !text.empty() && f.CmdBeginDebugUtilsLabelEXT && f.CmdEndDebugUtilsLabelEXT;
        VkDebugUtilsLabelEXT info = {};
        info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
        info.pLabelName = text.c_str();
        if (shown_) f.CmdBeginDebugUtilsLabelEXT(cmd, &info);
    }
    Label(const Label&) = delete;
    Label& operator=(const Label&) = delete;
    ~Label() {
        if (shown_) f_.CmdEndDebugUtilsLabelEXT(cmd_);
    }

   private:
    const DeviceFunctions& f_;
    VkCommandBuffer cmd_;
    bool shown_;
};

// Some dispatches of a step: those with numbers in [begin, end).
struct Interval {
    uint32_t begin, end;
};
void record_step(const VkgemmPlan_T& p, VkCommandBuffer cmd, const VkgemmRun& run, const Work& work,
                 const plan::Recorded& recorded, const ResolvedOperands& operands, const Interval& part) {
    const DeviceFunctions& f = p.context->device.functions;
    const plan::Step& step = work.steps[recorded.step];
    if (step.kernel->module.role == plan::Role::lister) return record_list(p, cmd, work, counting_args(work, operands));
    abi::GemmArgs args = step.args;
    set_scalars(p, run, *recorded.part, operands, args);
    const plan::Module& m = step.kernel->module;
    if (m.family.in_integers) args.clamp_or_scalars.clamp = {args.alpha_high, args.beta_high};
    if (VKGEMM_HAS_NATIVE && m.is_native()) {
        bind(p, work, recorded, cmd, operands, args);  // which has addresses, so it only fills in `args`
        return launch(f, cmd, step, work.programs[recorded.step].function, args, p.context->caps.compute_units);
    }
    f.CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, work.programs[recorded.step].pipeline);
    bind(p, work, recorded, cmd, operands, args);
    abi::GroupedArgs selecting;
    const void* pushed = &args;
    if (work.problem->grouping == VKGEMM_GROUPING_SELECTED) {
        selecting = selecting_args(work, operands, args);
        pushed = &selecting;
    }
    f.CmdPushConstants(cmd, p.context->pipelines.layout(p.plan.steps.binding, m), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       plan::argument_bytes(m.accumulate), pushed);
    dispatch(f, cmd, step, p.plan.steps.binding, part.begin, part.end);
}

// A single product of a run with sizes of its own, so far without pipelines.
Work work_of(const plan::SizedSteps& sized) {
    return {.problem = &sized.problem,
            .slots = &sized.slots,
            .steps = std::span(sized.steps).first(sized.count),
            .parts = {&sized.part, 1}};
}

}  // namespace

void record_barrier(const DeviceFunctions& f, VkCommandBuffer cmd) {
    memory_barrier(f, cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, shader_access);
}

Work work_of(const VkgemmPlan_T& p) {
    Work out = {.problem = &p.plan.problem.completed,
                .slots = &p.plan.steps.slots,
                .steps = p.plan.steps.steps,
                .parts = p.plan.steps.parts,
                .table = p.plan.steps.table ? &*p.plan.steps.table : nullptr,
                .choice = &p.plan.choice};
    if (p.compiled) out.programs = p.programs;
    return out;
}

Work work_of(const VkgemmPlan_T& p, const plan::RunProblem& run, bool wide, plan::SizedSteps& sized) {
    const plan::Bucket* const b = plan::find_bucket(p.plan.buckets, plan::sizes_of(run.completed), wide);
    plan::set_run(sized, b, run, p.context->caps, p.plan.operand_alignment);
    Work out = work_of(sized);
    if (b) out.choice = &b->choice;
    if (!b || !p.compiled) return out;
    const BucketPipelines& pipelines = p.bucket_pipelines[static_cast<size_t>(b - p.plan.buckets.data())];
    out.programs = sized.is_whole ? pipelines.whole : pipelines.steps;
    return out;
}

Work grouped_work_of(const VkgemmPlan_T& p, const plan::RunProblem& run, plan::SizedSteps& sized) {
    plan::set_grouped_run(sized, p.plan.steps, run, p.context->caps, p.plan.operand_alignment);
    Work out = work_of(sized);
    if (sized.table) out.table = &*sized.table;
    out.choice = &p.plan.choice;
    if (p.compiled) out.programs = p.programs;
    return out;
}

abi::TableArgs table_args(const VkgemmPlan_T& p, const VkgemmRun& run, const Work& work,
                          const ResolvedOperands& operands) {
    const plan::Step& product = work.steps[1];
    const auto operand = [&](size_t binding) -> const Resolved& {
        return operands[bound_slot(work, product, binding)];
    };
    const auto end = [](const Resolved& x) { return two_words(x.address + x.bytes); };
    abi::GemmArgs args = product.args;
    set_scalars(p, run, work.parts[0], operands, args);
    abi::TableArgs table = *work.table;
    table.k = args.k;  // 0 if alpha is: then no group reads A and B
    table.a = two_words(operand(BIND_A).address);
    table.end_a = end(operand(BIND_A));
    table.b = two_words(operand(BIND_B).address);
    table.end_b = end(operand(BIND_B));
    table.c = two_words(operand(BIND_C).address);
    table.end_c = end(operand(BIND_C));
    table.d = two_words(operand(BIND_D).address);
    table.end_d = end(operand(BIND_D));
    table.table = two_words(operands[VKGEMM_SLOT_GROUPS].address);
    table.list = two_words(operands[VKGEMM_SLOT_WORKSPACE].address + plan::list_begin_bytes);
    table.indices = two_words(operands[VKGEMM_SLOT_INDICES].address);
    table.index_count =
        static_cast<uint32_t>(std::min<uint64_t>(operands[VKGEMM_SLOT_INDICES].bytes / sizeof(uint32_t), UINT32_MAX));
    return table;
}

void record_barrier_before(const DeviceFunctions& f, VkCommandBuffer cmd, uint32_t flags) {
    if (flags & VKGEMM_RECORD_BARRIER_BEFORE)
        memory_barrier(f, cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
                       VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, shader_access);
}

void record_barrier_after(const DeviceFunctions& f, VkCommandBuffer cmd, uint32_t flags) {
    if (flags & VKGEMM_RECORD_BARRIER_AFTER)
        memory_barrier(f, cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, any_access);
}

void record(const VkgemmPlan_T& p, VkCommandBuffer cmd, const VkgemmRun& run, const Work& work,
            const ResolvedOperands& operands, const DispatchRange& range) {
    const DeviceFunctions& f = p.context->device.functions;
    if (range.count == 0 && !work.steps.empty()) return;
    const Label label(f, cmd, p.label);
    const uint32_t last = range.count > UINT32_MAX - range.first ? UINT32_MAX : range.first + range.count;
    if (range.first == 0) record_barrier_before(f, cmd, run.flags);
    if (work.table && range.first == 0) record_list(p, cmd, work, table_args(p, run, work, operands));
    if (work.table && range.first <= 1 && last > 1) record_listed(p, cmd, run, work, operands);
    uint32_t done = 0;  // dispatches of earlier steps
    const auto record_one = [&](const plan::Recorded& recorded) {
        const uint32_t begin = done, end = done + work.steps[recorded.step].dispatch_count();
        done = end;
        if (end <= range.first || begin >= last) return;
        if (recorded.waits && begin >= range.first) record_barrier(f, cmd);
        record_step(p, cmd, run, work, recorded, operands,
                    {std::max(begin, range.first) - begin, std::min(end, last) - begin});
    };
    if (!work.table) plan::each_recorded(work.steps, work.parts, record_one);
    if (last >= done) record_barrier_after(f, cmd, run.flags);
}

}  // namespace vkgemm::vk
