// SPDX-License-Identifier: MIT
#include "plan/choice/select.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "plan/problem/problem_text.h"
#include "vkgemm/text.hpp"

namespace vkgemm::plan {
namespace {

constexpr uint64_t max_batch = UINT32_MAX - 1;
constexpr uint64_t max_dimension = (uint64_t{1} << 31) - 1;  // so that rounding up to a tile cannot wrap 32 bits

std::string types_of(const Module& m) { return typesText(m.a, m.b, m.accumulate, m.d); }
bool same_types(const Module& m, const Problem& p) {
    return m.a == p.a.type && m.b == p.b.type && m.d == p.d.type && m.accumulate == p.accumulate;
}

// Every accuracy that is at most as exact as `least`, as problems in text have it.
std::string accuracies_from(VkgemmAccuracy least) {
    std::string out;
    for (int a = least; a <= VKGEMM_ACCURACY_F32_SPLIT_ROWS; ++a)
        out += concat({(out.empty() ? "" : " or "), "accuracy=", accuracy_name(VkgemmAccuracy(a))});
    return out;
}

// Sizes beyond what 32-bit indices and one descriptor reach.
std::optional<Status> too_large(const DeviceCaps& dev, const Problem& p, Binding binding) {
    for (const auto& [name, value] : {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}})
        if (value > max_dimension)
            return Refusal{VKGEMM_ERROR_LIMIT, concat({name, " is ", value, ", above vkgemm's limit of ", max_dimension,
                                                       "; split the product"})};
    if (p.batch > max_batch)
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"batch is ", p.batch, ", above vkgemm's limit of ", max_batch, "; split the batch"})};
    for (const auto& [name, x, rows, cols, padded] : operands(p)) {
        if (name == "C" && p.cSource != VKGEMM_C_SEPARATE) continue;
        const uint64_t span = span_elements(*x, rows, cols, p.batch).value_or(UINT64_MAX);
        if (x->ld > max_span)
            return Refusal{VKGEMM_ERROR_LIMIT, concat({"the leading dimension of ", name, " is ", x->ld,
                                                       ", above the limit of ", max_span, "; split the product"})};
        if (span > max_span)
            return Refusal{VKGEMM_ERROR_LIMIT,
                           concat({name, " spans ", span, " elements, above the limit of ", max_span,
                                   " that 32-bit indices reach; split the batch or the product"})};
        const uint64_t bytes = span * info(x->type).bytes + dev.offset_alignment;
        if (binding == Binding::descriptors && bytes > dev.max_storage_range)
            return Refusal{VKGEMM_ERROR_LIMIT,
                           concat({name, " spans ", span * info(x->type).bytes,
                                   " bytes, more than one descriptor reaches on the device (", dev.max_storage_range,
                                   " less the offset alignment); device addresses have no such limit"})};
    }
    return std::nullopt;
}

// A required subgroup size that the driver would not grant.
std::optional<Status> wrong_subgroup(const Tile& t, const DeviceCaps& dev, VkgemmResult kind) {
    if (t.SG == 0) return std::nullopt;
    const auto broken = [&](const std::string& why) { return Refusal{kind, concat({"SG is ", t.SG, ", ", why})}; };
    if (!(dev.features & need::subgroup_size_control))
        return broken(std::string("but the feature subgroupSizeControl is ") + dev.not_there());
    if (!std::has_single_bit(t.SG) || t.SG < dev.subgroup_min || t.SG > dev.subgroup_max)
        return broken(concat({"not one of the device's subgroup sizes: powers of two from ", dev.subgroup_min, " to ",
                              dev.subgroup_max}));
    if (!dev.subgroup_required && dev.subgroup_min != dev.subgroup_max)
        return broken(concat({"but a compute pipeline of the device cannot ask for one of its sizes, ",
                              dev.subgroup_min, " to ", dev.subgroup_max}));
    if (dev.max_subgroups && t.WG / t.SG > dev.max_subgroups)
        return broken(concat({"so the work group of ", t.WG, " would be ", t.WG / t.SG, " subgroups; the limit is ",
                              dev.max_subgroups}));
    if (t.WG % t.SG) return broken(concat({"and the work group of ", t.WG, " is not whole subgroups"}));
    return std::nullopt;
}

