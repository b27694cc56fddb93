// SPDX-License-Identifier: MIT
#include "plan/choice/device_kernels.h"

#include <algorithm>
#include <bit>

#include "plan/base/concat.h"
#include "plan/device/verified_drivers.h"
#include "plan/problem/factors.h"

namespace vkgemm::plan {
namespace {

// Why a kernel cannot run, or its code alone.
struct Judge {
    const DeviceCaps& dev;
    Wording wording;

    Refusal refusal(VkgemmResult code, std::initializer_list<TextPiece> text) const {
        return plan::refusal(wording, code, text);
    }
    std::optional<Status> wrong_subgroup(const Tile&, VkgemmResult kind) const;
    std::optional<Status> no_such_matrix(const Module&, const Tile&) const;
    std::optional<Status> no_native() const;
    std::optional<Status> unfit_native(const Kernel&, const Tile&) const;
    std::optional<Status> unfit(const Kernel&, const Tile&) const;
};

// Shared memory of a work group on Hopper: on a queue family that only computes, and on one with graphics.
constexpr uint32_t native_shared_bytes = 232448, graphics_shared_bytes = 48128;

// "driver 580.159.04 of NVIDIA H200, driver 580.159.04 of NVIDIA H100 80GB HBM3".
std::string verified_text(Wording wording) {
    std::string out;
    if (wording == Wording::in_words)
        for (const VerifiedDriver& v : verified_drivers)
            out += concat({(out.empty() ? "" : ", "), "driver ", v.text, " of ", v.device});
    return out;
}

// A required subgroup size that the driver would not grant.
std::optional<Status> Judge::wrong_subgroup(const Tile& t, VkgemmResult kind) const {
    if (t.SG == 0) return std::nullopt;
    if (!(dev.features & need::subgroup_size_control))
        return refusal(kind, {"SG is ", t.SG, ", but the feature subgroupSizeControl is ", dev.not_there()});
    if (!std::has_single_bit(t.SG) || t.SG < dev.subgroup_min || t.SG > dev.subgroup_max)
        return refusal(kind, {"SG is ", t.SG, ", not one of the device's subgroup sizes: powers of two from ",
                              dev.subgroup_min, " to ", dev.subgroup_max});
    if (!dev.subgroup_required && dev.subgroup_min != dev.subgroup_max)
        return refusal(kind,
                       {"SG is ", t.SG, ", but a compute pipeline of the device cannot ask for one of its sizes, ",
                        dev.subgroup_min, " to ", dev.subgroup_max});
    if (dev.max_subgroups && t.WG / t.SG > dev.max_subgroups)
        return refusal(kind, {"SG is ", t.SG, ", so the work group of ", t.WG, " would be ", t.WG / t.SG,
                              " subgroups; the limit is ", dev.max_subgroups});
    if (t.WG % t.SG)
        return refusal(kind, {"SG is ", t.SG, ", and the work group of ", t.WG, " is not whole subgroups"});
    return std::nullopt;
}

std::optional<Status> Judge::no_such_matrix(const Module& m, const Tile& t) const {
    const Type a = unit_type(m.family, m.a), b = unit_type(m.family, m.b);
    const MatrixShape wanted = {
        .a = a, .b = b, .accumulate = m.accumulate, .result = m.accumulate, .m = t.MM, .n = t.MN, .k = t.MK};
    if (std::find(dev.matrix_shapes.begin(), dev.matrix_shapes.end(), wanted) != dev.matrix_shapes.end())
        return std::nullopt;
    if (wording == Wording::code_alone) return Refusal{VKGEMM_ERROR_UNSUPPORTED, ""};
    std::string there;
    for (const MatrixShape& s : dev.matrix_shapes)
        if (s.a == a && s.b == b && s.accumulate == m.accumulate && s.result == m.accumulate)
            there += concat({" ", s.m, "x", s.n, "x", s.k});
    return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                   concat({"the matrix units have no product of ", t.MM, "x", t.MN, "x", t.MK, " for these types",
                           (there.empty() ? "" : concat({"; they have", there}))})};
}

// What the queue, the device and the driver must be like for any kernel in machine code.
std::optional<Status> Judge::no_native() const {
    if (dev.native_use == uint32_t(NativeUse::off))
        return refusal(VKGEMM_ERROR_UNSUPPORTED,
                       {"is machine code, which VKGEMM_NATIVE=0 or VkgemmContextInfo::nativeKernels switched off"});
    if (dev.native_use == uint32_t(NativeUse::unverified))
        return refusal(VKGEMM_ERROR_UNSUPPORTED, {"is machine code, which was not verified on ", dev.name,
                                                  " with driver ", dev.driver, "; verified is ", verified_text(wording),
                                                  "; VkgemmContextInfo::nativeKernels can allow any driver"});
    if (dev.is_physical) return std::nullopt;  // the rest is known of a context alone
    if (!(dev.features & need::binary_import))
        return refusal(VKGEMM_ERROR_UNSUPPORTED, {"needs what is not enabled on the device: VK_NVX_binary_import"});
    if (dev.queue_flags == 0)
        return refusal(VKGEMM_ERROR_UNSUPPORTED,
                       {"is machine code for a queue family without graphics, and VkgemmContextInfo::queueFlags is 0; "
                        "set the flags of the family that you submit to"});
    if (dev.queue_flags & queue_graphics)
        return refusal(VKGEMM_ERROR_UNSUPPORTED,
                       {"is machine code for a queue family without graphics, and VkgemmContextInfo::queueFlags is ",
                        dev.queue_flags, ", which has VK_QUEUE_GRAPHICS_BIT: there more than ", graphics_shared_bytes,
                        " bytes of shared memory lose the device; submit to a family that only computes"});
    if (dev.native_code != uint32_t(Code::sm_90a))
        return refusal(VKGEMM_ERROR_UNSUPPORTED, {"is machine code for sm_90a, which the device does not load"});
    if (dev.compute_units == 0)
        return refusal(VKGEMM_ERROR_UNSUPPORTED,
                       {"wants to know the number of multiprocessors, which VK_NV_shader_sm_builtins reports, and the "
                        "device does not offer it"});
    return std::nullopt;
}

std::optional<Status> Judge::unfit_native(const Kernel& k, const Tile& tile) const {
    if (auto why = no_native()) return why;
    Tile compiled = tile;  // with what may differ
    compiled.RASTER = k.tile.RASTER;
    compiled.SPLIT = k.tile.SPLIT;
    compiled.PACK = k.tile.PACK;
    if (compiled != k.tile)
        return refusal(VKGEMM_ERROR_TILE,
                       {"is compiled for its own tile, ", wording == Wording::in_words ? to_text(k.tile) : "",
                        "; only RASTER, SPLIT and PACK may differ"});
    const TileRules rules = broken_rules(k.module.family, tile, k.module.element_bytes(), {native_shared_bytes, 1024});
    if (rules.count) return Refusal{VKGEMM_ERROR_TILE, wording == Wording::in_words ? to_text(rules) : ""};
    return std::nullopt;
}

std::optional<Status> Judge::unfit(const Kernel& k, const Tile& tile) const {
    const Module& m = k.module;
    if (!m.built()) return refusal(VKGEMM_ERROR_UNSUPPORTED, {"not built: ", m.embedded.why_missing});
    for (const DisabledKernel& x : dev.disabled)
        if (x.kernel == k.name)
            return refusal(VKGEMM_ERROR_UNSUPPORTED, {"disabled: the self-test failed on this device: ", x.why});
    const bool in_words = wording == Wording::in_words;
    if (const FeatureSet lacks = k.needs & ~dev.features)
        return refusal(VKGEMM_ERROR_UNSUPPORTED,
                       {"needs what is ", dev.not_there(), ": ", in_words ? feature_names(lacks) : ""});
    if (VKGEMM_HAS_NATIVE && m.is_native()) return unfit_native(k, tile);
    if (const uint32_t bytes = argument_bytes(m.accumulate); bytes > dev.max_push_constant_bytes)
        return refusal(VKGEMM_ERROR_LIMIT,
                       {"needs ", bytes, " bytes of push constants; the device has ", dev.max_push_constant_bytes});
    const TileRules rules = broken_rules(m.family, tile, m.element_bytes(), {dev.shared_bytes, dev.max_invocations});
    // A tile of the table keeps every rule but those of the device, which the caller cannot change.
    const VkgemmResult kind = tile == k.tile ? VKGEMM_ERROR_LIMIT : VKGEMM_ERROR_TILE;
    if (rules.count) return Refusal{kind, in_words ? to_text(rules) : ""};
    if (auto why = wrong_subgroup(tile, kind)) return why;
    return m.family.uses_matrix_units ? no_such_matrix(m, tile) : std::nullopt;
}

// One number for the four types of a product.
uint32_t types_key(Type a, Type b, Type accumulate, Type d) {
    static_assert(std::size(type_info) < 256);
    return uint32_t(a) << 24 | uint32_t(b) << 16 | uint32_t(accumulate) << 8 | uint32_t(d);
}
uint32_t types_key(const Module& m) { return types_key(m.a, m.b, m.accumulate, m.d); }

}  // namespace

