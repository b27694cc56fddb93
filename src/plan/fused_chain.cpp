// SPDX-License-Identifier: MIT
#include "plan/fused_chain.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/problem.h"

namespace vkgemm::plan {
namespace {

Refusal no(std::initializer_list<TextPiece> text) { return {VKGEMM_ERROR_UNSUPPORTED, concat(text)}; }

// Why a product cannot be a layer, whatever the device.
std::optional<Status> unfit_epilogue(const Problem& p) {
    size_t at = 0;
    const auto kind = [&](size_t i) { return i < p.epilogue.count ? p.epilogue.step[i].kind : VKGEMM_STEP_NONE; };
    if (kind(at) == VKGEMM_STEP_BIAS_COL) ++at;
    const VkgemmStepKind step = kind(at);
    const bool known = step == VKGEMM_STEP_NONE || step == VKGEMM_STEP_RELU || step == VKGEMM_STEP_GELU ||
                       step == VKGEMM_STEP_SILU || step == VKGEMM_STEP_LEAKY_RELU || step == VKGEMM_STEP_CLAMP;
    if (!known || at + (step != VKGEMM_STEP_NONE) != p.epilogue.count)
        return no(
            {"one dispatch takes a bias of columns, and then ReLU, leaky ReLU, GELU, SiLU or a clamp, as epilogue"});
    return std::nullopt;
}

std::optional<Status> unfit_layer(const Problem& p) {
    const bool is_f16 = p.a.type == f16 && p.b.type == f16 && p.d.type == f16 && p.accumulate == f32;
    if (!is_f16) return no({"one dispatch is for A, B and D of f16 with sums of f32"});
    if (std::max(p.n, p.k) > CHAIN_WIDTH)
        return no({"n is ", p.n, " and k is ", p.k, "; one dispatch takes rows of up to ", CHAIN_WIDTH, " elements"});
    if (p.k == 0 || p.n == 0 || p.m == 0) return no({"m, n or k is 0"});
    if (p.batch != 1) return no({"batch is ", p.batch, "; one dispatch is for a batch of 1"});
    if (p.cSource != VKGEMM_C_NONE) return no({"it has a C"});
    if (p.scalars) return no({"it has scalars in memory"});
    if (p.batchInvariant) return no({"it is batch-invariant"});
    if (p.a.layout != rowMajor || p.d.layout != rowMajor) return no({"one dispatch is for row-major A and D"});
    if (std::max(p.a.ld, p.d.ld) * p.m > max_span || p.b.ld * std::max(p.k, p.n) > max_span)
        return no({"a matrix spans more than ", max_span, " elements"});
    return unfit_epilogue(p);
}

// The first module that the device can run; otherwise why not the last one.
Result<const ChainModule*> module_for(const DeviceCaps& caps) {
    std::optional<Status> why;
    for (const ChainModule& m : chain_modules) {
        why = unfit_module(m, caps);
        if (!why) return &m;
    }
    return *why;
}

// Where the weights of each layer begin in shared memory, in chunks of 16 bytes.
struct Weights {
    std::vector<uint32_t> first_chunk;  // of each layer
    uint32_t chunks = 0;
};
Weights place_weights(std::span<const Problem> layers, uint32_t mm, bool resident) {
    Weights out;
    for (const Problem& p : layers) {
        const uint64_t k = round_up(p.k, mm), n = round_up(p.n, mm);
        const bool by_columns = p.b.layout == columnMajor;
        const auto chunks = static_cast<uint32_t>(by_columns ? n * (k / 8 + 1) : k * (n / 8 + 1));
        out.first_chunk.push_back(resident ? out.chunks : 0);
        out.chunks = resident ? out.chunks + chunks : std::max(out.chunks, chunks);
    }
    return out;
}

// All that the choice of a tile depends on.
struct Fusing {
    const DeviceCaps& caps;
    std::span<const Problem> layers;
    uint32_t kept;
    uint32_t alignment;  // of operands, bytes
    uint32_t mm, widest;