std::optional<Status> no_such_matrix(const Module& m, const Tile& t, const DeviceCaps& dev) {
    const Type a = unit_type(m.family, m.a), b = unit_type(m.family, m.b);
    const MatrixShape wanted = {a, b, m.accumulate, m.accumulate, t.MM, t.MN, t.MK};
    if (std::find(dev.matrix_shapes.begin(), dev.matrix_shapes.end(), wanted) != dev.matrix_shapes.end())
        return std::nullopt;
    std::string there;
    for (const MatrixShape& s : dev.matrix_shapes)
        if (s.a == a && s.b == b && s.accumulate == m.accumulate && s.result == m.accumulate)
            there += concat({" ", s.m, "x", s.n, "x", s.k});
    return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                   concat({"the matrix units have no product of ", t.MM, "x", t.MN, "x", t.MK, " for these types",
                           (there.empty() ? "" : concat({"; they have", there}))})};
}

std::optional<Status> too_many_groups(const Tile& t, const DeviceCaps& dev, const Problem& p) {
    const double groups = double(div_up(p.m, t.BM)) * double(div_up(p.n, t.BN)) * double(p.batch);
    const double most = std::min(double(dev.max_groups_x) * double(dev.max_groups_y), 4294967294.0);
    if (groups <= most) return std::nullopt;
    return Refusal{VKGEMM_ERROR_LIMIT,
                   concat({"it would take ", uint64_t(std::min(groups, 1e18)), " work groups; the limit is ",
                           uint64_t(most), "; use a larger tile or split the batch"})};
}

}  // namespace

Result<Binding> choose_binding(const DeviceCaps& dev, const Request& request) {
    const bool addresses = dev.features & need::buffer_address;
    const bool descriptors = (dev.features & need::push_descriptor) && dev.max_storage_buffers >= BIND_COUNT;
    if (request.addresses && !addresses)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       std::string("operands as device addresses need the feature bufferDeviceAddress, which is ") +
                           dev.not_there()};
    const bool cpu = dev.kind == DeviceKind::cpu;  // whose drivers test every access through a descriptor
    if (!request.addresses && descriptors && !(cpu && addresses)) return Binding::descriptors;
    if (addresses) return Binding::addresses;
    return Refusal{
        VKGEMM_ERROR_UNSUPPORTED,
        concat({"operands need push descriptors (VK_KHR_push_descriptor or Vulkan 1.4, with ", BIND_COUNT,
                " storage buffers a stage; the device has ", dev.max_storage_buffers,
                ") or the feature bufferDeviceAddress; neither is ", (dev.is_physical ? "offered" : "enabled")})};
}

std::optional<Status> unfit_device(const Kernel& k, const Tile& tile, const DeviceCaps& dev) {
    const Module& m = k.module;
    if (!m.built()) return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({"not built: ", m.spirv.why_missing})};
    for (const DisabledKernel& x : dev.disabled)
        if (x.kernel == k.name)
            return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                           concat({"disabled: the self-test failed on this device: ", x.why})};
    if (sizeof(abi::GemmArgs) > dev.max_push_constant_bytes)
        return Refusal{VKGEMM_ERROR_LIMIT,
                       concat({"needs ", sizeof(abi::GemmArgs), " bytes of push constants; the device has ",
                               dev.max_push_constant_bytes})};
    if (const FeatureSet lacks = k.needs & ~dev.features)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({"needs what is ", dev.not_there(), ": ", feature_names(lacks)})};
    const TileRules rules = broken_rules(m.family, tile, m.element_bytes(), {dev.shared_bytes, dev.max_invocations});
    // A tile of the table keeps every rule but those of the device, which the caller cannot change.
    const VkgemmResult kind = tile == k.tile ? VKGEMM_ERROR_LIMIT : VKGEMM_ERROR_TILE;
    if (rules.count) return Refusal{kind, to_text(rules)};
    if (auto why = wrong_subgroup(tile, dev, kind)) return why;
    return m.family.uses_matrix_units ? no_such_matrix(m, tile, dev) : std::nullopt;
}

std::optional<Status> unfit(const Kernel& k, const Tile& tile, const DeviceCaps& dev, const Problem& p,
                            Binding binding) {
    const Module& m = k.module;
    if (!same_types(m, p))
        return Refusal{VKGEMM_ERROR_UNSUPPORTED, concat({"multiplies ", types_of(m), ", not ", types_text(p)})};
    if (p.accuracy < m.family.accuracy)
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       concat({"splits f32 for the matrix units; needs ", accuracies_from(m.family.accuracy)})};
    if (auto why = unfit_device(k, tile, dev)) return why;
    if (auto why = too_large(dev, p, binding)) return why;
    if (auto why = too_many_groups(tile, dev, p)) return why;
    if (const char* why = m.family.refuses(p)) return Refusal{VKGEMM_ERROR_UNSUPPORTED, why};
    return std::nullopt;
}

