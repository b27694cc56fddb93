// SPDX-License-Identifier: MIT
#include "trace/trace.h"

#include <algorithm>

#include "cli/terminal.h"
#include "cli/text.h"
#include "measure/compute_pipeline.h"
#include "measure/measure.h"
#include "measure/slices.h"
#include "trace/inside.h"

namespace vkgemm::tool {
namespace {

constexpr uint64_t list_capacity = 1u << 20;  // accesses of the watched group that are kept
constexpr uint64_t padding = 32;              // bytes: the four elements that one store may write
constexpr auto patience = std::chrono::seconds(600);

using inside::trace_words;

/// The place of the words of the trace, and their number.
std::vector<uint32_t> head_of(const Trace& traced, uint64_t& words) {
    std::vector<uint32_t> head(trace_words.head);
    words = trace_words.head;
    for (uint32_t i = 0; i < bind_count; ++i) {
        const uint64_t span = traced.operands[i].counts.size();
        head[trace_words.span + i] = static_cast<uint32_t>(span);
        head[trace_words.counts + i] = static_cast<uint32_t>(words);
        words += span;
    }
    head[trace_words.owners] = static_cast<uint32_t>(words);
    words += traced.operands[bind_d].counts.size();
    head[trace_words.list] = static_cast<uint32_t>(words);
    head[trace_words.capacity] = list_capacity;
    words += list_capacity * trace_words.entry;
    return head;
}

void read_trace(const std::vector<uint32_t>& words, Trace& traced) {
    for (uint32_t i = 0; i < bind_count; ++i) {
        TracedOperand& o = traced.operands[i];
        std::copy_n(&words[words[trace_words.counts + i]], o.counts.size(), o.counts.begin());
        o.outside = words[trace_words.outside + i];
        o.farthest = words[trace_words.farthest + i];
    }
    const auto owners = words.begin() + words[trace_words.owners];
    traced.owners.assign(owners, owners + static_cast<std::ptrdiff_t>(traced.operands[bind_d].counts.size()));
    const uint64_t listed = std::min<uint64_t>(words[trace_words.listed], list_capacity);
    traced.unlisted = words[trace_words.listed] - listed;
    for (uint64_t i = 0; i < listed; ++i) {
        const uint32_t* e = &words[words[trace_words.list] + i * trace_words.entry];
        traced.watched.push_back({.operand = e[1] & 255,
                                  .first = e[0],
                                  .elements = e[1] >> 8,
                                  .invocation = e[2] & 0xffff,
                                  .subgroup = e[2] >> 16,
                                  .step = e[3]});
    }
}

/// A matrix of `batch` as the kernel sees it, with nothing counted yet.
TracedOperand operand_of(const std::string& name, const Matrix& m, uint64_t rows, uint64_t cols, uint64_t batch) {
    TracedOperand o{.name = name, .matrix = m, .rows = rows, .cols = cols, .counts = {}};
    const bool empty = rows == 0 || cols == 0;
    o.counts.resize(empty ? 0 : o.position(m.batchStride ? batch - 1 : 0, rows - 1, cols - 1) + 1);
    return o;
}

/// The operands as the kernel sees them, at its bindings.
void describe_operands(const inside::Dispatch& d, Trace& traced) {
    const Problem& p = d.problem;
    traced.operands[bind_a] = operand_of(d.swapped ? "B" : "A", p.a, p.m, p.k, p.batch);
    traced.operands[bind_b] = operand_of(d.swapped ? "A" : "B", p.b, p.k, p.n, p.batch);
    traced.operands[bind_d] = operand_of("D", p.d, p.m, p.n, p.batch);
    if (p.cSource != VKGEMM_C_NONE)
        traced.operands[bind_c] = operand_of("C", p.cSource == VKGEMM_C_SEPARATE ? p.c : p.d, p.m, p.n, p.batch);
    const uint64_t bytes = type_info(p.d.type).bytes;
    for (uint32_t bind = bind_bias; bind < bind_count; ++bind) {
        const VkgemmSlot slot = d.slots[bind];
        if (slot == VKGEMM_SLOT_D) continue;
        const uint64_t elements = d.slot_bytes[slot] / bytes;
        const char* const name = bind == bind_bias ? "bias" : bind == bind_scale ? "scale" : "residual";
        traced.operands[bind] = bind == bind_residual
                                    ? operand_of(name, p.d, p.m, p.n, p.batch)
                                    : operand_of(name, {.type = p.d.type, .ld = elements}, 1, elements, 1);
    }
}

/// A buffer for every operand that the problem has, filled. Each is padded by what a trace may write there.
using Buffers = std::array<host::Buffer, VKGEMM_SLOT_COUNT>;
Result<Buffers> upload_all(const host::Device& device, const OperandBytes& bytes) {
    Buffers all;
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i].empty()) continue;
        auto buffer = device.createBuffer((bytes[i].size() + 15) / 16 * 16 + padding);
        if (!buffer) return buffer.status();
        if (Status s = device.upload(*buffer, 0, bytes[i]); !s) return s;
        all[i] = *std::move(buffer);
    }
    return all;
}

Status run_untraced(const host::Device& device, const Case& c, const Trace& traced, const Buffers& buffers) {
    const auto made = create_stoppable(device, c, {.kernel = traced.kernel.c_str(), .tile = traced.tile_text.c_str()});
    if (!made) return made.status();
    const Plan& plan = made->plan;
    const auto at = [&](VkgemmSlot slot) { return buffers[slot].handle() ? buffers[slot].operand() : Operand{}; };
    Run run{.a = at(VKGEMM_SLOT_A), .b = at(VKGEMM_SLOT_B), .c = at(VKGEMM_SLOT_C), .d = at(VKGEMM_SLOT_D)};
    run.bias = at(VKGEMM_SLOT_BIAS);
    run.scale = at(VKGEMM_SLOT_SCALE);
    run.residual = at(VKGEMM_SLOT_RESIDUAL);
    run.alpha = c.alpha;
    run.beta = c.beta;
    if (made->sliced)
        return time_slices(
                   device, plan, 1, [&] { return run; }, patience, [](double) {})
            .status();
    return device.submit([&](VkCommandBuffer commands) { return plan.record(commands, run); }, patience);
}

