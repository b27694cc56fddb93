// SPDX-License-Identifier: MIT
#include "plan/choice/reach.h"

#include <algorithm>

#include "plan/base/concat.h"

namespace vkgemm::plan {
namespace {

constexpr uint64_t max_batch = UINT32_MAX - 1;
constexpr uint64_t max_dimension = (uint64_t{1} << 31) - 1;  // so that rounding up to a tile cannot wrap 32 bits

// Bytes of an element of what is read or written like this operand: the residual is placed like D.
uint32_t widest(const Problem& p, const Operand& x) {
    const TypeInfo& type = info(x.matrix->type);
    return x.slot == VKGEMM_SLOT_D ? std::max(type.bytes, info(p.residualType).bytes) : type.bytes;
}

uint64_t span_of(const Problem& p, const Operand& x) {
    // Each group has its own place, and so has a matrix of B that an index selects.
    const bool has_own_place = has_table(p) || (p.grouping == VKGEMM_GROUPING_SELECTED && x.is_b());
    return span_elements(*x.matrix, x.rows, x.cols, has_own_place ? 1 : p.batch).value_or(UINT64_MAX);
}

bool beyond_descriptor(const Problem& p, const Operand& x, const DeviceCaps& dev, uint64_t span) {
    return span / info(x.matrix->type).block * widest(p, x) + dev.offset_alignment > dev.max_storage_range;
}

// Why a problem was not cut into parts that are smaller.
std::string_view why_whole(const Problem& p) {
    return is_never_cut(p) ? "; a problem with groups, sizes that vary or operands that come packed is not cut: "
           : !adds_up_in_d(p)
               ? "; K is cut only if D has the accumulator's type, no residual, and batchInvariant is 0: "
               : "; ";
}

}  // namespace

bool beyond_reach(const Problem& p, const Operand& x, const DeviceCaps& dev, Binding binding) {
    if (x.slot == VKGEMM_SLOT_C && p.cSource != VKGEMM_C_SEPARATE) return false;
    const uint64_t span = span_of(p, x);
    return x.matrix->ld > dev.max_span || span > dev.max_span ||
           (binding == Binding::descriptors && beyond_descriptor(p, x, dev, span));
}

std::optional<Status> too_large(const DeviceCaps& dev, const Problem& p, Binding binding) {
    for (const auto& [name, value] : {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}})
        if (value > max_dimension)
            return Refusal{VKGEMM_ERROR_LIMIT, concat({name, " is ", value, ", above vkgemm's limit of ", max_dimension,
                                                       "; split the product"})};
    if (p.batch > max_batch)
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"batch is ", p.batch, ", above vkgemm's limit of ", max_batch, "; split the batch"})};
    for (const Operand& x : operands(p)) {
        if (!beyond_reach(p, x, dev, binding)) continue;
        if (x.matrix->ld > dev.max_span)
            return Refusal{VKGEMM_ERROR_LIMIT, concat({"the leading dimension of ", x.name(), " is ", x.matrix->ld,
                                                       ", above the limit of ", dev.max_span, "; split the product"})};
        const uint64_t span = span_of(p, x);
        if (span > dev.max_span)
            return Refusal{VKGEMM_ERROR_LIMIT,
                           concat({x.name(), " spans ", span, " elements, above the limit of ", dev.max_span,
                                   " that 32-bit indices reach", why_whole(p), "split the batch or the product"})};
        const bool residual = widest(p, x) > info(x.matrix->type).bytes;
        return Refusal{
            VKGEMM_ERROR_LIMIT,
            concat({(residual ? "the residual" : x.name()), " spans ", span / info(x.matrix->type).block * widest(p, x),
                    " bytes, more than one descriptor reaches on the device (", dev.max_storage_range,
                    " less the offset alignment)", why_whole(p), "device addresses have no such limit"})};
    }
    return std::nullopt;
}

}  // namespace vkgemm::plan
