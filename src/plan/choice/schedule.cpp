// SPDX-License-Identifier: MIT
#include "plan/choice/schedule.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "plan/base/rounding.h"
#include "plan/choice/from_int8.h"
#include "plan/choice/schedule_parts.h"
#include "shaders/common/moduli.h"

namespace vkgemm::plan {
namespace {

bool have_pitches(const std::array<Operand, 4>& all, const Request& request) {
    return has_pitches(all[0], request.operand_alignment) && has_pitches(all[1], request.operand_alignment);
}

// Why the first of A and B that has no pitches has none.
Refusal too_short_pitch(const std::array<Operand, 4>& all, const ScheduleSearch& search) {
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

// Why tiles of A or B cannot be loaded in the layout that they have.
std::optional<Refusal> wrong_layout(const std::array<Operand, 4>& all, const Tile& t, const ScheduleSearch& search) {
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

// Why matrices of A or B cannot be taken from shared memory, which holds chunks of 16 bytes as they are in memory.
std::optional<Refusal> cut_chunks(const std::array<Operand, 4>& all, const Module& m, const Tile& t,
                                  const ScheduleSearch& search) {
    for (const Operand& x : {all[0], all[1]}) {
        const uint32_t chunk = 16 / info(unit_type(m.family, x.is_a() ? m.a : m.b)).bytes;
        const uint32_t side = x.is_a() ? t.MM : t.MN;
        if (!is_k_contiguous(x) && side % chunk)
            return search.refusal(
                VKGEMM_ERROR_UNSUPPORTED,
                {"takes matrices with whole 16 bytes of a line, and ", side, (x.is_a() ? " rows" : " columns"),
                 " are less than ", chunk, " elements; ", x.name(), " must be ", (x.is_a() ? "row" : "column"),
                 "-major; a workspace allows a packed copy"});
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
    out.slowdown =
        (by_words || wide ? 1 : k.module.family.gpu_cost.misaligned) * cost.spill_factor(out.a_narrow, out.b_narrow);
    return out;
}

// The schedule whose product reads the operands of `mask` packed.
Result<Schedule> schedule_of(uint32_t mask, const Kernel& k, const Tile& t, const Problem& p, const ProductCost& cost,
                             const ScheduleSearch& search) {
    Schedule schedule;
    schedule.problem = p;
    const bool is_short = search.request.stores_remainders;
    schedule.sums_unit = is_short ? MODULI_PAD_N : k.module.family.pads_sums ? 4 : 1;
    schedule.sum_bytes = is_short ? info(u8).bytes : info(p.accumulate).bytes;
    schedule.split = {1, p.k, nullptr};
    const auto all = operands(p);
    if (p.k == 0 || is_empty(p)) mask = 0;  // there is nothing to copy
    if ((mask & 2) && is_pair(p))
        return search.refusal(VKGEMM_ERROR_UNSUPPORTED,
                              {"would pack B, and a pair's are read as they are; PACK must be 0, 1 or 2"});
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
    if (k.module.family.wants_chunks)
        if (auto why = cut_chunks(schedule.operands(), k.module, t, search)) return *why;
    if (VKGEMM_HAS_NATIVE && k.module.family.wants_pitches)
        if (auto why = wrong_layout(schedule.operands(), t, search)) return *why;
    if (VKGEMM_HAS_NATIVE && k.module.family.wants_pitches && !have_pitches(schedule.operands(), search.request))
        return too_short_pitch(schedule.operands(), search);
    const OperandEffects effects = effects_of(schedule, k, t, cost, search.request);
    const double before = schedule.cost;
    if (auto why = choose_split_k(schedule, t, cost, effects, search)) return *why;
    if (schedule.cost >= search.limit) return schedule;  // not wanted; it may be infinite, and the parts of that NaN
    double plain = before + cost.product(schedule.split, effects);
    if (schedule.split.slices > 1)
        plain += reducing_cost(*schedule.split.reducer, search.dev(), p, schedule.split.slices) * cost.weights().passes;
    schedule.parts = cost.parts(schedule.split, effects).times(schedule.cost / plain);
    schedule.parts.passes = (schedule.cost - schedule.parts.weighted(cost.weights())) / cost.weights().passes;
    return schedule;
}

// Exact if the least cost is below the search's limit.
Result<Schedule> best_of_all(const TiledKernel& tiled, const Problem& p, ScheduleSearch search) {
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
                              {"packs operands in a first pass, but their strides vary from run to run, "
                               "or accuracy=f64_split or f64_split_wide has laid them out already"});
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
    const uint64_t sums = split.workspace_bytes(problem, sums_pitch() * sum_bytes);
    return sums ? partial_offset + sums : packed;
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
    if (is_from_int8(p)) return resized_from_int8(chosen, t, p);
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
    return best_of_all(k, p, {.device = device, .request = request, .limit = INFINITY, .wording = Wording::in_words});
}

std::optional<Schedule> schedule_below(double limit, const TiledKernel& k, const DeviceKernels& device,
                                       const Problem& p, const Request& request) {
    const Result<Schedule> best =
        best_of_all(k, p, {.device = device, .request = request, .limit = limit, .wording = Wording::code_alone});
    return best && best->cost < limit ? std::optional(*best) : std::nullopt;
}

double least_cost(const TiledKernel& k, const DeviceKernels& device, const Problem& p, const Request& request) {
    const uint32_t packed = k.kernel.module.family.packs_fragments ? 3 : converted(k.kernel, p);
    const ProductCost cost(k.cost, p, request.corrected);
    return cost.least_with(1) +
           cost.least_correction() * k.cost.weights.passes * least_packing(packed, k.kernel, p, device.caps());
}

}  // namespace vkgemm::plan
