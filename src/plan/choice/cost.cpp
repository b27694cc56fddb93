// SPDX-License-Identifier: MIT
#include "plan/choice/cost.h"

#include <algorithm>
#include <cmath>

#include "plan/base/rounding.h"

namespace vkgemm::plan {
namespace {

// Of one multiprocessor. Its shared memory is assumed to be the limit of one work group, which holds for Vulkan on an
// H200. A group uses slightly more than it declares.
constexpr double registers_per_unit = 65536, invocations_per_unit = 2048, shared_overhead = 512;
// Multiply-adds of f64 take so much longer than those of f32, at the best rate that GPUs have for them.
constexpr double f64_factor = 2.1;
// A pass before or after the product: its barrier and dispatch, the bytes that it loads in a cycle, and the latency of
// its loads.
constexpr double second_pass = 7530, partial_bytes_per_cycle = 4.32, load_latency = 865, packed_bytes_per_cycle = 15.4;
constexpr double pass_on_cpu = 300000;  // of both, on a CPU driver: 66 us, where a multiply-add of `cpu` takes 0.042 ns
constexpr double cpu_cache_bytes = 256 * 1024;  // of a core, for A and B
// Of a copy before the product: a factor if it transposes, and each tile that a work group copies, however small.
constexpr double transposed_copy = 1.26, packed_tile = 508;

// The factor on a step of a kernel that reads A and B without shared memory, 16 bytes at a time, if the operand of its
// tile's long side is k-contiguous and that of the short side is not: neighbouring invocations then read elements of
// the short side that lie apart, each from a line of its own.
constexpr double gathered = 6.83;

// The factor on a step whose values exceed the registers: it grows with the square of the values over the registers, so
// that of several such kernels the one that exceeds them least is chosen.
constexpr double spilling = 8;

// What makes a bound of a cost safe from the rounding of both.
constexpr double rounding = 1 - 1e-9;

double reducing_on_cpu(double elements, uint32_t slices) { return elements * slices * 8; }

// (x^p + y^p)^(1/p): the longer of two times that overlap, and the more of the shorter one the closer they are.
double overlapped(double x, double y, double p) {
    const double longer = std::max(x, y), shorter = std::min(x, y);
    return p == 0 || shorter <= 0 ? longer : longer * std::pow(1 + std::pow(shorter / longer, p), 1 / p);
}

double partial_loads(double bytes, double units) { return bytes / (units * partial_bytes_per_cycle); }
double units_of(const DeviceCaps& dev) { return dev.compute_units ? dev.compute_units : 16; }

// Work groups that a multiprocessor holds at once.
double residents(const Kernel& k, const Tile& t, const DeviceCaps& dev, KContiguous k_contiguous) {
    if ((VKGEMM_HAS_NATIVE && k.module.is_native())) return 1;  // it takes all of the shared memory
    const Family& f = k.module.family;
    const ElementBytes e = k.module.element_bytes();
    const uint64_t declared =
        f.shared_bytes_of_layouts ? f.shared_bytes_of_layouts(t, e, k_contiguous) : f.shared_bytes(t, e);
    const double shared = double(declared) + shared_overhead;
    const double registers = std::min(255.0, f.registers(t, e));
    return std::max(1.0, std::floor(std::min({dev.shared_bytes / shared, invocations_per_unit / t.WG,
                                              registers_per_unit / (registers * t.WG)})));
}

// An index of KernelCost::filled. Elements of blocks count as one byte.
size_t width_of(Type t) { return info(t).block > 1 ? 0 : std::min<size_t>(info(t).bytes / 2, 2); }

// Of the tile's subgroups, beside the device's narrowest; 1 if the tile asks for no size.
uint32_t widths_of(const Tile& t, const DeviceCaps& dev) {
    return t.SG && dev.subgroup_min ? std::max(1U, t.SG / dev.subgroup_min) : 1;
}

std::array<std::array<float, 3>, 3> filled_of(const Kernel& k, const Tile& t, const Registers& registers,
                                              uint32_t widths) {
    const auto live = k.module.family.live_registers;
    std::array<std::array<float, 3>, 3> out = {};
    if (!live || !registers.of_invocation) return out;
    ElementBytes bytes = k.module.element_bytes();
    for (size_t a = 0; a < 3; ++a)
        for (size_t b = 0; b < 3; ++b) {
            if (k.module.is_mixed()) bytes.a = 1U << a;
            if (k.module.is_mixed()) bytes.b = 1U << b;
            out[a][b] = float(live(t, bytes, registers) / registers.limit(t.WG, widths));
        }
    return out;
}

}  // namespace

uint64_t SplitK::workspace_bytes(const Problem& p, uint64_t row_bytes) const {
    return slices == 1 && !reducer ? 0 : slices * p.batch * p.m * row_bytes;
}

double first_pass_cost(const DeviceCaps& dev) { return dev.kind == DeviceKind::cpu ? pass_on_cpu : second_pass; }

double packing_cost(const DeviceCaps& dev, double cpu_weight, uint64_t bytes, bool transposed, uint64_t groups,
                    uint64_t tiles) {
    if (dev.kind == DeviceKind::cpu) return cpu_weight * double(bytes);
    const double units = units_of(dev), rate = std::min(units, double(groups)) * packed_bytes_per_cycle;
    return double(bytes) / rate * (transposed ? transposed_copy : 1) + ceil_of(double(tiles), units) * packed_tile;
}

double reducing_cost(const Kernel& reducer, const DeviceCaps& dev, const Problem& p, uint32_t slices) {
    const double elements = double(p.m) * double(p.n) * double(p.batch), units = units_of(dev);
    const double bytes = elements * slices * reducer.module.element_bytes().a;
    if (dev.kind == DeviceKind::cpu) return reducing_on_cpu(elements, slices);
    const Tile& t = reducer.tile;
    const double rounds = ceil_of(ceil_of(elements, t.BN), units * std::floor(invocations_per_unit / t.WG));
    const double loads = ceil_of(ceil_of(slices, t.TEAM), 8);  // the shader has 8 on their way at a time
    return second_pass + partial_loads(bytes, units) + rounds * loads * load_latency;
}

bool is_k_contiguous(const Operand& x) { return x.matrix->layout == (x.is_a() ? rowMajor : columnMajor); }

bool prefers_transposed(const GpuCost& gpu_cost, const Operand& x) {
    return is_k_contiguous(x)
               ? gpu_cost.k_contiguous > 1
               : gpu_cost.transposed_bytes > 1 && (info(x.matrix->type).bytes == 1 || x.matrix->type == f64);
}

KernelCost::KernelCost(const Kernel& k, const Tile& t, const DeviceCaps& dev)
    : family(&k.module.family),
      bytes(k.module.element_bytes()),
      on_cpu(dev.kind == DeviceKind::cpu),
      cpu_weight(k.module.is_mixed() && family->cpu_mixed_weight > 0 ? family->cpu_mixed_weight : family->cpu_weight),
      units(dev.compute_units ? dev.compute_units
            : on_cpu          ? 4
                              : 16),
      rows(t.BM),
      cols(t.BN),
      block(rows * cols),
      depth(std::max<double>(t.BK, 1)) {
    for (const FamilyWeights& fitted : dev.fitted)
        if (is_called(*family, fitted.family)) weights = fitted.weights;
    if (on_cpu) return;
    const GpuCost& gpu_cost = family->gpu_cost;
    weights.passes *= gpu_cost.passes;
    const double loads_per_mac = t.TM && t.TN ? 1.0 / t.TM + 1.0 / t.TN : 0;
    const double mac = gpu_cost.mac + gpu_cost.fragment_load * loads_per_mac;
    const bool by_bytes = family->uses_matrix_units || (VKGEMM_HAS_NATIVE && k.module.is_native());
    const bool straight = is_straight(*family, t);
    const Registers registers = registers_of(dev);
    const bool carries = t.STAGES == 1 || t.STAGES == 2;  // fragments, from a step to the next
    const double loads =
        straight ? gpu_cost.load_straight * t.WG / t.SG * (t.WM * bytes.a + t.WN * bytes.b) * 2 * t.MK / depth
                 : gpu_cost.decode * (rows + cols) + gpu_cost.load * (rows * bytes.a + cols * bytes.b);
    arithmetic = block * depth * mac * (by_bytes ? bytes.a / 2.0 : 1) + loads * depth + gpu_cost.issue;
    if (family->uses_matrix_units && carries) arithmetic *= 1 + registers.moves;
    // Devices whose registers are known were not timed: there the latency of such a step counts as that of others.
    const bool in_turn = t.STAGES == 3 && !registers.of_invocation;
    const double latency = gpu_cost.own_load * (rows + cols) * depth / t.WG + gpu_cost.per_k * depth +
                           (straight        ? gpu_cost.step_straight
                            : t.STAGES == 2 ? gpu_cost.step_overlapped
                            : in_turn       ? gpu_cost.step_in_turn
                                            : gpu_cost.step);
    alone = std::max(arithmetic, gpu_cost.own * t.TM * t.TN * depth) + latency;
    terms = find_tile_terms(k, t, dev);
    if (terms) {
        arithmetic *= terms->step / 100.0;
        alone *= terms->step / 100.0;
    }
    if (t.MK) further_parts = std::max(1.0, double(t.BK) / (2 * t.MK)) - 1;
    if (bytes.accumulator == 8) {
        arithmetic *= f64_factor;
        alone = 0;  // the latency of a step is hidden
    }
    for (const bool a : {false, true})
        for (const bool b : {false, true}) {
            at_once[a][b] = residents(k, t, dev, {a, b});
            most_at_once = std::max(most_at_once, at_once[a][b]);
        }
    const uint32_t widths = widths_of(t, dev);
    filled = filled_of(k, t, registers, widths);
    if (!registers.of_invocation) return;
    const double limit = registers.limit(t.WG, widths);
    if (!family->packs_fragments && !family->free_edges)  // the loops of the former have no edges
        filled_more = float(registers.more_at_edges / limit);
    if (const auto narrow = family->narrow_registers)
        for (const bool is_b : {false, true}) filled_narrow[is_b] = float(narrow(t, bytes, registers, is_b) / limit);
}

ProductCost::ProductCost(const KernelCost& k, const Problem& p, bool corrected)
    : k_(k),
      p_(p),
      tiles_(ceil_of(double(p.m), k.rows) * ceil_of(double(p.n), k.cols) * double(p.batch)),
      terms_(corrected && has_terms(p) && k.terms && k.terms->has_facts ? k.terms : nullptr) {
    if (k_.on_cpu) {
        const auto bytes = [](const Matrix& x, uint64_t elements) { return double(info(x.type).bytes_of(elements)); };
        const bool cached = bytes(p.a, p.m * p.k) + bytes(p.b, p.k * p.n) <= cpu_cache_bytes;
        cpu_mac_ = k_.cpu_weight * (cached ? 1 : k_.family->cpu_beyond_cache);
        return;
    }
    const GpuCost& gpu_cost = k_.family->gpu_cost;
    // Tiles narrower than 64 columns load more of A than of B. With few rows all work groups read the same lines of A
    // at once; with many, each further row of tiles reads B again.
    const double log2_ratio = k_.cols < 64 ? std::abs(std::log2(std::max(double(p.m), 1.0) / k_.rows)) : 0;
    alone_ = k_.alone + gpu_cost.other_rows * log2_ratio;
    // Memory traffic: operands and results, each counted once, and what the tiles beside the first read again.
    const auto bytes = [](const Matrix& x) { return double(info(x.type).bytes) / info(x.type).block; };
    const auto reads = [&](double tiles) { return 1 + gpu_cost.reread * (tiles - 1); };
    const double cycles = double(p.batch) / (k_.units * gpu_cost.bytes_per_cycle);
    const double a = double(p.m) * double(p.k) * bytes(p.a) * reads(ceil_of(double(p.n), k_.cols));
    const double b = double(p.k) * double(p.n) * bytes(p.b) * reads(ceil_of(double(p.m), k_.rows));
    operand_traffic_ = (a + b) * cycles;
    element_traffic_ = double(p.m) * double(p.n) * cycles;
}

OperandEffects ProductCost::effects_of(const std::array<Operand, 4>& all, uint32_t operand_alignment) const {
    OperandEffects out;
    out.slowdown = slowdown(all, operand_alignment);
    out.at_once = k_.at_once[is_k_contiguous(all[0])][is_k_contiguous(all[1])];
    if (!k_.on_cpu) out.full_step = step_of(out.at_once);
    out.a_narrow = !is_wide(all[0], operand_alignment);
    out.b_narrow = !is_wide(all[1], operand_alignment);
#if VKGEMM_HAS_TILE_TERMS
    if (terms_) {
        out.terms = TermSum(*terms_);
        out.terms.add(TileFact::a_along, facts_of(all, out));
    }
#endif
    return out;
}

bool ProductCost::is_whole() const {
    const auto whole = [](uint64_t size, double of_tile) { return size % static_cast<uint64_t>(of_tile) == 0; };
    return whole(p_.m, k_.rows) && whole(p_.n, k_.cols) && whole(p_.k, k_.depth) && !p_.batchInvariant;
}

double ProductCost::spill_factor(bool a_narrow, bool b_narrow) const {
    const double filled = k_.filled[width_of(p_.a.type)][width_of(p_.b.type)];
    if (filled == 0) return 1;
    const double all = filled + (is_whole() ? 0 : k_.filled_more) + (a_narrow ? k_.filled_narrow[0] : 0) +
                       (b_narrow ? k_.filled_narrow[1] : 0);
    return all > 1 ? spilling * all * all : 1;
}

double ProductCost::slowdown(const std::array<Operand, 4>& all, uint32_t operand_alignment) const {
    const GpuCost& gpu_cost = k_.family->gpu_cost;
    // By the part of the bytes that a step loads which is not read in 16-byte chunks.
    const double a = k_.rows * k_.bytes.a, b = k_.cols * k_.bytes.b;
    const auto beyond = [&](const Operand& x, double bytes) {
        if (is_wide(x, operand_alignment)) return 0.0;
        const double along = gpu_cost.misaligned_along > 0 ? gpu_cost.misaligned_along : gpu_cost.misaligned;
        return bytes / (a + b) * ((is_k_contiguous(x) ? along : gpu_cost.misaligned) - 1);
    };
    double out = 1 + beyond(all[0], a) + beyond(all[1], b) + (is_whole() ? 0 : gpu_cost.not_whole), transposed = 1;
    out *= spill_factor(!is_wide(all[0], operand_alignment), !is_wide(all[1], operand_alignment));
    if (all[0].matrix->type != p_.a.type || all[1].matrix->type != p_.b.type) out *= gpu_cost.converted;
    for (const Operand* x : {all.data(), all.data() + 1}) {
        if (is_k_contiguous(*x))
            out *= gpu_cost.k_contiguous * (x == all.data() ? gpu_cost.a_along : gpu_cost.b_along);
        else if (prefers_transposed(gpu_cost, *x))
            transposed = gpu_cost.transposed_bytes;
    }
    const bool tall = k_.rows > k_.cols;
    const bool reads_memory = k_.family->wants_wide && !k_.family->uses_matrix_units;
    if (reads_memory && is_k_contiguous(all[tall ? 0 : 1]) && !is_k_contiguous(all[tall ? 1 : 0])) out *= gathered;
    return out * transposed;
}

// Work groups on one multiprocessor hide each other's latency: together they take as long as their arithmetic, but no
// less than one of them alone, and more than both where these are alike.
double ProductCost::step_of(double groups) const {
    return overlapped(groups * k_.arithmetic, alone_, k_.family->gpu_cost.together);
}

CostParts ProductCost::on_gpu(const SplitK& split, const OperandEffects& operands) const {
    const GpuCost& gpu_cost = k_.family->gpu_cost;
    const double steps = ceil_of(double(std::max<uint64_t>(split.chunk, 1)), k_.depth);
    const bool is_ragged = split.slices == 1 && p_.d.ld * info(p_.d.type).bytes % 16 != 0;
    const double element =
        gpu_cost.element + (is_ragged ? gpu_cost.ragged : 0) + gpu_cost.shared_part * k_.further_parts;
    CostParts out{.launch = gpu_cost.launch};
    const auto add_rounds = [&](double rounds, double n, double step) {
        out.steps += rounds * step * (steps + gpu_cost.prologue) * operands.slowdown;
        out.results += rounds * (n * (element * k_.block + gpu_cost.start) + gpu_cost.group);
    };
    const double busiest = ceil_of(tiles_ * split.slices, k_.units), rounds = std::floor(busiest / operands.at_once);
    if (rounds > 0) add_rounds(rounds, operands.at_once, operands.full_step);
    if (const double rest = busiest - rounds * operands.at_once; rest > 0) add_rounds(1, rest, step_of(rest));
    out.memory = not_hidden(split.slices, out.steps + out.results);
    return out;
}

// What memory traffic adds to the `work` of steps and results. Where they overlap, the longer one decides, and the
// shorter one adds the less the shorter it is.
double ProductCost::not_hidden(uint32_t slices, double work) const {
    const double traffic = memory(slices);
    if (!k_.family->gpu_cost.overlaps) return traffic;
    const auto fourth = [](double x) { return x * x * x * x; };
    return std::sqrt(std::sqrt(fourth(work) + fourth(traffic))) - work;
}

double ProductCost::memory(uint32_t slices) const {
    return operand_traffic_ + element_traffic_ * (slices > 1 ? k_.bytes.accumulator * slices : k_.bytes.d);
}

// A CPU driver runs work groups one after another on as many threads as there are cores, and caches hide memory.
double ProductCost::on_cpu(const SplitK& split) const {
    return ceil_of(tiles_ * split.slices, k_.units) * cpu_mac_ * (k_.rows + k_.family->cpu_extra_rows) * k_.cols *
           double(std::max<uint64_t>(split.chunk, 1));
}

CostParts ProductCost::parts(const SplitK& split, const OperandEffects& operands) const {
    return k_.on_cpu ? CostParts{.steps = on_cpu(split)} : on_gpu(split, operands);
}

double ProductCost::least_second_pass(uint32_t slices) const {
    if (slices == 1) return 0;
    const double elements = double(p_.m) * double(p_.n) * double(p_.batch);
    const double weight = rounding * least_correction() * k_.weights.passes;
    if (k_.on_cpu) return weight * reducing_on_cpu(elements, slices);
    return weight * (second_pass + partial_loads(elements * slices * k_.bytes.accumulator, k_.units));
}

// As if work groups were shared out evenly, and slices were no deeper than their share of K.
double ProductCost::least_with(uint32_t slices) const {
    const GpuCost& gpu_cost = k_.family->gpu_cost;
    return least_with(slices, std::min(gpu_cost.a_along, 1.0) * std::min(gpu_cost.b_along, 1.0));
}

double ProductCost::least_with(uint32_t slices, double slowdown) const {
    const Family& f = *k_.family;
    const double share = tiles_ / k_.units, k = double(p_.k), second = least_second_pass(slices);
    if (k_.on_cpu)
        return rounding * k_.weights.steps * share * cpu_mac_ * (k_.rows + f.cpu_extra_rows) * k_.cols * k + second;
    const double step = std::max(k_.arithmetic, k_.alone / k_.most_at_once);  // of each group in a round, however many
    const CostParts& weights = k_.weights;
    const double steps = share * step * k / k_.depth * slowdown;
    const double results = share * slices * (f.gpu_cost.element * k_.block + f.gpu_cost.start) + f.gpu_cost.group;
    const double together = steps + results + not_hidden(slices, steps + results);
    // More work hides more traffic. So the bound does not rest on traffic that weighs more than what hides it.
    const double least = std::max(weights.steps * steps + weights.results * results,
                                  std::min({weights.steps, weights.results, weights.memory}) * together);
    return rounding * least_correction() * (weights.launch * f.gpu_cost.launch + least) + second;
}

}  // namespace vkgemm::plan
