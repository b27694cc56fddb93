// SPDX-License-Identifier: MIT
// The public functions of explain.h that need no choice: types, problems, kernels, tiles and devices, as data.
#include "plan/base/concat.h"
#include "plan/problem/factors.h"
#include "vk/api_getter.h"
#include "vk/context.h"
#include "vk/convert.h"
#include "vkgemm/explain.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::optional<VkgemmTypeInfo> type_info(int32_t type) {
    for (const plan::TypeInfo& i : plan::type_info)
        if (static_cast<int32_t>(i.type) == type)
            return VkgemmTypeInfo{.structSize = 0,
                                  .bytes = i.bytes,
                                  .name = i.name.data(),
                                  .isFloat = i.is_float,
                                  .exactBits = static_cast<uint32_t>(i.exact_bits),
                                  .blockElements = i.block,
                                  .alignment = i.unit_bytes()};
    return std::nullopt;
}

/// The completed problem as the public struct. A matrix that all of the batch share, and every matrix if batch is 1,
/// gets the stride VKGEMM_BROADCAST.
VkgemmProblem to_public(const plan::Problem& p) {
    VkgemmProblem out = convert::toC(plan::restated(p));
    if (p.cSource != VKGEMM_C_SEPARATE) out.c = {};
    return out;
}

Result<plan::Problem> completed_problem(const VkgemmProblem* problem) {
    auto given = vk::problem_from(problem);
    if (!given) return given.status();
    return plan::complete(*given);
}

/// The tile of a kernel with constants replaced, or the rules of its family that it breaks.
Result<plan::Tile> tile_of(const plan::Kernel& k, const char* replace) {
    auto tile = plan::with_constants(k.tile, replace ? replace : "");
    if (!tile) return tile;
    const plan::TileRules rules = plan::broken_rules(k.module.family, *tile, k.module.element_bytes());
    if (rules.count) return Refusal{VKGEMM_ERROR_TILE, plan::to_text(rules)};
    return tile;
}

/// A constant and what it means.
struct NamedConstant {
    const char *name, *meaning;
    uint32_t plan::Tile::*value;
};
constexpr NamedConstant tile_constants[] = {
#define X(id, name, meaning) {#name, meaning, &plan::Tile::name},
    VKGEMM_TILE_CONSTANTS(X)
#undef X
};

VkgemmKernelRole role_of(const plan::Module& m) {
    if (m.is_product()) return VKGEMM_KERNEL_PRODUCT;
    if (m.role == plan::Role::lister) return VKGEMM_KERNEL_LISTER;
    if (m.role == plan::Role::splitter) return VKGEMM_KERNEL_SPLITTER;
    if (m.role == plan::Role::joiner) return VKGEMM_KERNEL_JOINER;
    if (m.role == plan::Role::finisher) return VKGEMM_KERNEL_FINISHER;
    return m.role == plan::Role::reducer ? VKGEMM_KERNEL_REDUCER : VKGEMM_KERNEL_PACKER;
}

VkgemmKernelTraits traits_of(const plan::Kernel& k, const plan::Tile& tile) {
    const plan::Family& f = k.module.family;
    return {.structSize = 0,
            .role = role_of(k.module),
            .accuracy = f.accuracy,
            .usesMatrixUnits = f.uses_matrix_units || k.module.is_native(),
            .packsFragments = f.packs_fragments,
            .sharedBytes = k.module.shared_bytes(tile),
            .constantCount = static_cast<uint32_t>(std::size(tile_constants)),
            .native = static_cast<uint32_t>(k.module.code)};
}

VkgemmDeviceCaps caps_of(const plan::DeviceCaps& d) {
    VkgemmDeviceCaps out{};
    out.features = d.features;
    out.isCpu = d.kind == plan::DeviceKind::cpu;
    out.sharedBytes = d.shared_bytes;
    out.maxInvocations = d.max_invocations;
    out.maxGroupsX = d.max_groups_x;
    out.maxGroupsY = d.max_groups_y;
    out.maxStorageBuffers = d.max_storage_buffers;
    out.maxStorageRange = d.max_storage_range;
    out.subgroupSize = d.subgroup_size;
    out.subgroupSizeMin = d.subgroup_min;
    out.subgroupSizeMax = d.subgroup_max;
    out.subgroupSizeCanBeRequired = d.subgroup_required;
    out.matrixShapeCount = static_cast<uint32_t>(d.matrix_shapes.size());
    return out;
}

}  // namespace

