// SPDX-License-Identifier: MIT
#include "plan/choice/schedule.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/choice/packing_key.h"
#include "plan/problem/problem_text.h"

namespace vkgemm::plan {
namespace {

constexpr uint64_t region_alignment = 256;  // of the parts of the workspace; more than any device wants
constexpr uint64_t factor_bytes = 4;        // of the scale of a row

// What one search for a schedule is given, beside the kernel, its tile and the problem.
struct Search {
    const DeviceKernels& device;
    const Request& request;
    double limit;  // schedules that cost as much are not wanted
    Wording wording;

    const DeviceCaps& dev() const { return device.caps(); }
    Refusal refusal(VkgemmResult code, std::initializer_list<TextPiece> text) const {
        return plan::refusal(wording, code, text);
    }
};

bool same_matrices(const Tile& a, const Tile& b) {
    return a.MM == b.MM && a.MN == b.MN && a.MK == b.MK && a.SG == b.SG;
}

// The type that the kernel multiplies an operand in.
Type factor_type(const Kernel& k, const Operand& x) { return k.module.factor_type(x.is_b(), x.matrix->type); }

// What brings an operand of this type into the shape that the product wants; null: there is none.
const Kernel* find_packer(const Kernel& product, const Tile& t, const DeviceKernels& device, const Operand& x) {
    const Type type = x.matrix->type;
    const bool packs_fragments = product.module.family.packs_fragments, converts = type != factor_type(product, x);
    const bool octets = !x.ragged && (x.matrix->layout == rowMajor ? x.cols : x.rows) % 8 == 0;
    for (const Kernel* const k : device.packers()) {
        if (k->module.family.packs_fragments != packs_fragments) continue;
        const bool takes = k->module.is_mixed() ? type != product.module.a && octets : k->module.a == type;
        const bool suits = packs_fragments ? takes && same_matrices(k->tile, t) &&
                                                 k->module.family.operand_split == product.module.family.operand_split
                           : converts ? k->module.is_mixed() && k->module.d == factor_type(product, x)
                                      : !k->module.is_mixed() && info(k->module.a).bytes == info(type).bytes;
        if (suits) return k;
    }
    return nullptr;
}

uint64_t most_workspace(const Schedule& schedule, const Search& search) {
    return std::min(
        {search.request.workspace_limit, search.dev().max_storage_range - search.dev().offset_alignment,
         max_span * std::min(info(schedule.problem.accumulate).bytes, info(schedule.problem.a.type).unit_bytes())});
}

Refusal too_much_workspace(const Schedule& schedule, const Search& search) {
    if (search.wording == Wording::code_alone) return {VKGEMM_ERROR_WORKSPACE, ""};
    std::string what = schedule.split.slices > 1 ? concat({schedule.split.slices, " slices of K"}) : "";
    if (schedule.a.in_workspace() || schedule.b.in_workspace())
        what += what.empty() ? "packed operands" : " and packed operands";
    return {VKGEMM_ERROR_WORKSPACE,
            concat({what, " want a workspace of ", schedule.workspace_bytes(),
                    " bytes; workspaceLimit, or the device, allows ", most_workspace(schedule, search)})};
}

// Without its reducer.
SplitK split_of(uint32_t wanted, const Tile& t, const Problem& p) {
    const uint64_t depth = std::max<uint32_t>(t.BK, 1);
    const uint64_t chunk = std::max<uint64_t>(div_up(div_up(p.k, wanted), depth) * depth, depth);
    const auto slices = static_cast<uint32_t>(div_up(p.k, chunk));
    return slices < 2 ? SplitK{1, p.k, nullptr} : SplitK{slices, chunk, nullptr};
}

// The cost of all passes, where those before the product cost `before`, with the reducer for the split; INFINITY if no
// kernel adds up the slices, or if the cost is not below `limit`.
double cost_below(double limit, double before, SplitK& split, const ProductCost& cost, const OperandEffects& operands,
                  const Problem& p, const Search& search) {
    const CostParts& weights = cost.weights();
    CostParts parts = cost.parts(split, operands);
    parts.passes = before / weights.passes;
    if (split.slices > 1) {
        if (cost.least_correction() * parts.weighted(weights) + cost.least_second_pass(split.slices) >= limit)
            return INFINITY;
        const DeviceKernels::Reducer reducer = search.device.find_reducer(p, split.slices);
        split.reducer = reducer.kernel;
        parts.passes += reducer.cost;
    }
    const double plain = parts.weighted(weights);
    if (cost.least_correction() * plain >= limit) return INFINITY;
    return plain * cost.correction(parts, split, operands);
}

// Adds the slices that the tile's SPLIT demands, or, if SPLIT is 0, those of least cost that the workspace allows.
std::optional<Status> choose_split_k(Schedule& schedule, const Tile& t, const ProductCost& cost,
                                     const OperandEffects& operands, const Search& search) {
    const Problem& p = schedule.problem;
    const double before = schedule.cost;
    schedule.split = t.SPLIT > 1 ? split_of(t.SPLIT, t, p) : SplitK{1, p.k, nullptr};
    const double demanded =
        cost_below(t.SPLIT ? INFINITY : search.limit, before, schedule.split, cost, operands, p, search);
    if (schedule.split.slices > 1 && !schedule.split.reducer)
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"no kernel adds up slices of K for these types on the device; SPLIT must be 0 or 1"});
    const uint64_t most = most_workspace(schedule, search);
    if (schedule.workspace_bytes() > most) return too_much_workspace(schedule, search);
    schedule.cost = demanded;
    if (t.SPLIT || !search.request.workspace_limit || p.batchInvariant) return std::nullopt;
    SplitK best = schedule.split;
    // The last slice may be shorter than a step; on a CPU each has two steps.
    const uint64_t depth = std::max<uint32_t>(t.BK, 1);
    const uint64_t most_slices = search.dev().kind == DeviceKind::cpu ? p.k / (2 * depth) : div_up(p.k, depth);
    uint32_t last = 1;
    for (const uint32_t wanted : {2u,  3u,  4u,  5u,  6u,  7u,  8u,  10u,  12u,  14u,  16u,  20u,  24u, 28u,
                                  32u, 40u, 48u, 56u, 64u, 80u, 96u, 112u, 128u, 160u, 192u, 224u, 256u}) {
        if (last >= most_slices) break;
        SplitK& split = schedule.split = split_of(static_cast<uint32_t>(std::min<uint64_t>(wanted, most_slices)), t, p);
        if (split.slices == last) continue;
        last = split.slices;
        if (schedule.workspace_bytes() > most) break;
        const double limit = std::min(schedule.cost, search.limit);
        if (cost.least_correction() * before + cost.least_with(split.slices, operands.slowdown) >= limit) break;
        const double other = cost_below(limit, before, split, cost, operands, p, search);
        if (other < schedule.cost) {
            best = split;
            schedule.cost = other;
        }
    }
    schedule.split = best;
    return std::nullopt;
}