std::optional<Status> unfit_device(const Kernel& k, const Tile& tile, const DeviceCaps& dev, Wording wording) {
    return Judge{dev, wording}.unfit(k, tile);
}

std::optional<Status> why_not_native(const DeviceCaps& dev) {
    if (!VKGEMM_HAS_NATIVE) return Refusal{VKGEMM_ERROR_UNSUPPORTED, ""};
    return Judge{dev, Wording::code_alone}.no_native();
}

bool fits_device(const Kernel& k, const Tile& tile, const DeviceCaps& dev) {
    return !unfit_device(k, tile, dev, Wording::code_alone);
}

DeviceKernels::DeviceKernels(const DeviceCaps& caps) : caps_(&caps) {
    const auto add = [&](const Product& x) {  // behind those of the same types
        products_.insert(std::ranges::upper_bound(products_, x.types, {}, &Product::types), x);
    };
    for (const Kernel& k : kernels()) {
        const bool fits = fits_device(k, k.tile, caps);
        if (k.module.is_product()) {
            const Module& m = k.module;
            const KernelCost cost(k, k.tile, caps);
            if (m.family.takes_fp8) {
                for (const Type d : {f32, f16, bf16}) add({types_key(mixed, mixed, m.accumulate, d), &k, fits, cost});
                continue;
            }
            add({types_key(m), &k, fits, cost});
            // pack_fragments_mixed and convert round to what it reads.
            if (m.takes_converted() || (m.family.packs_fragments && m.a == f16 && m.b == f16))
                add({types_key(mixed, mixed, m.accumulate, m.d), &k, fits, cost});
        } else if (fits)
            add_helper(k);
    }
}

