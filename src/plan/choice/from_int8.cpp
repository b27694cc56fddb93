// SPDX-License-Identifier: MIT
#include "plan/choice/from_int8.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/choice/reach.h"
#include "plan/choice/schedule_parts.h"
#include "shaders/common/moduli.h"

namespace vkgemm::plan {
namespace {

// The parts of the workspace before the sums, in bytes: first an exponent for each row of A and column of B.
struct Places {
    uint64_t a, bytes_a, b, bytes_b, end;
};

Places places_of(const Problem& product) {
    const auto bytes = [&](const Matrix& x) { return product.batch * x.batchStride * info(x.type).bytes; };
    Places out{};
    out.a = round_up(exponents_of_b(product) + sizeof(int32_t) * product.n, region_alignment);
    out.bytes_a = bytes(product.a);
    out.b = round_up(out.a + out.bytes_a, region_alignment);
    out.bytes_b = bytes(product.b);
    out.end = round_up(out.b + out.bytes_b, region_alignment);
    return out;
}

// Sums that so many slices of K leave.
uint64_t sums_of(const Schedule& s) { return s.split.slices * s.problem.batch * s.problem.m * s.sums_pitch(); }

// Beyond the cost of the product.
double cost_of_passes(const Schedule& s, const Problem& p, const Places& at, const DeviceCaps& dev) {
    const uint64_t read = 3 * info(f64).bytes * (p.m + p.n) * p.k;  // once for each of three steps of split_int8
    const uint64_t finished = info(f64).bytes * p.m * p.n + info(i32).bytes * sums_of(s);
    const auto pass = [&](uint64_t bytes) { return packing_cost(dev, 1, bytes, false, UINT64_MAX, 0); };
    return 2 * first_pass_cost(dev) + pass(read + at.bytes_a + at.bytes_b) + pass(finished);
}

std::optional<Status> add_passes(Choice& choice, const Problem& p, const DeviceKernels& device) {
    if (!device.splitter() || !device.joiner())
        return Refusal{
            VKGEMM_ERROR_UNSUPPORTED,
            "accuracy=f64_split needs the kernels split_int8 and join_int8, which this build or device lacks "
            "('vkgemm kernels' has the reasons); leave the accuracy at its default"};
    Schedule& s = choice.schedule;
    const Places at = places_of(s.problem);
    s.a.kernel = s.b.kernel = device.splitter();
    s.a.offset = at.a;
    s.a.bytes = at.bytes_a;
    s.b.offset = at.b;
    s.b.bytes = at.bytes_b;
    s.partial_offset = at.end;
    s.split.reducer = device.joiner();
    s.cost += cost_of_passes(s, p, at, device.caps());
    return std::nullopt;
}

}  // namespace

uint64_t exponents_of_b(const Problem& p) { return round_up(sizeof(int32_t) * p.m, region_alignment); }

Problem multiplied(const Problem& p, const DeviceCaps& dev) {
    if (!is_from_int8(p)) return p;
    Problem out;
    out.m = p.m;
    out.n = p.n;
    out.k = round_up(p.k, MODULI_PAD_K);
    out.batch = MODULI;
    out.a.type = out.b.type = dev.features & need::storage8 ? i8 : i32;
    out.b.layout = columnMajor;
    out = *complete(out);
    out.outerBatch = p.outerBatch;
    return out;
}

Request request_for_multiplied(const Request& request, const Problem& p, const DeviceCaps& dev) {
    Request out = request;
    const uint64_t taken = places_of(multiplied(p, dev)).end;
    out.operand_alignment = 16;  // as the workspace has
    out.packs = false;
    out.workspace_limit = request.workspace_limit > taken ? request.workspace_limit - taken : 0;
    return out;
}

uint64_t least_workspace(const Problem& p, const DeviceCaps& dev) {
    const Problem product = multiplied(p, dev);
    return places_of(product).end + info(i32).bytes * product.batch * product.m * round_up(product.n, 4);
}

bool reaches_workspace(const Problem& p, const DeviceCaps& dev, Binding binding) {
    const Problem product = multiplied(p, dev);
    const auto all = operands(product);
    return std::ranges::none_of(all, [&](const Operand& x) { return beyond_reach(product, x, dev, binding); });
}

Result<Choice> select_from_int8(const DeviceKernels& device, const Problem& p, const Request& request,
                                Binding binding) {
    const DeviceCaps& dev = device.caps();
    if (auto why = too_large(dev, p, binding)) return *why;
    Result<Choice> choice = select(device, multiplied(p, dev), request_for_multiplied(request, p, dev), binding);
    if (!choice) return choice;
    if (auto why = add_passes(*choice, p, device)) return *why;
    return choice;
}

}  // namespace vkgemm::plan