// The operands that a first pass converts to the type that the kernel multiplies, as a mask.
uint32_t converted(const Kernel& k, const Problem& p) {
    if (k.module.is_mixed()) return 0;
    const auto is_other = [&](bool is_b, Type t) { return t != k.module.factor_type(is_b, t); };
    return (is_other(false, p.a.type) ? 1u : 0u) | (is_other(true, p.b.type) ? 2u : 0u);
}

// Whether a copy transposes the operand. One that is converted has elements that need it not.
bool is_transposed(const Kernel& k, const Operand& x) {
    return x.matrix->type == factor_type(k, x) && prefers_transposed(k.module.family.gpu_cost, x);
}

// "A", "B", or "A and B".
const char* names_of(uint32_t mask) { return mask == 3 ? "A and B" : mask == 1 ? "A" : "B"; }

// Why these operands cannot be converted, or be left as the tile's PACK leaves them.
std::optional<Status> not_converted(uint32_t mask, const Kernel& k, const Tile& t, const Problem& p,
                                    const Search& search) {
    if (p.grouping != VKGEMM_GROUPING_NONE || p.k == 0)
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"multiplies ", info(k.module.a).name, ", and nothing converts ", names_of(mask),
                               p.k == 0 ? " of an empty sum" : " of the groups of a table"});
    if (t.PACK && mask & ~(t.PACK - 1))
        return search.refusal(VKGEMM_ERROR_TILE, {"PACK is ", t.PACK, ", but a first pass must convert ",
                                                  names_of(mask), " to ", info(k.module.a).name, "; PACK must be 0",
                                                  mask == 3   ? ""
                                                  : mask == 1 ? ", 2"
                                                              : ", 3",
                                                  " or 4"});
    return std::nullopt;
}

