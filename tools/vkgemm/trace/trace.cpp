// SPDX-License-Identifier: MIT
#include "tools/vkgemm/trace/trace.h"

#include <algorithm>

#include "plan/problem/factors.h"
#include "plan/base/rounding.h"
#include "shaders/trace.h"
#include "tools/vkgemm/measure/measure.h"
#include "tools/vkgemm/measure/planned_problem.h"
#include "tools/vkgemm/cli/text.h"
#include "tools/vkgemm/trace/trace_pipeline.h"

namespace vkgemm::tool {
namespace {

constexpr uint64_t list_room = 1u << 20;  // accesses of the watched group that are kept
constexpr uint64_t room_behind = 32;      // bytes: the four elements that one store may write
constexpr auto patience = std::chrono::seconds(600);

/// What computes the problem in one dispatch.
struct Chosen : PlannedProblem {
    plan::DeviceCaps caps;
};

Result<Chosen> choose(const host::Device& device, const Case& c, const std::string& kernel, const std::string& tile) {
    auto caps = caps_of(device);
    if (!caps) return caps.status();
    if (caps->max_storage_buffers <= BIND_TRACE)
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                      "tracing takes " + std::to_string(BIND_TRACE + 1) + " storage buffers, and this device allows " +
                          std::to_string(caps->max_storage_buffers)};
    plan::Request request;  // no workspace: one dispatch, of the product itself
    request.kernel = kernel, request.tile = tile;
    auto planned = plan_of(*caps, c.text, request);
    if (!planned) return planned.status();
    const size_t dispatches = planned->steps.steps.size();
    if (dispatches == 0) return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "nothing to trace: m or n is 0"};
    if (dispatches == 1) return Chosen{*std::move(planned), *std::move(caps)};
    return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                  std::string(planned->choice.kernel->name) + " computes in " + std::to_string(dispatches) +
                      " dispatches; only what takes one can be traced"};
}

/// Where the words of the trace lie, and how many there are.
std::vector<uint32_t> head_of(const Trace& t, uint64_t& words) {
    std::vector<uint32_t> head(TRACE_HEAD);
    words = TRACE_HEAD;
    for (uint32_t i = 0; i < BIND_COUNT; ++i) {
        const uint64_t span = t.operands[i].counts.size();
        head[TRACE_SPAN + i] = static_cast<uint32_t>(span);
        head[TRACE_COUNTS + i] = static_cast<uint32_t>(words);
        words += span;
    }
    head[TRACE_OWNERS] = static_cast<uint32_t>(words);
    words += t.operands[BIND_D].counts.size();
    head[TRACE_LIST] = static_cast<uint32_t>(words);
    head[TRACE_ROOM] = list_room;
    words += list_room * TRACE_ENTRY;
    return head;
}

void read_trace(const std::vector<uint32_t>& words, Trace& t) {
    for (uint32_t i = 0; i < BIND_COUNT; ++i) {
        TracedOperand& o = t.operands[i];
        std::copy_n(&words[words[TRACE_COUNTS + i]], o.counts.size(), o.counts.begin());
        o.outside = words[TRACE_OUTSIDE + i], o.farthest = words[TRACE_FARTHEST + i];
    }
    const auto owners = words.begin() + words[TRACE_OWNERS];
    t.owners.assign(owners, owners + static_cast<std::ptrdiff_t>(t.operands[BIND_D].counts.size()));
    const uint64_t listed = std::min<uint64_t>(words[TRACE_LISTED], list_room);
    t.unlisted = words[TRACE_LISTED] - listed;
    for (uint64_t i = 0; i < listed; ++i) {
        const uint32_t* e = &words[words[TRACE_LIST] + i * TRACE_ENTRY];
        t.watched.push_back({e[1] & 255, e[0], e[1] >> 8, e[2] & 0xffff, e[2] >> 16, e[3]});
    }
}

/// The operands as the kernel sees them, at its bindings.
void describe_operands(const Chosen& chosen, Trace& t) {
    const plan::Problem& p = chosen.n.problem;
    const plan::Step& step = chosen.steps.steps.front();
    struct Matrix {
        uint32_t bind;
        size_t index;  // in plan::operands
        const char* name;
    };
    for (const auto& [bind, index, name] : {Matrix{BIND_A, 0, chosen.n.swapped ? "B" : "A"},
                                            {BIND_B, 1, chosen.n.swapped ? "A" : "B"},
                                            {BIND_C, p.cSource == VKGEMM_C_SEPARATE ? 2u : 3u, "C"},
                                            {BIND_D, 3, "D"}}) {
        if (bind == BIND_C && p.cSource == VKGEMM_C_NONE) continue;
        const plan::Operand o = plan::operands(p)[index];
        t.operands[bind] = {name, *o.matrix, o.rows, o.cols, {}};
        t.operands[bind].counts.resize(plan::span_elements(*o.matrix, o.rows, o.cols, p.batch).value_or(0));
    }
    const uint64_t bytes = plan::info(p.d.type).bytes;
    for (uint32_t bind = BIND_BIAS; bind < BIND_COUNT; ++bind) {
        const VkgemmSlot slot = step.slots[bind];
        if (slot == VKGEMM_SLOT_D) continue;
        TracedOperand& o = t.operands[bind];
        o.name = plan::slot_name(slot);
        const uint64_t elements = chosen.steps.slots[static_cast<size_t>(slot)].bytes / bytes;
        if (bind == BIND_RESIDUAL)
            o.matrix = p.d, o.rows = p.m, o.cols = p.n;
        else
            o.rows = 1, o.cols = elements, o.matrix.ld = elements, o.matrix.batchStride = 0;
        o.counts.resize(elements);
    }
}

