// SPDX-License-Identifier: MIT
#include "plan/fused_chain.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/device/registers.h"
#include "plan/problem/problem.h"

namespace vkgemm::plan {
namespace {

Refusal no(std::initializer_list<TextPiece> text) { return {VKGEMM_ERROR_UNSUPPORTED, concat(text)}; }

// Why a product cannot be a layer, whatever the device.
std::optional<Status> unfit_epilogue(const Problem& p) {
    size_t at = 0;
    const auto kind = [&](size_t i) { return i < p.epilogue.count ? p.epilogue.step[i].kind : VKGEMM_STEP_NONE; };
    if (kind(0) == VKGEMM_STEP_DRELU && p.epilogue.count == 1) {
        const Type residual = epilogue_type(p, VKGEMM_SLOT_RESIDUAL).value_or(p.d.type);
        if (residual == p.d.type) return std::nullopt;
        return no({"its residual is ", info(residual).name, "; one dispatch takes one of D's type (",
                   info(p.d.type).name, ")"});
    }
    if (kind(at) == VKGEMM_STEP_BIAS_COL) ++at;
    const VkgemmStepKind step = kind(at);
    const bool known = step == VKGEMM_STEP_NONE || step == VKGEMM_STEP_RELU || step == VKGEMM_STEP_GELU ||
                       step == VKGEMM_STEP_SILU || step == VKGEMM_STEP_LEAKY_RELU || step == VKGEMM_STEP_CLAMP;
    if (!known || at + (step != VKGEMM_STEP_NONE) != p.epilogue.count)
        return no(
            {"one dispatch takes a bias of columns, and then ReLU, leaky ReLU, GELU, SiLU or a clamp, as epilogue, or "
             "the derivative of ReLU alone"});
    return std::nullopt;
}

// The elements from the first to beyond the last, if all rows were whole.
uint64_t span(const Matrix& m, uint64_t rows, uint64_t cols) { return m.ld * (m.layout == rowMajor ? rows : cols); }

std::optional<Status> unfit_layer(const Problem& p) {
    const Type type = p.a.type;
    if ((type != f32 && type != f16 && type != bf16) || p.b.type != type || p.d.type != type || p.accumulate != f32)
        return no({"it is ", info(p.a.type).name, "*", info(p.b.type).name, "+", info(p.accumulate).name, "->",
                   info(p.d.type).name,
                   "; one dispatch is for A, B and D of one type (f32, f16 or bf16) and sums of f32"});
    const Type bias = epilogue_type(p, VKGEMM_SLOT_BIAS).value_or(f32);
    if (type == f32 && bias != f32)
        return no({"its bias is ", info(bias).name, "; one dispatch of f32 is for a bias of f32"});
    if (p.k == 0 || p.n == 0 || p.m == 0) return no({"m, n or k is 0"});
    if (p.batch != 1) return no({"batch is ", p.batch, "; one dispatch is for a batch of 1"});
    if (p.cSource != VKGEMM_C_NONE) return no({"it has a C"});
    if (p.scalars) return no({"it has scalars in memory"});
    if (p.batchInvariant) return no({"it is batch-invariant"});
    if (std::max({span(p.a, p.m, p.k), span(p.b, p.k, p.n), span(p.d, p.m, p.n)}) > max_span)
        return no({"a matrix spans more than ", max_span, " elements"});
    return unfit_epilogue(p);
}

// The first module that the device can run; otherwise why not the last one. `layers` includes the place for the address
// of the rows.
Result<const ChainModule*> module_for(const DeviceCaps& caps, Type type, size_t layers) {
    std::optional<Status> why;
    for (const ChainModule& m : chain_modules) {
        if (m.type != type || m.layers < layers) continue;
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
    const ChainModule& module;
    uint32_t step, widest;  // widths are padded to a multiple of `step`

    std::optional<Status> unfit_widths() const;
    Result<FusedChain> on_matrix_units() const;
    Result<FusedChain> simt() const;

   private:
    std::optional<ChainTile> tile() const;
    bool fits(const ChainTile&) const;
    bool fits_registers(const ChainTile&) const;
    bool is_wide() const { return widest > CHAIN_WIDTH; }
    bool needs_registers(const ChainTile& t) const { return t.needs_registers || is_wide(); }
    bool leaves_registers(const ChainTile&) const;
    uint32_t most_groups(const ChainTile&) const;
    double time(const ChainTile&) const;
    uint64_t shared_bytes(const ChainTile&) const;
    bool wide(const Matrix&, uint64_t row) const;
    uint32_t flags(size_t layer) const;
    void add_layer(ChainKey&, size_t layer, uint32_t first_chunk) const;
    void add_layers(ChainKey&, const Weights&) const;
    FusedChain make(const ChainTile&) const;
    FusedChain make(const ChainSimtTile&) const;
};

uint64_t Fusing::shared_bytes(const ChainTile& t) const {
    return chain_shared_bytes(place_weights(layers, step, t.resident).chunks, layers.size(), widest, step, t.subgroups);
}

// The sums of a subgroup, its rows of A and a matrix's columns of B, of 16 bits. A subgroup of 64 holds twice as many
// copies of them as one of 32, where there are several. Where registers are few, also the rows that are on their way.
bool Fusing::fits_registers(const ChainTile& t) const {
    const Registers registers = registers_of(caps);
    if (!registers.of_invocation) return true;
    constexpr double others = 16;
    const double sg = caps.subgroup_size, rows = t.matrices * step;
    const double copies = registers.fragment_copies > 1 ? registers.fragment_copies * sg / 32 : 1;
    const double next = needs_registers(t) ? rows * static_cast<double>(layers[0].k) / 2 / sg : 0;
    const double live = rows * widest / sg + copies * (rows + step) * widest / 2 / sg + next + others;
    return live <= registers.limit(t.subgroups * caps.subgroup_size);
}

uint32_t Fusing::most_groups(const ChainTile& t) const {
    constexpr uint32_t usual_units = 64;                // where the device does not tell
    const uint32_t of_unit = is_wide() ? 1 : t.groups;  // whose shared memory is full
    return std::min(caps.max_groups_x, (caps.compute_units ? caps.compute_units : usual_units) * of_unit);
}

// For all rows, as ChainTile::wave_microseconds.
double Fusing::time(const ChainTile& t) const {
    const uint64_t at_once = uint64_t{t.matrices} * step * t.subgroups * most_groups(t);
    return t.wave_microseconds * static_cast<double>(div_up(layers[0].m, at_once));
}

// Whether these layers leave enough registers to a tile that needs_registers.
bool Fusing::leaves_registers(const ChainTile& t) const {
    const auto fits_layer = [](const Problem& p) {
        const bool has_residual = p.epilogue.count != 0 && p.epilogue.step[0].kind == VKGEMM_STEP_DRELU;
        return p.d.layout == rowMajor && !has_residual;
    };
    return (t.matrices <= 2 || module.type == f16) && layers[0].a.layout == rowMajor &&
           std::ranges::all_of(layers, fits_layer);
}

bool Fusing::fits(const ChainTile& t) const {
    return shared_bytes(t) <= std::min(caps.shared_bytes, chain_most_shared_bytes) &&
           t.subgroups * caps.subgroup_size <= caps.max_invocations &&
           (caps.max_subgroups == 0 || t.subgroups <= caps.max_subgroups) && fits_registers(t) &&
           (!needs_registers(t) || leaves_registers(t)) && (t.takes_wide || !is_wide());
}

std::optional<ChainTile> Fusing::tile() const {
    std::optional<ChainTile> best;
    for (const ChainTile& t : chain_tiles)
        if (fits(t) && (!best || (t.wave_microseconds != 0 && time(t) < time(*best)))) best = t;
    return best;
}

bool Fusing::wide(const Matrix& m, uint64_t row) const {
    const uint32_t in_16_bytes = 16 / info(module.type).bytes;
    return alignment % 16 == 0 && m.ld % in_16_bytes == 0 && row % in_16_bytes == 0;
}

// Of an A or D: the length of its rows in memory. Those of a column-major one have m elements, which may vary, so they
// may end within a vector.
uint64_t whole_row(const Matrix& m, uint64_t cols) { return m.layout == rowMajor ? cols : 0; }

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
    if (wide(p.d, whole_row(p.d, p.n))) out |= CHAIN_WIDE;
    if (p.d.layout == columnMajor) out |= CHAIN_TRANS_D;
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
    const EpilogueStep& last = p.epilogue.step[p.epilogue.count - 1];
    add(CHAIN_ID_STEP_LOW, std::bit_cast<uint32_t>(last.low));
    add(CHAIN_ID_STEP_HIGH, std::bit_cast<uint32_t>(last.high));
}

void Fusing::add_layers(ChainKey& to, const Weights& weights) const {
    const Problem& first = layers[0];
    const auto add = [&](uint32_t id, uint64_t value) { to.constants.push_back({id, static_cast<uint32_t>(value)}); };
    add(CHAIN_ID_LAYERS, layers.size());
    add(CHAIN_ID_INPUTS, first.k);
    add(CHAIN_ID_WIDE_ROWS, wide(first.a, whole_row(first.a, first.k)));
    add(CHAIN_ID_LDA, first.a.ld);
    add(CHAIN_ID_MAX_WIDTH, widest);
    add(CHAIN_ID_TRANS_A, first.a.layout == columnMajor);
    add(CHAIN_ID_COUNTED, is_counted(first));
    for (size_t i = 0; i < layers.size(); ++i) add_layer(to, i, weights.first_chunk[i]);
    std::ranges::sort(to.constants, {}, &ChainConstant::id);
}

FusedChain Fusing::make(const ChainTile& t) const {
    const Weights weights = place_weights(layers, step, t.resident);
    const uint32_t sg = caps.subgroup_size, rows = t.matrices * step;
    FusedChain out = {.key = {.module = &module, .constants = {}}, .tile = {}};
    const auto add = [&](uint32_t id, uint32_t value) { out.key.constants.push_back({id, value}); };
    add(CHAIN_ID_WG, t.subgroups * sg);
    add(CHAIN_ID_WM, rows);
    add(CHAIN_ID_MM, step);
    add(CHAIN_ID_MN, step);
    add(CHAIN_ID_MK, step);
    add(CHAIN_ID_SG, sg);
    add(CHAIN_ID_RESIDENT, t.resident);
    add(CHAIN_ID_WEIGHT_CHUNKS, weights.chunks);
    add_layers(out.key, weights);
    out.tile = concat({"WG=", t.subgroups * sg, ",WM=", rows, ",MM=", step, ",RESIDENT=", int(t.resident)});
    out.rows_at_once = rows;
    out.most_groups = most_groups(t);
    return out;
}

FusedChain Fusing::make(const ChainSimtTile& t) const {
    FusedChain out = {.key = {.module = &module, .constants = {}}, .tile = {}};
    const auto add = [&](uint32_t id, uint32_t value) { out.key.constants.push_back({id, value}); };
    add(CHAIN_ID_WG, t.invocations);
    add(CHAIN_ID_BM, t.rows);
    add(CHAIN_ID_BK, t.depth);
    add_layers(out.key, {.first_chunk = std::vector<uint32_t>(layers.size())});
    out.tile = concat({"WG=", t.invocations, ",BM=", t.rows, ",BK=", t.depth});
    out.rows_at_once = t.rows;
    out.most_groups = caps.max_groups_x;
    return out;
}

// Why a layer is wider than one dispatch takes.
std::optional<Status> Fusing::unfit_widths() const {
    const bool stores_last_alone = (kept & ((1u << (layers.size() - 1)) - 1)) == 0;
    const bool may_be_wide =
        module.on_matrix_units && module.type == f16 && stores_last_alone && layers[0].m >= chain_least_rows_wide;
    const uint64_t most = may_be_wide ? CHAIN_MOST_WIDTH : CHAIN_WIDTH;
    for (size_t i = 0; i < layers.size(); ++i)
        if (const Problem& p = layers[i]; std::max(p.n, p.k) > most)
            return no({"product ", i, ": n is ", p.n, " and k is ", p.k, "; one dispatch takes rows of up to ",
                       CHAIN_WIDTH, " elements, or of f16 on matrix units up to ", CHAIN_MOST_WIDTH, " if m is ",
                       chain_least_rows_wide, " or more and no D but the last is kept"});
    return std::nullopt;
}

Result<FusedChain> Fusing::on_matrix_units() const {
    if (const auto t = tile()) return make(*t);
    if (is_wide())
        return no({"its rows of up to ", widest, " elements are wider than ", CHAIN_WIDTH,
                   ", and then A and every D must be row-major, without residuals, and fit the device's registers and ",
                   std::min(caps.shared_bytes, chain_most_shared_bytes), " bytes of shared memory"});
    return no({"the weights take more shared memory than the device has (", caps.shared_bytes,
               " bytes), or than a chain may use (", chain_most_shared_bytes, ")"});
}

Result<FusedChain> Fusing::simt() const {
    for (const ChainSimtTile& t : chain_simt_tiles)
        if (t.invocations <= caps.max_invocations &&
            chain_simt_shared_bytes(t.rows, t.depth, widest) <= caps.shared_bytes)
            return make(t);
    const ChainSimtTile& least = chain_simt_tiles.back();
    return no({"one dispatch takes ", chain_simt_shared_bytes(least.rows, least.depth, widest),
               " bytes of shared memory and ", least.invocations, " invocations; the device has ", caps.shared_bytes,
               " and ", caps.max_invocations});
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
    if (caps.kind == DeviceKind::cpu) return no({"on a CPU, separate products are faster"});
    if (request.dispatch_seconds > 0) return no({"dispatchSeconds limits the time of a dispatch"});
    if (completed.size() > CHAIN_LAYERS)
        return no({"there are ", completed.size(), " products; one dispatch computes up to ", CHAIN_LAYERS});
    uint64_t widest = completed[0].k;
    for (size_t i = 0; i < completed.size(); ++i) {
        if (auto why = unfit_layer(completed[i])) return no({"product ", i, ": ", why->text});
        if (completed[i].a.type != completed[0].a.type)
            return no({"product ", i, " has the type ", info(completed[i].a.type).name, ", and product 0 ",
                       info(completed[0].a.type).name});
        widest = std::max(widest, completed[i].n);
    }
    const bool all_kept =
        completed.size() > 1 && std::popcount(kept & ((1u << (completed.size() - 1)) - 1)) + 1 == int(completed.size());
    if (all_kept && completed[0].m > chain_most_rows_all_kept)
        return no({"every D is kept, and m is ", completed[0].m, "; above ", chain_most_rows_all_kept,
                   " separate products are faster then"});
    const size_t places = completed.size() + is_counted(completed[0]);
    if (places > CHAIN_LAYERS)
        return no({"there are ", completed.size(),
                   " products, with rows that the GPU counts; one dispatch computes up to ", CHAIN_LAYERS - 1,
                   " of them"});
    const auto module = module_for(caps, completed[0].a.type, places);
    if (!module) return module.status();
    const uint32_t step = (*module)->on_matrix_units ? matrix_size(**module, caps) : 4;
    const Fusing fusing = {.caps = caps,
                           .layers = completed,
                           .kept = kept,
                           .alignment = request.operand_alignment,
                           .module = **module,
                           .step = step,
                           .widest = static_cast<uint32_t>(round_up(widest, step))};
    if (auto why = fusing.unfit_widths()) return *why;
    return fusing.module.on_matrix_units ? fusing.on_matrix_units() : fusing.simt();
}

}  // namespace vkgemm::plan