/// The whole dispatch, in submissions of about a quarter of a second; ends early if interrupted(). A grid of several
/// rows is cut between rows, because a group's number is its row times the length of a row, and its column.
Status run_sliced(const host::Device& device, const ComputePipeline& pipeline, std::span<const std::byte> arguments,
                  const inside::Dispatch& d) {
    const bool by_rows = d.groups_y > 1;
    const uint32_t all = by_rows ? d.groups_y : d.groups_x;
    for (uint32_t first = 0, now = 1; first < all && !interrupted();) {
        const Groups some =
            by_rows ? Groups{.x = d.groups_x, .y = now, .first_y = first} : Groups{.x = now, .first_x = first};
        const auto start = std::chrono::steady_clock::now();
        const auto record = [&](VkCommandBuffer commands) { return pipeline.record(commands, arguments, some); };
        if (Status s = device.submit(record, patience); !s) return s;
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        first += now;
        now = std::min(next_slice(now, seconds), all - first);
    }
    return {};
}

Status run_traced(const host::Device& device, const Case& c, const inside::Dispatch& d, std::span<const uint32_t> code,
                  const Buffers& buffers, Trace& traced) {
    uint64_t words = 0;
    const std::vector<uint32_t> head = head_of(traced, words);
    auto notes = device.createBuffer(words * 4);
    if (!notes) return notes.status();
    if (Status s = device.fill(*notes, 0, notes->size(), 0); !s) return s;
    if (Status s = device.upload(*notes, head); !s) return s;
    std::array<VkBuffer, bind_count + 1> bound{};
    for (size_t i = 0; i < bind_count; ++i) {
        VkBuffer buffer = buffers[d.slots[i]].handle();
        bound[i] = buffer ? buffer : buffers[VKGEMM_SLOT_D].handle();
    }
    bound[bind_count] = notes->handle();
    const std::vector<std::byte> arguments = inside::arguments(d, c.alpha, c.beta);
    auto pipeline = ComputePipeline::make(device, {.code = code,
                                                   .constants = d.constants,
                                                   .bindings = bind_count + 1,
                                                   .push_bytes = static_cast<uint32_t>(arguments.size()),
                                                   .subgroup_size = d.subgroup_size,
                                                   .full_subgroups = d.full_subgroups,
                                                   .sliced = true});
    if (!pipeline) return pipeline.status();
    if (Status s = pipeline->bind(bound); !s) return s;
    if (Status s = run_sliced(device, *pipeline, arguments, d); !s || interrupted()) return s;
    std::vector<uint32_t> read(words);
    if (Status s = device.download(*notes, read); !s) return s;
    read_trace(read, traced);
    return {};
}

Status check_size(const host::Device& device, const Trace& traced) {
    uint64_t words = 0;
    head_of(traced, words);
    const uint64_t most = deviceCaps(device.context()).limits.maxStorageRange;
    if (words * 4 <= most) return {};
    return {VKGEMM_ERROR_LIMIT, VK_SUCCESS,
            "the trace of this problem takes " + bytes_text(words * 4) + ", and one buffer of this device holds " +
                bytes_text(most) + "; trace a smaller problem"};
}

}  // namespace

Result<Trace> trace(const host::Device& device, const Case& c, const std::string& kernel, const std::string& tile,
                    std::span<const TracedModule> modules) {
    const auto d = inside::dispatch_of(device, c.problem, {.kernel = kernel.c_str(), .tile = tile.c_str()});
    if (!d) return d.status();
    const auto module = std::ranges::find(modules, d->module, &TracedModule::name);
    if (module == modules.end())
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                      d->kernel + " has no traced module in this build: its shader compiler could not compile it"};
    Trace t{.problem = d->problem, .swapped = d->swapped, .kernel = d->kernel, .tile_text = d->tile};
    t.k = multiplies(c) ? d->problem.k : 0;
    t.adds_c = reads_c(c);
    if (const Kernel* const k = find_kernel(d->kernel))
        if (const auto numbers = tile_with(*k, d->tile)) t.tile = *numbers;
    t.groups = uint64_t{d->groups_x} * d->groups_y;
    describe_operands(*d, t);
    if (Status s = check_size(device, t); !s) return s;
    const auto code = d->memory_model ? module->scoped : module->plain;
    CaseRunner runner(device, c, {});
    const ExactCase& exact = runner.exact();
    const OperandBytes& operands = runner.operands(true);
    if (interrupted()) return t;
    Case known = c;  // with factors for which D is
    known.alpha = exact.alpha();
    known.beta = exact.beta();
    for (auto* out : {&t.untraced, &t.traced}) {
        auto buffers = upload_all(device, operands);
        if (!buffers) return buffers.status();
        Status ran = out == &t.untraced ? run_untraced(device, known, t, *buffers)
                                        : run_traced(device, known, *d, code, *buffers, t);
        if (!ran) return ran;
        if (interrupted()) return t;
        out->resize(operands[VKGEMM_SLOT_D].size());
        if (Status s = device.download(buffers->at(VKGEMM_SLOT_D), *out); !s) return s;
    }
    t.outcome = exact.verify(t.traced);
    return t;
}

}  // namespace vkgemm::tool
