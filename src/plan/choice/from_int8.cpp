// SPDX-License-Identifier: MIT
#include "plan/choice/from_int8.h"

#include <algorithm>
#include <tuple>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/choice/packing_key.h"
#include "plan/choice/reach.h"
#include "plan/choice/schedule_parts.h"
#include "shaders/common/moduli.h"

namespace vkgemm::plan {
namespace {

// Of A, or of B.
const Matrix& planes_of(const Operand& from, const Problem& multiplied) {
    return from.is_b() ? multiplied.b : multiplied.a;
}
uint64_t bytes_of_planes(const Matrix& planes, uint64_t count) {
    return count * planes.batchStride * info(planes.type).bytes;
}

// Sums that so many slices of K have.
uint64_t sums_of(const Schedule& s) { return s.split.slices * s.problem.batch * s.problem.m * s.sums_pitch(); }

// Beyond the cost of the product.
double cost_of_passes(const Schedule& s, const Problem& p, const DeviceCaps& dev) {
    const uint64_t d = info(f64).bytes * p.m * p.n;
    uint64_t split = 0;
    for (const auto& [bit, rows, planes] : {std::tuple{1u, p.m, &s.problem.a}, {2u, p.n, &s.problem.b}})
        if (!(packed_ahead(p) & bit))  // each of the three steps of split_int8 reads its operand
            split += 3 * info(f64).bytes * rows * p.k + bytes_of_planes(*planes, s.problem.batch);
    const auto pass = [&](uint64_t bytes) { return packing_cost(dev, 1, bytes, false, UINT64_MAX, 0); };
    const double finished = p.epilogue.count ? first_pass_cost(dev) + pass(2 * d) : 0;
    return 2 * first_pass_cost(dev) + pass(split) + pass(d + info(s.problem.accumulate).bytes * sums_of(s)) + finished;
}

// How an operand is split: in a pass of its own, or ahead.
std::optional<Status> add_split(Packing& packing, const Operand& from, const Problem& multiplied, uint64_t ahead,
                                const DeviceKernels& device) {
    const bool is_empty = from.rows == 0 || from.cols == 0;
    if (ahead == VKGEMM_PACKED_NONE) {
        if (!is_empty) packing.kernel = device.splitter();
        return std::nullopt;
    }
    packing.kernel = device.splitter();
    packing.key = packing_key(*packing.kernel, from, planes_of(from, multiplied), multiplied.batch, device.caps());
    if (ahead == VKGEMM_PACKED_ANY || ahead == packing.key) return std::nullopt;
    return packed_otherwise(from, ahead, packing.key);
}

// Where the parts of an operand are: in the workspace from `offset` on, or in an operand of its own.
void place_split(Packing& packing, const Operand& from, const Problem& multiplied, uint64_t offset) {
    const PackedInt8 own = packed_int8(from, multiplied);
    packing.offset = packing.key ? own.planes : offset;
    packing.bytes = packing.key ? own.end : own.planes_bytes;
}
void place_passes(Schedule& s, const Problem& p) {
    const WorkspaceInt8 at = workspace_int8(p, s.problem);
    const auto all = operands(p);
    place_split(s.a, all[0], s.problem, at.planes_a);
    place_split(s.b, all[1], s.problem, at.planes_b);
    s.partial_offset = at.sums;
}

std::optional<Status> add_passes(Choice& choice, const Problem& p, const DeviceKernels& device) {
    if (!device.splitter() || !device.joiner() || !device.finisher())
        return Refusal{
            VKGEMM_ERROR_UNSUPPORTED,
            concat(
                {"accuracy=", accuracy_name(p.accuracy),
                 " needs the kernels split_int8, join_int8 and finish_f64, which this build or device lacks ('vkgemm "
                 "kernels' has the reasons); leave the accuracy at its default"})};
    Schedule& s = choice.schedule;
    if (s.problem.a.type == i8) s.problem.accumulate = u8;
    const auto all = operands(p);
    if (auto why = add_split(s.a, all[0], s.problem, p.packedA, device)) return why;
    if (auto why = add_split(s.b, all[1], s.problem, p.packedB, device)) return why;
    place_passes(s, p);
    s.split.reducer = device.joiner();
    s.finisher = p.epilogue.count ? device.finisher() : nullptr;
    s.cost += cost_of_passes(s, p, device.caps());
    return std::nullopt;
}

// What is multiplied, of i8 or of i32. Its rows of A and columns of B have whole 16 bytes whatever k is.
Problem multiplied_as(Type planes, const Problem& p) {
    Problem out;
    out.m = p.m;
    out.n = p.n;
    out.k = round_up(p.k, MODULI_PAD_K);
    out.batch = moduli_of(p);
    out.a.type = out.b.type = planes;
    out.b.layout = columnMajor;
    out.upTo = p.upTo & (VKGEMM_UP_TO_M | VKGEMM_UP_TO_N);
    out = *complete(out);
    out.outerBatch = p.outerBatch;
    return out;
}

// What products store in the workspace, of one slice of K: remainders, or sums of i32.
Matrix stored_by(const Problem& product) {
    Matrix out = product.d;
    if (product.a.type == i8) {
        out.type = u8;
        out.ld = round_up(product.n, MODULI_PAD_N);
        out.batchStride = product.m * out.ld;
    }
    return out;
}

}  // namespace

WorkspaceInt8 workspace_int8(const Problem& p, const Problem& multiplied) {
    WorkspaceInt8 out{};
    const uint32_t ahead = packed_ahead(p);
    const auto after = [](uint64_t begin, bool takes, uint64_t bytes) {
        return takes ? round_up(begin + bytes, region_alignment) : begin;
    };
    out.exponents_b = after(0, ahead != 3, sizeof(int32_t) * p.m);
    out.planes_a = after(out.exponents_b, ahead != 3, sizeof(int32_t) * p.n);
    out.planes_b = after(out.planes_a, !(ahead & 1), bytes_of_planes(multiplied.a, multiplied.batch));
    out.unfinished = after(out.planes_b, !(ahead & 2), bytes_of_planes(multiplied.b, multiplied.batch));
    out.sums = after(out.unfinished, p.epilogue.count != 0, info(f64).bytes * p.m * p.n);
    return out;
}

PackedInt8 packed_int8(const Operand& from, const Problem& multiplied) {
    const uint64_t rows = from.is_b() ? from.cols : from.rows;
    PackedInt8 out{};
    out.planes = round_up(sizeof(int32_t) * rows, region_alignment);
    out.planes_bytes = bytes_of_planes(planes_of(from, multiplied), multiplied.batch);
    out.copy = round_up(out.planes + out.planes_bytes, region_alignment);
    out.copy_bytes = info(f64).bytes * from.rows * from.cols;
    out.end = out.copy + out.copy_bytes;
    return out;
}

Problem multiplied(const Problem& p, const DeviceCaps& dev) {
    return is_from_int8(p) ? multiplied_as(dev.features & need::storage8 ? i8 : i32, p) : p;
}

bool stores_remainders(const Schedule& s) { return s.problem.accumulate == u8; }

Schedule resized_from_int8(const Schedule& chosen, const Tile& t, const Problem& p) {
    Schedule out = chosen;
    out.problem = multiplied_as(chosen.problem.a.type, p);
    out.problem.accumulate = chosen.problem.accumulate;
    place_passes(out, p);
    out.split = split_of(chosen.split.slices, t, out.problem);
    out.split.reducer = chosen.split.reducer;
    return out;
}

Request request_for_multiplied(const Request& request, const Problem& p, const DeviceCaps& dev) {
    Request out = request;
    const Problem product = multiplied(p, dev);
    out.operand_alignment = 16;  // as the workspace has
    out.packs = false;
    out.stores_remainders = product.a.type == i8;
    out.workspace_limit -= std::min(workspace_int8(p, product).sums, out.workspace_limit);
    return out;
}

uint64_t least_workspace(const Problem& p, const DeviceCaps& dev) {
    const Problem product = multiplied(p, dev);
    const Matrix stored = stored_by(product);
    return workspace_int8(p, product).sums + info(stored.type).bytes * product.batch * stored.batchStride;
}

bool reaches_workspace(const Problem& p, const DeviceCaps& dev, Binding binding) {
    Problem product = multiplied(p, dev);
    product.d = stored_by(product);
    const auto all = operands(product);
    return std::ranges::none_of(all, [&](const Operand& x) { return beyond_reach(product, x, dev, binding); });
}

Result<Choice> select_from_int8(const DeviceKernels& device, const Problem& p, const Request& request,
                                Binding binding) {
    const DeviceCaps& dev = device.caps();
    if (auto why = too_large(dev, p, binding)) return *why;
    Request of_product = request_for_multiplied(request, p, dev);
    const Problem least = request.least ? multiplied(*request.least, dev) : Problem{};
    if (request.least) of_product.least = &least;
    Result<Choice> choice = select(device, multiplied(p, dev), of_product, binding);
    if (!choice) return choice;
    if (auto why = add_passes(*choice, p, device)) return *why;
    return choice;
}

}  // namespace vkgemm::plan
