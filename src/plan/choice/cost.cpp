// SPDX-License-Identifier: MIT
#include "plan/choice/cost.h"

#include <algorithm>
#include <cmath>

namespace vkgemm::plan {
namespace {

// Of one multiprocessor. Its shared memory is assumed to be the limit of one work group, which holds for Vulkan on an
// H200. A group uses slightly more than it declares.
constexpr double registers_per_unit = 65536, invocations_per_unit = 2048, shared_overhead = 512;
// A pass before or after the product: its barrier and dispatch, the bytes that it loads in a cycle, and the latency of
// its loads.
constexpr double second_pass = 6000, partial_bytes_per_cycle = 17, load_latency = 800, packed_bytes_per_cycle = 13;

double ceil_of(double a, double b) { return std::ceil(a / b); }
double units_of(const DeviceCaps& dev) { return dev.compute_units ? dev.compute_units : 16; }

// Work groups that a multiprocessor holds at once.
double residents(const Kernel& k, const Tile& t, const DeviceCaps& dev) {
    const ElementBytes e = k.module.element_bytes();
    const double shared = double(k.module.family.shared_bytes(t, e)) + shared_overhead;
    const double registers = std::min(255.0, k.module.family.registers(t, e));
    return std::max(1.0, std::floor(std::min({dev.shared_bytes / shared, invocations_per_unit / t.WG,
                                              registers_per_unit / (registers * t.WG)})));
}

// Work groups on one multiprocessor hide each other's latency: together they take as long as their arithmetic, but no
// less than one of them alone.
double on_gpu(const Kernel& k, const Tile& t, const DeviceCaps& dev, const Problem& p, const SplitK& split, bool wide) {
    const GpuCost& gpu_cost = k.module.family.gpu_cost;
    const ElementBytes e = k.module.element_bytes();
    const double depth = std::max<double>(t.BK, 1), block = double(t.BM) * t.BN;
    const double groups = ceil_of(double(p.m), t.BM) * ceil_of(double(p.n), t.BN) * double(p.batch) * split.slices;
    const double steps = ceil_of(double(std::max<uint64_t>(split.chunk, 1)), depth);
    const double loads_per_mac = t.TM && t.TN ? 1.0 / t.TM + 1.0 / t.TN : 0;
    const double arithmetic = block * depth * (gpu_cost.mac + gpu_cost.fragment_load * loads_per_mac) *
                              (k.module.family.uses_matrix_units ? e.a / 2.0 : 1);
    const double alone = arithmetic + (t.STAGES > 1 ? gpu_cost.step_overlapped : gpu_cost.step);
    const auto all = operands(p);
    double slowdown = wide ? 1 : gpu_cost.misaligned, transposed = 1;
    for (const Operand& x : {all[0], all[1]}) {
        if (is_k_contiguous(x))
            slowdown *= gpu_cost.k_contiguous;
        else if (prefers_transposed(gpu_cost, x))
            transposed = gpu_cost.transposed_bytes;
    }
    slowdown *= transposed;
    const auto round = [&](double n) {
        return n == 0
                   ? 0
                   : std::max(n * arithmetic, alone) * steps * slowdown + n * gpu_cost.element * block + gpu_cost.group;
    };
    const double at_once = residents(k, t, dev), busiest = ceil_of(groups, units_of(dev));
    const double rounds = std::floor(busiest / at_once), rest = busiest - rounds * at_once;

    const double operands = double(p.m) * double(p.k) * e.a + double(p.k) * double(p.n) * e.b;
    const double results = double(p.m) * double(p.n) * (split.slices > 1 ? e.accumulator * split.slices : e.d);
    const double memory = double(p.batch) * (operands + results) / (units_of(dev) * gpu_cost.bytes_per_cycle);
    return gpu_cost.launch + rounds * round(at_once) + round(rest) + memory;
}

// A CPU driver runs work groups one after another on as many threads as there are cores, and caches hide memory.
double on_cpu(const Kernel& k, const Tile& t, const DeviceCaps& dev, const Problem& p, const SplitK& split) {
    const double groups = ceil_of(double(p.m), t.BM) * ceil_of(double(p.n), t.BN) * double(p.batch) * split.slices;
    const Family& f = k.module.family;
    return ceil_of(groups, dev.compute_units ? dev.compute_units : 4) * f.cpu_weight * (t.BM + f.cpu_extra_rows) *
           t.BN * double(std::max<uint64_t>(split.chunk, 1));
}

}  // namespace

uint64_t SplitK::workspace_bytes(const Problem& p) const {
    return slices == 1 ? 0 : slices * p.batch * p.m * p.n * info(p.accumulate).bytes;
}

double first_pass_cost(const DeviceCaps& dev) { return dev.kind == DeviceKind::cpu ? 0 : second_pass; }

double packing_cost(const DeviceCaps& dev, uint64_t bytes, bool transposed, uint64_t groups) {
    const double moved = 2.0 * double(bytes);  // read and written
    if (dev.kind == DeviceKind::cpu) return moved;
    return moved / (std::min(units_of(dev), double(groups)) * packed_bytes_per_cycle) * (transposed ? 2 : 1);
}

double reducing_cost(const Kernel& reducer, const DeviceCaps& dev, const Problem& p, uint32_t slices) {
    const double elements = double(p.m) * double(p.n) * double(p.batch), units = units_of(dev);
    const double bytes = elements * slices * reducer.module.element_bytes().a;
    if (dev.kind == DeviceKind::cpu) return elements * slices * 8;
    const Tile& t = reducer.tile;
    const double rounds = ceil_of(ceil_of(elements, t.BN), units * std::floor(invocations_per_unit / t.WG));
    const double loads = ceil_of(ceil_of(slices, t.TEAM), 8);  // the shader has 8 on their way at a time
    return second_pass + bytes / (units * partial_bytes_per_cycle) + rounds * loads * load_latency;
}

bool is_k_contiguous(const Operand& x) { return x.matrix->layout == (x.name == "A" ? rowMajor : columnMajor); }

bool prefers_transposed(const GpuCost& gpu_cost, const Operand& x) {
    return is_k_contiguous(x) ? gpu_cost.k_contiguous > 1
                              : gpu_cost.transposed_bytes > 1 && info(x.matrix->type).bytes == 1;
}

double cost(const Kernel& k, const Tile& t, const DeviceCaps& dev, const Problem& p, const SplitK& split, bool wide) {
    const double product =
        dev.kind == DeviceKind::cpu ? on_cpu(k, t, dev, p, split) : on_gpu(k, t, dev, p, split, wide);
    return split.slices == 1 ? product : product + reducing_cost(*split.reducer, dev, p, split.slices);
}

}  // namespace vkgemm::plan
