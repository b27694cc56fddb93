// SPDX-License-Identifier: MIT
#include "plan/kernels/kernels.h"

#include "families.h"  // made by cmake/rows.cmake: the family.h of every folder
#include "plan/base/concat.h"
#include "plan/base/rounding.h"
#include "selected_modules.h"  // made by cmake/rows.cmake
#include "vkgemm/text.hpp"

namespace vkgemm::spirv {
#define MODULE(name, ...) extern const PackedModule name;
#include "rows.def"
}  // namespace vkgemm::spirv

namespace vkgemm::native::code {
#define NATIVE(name, ...) extern const spirv::PackedModule name;
#include "rows.def"
}  // namespace vkgemm::native::code

namespace vkgemm::plan {
namespace {

// What the types alone need of a device, in buffers and in arithmetic.
constexpr FeatureSet to_store(Type t) {
    if (t == f64) return need::float64;
    return info(t).bytes == 2 ? need::storage16 : info(t).bytes == 1 ? need::storage8 : 0;
}
constexpr FeatureSet to_read(Type t) { return t == mixed ? 0 : to_store(t); }
constexpr FeatureSet to_write(Type t) { return t == scaled ? need::storage16 | need::storage8 : to_store(t); }
constexpr FeatureSet to_sum(Type t) { return t == f16 ? need::float16 : t == f64 ? need::float64 : 0; }
constexpr FeatureSet on_matrix_units(Type t) {
    return t == bf16 ? need::matrix_bf16 : info(t).is_float ? need::matrix_f16 : need::matrix_i8;
}
// Machine code needs no feature of the types, because no SPIR-V declares them.
constexpr FeatureSet native_needs = need::buffer_address | need::binary_import;
constexpr FeatureSet needs_of(const Family& family, Type a, Type b, Type d, Type accumulate) {
    if (family.in_integers) return 0;
    return to_read(a) | to_read(b) | to_write(d) | to_sum(accumulate) |
           (family.uses_matrix_units ? on_matrix_units(unit_type(family, a)) : 0) |
           (family.uses_packed_dots ? need::integer_dot : 0) | (family.wants_addresses ? need::buffer_address : 0) |
           (family.packs_fragments && unit_type(family, a) == bf16 ? need::int16 : 0);  // to take its bits
}

// The last column: for a packer the family that it packs for, which only the build needs.
constexpr Serves serves_of(Role role, std::string_view column) {
    if (role != Role::product) return Serves::one;
    return column == "groups" ? Serves::groups : column == "selection" ? Serves::selection : Serves::one;
}

// Whether a row's column names its Family: the build reads the column, and the library reads the Family.
constexpr bool is_column_of(const Family& family, std::string_view column) {
    constexpr std::string_view plain = "::plain";
    if (column.ends_with(plain)) column.remove_suffix(plain.size());
    return is_called(family, column);
}

// The parameters need other names than Module's fields, because the preprocessor would replace those too.
#define MODULE(id, fam, its_role, type_a, type_b, type_d, sums, env, build, column) \
    static_assert(is_column_of(family::fam, #fam));                                 \
    constexpr Module id = {.name = #id,                                             \
                           .family = family::fam,                                   \
                           .role = Role::its_role,                                  \
                           .a = type_a,                                             \
                           .b = type_b,                                             \
                           .d = type_d,                                             \
                           .accumulate = sums,                                      \
                           .embedded = spirv::id,                                   \
                           .serves = serves_of(Role::its_role, #column)};           \
    constexpr FeatureSet id##_needs = needs_of(family::fam, type_a, type_b, type_d, sums);
#define NATIVE(id, fam, its_role, type_a, type_b, type_d, sums, arch, source, column) \
    static_assert(is_column_of(family::fam, #fam));                                   \
    constexpr Module id = {.name = #id,                                               \
                           .family = family::fam,                                     \
                           .role = Role::its_role,                                    \
                           .a = type_a,                                               \
                           .b = type_b,                                               \
                           .d = type_d,                                               \
                           .accumulate = sums,                                        \
                           .embedded = native::code::id,                              \
                           .code = Code::arch};                                       \
    constexpr FeatureSet id##_needs = native_needs;
#define KERNEL(module, tile, ...)                                                                    \
    static_assert(broken_rules(module.family, Tile{__VA_ARGS__}, module.element_bytes()).count == 0, \
                  #module "_" #tile " is malformed");
#include "rows.def"

#define KERNEL(module, tile, ...) IN_BUILD_##module({#module "_" #tile, module, module##_needs, Tile{__VA_ARGS__}}, )
constexpr Kernel table[] = {
#include "rows.def"
};

}  // namespace

bool Module::has_result_of(const Problem& p) const { return accumulate == p.accumulate && writes(p.d.type); }

bool Module::has_types_of(const Problem& p) const {
    const bool same_sums = has_result_of(p);
    if (family.takes_fp8) return same_sums && is_fp8(p.a.type) && is_fp8(p.b.type);
    // What pack_fragments_mixed has rounded to f16 is multiplied by kernels of f16.
    if (family.packs_fragments && p.accuracy >= VKGEMM_ACCURACY_NARROW)
        return same_sums && a == f16 && p.a.type != bf16 && p.b.type != bf16;
    if (takes_converted() && p.accuracy >= VKGEMM_ACCURACY_NARROW) return same_sums && a == narrow_type(p);
    return same_sums && (is_mixed() ? plan::is_mixed(p) && is_decoded(p.a.type) && is_decoded(p.b.type)
                                    : a == p.a.type && b == p.b.type);
}

std::span<const Kernel> kernels() { return table; }

const Kernel* find_kernel(std::string_view name) {
    for (const Kernel& k : table)
        if (k.name == name) return &k;
    return nullptr;
}

Problem sample_of(const Kernel& k, Problem p) {
    const Module& m = k.module;
    if (m.is_mixed()) {
        p.a.type = f16;
        if (p.b.type == VKGEMM_TYPE_DEFAULT || info(p.b.type).is_plain()) p.b.type = f32;
    } else {
        p.a.type = m.a;
        p.b.type = m.b;
    }
    p = m.family.sample(k.tile, p);
    if (const uint32_t block = info(p.b.type).block; m.is_mixed() && block > 1) {
        p.b.layout = columnMajor;
        p.k = round_up(p.k, block);
    }
    p.d.type = m.d == scaled ? f16 : m.d;
    p.accumulate = m.accumulate;
    p.accuracy = m.family.accuracy;
    return p;
}

std::string unknown_kernel(std::string_view name, std::vector<std::string_view> others) {
    for (const Kernel& k : table) {
        if (k.module.family.name == name)
            return concat({"'", name, "' is a family; give one of its kernels, such as ", k.name});
        others.push_back(k.name);
    }
    const std::string_view near = nearestWord(name, others);
    std::string why = concat({"unknown kernel '", name, "'"});
    return near.empty() ? concat({why, "; 'vkgemm kernels' lists those there are"})
                        : concat({why, "; did you mean '", near, "'?"});
}

}  // namespace vkgemm::plan