// The layout of `x` in the workspace as elements of `type`, in which every row begins at a multiple of 64 bytes.
Matrix packed(const Operand& x, Type type, bool transposes) {
    Matrix out = *x.matrix;
    out.type = type;
    if (transposes) out.layout = out.layout == rowMajor ? columnMajor : rowMajor;
    const bool rows_first = out.layout == rowMajor;
    out.ld = round_up(rows_first ? x.cols : x.rows, 64 / info(out.type).bytes);
    out.batchStride = x.matrix->batchStride ? (rows_first ? x.rows : x.cols) * out.ld : 0;
    return out;
}

// `x` as pack_fragments lays it out: rows along k, in whole row blocks and whole steps of k. A row is not contiguous
// then, but takes as many elements.
Matrix coopmat_packed(const Operand& x, const Family& family, const Tile& t) {
    Matrix out = *x.matrix;
    const uint32_t step = family.operand_split.count > 1 || !t.MK ? t.BK : 2 * t.MK;
    const bool is_a = x.is_a();
    out.layout = is_a ? rowMajor : columnMajor;
    out.ld = round_up(is_a ? x.cols : x.rows, step);
    out.batchStride = x.matrix->batchStride ? round_up(is_a ? x.rows : x.cols, PACKED_ROW_BLOCK) * out.ld : 0;
    return out;
}

// The rows that `x` has in the workspace with this layout, of all matrices of the batch.
uint64_t packed_rows(const Schedule& schedule, const Matrix& packed, const Operand& x, const Kernel& k) {
    const uint64_t batch = x.matrix->batchStride ? schedule.problem.batch : 1;
    return batch * round_up(packed.layout == rowMajor ? x.rows : x.cols,
                            k.module.family.packs_fragments ? PACKED_ROW_BLOCK : 1);
}

// Describes `x` as packed, at the end of the workspace so far, or, if it comes packed, in its own operand. Returns its
// rows there.
uint64_t place(const Schedule& schedule, Packing& packing, Matrix& matrix, const Operand& x, bool ahead,
               const Kernel& k, const Tile& t) {
    const Family& f = k.module.family;
    Matrix out = f.packs_fragments ? coopmat_packed(x, f, t) : packed(x, factor_type(k, x), is_transposed(k, x));
    if (f.packs_fragments) out.type = k.module.a;
    const uint64_t rows = packed_rows(schedule, out, x, k);
    packing.offset = ahead ? 0 : round_up(schedule.workspace_bytes(), region_alignment);
    packing.bytes = rows * out.ld * f.operand_split.count * info(unit_type(f, k.module.a)).bytes +
                    (f.operand_split.scaled ? rows * factor_bytes : 0);
    matrix = out;
    return rows;
}

// Bytes that the packer reads, to write `written`.
uint64_t read_by(const Kernel& packer, const Operand& x, uint64_t rows, const Matrix& to, uint64_t written) {
    const bool converts = packer.module.is_mixed() && !packer.module.family.packs_fragments;
    return converts ? info(x.matrix->type).bytes_of(rows * to.ld) : written;
}

