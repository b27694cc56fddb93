// SPDX-License-Identifier: MIT
#include "kernels/launch.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "kernels/compare.h"
#include "kernels/emulated.h"
#include "kernels/phases.h"
#include "kernels/submission.h"
#include "support/keys.h"
#include "support/limited_device.h"

namespace vkgemm::test {
namespace {

/// A and B of mixed types, and some operands of the epilogue, are read in words of 4 bytes.
uint64_t bytes_needed(const plan::Problem& p, const Guarded& g, size_t slot, uint32_t alignment) {
    const uint64_t bytes = g.span_bytes();
    const bool in_words = plan::is_mixed(p) && (slot < 2 || slot == VKGEMM_SLOT_B2);
    if (!in_words && !plan::is_read_in_words(p, VkgemmSlot(slot))) return bytes;
    const uint32_t begins = std::max(alignment, plan::info(g.type()).unit_bytes());  // A and B may, within a word
    return (bytes + 3) / 4 * 4 + (in_words && bytes && begins < 4 ? 4 - begins : 0);
}

/// Do the plan's sizes and counts agree with the problem?
std::string check_info(const Case& x, const plan::Problem& p, const Data& data, const VkgemmPlanInfo& info) {
    if (!x.kernel.empty() && !plan::is_empty(p) && x.kernel != info.kernel)
        return "the plan took " + std::string(info.kernel) + ", not " + x.kernel;
    const auto all = data.all();
    for (size_t i = 0; i < all.size(); ++i) {
        const size_t slot = Data::slots[i];
        const bool packed = (slot == VKGEMM_SLOT_A && info.packedA) || (slot == VKGEMM_SLOT_B && info.packedB);
        const uint64_t want = plan::is_empty(p) ? 0 : bytes_needed(p, *all[i], slot, alignment_of(x, p));
        if (!packed && info.requiredBytes[slot] != want)
            return std::string("requiredBytes of ") + slot_names[slot] + " is " +
                   std::to_string(info.requiredBytes[slot]) + ", not " + std::to_string(want);
    }
    if ((info.dispatchCount == 0) != plan::is_empty(p)) return "dispatchCount is " + std::to_string(info.dispatchCount);
    if (x.addresses && !info.usesAddresses && !plan::is_empty(p))
        return "addresses were asked for, descriptors are used";
    if (info.workspaceAlignment == 0) return "workspaceAlignment is 0";
    return "";
}

VkgemmOperand operand(const Case& x, const plan::Problem& p, const Guarded& g, size_t slot) {
    const uint64_t bytes = bytes_needed(p, g, slot, alignment_of(x, p));
    if (bytes == 0) return {};
    const bool on_d = x.alias != Alias::none && slot == (x.alias == Alias::c ? VKGEMM_SLOT_C : VKGEMM_SLOT_RESIDUAL);
    const host::Buffer& buffer = pool()[on_d ? size_t{VKGEMM_SLOT_D} : slot];
    return operand_of(buffer, g.offset(), bytes, x.addresses);
}

// No case takes a GPU a second, so that one which hangs is a failed test soon.
std::chrono::seconds longest() {
    return std::chrono::seconds(device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU ? 3600 : 20);
}

/// Packs the operand of `slot` (A or B) ahead of the product.
std::string pack(const Case& x, const plan::Problem& p, VkgemmPlan product, const Guarded& from, VkgemmSlot slot,
                 Workspace& to) {
    OwnedPlan plan;
    VkgemmError error{};
    if (vkgemmCreatePack(product, slot, &plan.handle, &error) != VKGEMM_SUCCESS)
        return std::string("no pack: ") + error.text;
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    if (vkgemmGetPlanInfo(plan.handle, &info) != VKGEMM_SUCCESS) return "no plan info";
    const plan::Operand matrix = plan::operands(p)[slot];
    const uint64_t bytes = plan::info(from.type()).bytes_of(plan::span_elements(matrix).value_or(0));
    if (info.requiredBytes[slot] != bytes)
        return "a pack reads " + std::to_string(info.requiredBytes[slot]) + " bytes, not " + std::to_string(bytes);
    if (std::string why = to.hold(info.requiredBytes[VKGEMM_SLOT_D]); !why.empty()) return why;
    VkgemmRun r{};
    r.structSize = sizeof r;
    (slot == VKGEMM_SLOT_A ? r.a : r.b) = operand(x, p, from, slot);
    r.d = to.operand(x.addresses);
    const std::string why = submit(plan.handle, r);
    return why.empty() ? to.look() : "a pack was " + why;
}

const Data& fill(const Case& x, const plan::Problem& p, std::optional<Data>& out) {
    const Timed timed(Phase::fill);
    return out.emplace(x, p);
}

/// The reason why no run of the case can be checked, or "".
std::string complete_case(const Case& x, Ran& out) {
    const auto completed = plan::complete(x.problem);
    if (!completed) return "the case itself is broken: " + completed.status().text;
    out.problem = x.sizes ? plan::with_sizes(*completed, *x.sizes) : *completed;
    if (x.strides) {
        const auto strided = plan::of_run(x.problem, x.sizes.value_or(plan::sizes_of(*completed)), *x.strides);
        if (!strided) return "the case itself is broken: " + strided.status().text;
        out.problem = *strided;
    }
    if (!is_inexact(x.fill, out.problem.accuracy) && exact_fill_of(out.problem, x).ab == 0)
        return "the case itself is broken: no range is exact";
    return "";
}

}  // namespace

uint32_t alignment_of(const Case& x, const plan::Problem& p) {
    uint64_t alignment = 16;
    const std::array<plan::Type, 7> types = {p.a.type,   p.b.type,    p.c.type,      p.d.type,
                                             p.biasType, p.scaleType, p.residualType};
    for (const VkgemmSlot slot : {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C, VKGEMM_SLOT_D, VKGEMM_SLOT_RESIDUAL})
        alignment = std::gcd(alignment, x.shift_of(slot) * uint64_t{plan::info(types[slot]).unit_bytes()});
    return static_cast<uint32_t>(alignment);
}

VkgemmPlanOptions options_of(const Case& x, const plan::Problem& p) {
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = x.kernel.empty() ? nullptr : x.kernel.c_str();
    options.tile = x.tile.empty() ? nullptr : x.tile.c_str();
    options.operands = x.addresses ? VKGEMM_OPERANDS_ADDRESSES : VKGEMM_OPERANDS_BUFFERS;
    options.operandAlignment = alignment_of(x, p);
    options.workspaceLimit = x.workspace.value_or(64 << 20);
    if (x.broken) options.flags = VKGEMM_PLAN_COUNT_INDICES;
    return options;
}

VkgemmContext context_of(const Case& x) {
    const bool reports = x.ways & way_replay;  // what is recorded
    const bool is_own = !emulated_device().empty() || x.invocations || x.reach || reports;
    return is_own ? limited_context(x.invocations, x.reach) : device().context().handle();
}

VkgemmRun run_of(const Case& x, const plan::Problem& p, const Data& data, const Launch& with) {
    const auto all = data.all();
    VkgemmRun r{};
    r.structSize = sizeof r;
    VkgemmOperand* const operands[] = {&r.a, &r.b, &r.c, &r.d, &r.bias, &r.scale, &r.residual, &r.b2, &r.bias2};
    for (size_t i = 0; i < all.size(); ++i)
        *operands[i] = i < 2 && with.packed[i].size() ? with.packed[i].operand(x.addresses)
                                                      : operand(x, p, *all[i], Data::slots[i]);
    r.alpha = p.scalars & VKGEMM_SCALARS_ALPHA ? NAN : x.alpha;
    r.beta = p.scalars & VKGEMM_SCALARS_BETA ? NAN : x.beta;
    if (p.scalars) {
        r.scalars = operand_of(pool()[Pool::scalars], Pool::scalars_offset, sizeof(VkgemmScalars), x.addresses);
    }
    if (r.alpha == 0) r.flags |= VKGEMM_RECORD_ZERO_ALPHA;
    if (x.sizes) {
        r.flags |= VKGEMM_RECORD_SIZES;
        r.m = x.sizes->m;
        r.n = x.sizes->n;
        r.k = x.sizes->k;
        r.batch = x.sizes->batch;
    }
    if (x.strides) {
        r.flags |= VKGEMM_RECORD_STRIDES;
        r.strides = *x.strides;
    }
    r.workspace = with.workspace.operand(x.addresses);
    return r;
}

std::string submit(VkgemmPlan plan, const VkgemmRun& r, uint32_t dispatches) {
    const Timed recording(Phase::record);
    uint32_t count = 1, step = dispatches;
    if (step) {
        VkgemmError error{};
        const VkgemmResult code = vkgemmCountDispatches(plan, &r, &count, &error);
        if (code != VKGEMM_SUCCESS) return std::string("not run: ") + error.text;
    }
    for (uint32_t first = 0; first < count; first += std::max(step, 1u)) {
        std::optional<Timed> waiting;  // from the end of recording on
        const Status done = submit_recorded(
            [&](VkCommandBuffer commands) {
                VkgemmError error{};
                const VkgemmResult code = step ? vkgemmRecordDispatches(plan, commands, &r, first, step, &error)
                                               : vkgemmRecord(plan, commands, &r, &error);
                waiting.emplace(Phase::wait);
                return Status{code, error.vkResult, error.text};
            },
            longest());
        if (done.code != VKGEMM_SUCCESS) return "not run: " + done.text;
    }
    return "";
}

std::string upload(const Data& data) {
    const Timed timed(Phase::upload);
    const auto all = data.all();
    for (size_t i = 0; i < all.size(); ++i)
        if (std::string why = pool().hold(Data::slots[i], all[i]->bytes()); !why.empty()) return why;
    return pool().hold_scalars(data.scalars);
}

std::string make_plan(const Case& x, const plan::Problem& given, const VkgemmPlanOptions& options, Launch& out) {
    const Timed timed(options.flags & VKGEMM_PLAN_DRY ? Phase::plan : Phase::compile);
    const VkgemmProblem problem = for_api(given);
    VkgemmError error{};
    if (vkgemmCreatePlan(context_of(x), &problem, &options, &out.plan.handle, &error) != VKGEMM_SUCCESS)
        return std::string("no plan: ") + error.text;
    out.info = {};
    out.info.structSize = sizeof out.info;
    if (vkgemmGetPlanInfo(out.plan.handle, &out.info) != VKGEMM_SUCCESS) return "no plan info";
    const uint64_t bytes = out.info.requiredBytes[VKGEMM_SLOT_WORKSPACE];
    if (given.grouping == VKGEMM_GROUPING_NONE && bytes > options.workspaceLimit)  // a report of groups comes on top
        return "the plan wants " + std::to_string(bytes) + " bytes of workspace, and its limit is " +
               std::to_string(options.workspaceLimit);
    return unread_keys(out.plan.handle);
}

std::string keys_of(VkgemmPlan plan, std::string& out) {
    const Timed timed(Phase::plan);
    size_t size = 0;
    if (vkgemmGetPlanKeys(plan, nullptr, &size) != VKGEMM_SUCCESS || size == 0) return "no keys";
    out.resize(size);
    if (vkgemmGetPlanKeys(plan, out.data(), &size) != VKGEMM_SUCCESS) return "no keys";
    out.resize(size - 1);
    return "";
}

std::string launch(const Case& x, const plan::Problem& p, const Data& data, Launch& with, uint32_t dispatches) {
    const uint64_t offset = with.info.workspaceAlignment * (x.seed % 3);
    if (std::string why = with.workspace.hold(with.info.requiredBytes[VKGEMM_SLOT_WORKSPACE], offset); !why.empty())
        return why;
    const auto all = data.all();
    for (const auto& [slot, key] : {std::pair{VKGEMM_SLOT_A, with.info.packedA}, {VKGEMM_SLOT_B, with.info.packedB}})
        if (key != VKGEMM_PACKED_NONE)
            if (std::string why = pack(x, p, with.plan.handle, *all[slot], slot, with.packed[slot]); !why.empty())
                return why;
    const std::string why = submit(with.plan.handle, run_of(x, p, data, with), dispatches);
    return why.empty() ? with.workspace.look() : why;
}

std::string execute(const Case& x, Ran& out) {
    if (std::string why = complete_case(x, out); !why.empty()) return why;
    const plan::Problem& p = out.problem;
    const Data& data = fill(x, p, out.data);
    if (std::string why = upload(data); !why.empty()) return why;
    Launch& with = out.with;
    if (std::string why = make_plan(x, x.problem, options_of(x, p), with); !why.empty()) return why;
    out.error_bound = with.info.errorBound;
    out.kernel = with.info.kernel;
    out.tile = with.info.tile;
    if (!x.sizes && !x.strides)
        if (std::string why = check_info(x, p, data, with.info); !why.empty()) return why;
    if (x.ways)
        if (std::string why = keys_of(with.plan.handle, out.keys); !why.empty()) return why;
    last_recorded().clear();
    const std::string why = launch(x, p, data, with);
    out.recorded_text = last_recorded();
    return why;
}

}  // namespace vkgemm::test
