// SPDX-License-Identifier: MIT
#include "tools/vkgemm/measure/roofline.h"

#include <algorithm>
#include <bit>

#include "plan/base/rounding.h"
#include "shaders/peak.h"
#include "tools/vkgemm/measure/planned_problem.h"
#include "tools/vkgemm/measure/stats.h"

namespace vkgemm::tool {
namespace {

using plan::Type;

constexpr VkDeviceSize copy_bytes = 256'000'000;  // more than caches hold
constexpr double long_enough = 2e-3;              // seconds of a run, beside which a launch is nothing
constexpr double enough = 0.2;                    // seconds of all runs; clocks rise meanwhile
constexpr uint32_t group = 256;                   // invocations

/// What a module of peak_matrix multiplies and adds up in.
struct MatrixUnits {
    const char* name;
    Type factor, sum;
};
constexpr MatrixUnits matrix_units[] = {{"matrix_f16", f16, f32},
                                        {"matrix_f16h", f16, f16},
                                        {"matrix_bf16", bf16, f32},
                                        {"matrix_i8", i8, i32},
                                        {"matrix_u8", u8, i32}};

const plan::MatrixShape* shape_of(const plan::DeviceCaps& caps, const MatrixUnits& units) {
    const plan::FeatureSet wanted = units.factor == f16    ? plan::need::matrix_f16
                                    : units.factor == bf16 ? plan::need::matrix_bf16
                                                                 : plan::need::matrix_i8;
    if ((caps.features & wanted) != wanted) return nullptr;
    if (caps.kind == plan::DeviceKind::cpu) return nullptr;  // it has none: its compiler takes the products apart
    const plan::MatrixShape* best = nullptr;                  // the largest
    for (const plan::MatrixShape& s : caps.matrix_shapes)
        if (s.a == units.factor && s.b == units.factor && s.accumulate == units.sum && s.result == units.sum &&
            (!best || s.m * s.n * s.k > best->m * best->n * best->k))
            best = &s;
    return best;
}

/// The fastest of runs that take long enough, all told; `run` takes how many.
Result<double> fastest(const std::function<Result<host::Times>(uint32_t)>& run, double seconds) {
    const auto times = run(static_cast<uint32_t>(runs_in(enough, seconds, 3, 100)));
    if (!times) return times.status();
    return std::ranges::min(times->seconds);
}

}  // namespace

Result<TracePipeline> Roofline::pipeline_of(const TracedModule& module, const plan::Step& step,
                                            const host::Buffer& from, const host::Buffer& to) const {
    const auto code = caps_->features & plan::need::memory_model ? module.scoped : module.plain;
    auto pipeline = TracePipeline::make(device_, *caps_, step, code);
    if (!pipeline) return pipeline.status();
    std::array<VkBuffer, BIND_COUNT + 1> bound{};
    bound.fill(from.handle());
    bound[BIND_D] = to.handle();
    if (Status s = pipeline->bind(bound); !s) return s;
    return pipeline;
}

Result<double> Roofline::measure(const TracedModule& module, const std::string& units) const {
    plan::Step step{};
    step.groups_y = 1;
    step.args.alpha = std::bit_cast<uint32_t>(0.999f), step.args.beta = std::bit_cast<uint32_t>(1e-3f);
    step.tile.WG = std::min(group, caps_->max_invocations);
    double flops = 2.0 * PEAK_CHAINS * PEAK_ROUNDS * step.tile.WG;  // of a work group's trip
    for (const MatrixUnits& m : matrix_units)
        if (const plan::MatrixShape* shape = m.name == units ? shape_of(*caps_, m) : nullptr) {
            step.tile.SG = caps_->subgroup_required ? caps_->subgroup_size : 0;
            step.tile.MM = shape->m, step.tile.MN = shape->n, step.tile.MK = shape->k;
            step.tile.WG = std::min(4 * caps_->subgroup_size, caps_->max_invocations);
            flops = 2.0 * shape->m * shape->n * shape->k * PEAK_CHAINS * PEAK_ROUNDS *
                    (step.tile.WG / caps_->subgroup_size);
        }
    const bool cpu = caps_->kind == plan::DeviceKind::cpu;
    step.groups_x = cpu ? 64 : std::min(16384u, caps_->max_groups_x);
    const auto never = device_.createBuffer(16);
    if (!never) return never.status();
    const auto pipeline = pipeline_of(module, step, *never, *never);
    if (!pipeline) return pipeline.status();
    const auto run = [&](uint32_t runs) {
        return device_.time(runs, [&](VkCommandBuffer c, uint32_t) { return pipeline->record(c, step); });
    };
    double seconds = 0;
    for (step.args.k = 16; seconds < long_enough && step.args.k < 1u << 24; step.args.k *= 4) {
        const auto once = run(1);
        if (!once) return once.status();
        seconds = once->seconds.front();
    }
    step.args.k /= 4;  // what `seconds` was measured with
    const auto best = fastest(run, seconds);
    if (!best) return best.status();
    return *best > 0 ? flops * step.args.k * step.groups_x / *best : 0;
}

Result<double> Roofline::measure_copies() const {
    const std::vector<TracedModule> modules = peak_modules();
    const auto copy = std::ranges::find(modules, "copy", &TracedModule::name);
    if (copy == modules.end()) return 0.0;
    const VkDeviceSize most = std::min(caps_->max_storage_range, device_.info().memoryBytes / 8);
    const VkDeviceSize pieces = std::min(copy_bytes, most) / 16, bytes = 16 * pieces;
    const auto from = device_.createBuffer(bytes), to = device_.createBuffer(bytes);
    if (!from || !to) return from ? to.status() : from.status();
    if (Status s = device_.fill(*from, 0, bytes, 1); !s) return s;
    if (Status s = device_.fill(*to, 0, bytes, 0); !s) return s;
    plan::Step step{};
    step.tile.WG = std::min(group, caps_->max_invocations);
    step.args.k = static_cast<uint32_t>(pieces);
    step.groups_x = static_cast<uint32_t>(plan::div_up(pieces, PEAK_PIECES * step.tile.WG)), step.groups_y = 1;
    const auto pipeline = pipeline_of(*copy, step, *from, *to);
    if (!pipeline) return pipeline.status();
    const auto run = [&](uint32_t runs) {
        return device_.time(runs, [&](VkCommandBuffer c, uint32_t) { return pipeline->record(c, step); });
    };
    const auto once = run(1);
    if (!once) return once.status();
    const auto best = fastest(run, once->seconds.front());
    if (!best) return best.status();
    std::vector<uint32_t> last(4);
    if (Status s = device_.download(*to, last, bytes - 16); !s) return s;
    if (std::ranges::count(last, 1u) != 4) return 0.0;  // it did not arrive: how fast is not known
    return *best > 0 ? 2 * static_cast<double>(bytes) / *best : 0;
}

/// What fails is not known, and no failure of the run; it is not tried again.
double Roofline::measured(const std::string& units) {
    if (const auto known = peaks_.find(units); known != peaks_.end()) return known->second;
    for (const TracedModule& module : peak_modules())
        if (module.name == units) {
            const auto peak = measure(module, units);
            return peaks_[units] = peak ? *peak : 0;
        }
    return 0;
}

std::optional<double> Roofline::peak(const Resolved& r) {
    const double plain = r.accumulate == f32 || r.accumulate == f16 ? measured("f32")
                         : r.accumulate == i32                            ? measured("i32")
                                                                                : 0;
    std::optional<double> matrix;
    for (const MatrixUnits& m : matrix_units)
        if (r.a.type == m.factor && r.b.type == m.factor && r.accumulate == m.sum && shape_of(*caps_, m))
            matrix = measured(m.name);
    return peak_of(plain, matrix);
}

Roof Roofline::of(const Case& c) {
    if (c.problem.accuracy != VKGEMM_ACCURACY_DEFAULT || flops(c) == 0) return {};
    if (!caps_) {
        const auto caps = caps_of(device_);
        if (!caps) return {};
        caps_ = *caps;
    }
    if (!copied_) {
        const auto copied = measure_copies();
        copied_ = copied ? *copied : 0;
    }
    const std::optional<double> most = peak(resolve(c.problem));
    return most ? roof_of(flops(c), least_bytes(c), *most, *copied_) : Roof{};
}

}  // namespace vkgemm::tool