// The same with packer and cost, 0 if it comes packed (`ahead`). Refused by size, by layout, or without a packer.
std::optional<Status> pack(Schedule& schedule, Packing& packing, Matrix& matrix, const Operand& x, uint64_t ahead,
                           const Kernel& k, const Tile& t, const Search& search) {
    const Kernel* const packer = find_packer(k, t, search.device, x);
    if (!packer)
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"no kernel packs ", x.name(), " on the device; PACK must be 1"});
    const uint64_t rows = place(schedule, packing, matrix, x, ahead != VKGEMM_PACKED_NONE, k, t);
    if (matrix.ld != 0 && rows > max_span / matrix.ld)  // 0: an empty sum
        return search.refusal(VKGEMM_ERROR_LIMIT, {x.name(), " would take more than ", max_span,
                                                   " elements of workspace once packed; PACK must leave it out"});
    packing.kernel = packer;
    if (ahead != VKGEMM_PACKED_NONE) {
        const uint64_t batch = x.matrix->batchStride ? schedule.problem.batch : 1;
        packing.key = packing_key(*packer, x, matrix, batch, search.dev());
        if (ahead == VKGEMM_PACKED_ANY || ahead == packing.key) return std::nullopt;
        if (search.wording == Wording::code_alone) return Refusal{VKGEMM_ERROR_UNSUPPORTED, ""};
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({x.name(), " is packed for another layout: its key is ", key_text(ahead),
                               ", and this kernel reads ", key_text(packing.key),
                               "; pack it by a plan that is made with packed", x.name(), " = VKGEMM_PACKED_ANY"})};
    }
    const auto [rows_of_k, depth] = x.is_a() ? std::pair(x.rows, x.cols) : std::pair(x.cols, x.rows);
    const uint64_t tiles = div_up(rows_of_k, packer->tile.BM) * div_up(depth, packer->tile.BN) *
                           (x.matrix->batchStride ? schedule.problem.batch : 1);
    const uint64_t groups = k.module.family.operand_split.scaled ? div_up(rows, packer->tile.BM) : UINT64_MAX;
    schedule.cost += packing_cost(search.dev(), packer->module.family.cpu_weight,
                                  read_by(*packer, x, rows, matrix, packing.bytes) + packing.bytes, is_transposed(k, x),
                                  groups, tiles);
    return std::nullopt;
}

// The operands that come packed, as a mask: 1: A, 2: B.
uint32_t packed_ahead(const Problem& p) {
    return (p.packedA != VKGEMM_PACKED_NONE ? 1u : 0u) | (p.packedB != VKGEMM_PACKED_NONE ? 2u : 0u);
}

bool have_pitches(const std::array<Operand, 4>& all, const Request& request) {
    return has_pitches(all[0], request.operand_alignment) && has_pitches(all[1], request.operand_alignment);
}

// Why the first of A and B that has no pitches has none.
Refusal too_short_pitch(const std::array<Operand, 4>& all, const Search& search) {
    const Operand& x = all[has_pitches(all[0], search.request.operand_alignment) ? 1 : 0];
    const TypeInfo& type = info(x.matrix->type);
    constexpr const char* rule = "loads tiles of A and B whose rows and matrices begin at multiples of 16 bytes; ";
    if (search.request.operand_alignment % 16)
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {rule, "operandAlignment is ", search.request.operand_alignment, ", and must be 16"});
    const bool row = type.bytes_of(x.matrix->ld) % 16 != 0;
    return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                          {rule, "the ", (row ? "leading dimension" : "batch stride"), " of ", x.name(), " is ",
                           (row ? x.matrix->ld : x.matrix->batchStride), " elements of ", type.bytes,
                           " bytes; a workspace allows a packed copy"});
}

// Why tiles of A or B cannot be loaded as they lie.
std::optional<Refusal> wrong_layout(const std::array<Operand, 4>& all, const Tile& t, const Search& search) {
    for (const Operand& x : {all[0], all[1]}) {
        if (is_k_contiguous(x)) continue;
        const uint32_t bytes = info(x.matrix->type).bytes;
        if (bytes == 1 || x.matrix->type == f64)
            return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                                  {"multiplies elements of one byte or eight whose neighbours differ in k; ", x.name(),
                                   " is ", (x.is_a() ? "column" : "row"), "-major; a workspace allows a packed copy"});
        if (const uint32_t line = 128 / bytes; x.is_b() && t.BN % line)
            return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                                  {"loads a row-major B in boxes of ", line, " columns, and the tile has ", t.BN,
                                   "; B must be column-major"});
    }
    return std::nullopt;
}

