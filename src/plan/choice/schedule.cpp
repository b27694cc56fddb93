// SPDX-License-Identifier: MIT
#include "plan/choice/schedule.h"

#include <algorithm>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"

namespace vkgemm::plan {
namespace {

constexpr uint64_t region_alignment = 256;  // of the parts of the workspace; more than any device wants
constexpr uint64_t factor_bytes = 4;        // of the scale of a row

// The fastest second pass for these types on the device; null: there is none.
const Kernel* find_reducer(const DeviceCaps& dev, const Problem& p, uint32_t slices) {
    const Kernel* best = nullptr;
    for (const Kernel& k : kernels()) {
        if (k.module.role != Role::reducer || k.module.accumulate != p.accumulate || k.module.d != p.d.type ||
            unfit_device(k, k.tile, dev))
            continue;
        if (!best || reducing_cost(k, dev, p, slices) < reducing_cost(*best, dev, p, slices)) best = &k;
    }
    return best;
}

bool same_matrices(const Tile& a, const Tile& b) {
    return a.MM == b.MM && a.MN == b.MN && a.MK == b.MK && a.SG == b.SG;
}

// What brings an operand of this type into the shape that the product wants; null: there is none.
const Kernel* find_packer(const Kernel& product, const Tile& t, const DeviceCaps& dev, Type type) {
    const bool packs_fragments = product.module.family.packs_fragments;
    for (const Kernel& k : kernels()) {
        if (k.module.role != Role::packer || k.module.family.packs_fragments != packs_fragments) continue;
        const bool suits = packs_fragments ? k.module.a == type && same_matrices(k.tile, t) &&
                                                 k.module.family.operand_split == product.module.family.operand_split
                                           : info(k.module.a).bytes == info(type).bytes;
        if (suits && !unfit_device(k, k.tile, dev)) return &k;
    }
    return nullptr;
}

std::optional<Status> too_much_workspace(const Schedule& schedule, const DeviceCaps& dev, const Request& request) {
    const uint64_t bytes = schedule.workspace_bytes();
    const uint64_t most =
        std::min({request.workspace_limit, dev.max_storage_range - dev.offset_alignment,
                  max_span * std::min(info(schedule.problem.accumulate).bytes, info(schedule.problem.a.type).bytes)});
    if (bytes <= most) return std::nullopt;
    std::string what = schedule.split.slices > 1 ? concat({schedule.split.slices, " slices of K"}) : "";
    if (schedule.a.kernel || schedule.b.kernel) what += what.empty() ? "packed operands" : " and packed operands";
    return Refusal{VKGEMM_ERROR_WORKSPACE, concat({what, " want a workspace of ", bytes,
                                                   " bytes; workspaceLimit, or the device, allows ", most})};
}

SplitK split_of(uint32_t wanted, const Tile& t, const DeviceCaps& dev, const Problem& p) {
    const uint64_t depth = std::max<uint32_t>(t.BK, 1);
    const uint64_t chunk = std::max<uint64_t>(div_up(div_up(p.k, wanted), depth) * depth, depth);
    const auto slices = static_cast<uint32_t>(div_up(p.k, chunk));
    return slices < 2 ? SplitK{1, p.k, nullptr} : SplitK{slices, chunk, find_reducer(dev, p, slices)};
}

// Adds the slices that the tile's SPLIT demands, or, if SPLIT is 0, those of least cost that the workspace allows.
std::optional<Status> choose_split_k(Schedule& schedule, const Kernel& k, const Tile& t, const DeviceCaps& dev,
                                     const Request& request) {
    const Problem& p = schedule.problem;
    const bool wide = reads_wide(schedule.operands(), request);
    const double before = schedule.cost;
    schedule.split = {1, p.k, nullptr};
    if (t.SPLIT > 1) {
        schedule.split = split_of(t.SPLIT, t, dev, p);
        if (schedule.split.slices > 1 && !schedule.split.reducer)
            return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                           "no kernel adds up slices of K for these types on the device; SPLIT must be 0 or 1"};
    }
    if (auto why = too_much_workspace(schedule, dev, request)) return why;
    schedule.cost = before + cost(k, t, dev, p, schedule.split, wide);
    if (t.SPLIT || !request.workspace_limit || !find_reducer(dev, p, 2)) return std::nullopt;
    for (const uint32_t wanted : {2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u, 32u, 48u, 64u, 96u, 128u, 192u, 256u}) {
        if (p.k / wanted < 2 * t.BK) break;
        Schedule other = schedule;
        other.split = split_of(wanted, t, dev, p);
        if (too_much_workspace(other, dev, request)) break;
        other.cost = before + cost(k, t, dev, p, other.split, wide);
        if (other.cost < schedule.cost) schedule = other;
    }
    return std::nullopt;
}

// The layout of `x` in the workspace, in which every row begins at a multiple of 64 bytes.
Matrix packed(const Operand& x, bool transposes) {
    Matrix out = *x.matrix;
    if (transposes) out.layout = out.layout == rowMajor ? columnMajor : rowMajor;
    const bool rows_first = out.layout == rowMajor;
    out.ld = round_up(rows_first ? x.cols : x.rows, 64 / info(out.type).bytes);
    out.batchStride = x.matrix->batchStride ? (rows_first ? x.rows : x.cols) * out.ld : 0;
    return out;
}

// `x` as pack_fragments lays it out: rows along k, in whole row blocks and whole steps of k. A row is not contiguous
// then, but takes that much room.
Matrix coopmat_packed(const Operand& x, const Tile& t) {
    Matrix out = *x.matrix;
    const bool is_a = x.name == "A";
    out.layout = is_a ? rowMajor : columnMajor;
    out.ld = round_up(is_a ? x.cols : x.rows, t.BK);
    out.batchStride = x.matrix->batchStride ? round_up(is_a ? x.rows : x.cols, PACKED_ROW_BLOCK) * out.ld : 0;
    return out;
}

// Describes `x` as packed, at the end of the workspace so far. Refused where no kernel packs it, or it is too large.
std::optional<Status> pack(Schedule& schedule, Packing& packing, Matrix& matrix, const Operand& x, const Kernel& k,
                           const Tile& t, const DeviceCaps& dev) {
    packing.kernel = find_packer(k, t, dev, x.matrix->type);
    if (!packing.kernel)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({"no kernel packs ", x.name, " on the device; PACK must be 1"})};
    const bool transposes = prefers_transposed(k.module.family.gpu_cost, x);
    const bool packs_fragments = k.module.family.packs_fragments;
    const OperandSplit& operand_split = k.module.family.operand_split;
    const Type unit = unit_type(k.module.family, x.matrix->type);
    const Matrix out = packs_fragments ? coopmat_packed(x, t) : packed(x, transposes);
    const uint64_t batch = x.matrix->batchStride ? schedule.problem.batch : 1;
    const uint64_t rows =
        batch * round_up(out.layout == rowMajor ? x.rows : x.cols, packs_fragments ? PACKED_ROW_BLOCK : 1);
    if (out.ld != 0 && rows > max_span / out.ld)  // 0: an empty sum
        return Refusal{VKGEMM_ERROR_LIMIT, concat({x.name, " would take more than ", max_span,
                                                   " elements of workspace once packed; PACK must leave it out"})};
    packing.offset = round_up(schedule.workspace_bytes(), region_alignment);
    packing.bytes =
        rows * out.ld * operand_split.count * info(unit).bytes + (operand_split.scaled ? rows * factor_bytes : 0);
    const uint64_t groups = operand_split.scaled ? div_up(rows, packing.kernel->tile.BM) : UINT64_MAX;
    schedule.cost += packing_cost(dev, packing.bytes, transposes, groups);
    matrix = out;
    return std::nullopt;
}