    std::optional<ChainTile> tile() const;
    uint64_t shared_bytes(const ChainTile&) const;
    bool wide(const Matrix&, uint64_t row) const;
    uint32_t flags(size_t layer) const;
    void add_layer(ChainKey&, size_t layer, uint32_t first_chunk) const;
    FusedChain make(const ChainModule&, const ChainTile&) const;
};

uint64_t Fusing::shared_bytes(const ChainTile& t) const {
    return chain_shared_bytes(place_weights(layers, mm, t.resident).chunks, layers.size(), widest, mm, t.subgroups);
}

std::optional<ChainTile> Fusing::tile() const {
    const uint32_t most_bytes = std::min(caps.shared_bytes, chain_most_shared_bytes);
    for (const ChainTile& t : chain_tiles)
        if (shared_bytes(t) <= most_bytes && t.subgroups * caps.subgroup_size <= caps.max_invocations &&
            (caps.max_subgroups == 0 || t.subgroups <= caps.max_subgroups))
            return t;
    return std::nullopt;
}

bool Fusing::wide(const Matrix& m, uint64_t row) const { return alignment % 16 == 0 && m.ld % 8 == 0 && row % 8 == 0; }

uint32_t Fusing::flags(size_t layer) const {
    const Problem& p = layers[layer];
    uint32_t out = 0, at = 0;
    if (p.epilogue.count && p.epilogue.step[0].kind == VKGEMM_STEP_BIAS_COL) {
        out |= CHAIN_BIAS | uint32_t(epilogue_type(p, VKGEMM_SLOT_BIAS).value_or(p.d.type)) << CHAIN_TYPE_SHIFT;
        at = 1;
    }
    if (at < p.epilogue.count) out |= uint32_t(p.epilogue.step[at].kind);
    if (layer + 1 == layers.size() || (kept >> layer & 1)) out |= CHAIN_STORED;
    const bool by_columns = p.b.layout == columnMajor;
    if (by_columns) out |= CHAIN_TRANS_B;
    if (wide(p.b, by_columns ? p.k : p.n)) out |= CHAIN_WIDE_B;
    if (wide(p.d, p.n)) out |= CHAIN_WIDE;
    return out;
}

void Fusing::add_layer(ChainKey& to, size_t layer, uint32_t first_chunk) const {
    const Problem& p = layers[layer];
    const auto add = [&](uint32_t first_id, uint64_t value) {
        to.constants.push_back({first_id + static_cast<uint32_t>(layer), static_cast<uint32_t>(value)});
    };
    add(CHAIN_ID_WIDTH, p.n);
    add(CHAIN_ID_FLAGS, flags(layer));
    add(CHAIN_ID_LDB, p.b.ld);
    add(CHAIN_ID_LDD, p.d.ld);
    add(CHAIN_ID_B_CHUNK, first_chunk);
    if (p.epilogue.count == 0) return;
    const EpilogueStep& step = p.epilogue.step[p.epilogue.count - 1];
    add(CHAIN_ID_STEP_LOW, std::bit_cast<uint32_t>(step.low));
    add(CHAIN_ID_STEP_HIGH, std::bit_cast<uint32_t>(step.high));
}

FusedChain Fusing::make(const ChainModule& module, const ChainTile& t) const {
    const Weights weights = place_weights(layers, mm, t.resident);
    const uint32_t sg = caps.subgroup_size, rows = t.matrices * mm;
    const Problem& first = layers[0];
    ChainKey key = {.module = &module, .constants = {}};
    const auto add = [&](uint32_t id, uint64_t value) { key.constants.push_back({id, static_cast<uint32_t>(value)}); };
    add(CHAIN_ID_WG, t.subgroups * sg);
    add(CHAIN_ID_WM, rows);
    add(CHAIN_ID_MM, mm);
    add(CHAIN_ID_MN, mm);
    add(CHAIN_ID_MK, mm);
    add(CHAIN_ID_SG, sg);
    add(CHAIN_ID_RESIDENT, t.resident);
    add(CHAIN_ID_LAYERS, layers.size());
    add(CHAIN_ID_INPUTS, first.k);
    add(CHAIN_ID_WIDE_ROWS, wide(first.a, first.k));
    add(CHAIN_ID_LDA, first.a.ld);
    add(CHAIN_ID_MAX_WIDTH, widest);
    add(CHAIN_ID_WEIGHT_CHUNKS, weights.chunks);
    for (size_t i = 0; i < layers.size(); ++i) add_layer(key, i, weights.first_chunk[i]);
    std::ranges::sort(key.constants, {}, &ChainConstant::id);
    FusedChain out = {.key = std::move(key), .tile = {}};
    out.tile = concat({"WG=", t.subgroups * sg, ",WM=", rows, ",MM=", mm, ",RESIDENT=", int(t.resident)});
    out.rows_at_once = rows;
    constexpr uint32_t usual_units = 64;  // where the device does not tell
    out.most_groups = std::min(caps.max_groups_x, (caps.compute_units ? caps.compute_units : usual_units) * t.groups);
    return out;
}

}  // namespace

uint32_t FusedChain::groups(uint64_t rows) const {
    return static_cast<uint32_t>(std::min<uint64_t>(div_up(rows, rows_at_once), most_groups));
}

Result<FusedChain> fuse(const DeviceCaps& caps, std::span<const Problem> completed, uint32_t kept,
                        const Request& request) {
    if (!request.kernel.empty() || !request.tile.empty() || !request.preferred_kernel.empty())
        return no({"a kernel or tile is asked for, which computes single products"});
    if (request.descriptors) return no({"descriptors are asked for, and one dispatch takes device addresses"});
    if (request.dispatch_seconds > 0) return no({"dispatchSeconds limits the time of a dispatch"});
    if (completed.size() > CHAIN_LAYERS)
        return no({"there are ", completed.size(), " products; one dispatch computes up to ", CHAIN_LAYERS});
    uint64_t widest = completed[0].k;
    for (size_t i = 0; i < completed.size(); ++i) {
        if (auto why = unfit_layer(completed[i])) return no({"product ", i, ": ", why->text});
        widest = std::max(widest, completed[i].n);
    }
    const bool all_kept =
        completed.size() > 1 && std::popcount(kept & ((1u << (completed.size() - 1)) - 1)) + 1 == int(completed.size());
    if (all_kept && completed[0].m > chain_most_rows_all_kept)
        return no({"every D is kept, and m is ", completed[0].m, "; above ", chain_most_rows_all_kept,
                   " separate products are faster then"});
    const auto module = module_for(caps);
    if (!module) return module.status();
    const Fusing fusing = {.caps = caps,
                           .layers = completed,
                           .kept = kept,
                           .alignment = request.operand_alignment,
                           .mm = matrix_size(**module, caps),
                           .widest = static_cast<uint32_t>(round_up(widest, matrix_size(**module, caps)))};
    const auto tile = fusing.tile();
    if (!tile)
        return no({"the weights take more shared memory than the device has (", caps.shared_bytes,
                   " bytes), or than a chain may use (", chain_most_shared_bytes, ")"});
    return fusing.make(**module, *tile);
}

}  // namespace vkgemm::plan