// Pieces are read by words that neighbours share; of several side by side that holds only where 16 bytes can be read,
// and straight from memory those of more than 48 bytes (q8_0) touch so many lines of the cache that an H200 takes as
// long as with words.
OperandEffects effects_of(const Schedule& schedule, const Kernel& k, const Tile& t, const ProductCost& cost,
                          const Request& request) {
    OperandEffects out = cost.effects_of(schedule.operands(), request.operand_alignment);
    if (!k.module.family.reads_chunk64) return out;
    const bool wide = !schedule.problem.batchInvariant && has_wide_chunk64(schedule, k, t, request) &&
                      (t.STAGES > 1 || info(schedule.problem.b.type).bytes_of(64) <= 48);
    const bool by_words = t.DEPTH == 1 && !k.module.family.uses_matrix_units;  // which loses nothing
    out.slowdown = by_words || wide ? 1 : k.module.family.gpu_cost.misaligned;
    return out;
}

// The schedule whose product reads the operands of `mask` packed.
Result<Schedule> schedule_of(uint32_t mask, const Kernel& k, const Tile& t, const Problem& p, const ProductCost& cost,
                             const Search& search) {
    Schedule schedule;
    schedule.problem = p;
    schedule.pads_sums = k.module.family.pads_sums;
    schedule.split = {1, p.k, nullptr};
    const auto all = operands(p);
    if (p.k == 0 || is_empty(p)) mask = 0;  // there is nothing to copy
    if (mask & ~packed_ahead(p)) schedule.cost = first_pass_cost(search.dev());
    if (mask & 1)
        if (auto why = pack(schedule, schedule.a, schedule.problem.a, all[0], p.packedA, k, t, search)) return *why;
    if (mask & 2)
        if (auto why = pack(schedule, schedule.b, schedule.problem.b, all[1], p.packedB, k, t, search)) return *why;
    schedule.cost *= cost.weights().passes;
    schedule.partial_offset = round_up(schedule.workspace_bytes(), region_alignment);
    const bool wants_wide = k.module.family.wants_wide || is_straight(k.module.family, t);
    if (wants_wide && !reads_wide(schedule.operands(), search.request))
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"is for A and B whose rows, leading dimensions and offsets are multiples of 16 bytes"});
    if (k.module.family.wants_wide_d && !is_wide(all[3], search.request.operand_alignment))
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"is for a D whose rows, leading dimension and offset are multiples of 16 bytes"});
    if (VKGEMM_HAS_NATIVE && k.module.family.wants_pitches)
        if (auto why = wrong_layout(schedule.operands(), t, search)) return *why;
    if (VKGEMM_HAS_NATIVE && k.module.family.wants_pitches && !have_pitches(schedule.operands(), search.request))
        return too_short_pitch(schedule.operands(), search);
    const OperandEffects effects = effects_of(schedule, k, t, cost, search.request);
    const double before = schedule.cost;
    if (auto why = choose_split_k(schedule, t, cost, effects, search)) return *why;
    double plain = before + cost.product(schedule.split, effects);
    if (schedule.split.slices > 1)
        plain += reducing_cost(*schedule.split.reducer, search.dev(), p, schedule.split.slices) * cost.weights().passes;
    schedule.parts = cost.parts(schedule.split, effects).times(schedule.cost / plain);
    schedule.parts.passes = (schedule.cost - schedule.parts.weighted(cost.weights())) / cost.weights().passes;
    return schedule;
}

// Which operands are worth a copy, as a mask.
uint32_t worth_packing(const Kernel& k, const Problem& p, const Request& request) {
    const auto all = operands(p);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 2; ++i)
        if (!is_wide(all[i], request.operand_alignment) || is_transposed(k, all[i])) mask |= 1u << i;
    return mask;
}