namespace {

// The tile that `request` makes of a row's.
Result<Tile> requested_tile(const Kernel& k, const Request& request) { return with_constants(k.tile, request.tile); }

// Nothing serves: the one reason, when one kernel was asked for; else the reasons of the rows that have the types.
Refusal nothing_fits(const Problem& p, const Request& request, const std::vector<Candidate>& candidates) {
    std::string types, reasons;
    VkgemmResult kind = VKGEMM_ERROR_UNSUPPORTED;
    for (const Candidate& x : candidates) {
        if (request.kernel == x.kernel->name) return {x.why->code, concat({x.kernel->name, ": ", x.why->text})};
        if (!x.why) continue;  // would serve, but another kernel was asked for
        if (!x.kernel->module.is_product() || p.accuracy < x.kernel->module.family.accuracy) continue;
        const std::string words = types_of(x.kernel->module);
        if (!same_types(x.kernel->module, p)) {
            if (types.find(words) == std::string::npos) types += (types.empty() ? "" : ", ") + words;
        } else if (reasons.find(x.why->text) == std::string::npos) {
            if (reasons.empty()) kind = x.why->code;  // of the first row, which asks for least
            reasons += concat({(reasons.empty() ? "" : "; "), x.kernel->name, ": ", x.why->text});
        }
    }
    if (reasons.empty())
        return {VKGEMM_ERROR_UNSUPPORTED,
                concat({"no kernel of this version multiplies ", types_text(p), "; those there are take ", types})};
    return {kind, concat({"no kernel serves this problem on the device: ", reasons})};
}

// The reason against a kernel, or the best of its schedules.
Candidate judge(const Kernel& k, const DeviceCaps& dev, const Problem& p, const Request& request,
                const Result<Binding>& binding) {
    if (!binding) return {&k, binding.status(), {}};
    const Result<Tile> tile = requested_tile(k, request);
    if (!tile) return {&k, tile.status(), {}};
    if (auto why = unfit(k, *tile, dev, p, *binding)) return {&k, std::move(why), {}};
    const Result<Schedule> best = best_schedule(k, *tile, dev, p, request);
    if (!best) return {&k, best.status(), {}};
    return {&k, std::nullopt, *best};
}

}  // namespace

std::vector<Candidate> list_candidates(const DeviceCaps& dev, const Problem& p, const Request& request) {
    std::vector<Candidate> out;
    out.reserve(kernels().size());
    const Result<Binding> binding = choose_binding(dev, request);
    for (const Kernel& k : kernels()) out.push_back(judge(k, dev, p, request, binding));
    return out;
}

namespace {

// Takes what the nearest tuned row says, where there is one and its kernel and tile can do this problem too.
void follow_tuned(Choice& choice, const DeviceCaps& dev, const Problem& p, const Request& request) {
    if (!request.kernel.empty() || !request.tile.empty() || !request.tuned) return;
    const TunedRow* row = request.tuned->nearest(p, request.operand_alignment);
    if (!row) return;
    const Kernel& k = *find_kernel(row->kernel);  // tuned_for() knew it
    const Tile tile = *with_constants(k.tile, row->tile);
    std::optional<Status> why = unfit(k, tile, dev, p, choice.binding);
    if (!why) {
        if (const Result<Schedule> schedule = best_schedule(k, tile, dev, p, request))
            choice.kernel = &k, choice.tile = tile, choice.schedule = *schedule, choice.tuned = row;
        else
            why = schedule.status();
    }
    if (why) choice.tuned_unfit = concat({"the tuned row is not followed, ", row->text, ": ", why->text});
}

}  // namespace

Result<Choice> select(const DeviceCaps& dev, const Problem& p, const Request& request) {
    if (!request.kernel.empty() && !find_kernel(request.kernel))
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, unknown_kernel(request.kernel)};
    const Result<Binding> binding = choose_binding(dev, request);
    if (!binding) return binding.status();
    if (const Result<Tile> named = with_constants(Tile{}, request.tile); !named) return named.status();

    Choice choice;
    choice.binding = *binding;
    for (const Kernel& k : kernels()) {
        if (!request.kernel.empty() && request.kernel != k.name) continue;
        if (!same_types(k.module, p) || p.accuracy < k.module.family.accuracy) continue;  // most, without a sentence
        const Candidate x = judge(k, dev, p, request, binding);
        if (!x.why && (!choice.kernel || x.schedule.cost < choice.schedule.cost))
            choice.kernel = x.kernel, choice.schedule = x.schedule;
    }
    if (!choice.kernel) return nothing_fits(p, request, list_candidates(dev, p, request));
    choice.tile = *requested_tile(*choice.kernel, request);
    follow_tuned(choice, dev, p, request);
    return choice;
}

}  // namespace vkgemm::plan
