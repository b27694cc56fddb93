// SPDX-License-Identifier: MIT
// The table of kernels. Each row is a pipeline that may be chosen. Selection, tests, benchmarks and docs read it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/device/device_caps.h"
#include "plan/kernels/family.h"
#include "shaders/common/packed_module.h"

namespace vkgemm::plan {

/// What the kernels of a module do in a plan. Only products are chosen, the others are added to one. A packed product
/// reads A and B from the workspace, where a packer has put them; a product needs no other dispatch. For f64 from int8
/// a splitter makes A and B of a product of int8, a joiner D of its sums, and a finisher does the epilogue.
enum class Role : uint8_t { product, packed_product, packer, reducer, lister, splitter, joiner, finisher };

/// In the columns A and B of a module: any type or block format that shaders/formats decodes. Such a module serves the
/// problems that none with types of its own does, and reads A and B as words of 32 bits.
inline constexpr Type mixed = VKGEMM_TYPE_DEFAULT;
constexpr bool is_decoded(Type t) {
#define DECODED(name) t == VKGEMM_TYPE_##name ||
    return
#include "shaders/formats/plain.glsl"
        !info(t).is_plain();
#undef DECODED
}

/// In the column D of a module: f32, f16 or bf16, or i8 if sums are whole numbers (is_scaled in plan/problem).
inline constexpr Type scaled = VKGEMM_TYPE_DEFAULT;

/// What a module is made of: SPIR-V, or machine code of one architecture, whose number it is.
enum class Code : uint32_t { spirv = 0, sm_90a = 90 };

/// What the variant of a product for groups can do, if it has one: the groups of a table, or also a batch whose
/// matrices of B are selected by indices.
enum class Serves : uint8_t { one, groups, selection };

/// One module: SPIR-V in its variants, or machine code. A row MODULE or NATIVE of the rows.def of its folder.
struct Module {
    std::string_view name;
    const Family& family;
    Role role;
    Type a, b, d, accumulate;
    const spirv::PackedModule& embedded;
    Code code = Code::spirv;
    Serves serves = Serves::one;

    constexpr bool takes_groups() const { return serves != Serves::one; }
    constexpr bool selects() const { return serves == Serves::selection; }
    constexpr bool is_native() const { return code != Code::spirv; }

    constexpr bool is_mixed() const { return a == mixed; }
    bool has_types_of(const Problem&) const;  // of a completed problem
    bool takes_converted() const {
        return family.takes_converted && a == b && (a == f16 || a == bf16) && accumulate == f32;
    }
    bool has_result_of(const Problem&) const;  // the accumulator's type and D's alone
    constexpr bool writes(Type t) const {      // as D
        return d != scaled ? t == d : t == f32 || t == f16 || t == bf16 || (t == i8 && accumulate == i32);
    }
    /// The type in which it multiplies A, or B, of this type.
    constexpr Type factor_type(bool is_b, Type operand) const { return family.takes_fp8 ? operand : is_b ? b : a; }
    bool is_product() const { return role == Role::product || role == Role::packed_product; }
    bool built() const { return embedded.count != 0; }
    /// For spirv::unpack(), or native::unpack().
    std::span<const uint32_t> packed() const { return {embedded.words, embedded.count}; }
    static std::span<const uint32_t> packed_base() { return {spirv::base.words, spirv::base.count}; }
    constexpr ElementBytes element_bytes() const {
        const auto bytes = [&](Type t) { return info(t == mixed ? family.uses_matrix_units ? f16 : f32 : t).bytes; };
        return {.a = bytes(a),
                .b = bytes(b),
                .d = info(d == scaled ? f32 : d).bytes,
                .accumulator = info(accumulate).bytes};
    }
    /// Bytes that a work group takes with this tile.
    uint32_t shared_bytes(const Tile& tile) const {
        return static_cast<uint32_t>(family.shared_bytes(tile, element_bytes()));
    }
};

struct Kernel {
    std::string_view name;
    const Module& module;
    FeatureSet needs;  // all of them: the row's own and those of its types
    Tile tile;
};

std::span<const Kernel> kernels();
const Kernel* find_kernel(std::string_view name);  // null: no such row
/// A problem that the kernel computes, as much like this one as it can: what a self-test gives to each kernel.
Problem sample_of(const Kernel&, Problem like);
/// The sentence for a name that no row has. It suggests the nearest name of a row or of `others`.
std::string unknown_kernel(std::string_view name, std::vector<std::string_view> others = {});

}  // namespace vkgemm::plan