// The schedule that packs the operands of `mask` (1: A, 2: B).
Result<Schedule> schedule_of(uint32_t mask, const Kernel& k, const Tile& t, const DeviceCaps& dev, const Problem& p,
                             const Request& request) {
    Schedule schedule;
    schedule.problem = p;
    schedule.split = {1, p.k, nullptr};
    const auto all = operands(p);
    if (p.k == 0 || is_empty(p)) mask = 0;  // there is nothing to copy
    if (mask) schedule.cost = first_pass_cost(dev);
    if (mask & 1)
        if (auto why = pack(schedule, schedule.a, schedule.problem.a, all[0], k, t, dev)) return *why;
    if (mask & 2)
        if (auto why = pack(schedule, schedule.b, schedule.problem.b, all[1], k, t, dev)) return *why;
    schedule.partial_offset = round_up(schedule.workspace_bytes(), region_alignment);
    if (k.module.family.wants_wide && !reads_wide(schedule.operands(), request))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       "is for A and B whose rows, leading dimensions and offsets are multiples of 16 bytes"};
    if (auto why = choose_split_k(schedule, k, t, dev, request)) return *why;
    return schedule;
}

// Which operands are worth a copy, as a mask.
uint32_t worth_packing(const Kernel& k, const Problem& p, const Request& request) {
    const auto all = operands(p);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 2; ++i)
        if (!is_wide(all[i], request.operand_alignment) || prefers_transposed(k.module.family.gpu_cost, all[i]))
            mask |= 1u << i;
    return mask;
}

}  // namespace

uint64_t Schedule::workspace_bytes() const {
    const uint64_t packed = std::max(a.offset + a.bytes, b.offset + b.bytes);
    return split.slices == 1 ? packed : round_up(packed, region_alignment) + split.workspace_bytes(problem);
}

std::array<Operand, 4> Schedule::operands() const {
    std::array<Operand, 4> all = plan::operands(problem);
    all[0].padded = a.kernel, all[1].padded = b.kernel;
    return all;
}

bool reads_wide(const std::array<Operand, 4>& all, const Request& request) {
    return is_wide(all[0], request.operand_alignment) && is_wide(all[1], request.operand_alignment);
}

Result<Schedule> best_schedule(const Kernel& k, const Tile& t, const DeviceCaps& dev, const Problem& p,
                               const Request& request) {
    if (k.module.family.packs_fragments) {
        if (t.PACK && t.PACK != 4)
            return Refusal{VKGEMM_ERROR_TILE, concat({"reads A and B as a first pass has laid them out; PACK is ",
                                                      t.PACK, ", and must be 0 or 4"})};
        return schedule_of(3, k, t, dev, p, request);
    }
    if (t.PACK) return schedule_of(t.PACK - 1, k, t, dev, p, request);
    Result<Schedule> best = schedule_of(0, k, t, dev, p, request);
    if (!request.workspace_limit) return best;
    const uint32_t worth = worth_packing(k, p, request);
    for (uint32_t mask = 1; mask <= worth; ++mask) {
        if ((mask & worth) != mask) continue;
        Result<Schedule> other = schedule_of(mask, k, t, dev, p, request);
        if (other && (!best || other->cost < best->cost)) best = other;
    }
    return best;
}

}  // namespace vkgemm::plan