/// A buffer for every operand that the problem has, filled. Behind each there is room for what a trace sends there.
using Buffers = std::array<host::Buffer, VKGEMM_SLOT_COUNT>;
Result<Buffers> upload_all(const host::Device& device, const OperandBytes& bytes) {
    Buffers all;
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i].empty()) continue;
        auto buffer = device.createBuffer(plan::round_up(bytes[i].size(), 16) + room_behind);
        if (!buffer) return buffer.status();
        if (Status s = device.upload(*buffer, 0, bytes[i]); !s) return s;
        all[i] = *std::move(buffer);
    }
    return all;
}

Status run_untraced(const host::Device& device, const Case& c, const Trace& t, const Buffers& buffers) {
    auto plan = device.context().createPlan(c.problem, {.kernel = t.kernel.c_str(), .tile = t.tile_text.c_str()});
    if (!plan) return plan.status();
    const auto at = [&](VkgemmSlot slot) { return buffers[slot].handle() ? buffers[slot].operand() : Operand{}; };
    Run run{.a = at(VKGEMM_SLOT_A), .b = at(VKGEMM_SLOT_B), .c = at(VKGEMM_SLOT_C), .d = at(VKGEMM_SLOT_D)};
    run.bias = at(VKGEMM_SLOT_BIAS), run.scale = at(VKGEMM_SLOT_SCALE), run.residual = at(VKGEMM_SLOT_RESIDUAL);
    run.alpha = c.alpha, run.beta = c.beta;
    return device.submit([&](VkCommandBuffer commands) { return plan->record(commands, run); }, patience);
}

Status run_traced(const host::Device& device, const Case& c, const Chosen& chosen, std::span<const uint32_t> code,
                  const Buffers& buffers, Trace& t) {
    plan::Step step = chosen.steps.steps.front();
    plan::set_factors(step.args, c.alpha, c.beta, chosen.n.problem.accumulate);
    uint64_t words = 0;
    const std::vector<uint32_t> head = head_of(t, words);
    auto notes = device.createBuffer(words * 4);
    if (!notes) return notes.status();
    if (Status s = device.fill(*notes, 0, notes->size(), 0); !s) return s;
    if (Status s = device.upload(*notes, head); !s) return s;
    std::array<VkBuffer, BIND_COUNT + 1> bound{};
    for (size_t i = 0; i < BIND_COUNT; ++i) {
        VkBuffer buffer = buffers[static_cast<size_t>(step.slots[i])].handle();
        bound[i] = buffer ? buffer : buffers[VKGEMM_SLOT_D].handle();
    }
    bound[BIND_TRACE] = notes->handle();
    auto pipeline = TracePipeline::make(device, chosen.caps, step, code);
    if (!pipeline) return pipeline.status();
    if (Status s = pipeline->bind(bound); !s) return s;
    if (Status s = device.submit([&](VkCommandBuffer commands) { return pipeline->record(commands, step); }, patience);
        !s)
        return s;
    std::vector<uint32_t> read(words);
    if (Status s = device.download(*notes, read); !s) return s;
    read_trace(read, t);
    return {};
}

Status check_room(const plan::DeviceCaps& caps, const Trace& t) {
    uint64_t words = 0;
    head_of(t, words);
    if (words * 4 <= caps.max_storage_range) return {};
    return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
            "the trace of this problem takes " + bytes_text(words * 4) + ", and one buffer of this device reaches " +
                bytes_text(caps.max_storage_range) + "; trace a smaller one"};
}

}  // namespace

Result<Trace> trace(const host::Device& device, const Case& c, const std::string& kernel, const std::string& tile,
                    std::span<const TracedModule> modules) {
    auto chosen = choose(device, c, kernel, tile);
    if (!chosen) return chosen.status();
    const plan::Kernel& k = *chosen->choice.kernel;
    const auto module = std::ranges::find(modules, k.module.name, &TracedModule::name);
    if (module == modules.end())
        return Status{
            VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
            std::string(k.name) + " has no traced module in this build: its shader compiler could not make it"};
    const plan::Problem& p = chosen->n.problem;
    const plan::Step& step = chosen->steps.steps.front();
    Trace t{.problem = p, .swapped = chosen->n.swapped, .kernel = std::string(k.name)};
    t.k = plan::is_zero_factor(c.alpha, p.accumulate) ? 0 : p.k;
    t.adds_c = !plan::is_zero_factor(c.beta, p.accumulate);
    t.tile = step.tile, t.tile_text = plan::to_text(step.tile);
    t.groups = uint64_t{step.groups_x} * step.groups_y;
    describe_operands(*chosen, t);
    if (Status s = check_room(chosen->caps, t); !s) return s;
    const auto code = chosen->caps.features & plan::need::memory_model ? module->scoped : module->plain;
    CaseRunner runner(device, c, {});
    const ExactCase& exact = runner.exact();
    const OperandBytes& operands = runner.operands(true);
    Case known = c;  // with factors for which D is
    known.alpha = exact.alpha(), known.beta = exact.beta();
    for (auto* d : {&t.untraced, &t.traced}) {
        auto buffers = upload_all(device, operands);
        if (!buffers) return buffers.status();
        const Status ran = d == &t.untraced ? run_untraced(device, known, t, *buffers)
                                            : run_traced(device, known, *chosen, code, *buffers, t);
        if (!ran) return ran;
        d->resize(operands[VKGEMM_SLOT_D].size());
        if (Status s = device.download(buffers->at(VKGEMM_SLOT_D), *d); !s) return s;
    }
    t.outcome = exact.verify(t.traced);
    return t;
}

}  // namespace vkgemm::tool
