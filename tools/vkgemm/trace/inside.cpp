// SPDX-License-Identifier: MIT
#include "trace/inside.h"

#include <cstring>

#include "plan/problem/factors.h"
#include "plan/problem/problem_text.h"
#include "plan/steps/steps.h"
#include "shaders/trace.h"

namespace vkgemm::tool::inside {

static_assert(bind_a == BIND_A && bind_b == BIND_B && bind_c == BIND_C && bind_d == BIND_D && bind_bias == BIND_BIAS &&
              bind_scale == BIND_SCALE && bind_residual == BIND_RESIDUAL && bind_count == BIND_COUNT &&
              bind_count == BIND_TRACE);

const TraceWords trace_words = {.head = TRACE_HEAD,
                                .room = TRACE_ROOM,
                                .listed = TRACE_LISTED,
                                .list = TRACE_LIST,
                                .owners = TRACE_OWNERS,
                                .span = TRACE_SPAN,
                                .counts = TRACE_COUNTS,
                                .outside = TRACE_OUTSIDE,
                                .farthest = TRACE_FARTHEST,
                                .entry = TRACE_ENTRY};

namespace {

Status status_of(const plan::Refusal& r) { return {static_cast<VkgemmResult>(r.kind), VK_SUCCESS, r.why}; }
Status unsupported(std::string why) { return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, std::move(why)}; }

Type type_to(plan::Type t) {
    for (int i = VKGEMM_TYPE_F32; i <= VKGEMM_TYPE_U8; ++i)
        if (plan::info(t).name == type_info(static_cast<Type>(i)).name) return static_cast<Type>(i);
    return VKGEMM_TYPE_DEFAULT;
}

Matrix matrix_to(const plan::Matrix& m) {
    return {type_to(*m.type), m.layout == plan::Layout::row_major ? rowMajor : columnMajor, m.ld, m.stride};
}

/// The problem without its epilogue.
Problem problem_to(const plan::Problem& p) {
    Problem out{.m = p.m, .n = p.n, .k = p.k, .batch = p.batch};
    out.a = matrix_to(p.a), out.b = matrix_to(p.b), out.d = matrix_to(p.d);
    if (p.c_source == plan::CSource::separate) out.c = matrix_to(p.c), out.cSource = VKGEMM_C_SEPARATE;
    if (p.c_source == plan::CSource::is_d) out.cSource = VKGEMM_C_IS_D;
    out.accumulate = type_to(*p.accumulate);
    return out;
}

Dispatch dispatch_from(const plan::Normalised& n, const plan::Steps& steps, const plan::DeviceCaps& caps) {
    const plan::Step& s = steps.steps.front();
    Dispatch d;
    d.problem = problem_to(n.problem), d.swapped = n.swapped;
    d.kernel = s.kernel->name, d.module = s.kernel->module.name, d.tile = plan::to_text(s.tile);
    const std::vector<uint32_t> values = plan::constant_values(s);
    for (size_t i = 0; i < values.size(); ++i) d.constants.emplace_back(plan::constant_ids[i], values[i]);
    if (s.tile.SG && caps.subgroup_required) d.subgroup_size = s.tile.SG;
    d.full_subgroups = s.tile.SG && (caps.features & plan::need::full_subgroups);
    d.memory_model = (caps.features & plan::need::memory_model) != 0;
    d.groups_x = s.groups_x, d.groups_y = s.groups_y;
    for (size_t i = 0; i < bind_count; ++i) d.slots[i] = static_cast<VkgemmSlot>(s.slots[i]);
    for (size_t i = 0; i < VKGEMM_SLOT_COUNT; ++i) d.slot_bytes[i] = steps.slots[i].bytes;
    const auto bytes = std::as_bytes(std::span(&s.args, 1));
    d.arguments.assign(bytes.begin(), bytes.end());
    return d;
}

}  // namespace

Result<Dispatch> dispatch_of(const host::Device& device, const Problem& problem, const PlanOptions& options) {
    const auto described = device.context().describeDevice();
    if (!described) return described.status();
    const auto caps = plan::parse_device_caps(*described);
    if (!caps) return status_of(caps.refusal());
    if (caps->max_storage_buffers <= BIND_TRACE)
        return unsupported("tracing takes " + std::to_string(BIND_TRACE + 1) +
                           " storage buffers, and this device allows " + std::to_string(caps->max_storage_buffers));
    const auto text = formatProblem(problem);
    if (!text) return text.status();
    const auto read = plan::parse_problem(*text);
    const auto completed = read ? plan::complete(read->problem) : read.refusal();
    if (!completed) return status_of(completed.refusal());
    if (plan::is_empty(*completed))
        return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "nothing to trace: m or n is 0"};
    plan::Request request;  // no workspace: one dispatch, of the product itself
    request.kernel = options.kernel ? options.kernel : "", request.tile = options.tile ? options.tile : "";
    const plan::Normalised n = plan::normalise(*completed);
    const auto choice = plan::select(*caps, n.problem, request);
    if (!choice) return status_of(choice.refusal());
    const plan::Steps steps = plan::make_steps(*choice, *completed, n, *caps, request);
    if (steps.steps.size() == 1) return dispatch_from(n, steps, *caps);
    return unsupported(std::string(choice->kernel->name) + " takes " + std::to_string(steps.steps.size()) +
                       " dispatches; only a kernel that takes one can be traced");
}

std::vector<std::byte> arguments(const Dispatch& dispatch, double alpha, double beta) {
    abi::GemmArgs args;
    std::memcpy(&args, dispatch.arguments.data(), sizeof args);
    for (int t = 0; t <= static_cast<int>(plan::Type::u8); ++t)
        if (type_to(static_cast<plan::Type>(t)) == dispatch.problem.accumulate)
            plan::set_factors(args, alpha, beta, static_cast<plan::Type>(t));
    const auto bytes = std::as_bytes(std::span(&args, 1));
    return {bytes.begin(), bytes.end()};
}

}  // namespace vkgemm::tool::inside