void DeviceKernels::add_helper(const Kernel& k) {
    switch (k.module.role) {
        case Role::packer:
            packers_.push_back(&k);
            break;
        case Role::reducer:
            reducers_.push_back(&k);
            break;
        case Role::lister:
            lister_ = &k;
            break;
        case Role::splitter:
            splitter_ = &k;
            break;
        case Role::joiner:
            joiner_ = &k;
            break;
        case Role::finisher:
            finisher_ = &k;
            break;
        default:
            break;
    }
}

std::span<const DeviceKernels::Product> DeviceKernels::products(const Problem& p) const {
    const bool is_mixed = plan::is_mixed(p);
    if (is_mixed && !(is_decoded(p.a.type) && is_decoded(p.b.type))) return {};
    const Type d = is_scaled(p) ? scaled : p.d.type;
    const uint32_t key = types_key(is_mixed ? mixed : p.a.type, is_mixed ? mixed : p.b.type, p.accumulate, d);
    const auto below = [](const Product& x, uint32_t types) { return x.types < types; };
    const auto begin = std::lower_bound(products_.begin(), products_.end(), key, below);
    const auto end = std::lower_bound(begin, products_.end(), key + 1, below);
    return {begin, end};
}

DeviceKernels::Reducer DeviceKernels::find_reducer(const Problem& p, uint32_t slices) const {
    Reducer best;
    for (const Kernel* const k : reducers_) {
        if (!k->module.has_result_of(p)) continue;
        const double cost = reducing_cost(*k, caps(), p, slices);
        if (!best.kernel || cost < best.cost) best = {k, cost};
    }
    return best;
}

std::string unused_matrix_units(const DeviceKernels& device, const Problem& p) {
    std::string shapes;
    for (const MatrixShape& s : device.caps().matrix_shapes)
        if (s.a == p.a.type && s.b == p.b.type && s.accumulate == p.accumulate && s.result == p.accumulate)
            shapes += concat({(shapes.empty() ? "" : ", "), s.m, "x", s.n, "x", s.k});
    if (shapes.empty()) return "";
    bool is_multiplied = false;  // by a kernel of any shape
    for (const DeviceKernels::Product& x : device.products(p)) {
        if (!x.kernel->module.family.uses_matrix_units || !x.kernel->module.has_types_of(p)) continue;
        if (x.fits) return "";
        is_multiplied = true;
    }
    return concat({"the matrix units are not used: they multiply ", info(p.a.type).name, "*", info(p.b.type).name, "+",
                   info(p.accumulate).name, " by ", shapes,
                   is_multiplied ? ", and no kernel has a tile for that which fits the device; you may give one of "
                                   "coopmat your own, with these as MM, MN and MK"
                                 : ", and no kernel multiplies these types on them"});
}

}  // namespace vkgemm::plan
