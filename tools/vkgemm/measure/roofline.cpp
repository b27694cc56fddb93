// SPDX-License-Identifier: MIT
#include "measure/roofline.h"

#include <algorithm>
#include <bit>

#include "cli/terminal.h"
#include "measure/shaders/peak.h"
#include "measure/stats.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {
namespace {

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

/// Whether the features of these names are enabled.
bool has_features(const DeviceCaps& caps, std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(names, [&](std::string_view name) {
        for (uint32_t bit = 0; const char* const known = vkgemmFeatureName(bit); ++bit)
            if (name == known) return (caps.limits.features >> bit & 1) != 0;
        return false;
    });
}

bool has_units(const DeviceCaps& caps, const MatrixUnits& units) {
    if (caps.limits.isCpu) return false;  // its driver computes them with plain instructions
    if (!has_features(caps, {"cooperativeMatrix", "vulkanMemoryModel", "subgroupSizeControl", "computeFullSubgroups"}))
        return false;
    if (units.factor == f16) return has_features(caps, {"shaderFloat16"});
    if (units.factor == bf16) return has_features(caps, {"shaderBFloat16Type", "shaderBFloat16CooperativeMatrix"});
    return has_features(caps, {"shaderInt8"});
}

/// The largest shape of these units; null if the device has none.
const VkgemmMatrixShape* shape_of(const DeviceCaps& caps, const MatrixUnits& units) {
    if (!has_units(caps, units)) return nullptr;
    const VkgemmMatrixShape* best = nullptr;
    for (const VkgemmMatrixShape& s : caps.matrixShapes)
        if (s.a == units.factor && s.b == units.factor && s.accumulate == units.sum && s.result == units.sum &&
            (!best || s.m * s.n * s.k > best->m * best->n * best->k))
            best = &s;
    return best;
}

/// The fastest of several runs that together take long enough; `run` gets their number.
Result<double> fastest(const std::function<Result<host::Times>(uint32_t)>& run, double seconds) {
    const auto times = run(static_cast<uint32_t>(runs_in(enough, seconds, 3, 100)));
    if (!times) return times.status();
    return std::ranges::min(times->seconds);
}

}  // namespace

Result<ComputePipeline> Roofline::pipeline_of(PipelineInfo info, const host::Buffer& from,
                                              const host::Buffer& to) const {
    info.bindings = PEAK_BINDINGS;
    info.push_bytes = sizeof(PeakArgs);
    auto pipeline = ComputePipeline::make(device_, info);
    if (!pipeline) return pipeline.status();
    VkBuffer bound[PEAK_BINDINGS] = {};
    bound[PEAK_FROM] = from.handle();
    bound[PEAK_TO] = to.handle();
    if (Status s = pipeline->bind(bound); !s) return s;
    return pipeline;
}

/// Nothing of use if interrupted().
Result<double> Roofline::measure(const PeakModule& module, const std::string& units) const {
    if (interrupted()) return 0.0;
    const VkgemmDeviceCaps& limits = caps_->limits;
    uint32_t group_size = std::min(group, limits.maxInvocations);
    PipelineInfo info{.code = module.code};
    double flops = 2.0 * PEAK_SUMS * PEAK_ROUNDS * group_size;  // of a work group's trip
    for (const MatrixUnits& m : matrix_units)
        if (const VkgemmMatrixShape* shape = m.name == units ? shape_of(*caps_, m) : nullptr) {
            info.subgroup_size = limits.subgroupSizeCanBeRequired ? limits.subgroupSize : 0;
            info.full_subgroups = info.subgroup_size != 0;
            info.constants = {{PEAK_MM, shape->m}, {PEAK_MN, shape->n}, {PEAK_MK, shape->k}};
            group_size = std::min(4 * limits.subgroupSize, limits.maxInvocations);
            const uint32_t subgroups = group_size / limits.subgroupSize;
            flops = 2.0 * shape->m * shape->n * shape->k * PEAK_CHAINS * PEAK_ROUNDS * subgroups;
        }
    info.constants.emplace_back(PEAK_WG, group_size);
    const uint32_t groups = limits.isCpu ? 64 : std::min(16384u, limits.maxGroupsX);
    const auto never = device_.createBuffer(16);
    if (!never) return never.status();
    const auto pipeline = pipeline_of(info, *never, *never);
    if (!pipeline) return pipeline.status();
    PeakArgs args{.trips = 0, .factor = std::bit_cast<uint32_t>(0.999f), .term = std::bit_cast<uint32_t>(1e-3f)};
    const auto run = [&](uint32_t runs) {
        return device_.time(runs, [&](VkCommandBuffer c, uint32_t) {
            return pipeline->record(c, std::as_bytes(std::span(&args, 1)), {groups});
        });
    };
    double seconds = 0;
    for (args.trips = 16; seconds < long_enough && args.trips < 1u << 24; args.trips *= 4) {
        const auto once = run(1);
        if (!once) return once.status();
        if (interrupted()) return 0.0;
        seconds = once->seconds.front();
    }
    args.trips /= 4;  // what `seconds` was measured with
    const auto best = fastest(run, seconds);
    if (!best) return best.status();
    return *best > 0 ? flops * args.trips * groups / *best : 0;
}

