// SPDX-License-Identifier: MIT
// Operands that are packed: which ones, by which kernel, their place and layout in the workspace, and the cost.
#include <algorithm>
#include <tuple>

#include "plan/base/rounding.h"
#include "plan/choice/packing_key.h"
#include "plan/choice/schedule_parts.h"
#include "plan/problem/problem_text.h"
#include "shaders/common/row_block.h"

namespace vkgemm::plan {
namespace {

constexpr uint64_t factor_bytes = 4;  // of the scale of a row

// In the same order: a subgroup of another size may hold them in another one.
bool same_matrices(const Tile& a, const Tile& b) {
    return a.MM == b.MM && a.MN == b.MN && a.MK == b.MK && a.SG == b.SG;
}

// The rows of `x` that are kept together for the product. Machine code has no parts of subgroups.
uint32_t row_block(const Tile& product, const Operand& x) {
    const uint32_t part = x.is_a() ? product.WM : product.WN;
    return part ? ROW_BLOCK_OF(part) : PACKED_ROW_BLOCK;
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
        const bool suits = packs_fragments
                               ? takes && same_matrices(k->tile, t) && ROW_BLOCK_OF(k->tile.BM) == row_block(t, x) &&
                                     k->module.family.operand_split == product.module.family.operand_split
                           : converts ? k->module.is_mixed() && k->module.d == factor_type(product, x)
                                      : !k->module.is_mixed() && info(k->module.a).bytes == info(type).bytes;
        if (suits) return k;
    }
    return nullptr;
}

// Whether a copy transposes the operand. One that is converted has elements that need it not.
bool is_transposed(const Kernel& k, const Operand& x) {
    return x.matrix->type == factor_type(k, x) && prefers_transposed(k.module.family.gpu_cost, x);
}

// "A", "B", or "A and B".
const char* names_of(uint32_t mask) { return mask == 3 ? "A and B" : mask == 1 ? "A" : "B"; }

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
    out.batchStride = x.matrix->batchStride ? round_up(is_a ? x.rows : x.cols, row_block(t, x)) * out.ld : 0;
    return out;
}

// The rows that `x` has in the workspace with this layout, of all matrices of the batch.
uint64_t packed_rows(const Schedule& schedule, const Matrix& packed, const Operand& x, const Kernel& k, const Tile& t) {
    const uint64_t batch = x.matrix->batchStride ? schedule.problem.batch : 1;
    const uint32_t whole = k.module.family.packs_fragments ? row_block(t, x) : 1;
    return batch * round_up(packed.layout == rowMajor ? x.rows : x.cols, whole);
}

// Bytes that the packer reads, to write `written`.
uint64_t read_by(const Kernel& packer, const Operand& x, uint64_t rows, const Matrix& to, uint64_t written) {
    const bool converts = packer.module.is_mixed() && !packer.module.family.packs_fragments;
    return converts ? info(x.matrix->type).bytes_of(rows * to.ld) : written;
}

}  // namespace

uint32_t converted(const Kernel& k, const Problem& p) {
    if (k.module.is_mixed()) return 0;
    const auto is_other = [&](bool is_b, Type t) { return t != k.module.factor_type(is_b, t); };
    return (is_other(false, p.a.type) ? 1u : 0u) | (is_other(true, p.b.type) ? 2u : 0u);
}

std::optional<Status> not_converted(uint32_t mask, const Kernel& k, const Tile& t, const Problem& p,
                                    const ScheduleSearch& search) {
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

uint64_t place(const Schedule& schedule, Packing& packing, Matrix& matrix, const Operand& x, bool ahead,
               const Kernel& k, const Tile& t) {
    const Family& f = k.module.family;
    Matrix out = f.packs_fragments ? coopmat_packed(x, f, t) : packed(x, factor_type(k, x), is_transposed(k, x));
    if (f.packs_fragments) out.type = k.module.a;
    const uint64_t rows = packed_rows(schedule, out, x, k, t);
    packing.offset = ahead ? 0 : round_up(schedule.workspace_bytes(), region_alignment);
    packing.bytes = rows * out.ld * f.operand_split.count * info(unit_type(f, k.module.a)).bytes +
                    (f.operand_split.scaled ? rows * factor_bytes : 0);
    matrix = out;
    return rows;
}

Refusal packed_otherwise(const Operand& x, uint64_t ahead, uint64_t key) {
    return {VKGEMM_ERROR_UNSUPPORTED,
            concat({x.name(), " is packed for another layout: its key is ", key_text(ahead), ", and this kernel reads ",
                    key_text(key), "; pack it by a plan that is made with packed", x.name(), " = VKGEMM_PACKED_ANY"})};
}

std::optional<Status> pack(Schedule& schedule, Packing& packing, Matrix& matrix, const Operand& x, uint64_t ahead,
                           const Kernel& k, const Tile& t, const ScheduleSearch& search) {
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
        return packed_otherwise(x, ahead, packing.key);
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

uint32_t packed_ahead(const Problem& p) {
    return (p.packedA != VKGEMM_PACKED_NONE ? 1u : 0u) | (p.packedB != VKGEMM_PACKED_NONE ? 2u : 0u);
}

uint32_t worth_packing(const Kernel& k, const Problem& p, const Request& request) {
    const auto all = operands(p);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 2; ++i)
        if (!is_wide(all[i], request.operand_alignment) || is_transposed(k, all[i])) mask |= 1u << i;
    return mask;
}

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

}  // namespace vkgemm::plan