// No more than what packing the operands of `mask` costs before the product, nothing if it packs none.
double least_packing(uint32_t mask, const Kernel& k, const Problem& p, const DeviceCaps& dev) {
    mask &= ~packed_ahead(p);
    if (!mask || p.k == 0) return 0;
    double out = first_pass_cost(dev);
    const OperandSplit& split = k.module.family.operand_split;
    const uint64_t element = split.count * info(unit_type(k.module.family, k.module.a)).bytes;
    const double cpu_weight = std::min(k.module.family.cpu_weight, 1.0);  // its packer's, or less
    for (const auto& [bit, type, elements] : {std::tuple{1u, p.a.type, p.m * p.k}, {2u, p.b.type, p.k * p.n}}) {
        const uint64_t written = elements * element;
        const uint64_t read = converted(k, p) & bit ? std::min(info(type).bytes_of(elements), written) : written;
        if (mask & bit) out += packing_cost(dev, cpu_weight, read + written, false, UINT64_MAX, 0);
    }
    return out;
}

// Exact if the least cost is below the search's limit.
Result<Schedule> best_of_all(const TiledKernel& tiled, const Problem& p, Search search) {
    const Kernel& k = tiled.kernel;
    const Tile& t = tiled.tile;
    const ProductCost cost(tiled.cost, p, search.request.corrected);
    const double least = cost.least_with(1);
    const auto hopeless = [&](uint32_t mask) {
        const double passes = cost.least_correction() * cost.weights().passes;
        return least + passes * least_packing(mask, k, p, search.dev()) >= search.limit;
    };
    const Refusal too_dear{VKGEMM_ERROR_UNSUPPORTED, ""};  // read by nobody, for only schedule_below() has a limit
    if (!search.request.packs && (k.module.family.packs_fragments || t.PACK > 1 || converted(k, p)))
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"packs operands in a first pass, but their strides vary from run to run"});
    if (k.module.family.packs_fragments) {
        if (t.PACK && t.PACK != 4)
            return search.refusal(VKGEMM_ERROR_TILE, {"reads A and B as a first pass has laid them out; PACK is ",
                                                      t.PACK, ", and must be 0 or 4"});
        return hopeless(3) ? too_dear : schedule_of(3, k, t, p, cost, search);
    }
    if (k.module.is_mixed()) {
        if (t.PACK > 1)
            return search.refusal(VKGEMM_ERROR_TILE,
                                  {"decodes A and B as they are; PACK is ", t.PACK, ", and must be 0 or 1"});
        if (packed_ahead(p))
            return search.refusal(VKGEMM_ERROR_UNSUPPORTED, {"decodes A and B as they are; neither may come packed"});
        return hopeless(0) ? too_dear : schedule_of(0, k, t, p, cost, search);
    }
    uint32_t ahead = packed_ahead(p);
    if (t.PACK && ahead & ~(t.PACK - 1))
        return search.refusal(VKGEMM_ERROR_TILE, {"PACK is ", t.PACK, ", but ",
                                                  (ahead == 3   ? "A and B come"
                                                   : ahead == 1 ? "A comes"
                                                                : "B comes"),
                                                  " packed; PACK must be 0",
                                                  (ahead == 3   ? ""
                                                   : ahead == 1 ? ", 2"
                                                                : ", 3"),
                                                  " or 4"});
    if (const uint32_t mask = converted(k, p)) {
        if (auto why = not_converted(mask, k, t, p, search)) return *why;
        ahead |= mask;
    }
    if (t.PACK) return hopeless(t.PACK - 1) ? too_dear : schedule_of(t.PACK - 1, k, t, p, cost, search);
    if (hopeless(ahead)) return too_dear;
    Result<Schedule> best = schedule_of(ahead, k, t, p, cost, search);
    if (!search.request.workspace_limit || !search.request.packs) return best;
    const uint32_t worth = worth_packing(k, p, search.request) | ahead;
    for (uint32_t mask = ahead + 1; mask <= worth; ++mask) {
        if ((mask & worth) != mask || (mask & ahead) != ahead) continue;
        if (best) search.limit = std::min(search.limit, best->cost);
        if (hopeless(mask)) continue;
        Result<Schedule> other = schedule_of(mask, k, t, p, cost, search);
        if (other && (!best || other->cost < best->cost)) best = std::move(other);
    }
    return best;
}

}  // namespace