/// Nothing of use if interrupted().
Result<double> Roofline::measure_copies() const {
    if (interrupted()) return 0.0;
    const std::vector<PeakModule> modules = peak_modules();
    const auto copy = std::ranges::find(modules, "copy", &PeakModule::name);
    if (copy == modules.end()) return 0.0;
    const VkDeviceSize most = std::min<VkDeviceSize>(caps_->limits.maxStorageRange, device_.info().memoryBytes / 8);
    const VkDeviceSize chunks = std::min(copy_bytes, most) / 16, bytes = 16 * chunks;
    const auto from = device_.createBuffer(bytes), to = device_.createBuffer(bytes);
    if (!from || !to) return from ? to.status() : from.status();
    if (Status s = device_.fill(*from, 0, bytes, 1); !s) return s;
    if (Status s = device_.fill(*to, 0, bytes, 0); !s) return s;
    const uint32_t group_size = std::min(group, caps_->limits.maxInvocations);
    const PeakArgs args{.trips = static_cast<uint32_t>(chunks), .factor = 0, .term = 0};
    const uint64_t of_group = uint64_t{PEAK_CHUNKS} * group_size;
    const auto groups = static_cast<uint32_t>(divUp(chunks, of_group));
    const auto pipeline = pipeline_of({.code = copy->code, .constants = {{PEAK_WG, group_size}}}, *from, *to);
    if (!pipeline) return pipeline.status();
    const auto run = [&](uint32_t runs) {
        return device_.time(runs, [&](VkCommandBuffer c, uint32_t) {
            return pipeline->record(c, std::as_bytes(std::span(&args, 1)), {groups});
        });
    };
    const auto once = run(1);
    if (!once) return once.status();
    if (interrupted()) return 0.0;
    const auto best = fastest(run, once->seconds.front());
    if (!best) return best.status();
    std::vector<uint32_t> last(4);
    if (Status s = device_.download(*to, last, bytes - 16); !s) return s;
    if (std::ranges::count(last, 1u) != 4) return 0.0;  // it did not arrive, so the time means nothing
    return *best > 0 ? 2 * static_cast<double>(bytes) / *best : 0;
}

/// 0 if measuring fails. This does not fail the run, and it is not tried again.
double Roofline::measured(const std::string& units) {
    if (const auto known = peaks_.find(units); known != peaks_.end()) return known->second;
    for (const PeakModule& module : peak_modules())
        if (module.name == units) {
            const auto peak = measure(module, units);
            if (interrupted()) {
                cut_short_ = true;
                return 0;
            }
            return peaks_[units] = peak ? *peak : 0;
        }
    return 0;
}

Roofline::Peak Roofline::peak(const Resolved& resolved) {
    const bool doubles = resolved.accumulate == f64 && has_features(*caps_, {"shaderFloat64"});
    const double plain = resolved.accumulate == f32 || resolved.accumulate == f16 ? measured("f32")
                         : resolved.accumulate == i32                             ? measured("i32")
                         : doubles                                                ? measured("f64")
                                                                                  : 0;
    std::optional<double> matrix;
    for (const MatrixUnits& m : matrix_units)
        if (resolved.a.type == m.factor && resolved.b.type == m.factor && resolved.accumulate == m.sum &&
            shape_of(*caps_, m))
            matrix = measured(m.name);
    return {.flops = peak_of(plain, matrix), .of_matrix_units = matrix.has_value()};
}

Roof Roofline::of(const Case& c) {
    if (c.problem.accuracy != VKGEMM_ACCURACY_DEFAULT || flops(c) == 0) return {};
    if (!caps_) caps_ = deviceCaps(device_.context());
    if (!copied_) {
        const auto copied = measure_copies();
        if (interrupted()) return {};
        copied_ = copied ? *copied : 0;
    }
    cut_short_ = false;
    const Peak most = peak(resolve(c.problem));
    if (cut_short_ || !most.flops) return {};
    Roof roof = roof_of(flops(c), least_bytes(c), *most.flops, *copied_);
    roof.of_shaders = !most.of_matrix_units;
    return roof;
}

}  // namespace vkgemm::tool