VkgemmResult vkgemmGetTypeInfo(VkgemmType type, VkgemmTypeInfo* info) {
    return vk::get_struct(info, [&] { return type_info(vk::enum_value(type)); });
}

VkgemmResult vkgemmCompleteProblem(const VkgemmProblem* problem, VkgemmProblem* completed, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        const auto p = completed_problem(problem);
        if (!p) return vk::to_result(error, p.status());
        if (auto why = vk::write_problem(to_public(*p), completed)) return vk::to_result(error, *why);
        return vk::success(error);
    });
}

// NOLINTNEXTLINE(readability-non-const-parameter): both are written through the loop
VkgemmResult vkgemmConvertFactors(const VkgemmProblem* problem, double* alpha, double* beta, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!alpha || !beta)
            return vk::to_result(error,
                                 Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, alpha ? "beta is null" : "alpha is null"});
        const auto p = completed_problem(problem);
        if (!p) return vk::to_result(error, p.status());
        if (const auto why = plan::unfit_factors(*p, *alpha, *beta)) return vk::to_result(error, *why);
        for (double* x : {alpha, beta}) {
            if (plan::info(p->accumulate).is_float && p->accumulate != VKGEMM_TYPE_F64) *x = static_cast<float>(*x);
            if (plan::is_zero_factor(*x, plan::finished_in(*p))) *x = 0;
        }
        return vk::success(error);
    });
}

VkgemmResult vkgemmGetKernelTraits(uint32_t index, const char* tile, VkgemmKernelTraits* traits, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (auto why = vk::check_output(traits)) return vk::to_result(error, *why);
        if (index >= plan::kernels().size())
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                               plan::concat({"index is ", index, "; there are ", plan::kernels().size(), " kernels"})});
        const plan::Kernel& k = plan::kernels()[index];
        const auto replaced = tile_of(k, tile);
        if (!replaced) return vk::to_result(error, replaced.status());
        vk::write_struct(traits_of(k, *replaced), traits);
        return vk::success(error);
    });
}

VkgemmResult vkgemmGetTileConstant(uint32_t index, const char* tile, uint32_t constant, VkgemmTileConstant* out) {
    return vk::get_struct(out, [&]() -> std::optional<VkgemmTileConstant> {
        if (index >= plan::kernels().size() || constant >= std::size(tile_constants)) return std::nullopt;
        const auto replaced = tile_of(plan::kernels()[index], tile);
        if (!replaced) return std::nullopt;
        const NamedConstant& c = tile_constants[constant];
        return VkgemmTileConstant{.structSize = 0, .value = (*replaced).*c.value, .name = c.name, .meaning = c.meaning};
    });
}

VkgemmResult vkgemmGetDeviceCaps(VkgemmContext context, VkgemmDeviceCaps* caps) {
    return vk::get_struct(caps, [&]() -> std::optional<VkgemmDeviceCaps> {
        if (!context) return std::nullopt;
        return caps_of(context->caps);
    });
}

VkgemmResult vkgemmGetMatrixShape(VkgemmContext context, uint32_t index, VkgemmMatrixShape* shape) {
    return vk::get_struct(shape, [&]() -> std::optional<VkgemmMatrixShape> {
        if (!context || index >= context->caps.matrix_shapes.size()) return std::nullopt;
        const plan::MatrixShape& s = context->caps.matrix_shapes[index];
        return VkgemmMatrixShape{.structSize = 0,
                                 .a = s.a,
                                 .b = s.b,
                                 .accumulate = s.accumulate,
                                 .result = s.result,
                                 .m = s.m,
                                 .n = s.n,
                                 .k = s.k};
    });
}
