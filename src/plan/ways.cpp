// SPDX-License-Identifier: MIT
#include "plan/ways.h"

#include <algorithm>

#include "plan/rounding.h"

namespace vkgemm::plan {
namespace {

using std::to_string;

constexpr uint64_t region_alignment = 256;  // of the parts of the workspace; more than any device wants
constexpr uint64_t factor_bytes = 4;        // of a line whose elements are scaled

// The fastest second pass for these types on this device; null: there is none.
const Kernel* find_reducer(const DeviceFacts& dev, const Problem& p, uint32_t slices) {
    const Kernel* best = nullptr;
    for (const Kernel& k : kernels()) {
        if (k.module.family.role != Role::reducer || k.module.accumulate != *p.accumulate || k.module.d != *p.d.type ||
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
const Kernel* find_packer(const Kernel& product, const Tile& t, const DeviceFacts& dev, Type type) {
    const bool weaves = product.module.family.weaves;
    for (const Kernel& k : kernels()) {
        if (k.module.family.role != Role::packer || k.module.family.weaves != weaves) continue;
        const bool suits = weaves ? k.module.a == type && same_matrices(k.tile, t) &&
                                        k.module.family.parts == product.module.family.parts
                                  : info(k.module.a).bytes == info(type).bytes;
        if (suits && !unfit_device(k, k.tile, dev)) return &k;
    }
    return nullptr;
}

std::optional<Refusal> too_much_workspace(const Way& way, const DeviceFacts& dev, const Request& request) {
    const uint64_t bytes = way.workspace_bytes();
    const uint64_t most =
        std::min({request.workspace_limit, dev.max_storage_range - dev.offset_alignment,
                  max_span * std::min(info(*way.problem.accumulate).bytes, info(*way.problem.a.type).bytes)});
    if (bytes <= most) return std::nullopt;
    std::string what = way.split.slices > 1 ? to_string(way.split.slices) + " slices of K" : "";
    if (way.a.kernel || way.b.kernel) what += what.empty() ? "packed operands" : " and packed operands";
    return Refusal{Refusal::workspace, what + " want a workspace of " + to_string(bytes) +
                                           " bytes; workspaceLimit, or the device, allows " + to_string(most)};
}

Split split_of(uint32_t wanted, const Tile& t, const DeviceFacts& dev, const Problem& p) {
    const uint64_t depth = std::max<uint32_t>(t.BK, 1);
    const uint64_t chunk = std::max<uint64_t>(div_up(div_up(p.k, wanted), depth) * depth, depth);
    const auto slices = static_cast<uint32_t>(div_up(p.k, chunk));
    return slices < 2 ? Split{1, p.k, nullptr} : Split{slices, chunk, find_reducer(dev, p, slices)};
}

// Adds to `way` the slices that the tile asks for; with SPLIT 0, of all that the workspace allows the least costly.
std::optional<Refusal> cut(Way& way, const Kernel& k, const Tile& t, const DeviceFacts& dev, const Request& request) {
    const Problem& p = way.problem;
    const bool wide = reads_wide(p, request);
    const double before = way.cost;
    way.split = {1, p.k, nullptr};
    if (t.SPLIT > 1) {
        way.split = split_of(t.SPLIT, t, dev, p);
        if (way.split.slices > 1 && !way.split.reducer)
            return Refusal{Refusal::unsupported,
                           "no kernel adds up slices of K for these types on this device; SPLIT must be 0 or 1"};
    }
    if (auto why = too_much_workspace(way, dev, request)) return why;
    way.cost = before + cost(k, t, dev, p, way.split, wide);
    if (t.SPLIT || !request.workspace_limit || !find_reducer(dev, p, 2)) return std::nullopt;
    for (const uint32_t wanted : {2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u, 32u, 48u, 64u, 96u, 128u, 192u, 256u}) {
        if (p.k / wanted < 2 * t.BK) break;
        Way other = way;
        other.split = split_of(wanted, t, dev, p);
        if (too_much_workspace(other, dev, request)) break;
        other.cost = before + cost(k, t, dev, p, other.split, wide);
        if (other.cost < way.cost) way = other;
    }
    return std::nullopt;
}

// `x` as it will lie in the workspace, the other way if it `turns`, every line on a multiple of 64 bytes.
Matrix packed(const Operand& x, bool turns) {
    Matrix out = *x.matrix;
    if (turns) out.layout = out.layout == Layout::row_major ? Layout::column_major : Layout::row_major;
    const bool rows_first = out.layout == Layout::row_major;
    out.ld = round_up(rows_first ? x.cols : x.rows, 64 / info(*out.type).bytes);
    out.stride = x.matrix->stride ? (rows_first ? x.rows : x.cols) * out.ld : 0;
    out.padded = true;
    return out;
}

// `x` as weave lays it out: lines along k, whole stripes of them and whole steps of k. A line is not contiguous then,
// but takes that much room.
Matrix woven(const Operand& x, const Tile& t) {
    Matrix out = *x.matrix;
    const bool is_a = x.name == "A";
    out.layout = is_a ? Layout::row_major : Layout::column_major;
    out.ld = round_up(is_a ? x.cols : x.rows, t.BK);
    out.stride = x.matrix->stride ? round_up(is_a ? x.rows : x.cols, WOVEN_STRIPE) * out.ld : 0;
    out.padded = true;
    return out;
}

// Describes `x` as packed, at the end of the workspace so far. Refused where no kernel packs it, or it is too large.
std::optional<Refusal> pack(Way& way, Packing& packing, Matrix& matrix, const Operand& x, const Kernel& k,
                            const Tile& t, const DeviceFacts& dev) {
    packing.kernel = find_packer(k, t, dev, *x.matrix->type);
    if (!packing.kernel)
        return Refusal{Refusal::unsupported,
                       "no kernel packs " + std::string(x.name) + " on this device; PACK must be 1"};
    const bool turns = is_better_turned(k.module.family.speed, x);
    const bool weaves = k.module.family.weaves;
    const Parts& parts = k.module.family.parts;
    const Type unit = unit_type(k.module.family, *x.matrix->type);
    const Matrix out = weaves ? woven(x, t) : packed(x, turns);
    const uint64_t batch = x.matrix->stride ? way.problem.batch : 1;
    const uint64_t lines =
        batch * round_up(out.layout == Layout::row_major ? x.rows : x.cols, weaves ? WOVEN_STRIPE : 1);
    if (out.ld != 0 && lines > max_span / out.ld)  // 0: an empty sum
        return Refusal{Refusal::limit, std::string(x.name) + " would take more than " + to_string(max_span) +
                                           " elements of workspace once packed; PACK must leave it out"};
    packing.offset = round_up(way.workspace_bytes(), region_alignment);
    packing.bytes = lines * out.ld * parts.count * info(unit).bytes + (parts.scaled ? lines * factor_bytes : 0);
    const uint64_t groups = parts.scaled ? div_up(lines, packing.kernel->tile.BM) : UINT64_MAX;
    way.cost += packing_cost(dev, packing.bytes, turns, groups);
    matrix = out;
    return std::nullopt;
}

// One way: the operands of `mask` packed (1: A, 2: B).
Result<Way> way_of(uint32_t mask, const Kernel& k, const Tile& t, const DeviceFacts& dev, const Problem& p,
                   const Request& request) {
    Way way;
    way.problem = p;
    way.split = {1, p.k, nullptr};
    const auto all = operands(p);
    if (p.k == 0 || is_empty(p)) mask = 0;  // there is nothing to copy
    if (mask) way.cost = first_pass_cost(dev);
    if (mask & 1)
        if (auto why = pack(way, way.a, way.problem.a, all[0], k, t, dev)) return *why;
    if (mask & 2)
        if (auto why = pack(way, way.b, way.problem.b, all[1], k, t, dev)) return *why;
    way.partial_offset = round_up(way.workspace_bytes(), region_alignment);
    if (k.module.family.wants_wide && !reads_wide(way.problem, request))
        return Refusal{Refusal::unsupported,
                       "is for A and B whose rows, leading dimensions and offsets are multiples of 16 bytes"};
    if (auto why = cut(way, k, t, dev, request)) return *why;
    return way;
}

// Which operands are worth a copy, as a mask.
uint32_t badly_laid(const Kernel& k, const Problem& p, const Request& request) {
    const auto all = operands(p);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 2; ++i)
        if (!is_wide(all[i], request.operand_alignment) || is_better_turned(k.module.family.speed, all[i]))
            mask |= 1u << i;
    return mask;
}

}  // namespace

uint64_t Way::workspace_bytes() const {
    const uint64_t packed = std::max(a.offset + a.bytes, b.offset + b.bytes);
    return split.slices == 1 ? packed : round_up(packed, region_alignment) + split.workspace_bytes(problem);
}

bool reads_wide(const Problem& p, const Request& request) {
    const auto all = operands(p);
    return is_wide(all[0], request.operand_alignment) && is_wide(all[1], request.operand_alignment);
}

Result<Way> best_way(const Kernel& k, const Tile& t, const DeviceFacts& dev, const Problem& p, const Request& request) {
    if (k.module.family.weaves) {
        if (t.PACK && t.PACK != 4)
            return Refusal{Refusal::tile, "reads A and B as a first pass has laid them out; PACK is " +
                                              to_string(t.PACK) + ", and must be 0 or 4"};
        return way_of(3, k, t, dev, p, request);
    }
    if (t.PACK) return way_of(t.PACK - 1, k, t, dev, p, request);
    Result<Way> best = way_of(0, k, t, dev, p, request);
    if (!request.workspace_limit) return best;
    const uint32_t bad = badly_laid(k, p, request);
    for (uint32_t mask = 1; mask <= bad; ++mask) {
        if ((mask & bad) != mask) continue;
        Result<Way> other = way_of(mask, k, t, dev, p, request);
        if (other && (!best || other->cost < best->cost)) best = other;
    }
    return best;
}

}  // namespace vkgemm::plan