uint64_t Schedule::workspace_bytes() const {
    uint64_t packed = 0;
    for (const Packing* x : {&a, &b})
        if (x->in_workspace()) packed = std::max(packed, x->offset + x->bytes);
    const uint64_t sums = split.workspace_bytes(problem, sums_pitch());
    return sums ? round_up(packed, region_alignment) + sums : packed;
}

std::array<Operand, 4> Schedule::operands() const {
    std::array<Operand, 4> all = plan::operands(problem);
    all[0].padded = a.kernel;
    all[1].padded = b.kernel;
    for (Operand& x : all)
        if (x.padded) x.outer_stride = 0;  // each repetition finds it in the same place
    return all;
}

bool reads_wide(const std::array<Operand, 4>& all, const Request& request) {
    return is_wide(all[0], request.operand_alignment) && is_wide(all[1], request.operand_alignment);
}

bool has_wide_chunk64(const Schedule& schedule, const Kernel& k, const Tile& t, const Request& request) {
    const Problem& p = schedule.problem;
    if (!k.module.family.reads_chunk64 || has_table(p)) return false;
    const TypeInfo& type = info(p.b.type);
    if (type.bytes_of(256) % 4 != 0) return false;  // blocks begin between words, as those of q6_k
    const Operand b = schedule.operands()[1];
    const uint32_t span = 64 * t.DEPTH;  // elements of an invocation
    return type.bytes_of(uint64_t{span} * t.TEAM) % 16 == 0 && type.bytes_of(schedule.split.chunk) % 16 == 0 &&
           is_wide(b, request.operand_alignment) && (t.DEPTH == 1 || (b.rows % span == 0 && !b.ragged));
}

Schedule resized(const Schedule& chosen, const Kernel& k, const Tile& t, const Problem& p) {
    Schedule out = chosen;
    out.problem = p;
    out.a = out.b = {};
    out.split = {1, p.k, nullptr};
    const auto [a, b, c, d] = plan::operands(p);
    for (const auto& [from, to, matrix, x] :
         {std::tuple{&chosen.a, &out.a, &out.problem.a, &a}, {&chosen.b, &out.b, &out.problem.b, &b}}) {
        if (from->kernel) place(out, *to, *matrix, *x, from->key != 0, k, t);
        to->kernel = from->kernel;
        to->key = from->key;
    }
    out.partial_offset = round_up(out.workspace_bytes(), region_alignment);
    if (chosen.split.reducer) out.split = split_of(chosen.split.slices, t, p);
    out.split.reducer = chosen.split.reducer;
    return out;
}

Result<Schedule> best_schedule(const TiledKernel& k, const DeviceKernels& device, const Problem& p,
                               const Request& request) {
    return best_of_all(k, p, {device, request, INFINITY, Wording::in_words});
}

std::optional<Schedule> schedule_below(double limit, const TiledKernel& k, const DeviceKernels& device,
                                       const Problem& p, const Request& request) {
    const Result<Schedule> best = best_of_all(k, p, {device, request, limit, Wording::code_alone});
    return best && best->cost < limit ? std::optional(*best) : std::nullopt;
}

double least_cost(const TiledKernel& k, const DeviceKernels& device, const Problem& p, const Request& request) {
    const uint32_t packed = k.kernel.module.family.packs_fragments ? 3 : converted(k.kernel, p);
    const ProductCost cost(k.cost, p, request.corrected);
    return cost.least_with(1) +
           cost.least_correction() * k.cost.weights.passes * least_packing(packed, k.kernel, p, device.caps());
}

}  // namespace vkgemm::plan
