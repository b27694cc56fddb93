// SPDX-License-Identifier: MIT
#include "trace/inside.h"

#include <cstring>

#include "plan/native/arguments.h"
#include "plan/problem/factors.h"
#include "plan/steps/steps.h"
#include "shaders/common/trace.h"
#include "spirv/bytes.h"

namespace vkgemm::tool::inside {

static_assert(bind_a == BIND_A && bind_b == BIND_B && bind_c == BIND_C && bind_d == BIND_D && bind_bias == BIND_BIAS &&
              bind_scale == BIND_SCALE && bind_residual == BIND_RESIDUAL && bind_count == BIND_COUNT);
static_assert(bind_count == BIND_TRACE, "the trace is bound behind the operands");

const TraceWords trace_words = {.head = TRACE_HEAD,
                                .capacity = TRACE_CAPACITY,
                                .listed = TRACE_LISTED,
                                .list = TRACE_LIST,
                                .owners = TRACE_OWNERS,
                                .span = TRACE_SPAN,
                                .counts = TRACE_COUNTS,
                                .outside = TRACE_OUTSIDE,
                                .farthest = TRACE_FARTHEST,
                                .entry = TRACE_ENTRY};

namespace {

Status unsupported(std::string why) { return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, std::move(why)}; }

Dispatch dispatch_from(const plan::Normalised& n, const plan::Steps& steps, const plan::DeviceCaps& caps) {
    const plan::Step& s = steps.steps.front();
    Dispatch d;
    d.problem = n.problem;
    d.swapped = n.swapped;
    d.kernel = s.kernel->name;
    d.module = s.kernel->module.name;
    d.tile = plan::to_text(s.tile);
    const plan::ConstantValues values = plan::constant_values(s);
    for (size_t i = 0; i < values.size(); ++i) d.constants.emplace_back(plan::constant_ids[i], values[i]);
    if (s.tile.SG && caps.subgroup_required) d.subgroup_size = s.tile.SG;
    d.full_subgroups = s.tile.SG && (caps.features & plan::need::full_subgroups);
    d.memory_model = (caps.features & plan::need::memory_model) != 0;
    d.groups_x = s.groups_x;
    d.groups_y = s.groups_y;
    for (size_t i = 0; i < bind_count; ++i) d.slots[i] = s.slots[i];
    for (size_t i = 0; i < VKGEMM_SLOT_COUNT; ++i) d.slot_bytes[i] = steps.slots[i].bytes;
    const auto bytes = std::as_bytes(std::span(&s.args, 1));
    d.arguments.assign(bytes.begin(), bytes.end());
    return d;
}

Result<plan::DeviceCaps> caps_of(const host::Device& device) {
    const auto described = device.context().describeDevice();
    if (!described) return described.status();
    const auto caps = plan::parse_device_caps(*described);
    if (!caps) return caps.status();
    return *caps;
}

plan::Result<plan::Problem> completed_problem(Problem asked) {
    if (asked.batch == 0) asked.batch = 1;  // as in VkgemmProblem
    return plan::complete(asked);
}

}  // namespace

Result<Dispatch> dispatch_of(const host::Device& device, const Problem& problem, const PlanOptions& options) {
    const auto caps = caps_of(device);
    if (!caps) return caps.status();
    if (caps->max_storage_buffers <= BIND_TRACE)
        return unsupported("tracing takes " + std::to_string(BIND_TRACE + 1) +
                           " storage buffers, and this device allows " + std::to_string(caps->max_storage_buffers));
    const auto completed = completed_problem(problem);
    if (!completed) return completed.status();
    if (plan::is_empty(*completed))
        return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "nothing to trace: m or n is 0"};
    const plan::Type d = completed->d.type;
    if (completed->scalars || plan::is_scaled(*completed) || completed->c.type != d || completed->biasType != d ||
        completed->scaleType != d || completed->residualType != d)
        return unsupported(
            "only a product without scalars in memory, whose epilogue reads operands of D's type, can be traced");
    if (plan::is_pair(*completed))
        return unsupported("the second B of a pair has no trace; only one product can be traced");
    plan::Request request;  // no workspace: one dispatch, of the product itself
    request.kernel = options.kernel ? options.kernel : "";
    request.tile = options.tile ? options.tile : "";
    const plan::Normalised n = plan::normalise(*completed);
    if (n.repeated.count)
        return unsupported("the product is dispatched " + std::to_string(n.problem.outerBatch) +
                           " times, for the levels of its batch; only a single dispatch can be traced");
    const auto choice = plan::select(*caps, n.problem, request);
    if (!choice) return choice.status();
    const plan::Steps steps = plan::make_steps(*choice, *completed, n, *caps, request);
    if (steps.steps.size() == 1) return dispatch_from(n, steps, *caps);
    return unsupported(std::string(choice->kernel->name) + " takes " + std::to_string(steps.steps.size()) +
                       " dispatches; only a kernel that takes one can be traced");
}

std::vector<std::byte> arguments(const Dispatch& dispatch, double alpha, double beta) {
    abi::GemmArgs args;
    std::memcpy(&args, dispatch.arguments.data(), sizeof args);
    plan::set_factors(args, alpha, beta, dispatch.problem.accumulate);
    const auto bytes = std::as_bytes(std::span(&args, 1)).first(plan::argument_bytes(dispatch.problem.accumulate));
    return {bytes.begin(), bytes.end()};
}

Result<std::vector<uint8_t>> machine_code(uint32_t index) {
    const plan::Kernel& k = plan::kernels()[index];
    if (!k.module.is_native()) return unsupported(std::string(k.name) + " is not machine code");
    if (!k.module.built()) return unsupported(std::string(k.name) + ": " + k.module.embedded.why_missing);
    auto code = spirv::unpack_bytes(k.module.packed());
    if (!code) return unsupported("the machine code of " + std::string(k.module.name) + " in this program is damaged");
    return *std::move(code);
}

Result<std::vector<std::string>> entry_points(const host::Device& device, const Problem& problem,
                                              const PlanOptions& options) {
    const auto caps = caps_of(device);
    if (!caps) return caps.status();
    const auto completed = completed_problem(problem);
    if (!completed) return completed.status();
    plan::Request request;
    request.kernel = options.kernel ? options.kernel : "";
    request.tile = options.tile ? options.tile : "";
    request.workspace_limit = options.workspaceLimit;
    const plan::Normalised n = plan::normalise(*completed);
    const auto choice = plan::select(*caps, n.problem, request);
    if (!choice) return choice.status();
    std::vector<std::string> all;
    for (const plan::Step& s : plan::make_steps(*choice, *completed, n, *caps, request).steps)
        all.push_back(s.kernel->module.is_native() ? plan::entry_point(s) : "");
    return all;
}

std::string unreadable_fact(std::string_view line) {
    const auto caps = plan::parse_device_caps(line);
    return caps ? "" : std::string(caps.status().text);
}

}  // namespace vkgemm::tool::inside
