// SPDX-License-Identifier: MIT
// What the host needs to know of a shader, as functions of the tile and the problem.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "plan/base/rounding.h"
#include "plan/device/registers.h"
#include "plan/problem/problem.h"
#include "shaders/abi.h"

namespace vkgemm::plan {

/// Exactly the specialization constants that a user may set.
struct Tile {
#define X(id, name, meaning) uint32_t name = 0;
    VKGEMM_TILE_CONSTANTS(X)
#undef X
    bool operator==(const Tile&) const = default;
};

/// A set of tile constants: the bit of its id in constants.h for each.
using Constants = uint32_t;
namespace constant {
#define X(id, name, meaning) inline constexpr Constants name = Constants{1} << (id);
VKGEMM_TILE_CONSTANTS(X)
#undef X
/// Constants that the host itself reads for every product.
inline constexpr Constants of_every_product = SG | RASTER | SPLIT | PACK;
}  // namespace constant
std::string constant_names(Constants);  // "WG, BM, BN"

std::string to_text(const Tile&);  // "WG=64,BM=8,BN=8,BK=8,TM=1,TN=1"; zeros left out

/// `base` with the constants that `text` names replaced: "BM=128,BN=64". Refuses unknown names, twice-named ones,
/// broken numbers.
Result<Tile> with_constants(const Tile& base, std::string_view text);

struct ElementBytes {
    uint32_t a, b, d, accumulator;
};

/// What a tile must respect beyond its own arithmetic.
struct TileLimits {
    uint32_t shared_bytes = UINT32_MAX, max_invocations = UINT32_MAX;
};

/// A broken rule, and the two numbers that disagree, each with its name. The texts are literals whose lengths nobody
/// takes unless the rule is put into words.
struct BrokenRule {
    const char *rule = nullptr, *left_name = nullptr, *right_name = nullptr;
    uint64_t left = 0, right = 0;
};

/// Collects every broken rule of a tile; constexpr, so that a malformed built-in row does not compile.
struct TileRules {
    std::array<BrokenRule, 16> broken{};
    size_t count = 0;
    std::string_view family{};  // set if the tile sets a constant that the family does not read
    Constants reads = 0;        // the constants that the family reads

    constexpr void check(bool holds, const char* rule, const char* left_name, uint64_t left, const char* right_name,
                         uint64_t right) {
        if (!holds && count < broken.size()) broken[count++] = {rule, left_name, right_name, left, right};
    }
    constexpr void multiple(const char* rule, const char* left_name, uint64_t left, const char* right_name,
                            uint64_t right) {
        check(left && right && left % right == 0, rule, left_name, left, right_name, right);
    }
};
std::string to_text(const TileRules&);  // every broken rule with its numbers, "; " between

/// The default of Family::copy_rules. Not null, because g++ 12 with UBSan cannot compare functions at compile time.
constexpr void no_rules(const Tile&, const ElementBytes&, TileRules&) {}

/// For families without shared memory, for products of every problem, and for packers. Shared, because each such
/// function of a family's own takes half a kilobyte of the library.
constexpr uint64_t no_shared_bytes(const Tile&, const ElementBytes&) { return 0; }
constexpr const char* refuses_nothing(const Problem&) { return nullptr; }
constexpr const char* packs_alone(const Problem&) {
    return "packs an operand for another kernel and computes no product";
}

/// The default of Family::sample.
inline Problem any_sample(const Tile&, const Problem& like) { return like; }

/// What a family's kernels cost on a GPU, in cycles of a multiprocessor. Measured on an H200 (docs/performance.md) and
/// used for every GPU, because only the proportions matter.
struct GpuCost {
    double mac;                   // a multiply-add (matrix units: of two-byte elements)
    double fragment_load = 0;     // an element that an invocation reads from shared memory in a step
    double load = 0;              // a byte of A or B that a work group loads in a step
    double own = 0;               // a multiply-add of one invocation, which issues them one after another
    double own_load = 0;          // latency of an element of A or B that an invocation loads in a step
    double per_k = 0;             // latency of each k of a step
    double step = 0;              // latency of a step beyond that; latencies are hidden by other work groups
    double step_overlapped = 0;   // the same with STAGES 2
    double step_in_turn = 0;      // the same with STAGES 3
    double step_straight = 0;     // the same with STAGES 0
    double load_straight = 0;     // a byte of A or B that a subgroup loads in a step, with STAGES 0
    double together = 0;          // exponent by which arithmetic and latency of a round add up; 0: the longer counts
    double prologue = 0;          // steps that a round takes beyond those of K: nothing hides its first loads
    double issue = 0;             // a step, however small; no other work group hides it
    double element = 0;           // an element of D, finished and written
    double ragged = 0;            // the same, beyond that, if not all rows of D begin at multiples of 16 bytes
    double shared_part = 0;       // an element of D for each further subgroup that has a part of its sum
    double group = 0;             // the start and end of a round of work groups
    double start = 0;             // of each work group of a round, beyond that
    double launch = 8000;         // a barrier and a dispatch
    double passes = 1;            // factor on the passes before and after the product
    double bytes_per_cycle = 33;  // of operands and results, each counted once
    double reread = 0;            // a further read of A or B by the next row or column of tiles, as a part of the first
    bool overlaps = false;        // steps hide memory traffic, or it hides them; else both are added
    double misaligned = 1;        // factor on a step if neither A nor B can be read in 16-byte chunks
    double misaligned_along = 0;  // the same for operands that are k-contiguous; 0: as much
    double not_whole = 0;         // added to that factor if m, n or k is not a multiple of the tile
    double transposed_bytes = 1;  // factor on a step if A or B has elements of one byte or f64 and is not k-contiguous
    double k_contiguous = 1;      // factor on a step for each of A and B that is k-contiguous
    double a_along = 1;           // the same for A alone, beyond that
    double b_along = 1;           // the same for B alone
    double decode = 0;            // an element of A or B that is decoded in a step
    double other_rows = 0;        // a step of a tile narrower than 64 columns, for each factor of 2 between m and BM
    double converted = 1;         // factor on a step if A or B was converted first
};

/// Operands of a type that the matrix units lack are split into `count` parts of type `unit`, whose sum they are.
struct OperandSplit {
    uint32_t count = 1;
    Type unit = f32;      // unused if count is 1
    bool scaled = false;  // the first pass scales each row of A and column of B by a power of two
    bool operator==(const OperandSplit&) const = default;
};

/// Of which of A and B neighbours in memory differ in k.
struct KContiguous {
    bool a, b;
};

/// What C++ knows of a family's kernels. A family whose kernels differ in that has several variants, each a Family of
/// the
/// same name; the rows call them NAME::VARIANT, and the first one NAME::plain.
struct Family {
    std::string_view name;
    std::string_view variant{};              // "": the plain one, or the only one
    Constants reads;                         // the tile constants that it reads; every other must be 0
    void (*rules)(const Tile&, TileRules&);  // without which no pipeline can be specialised
    void (*copy_rules)(const Tile&, const ElementBytes&, TileRules&) = no_rules;  // those that depend on the types
    uint64_t (*shared_bytes)(const Tile&, const ElementBytes&);  // the most that any layout of A and B takes
    uint64_t (*shared_bytes_of_layouts)(const Tile&, const ElementBytes&, KContiguous) = nullptr;  // null: the same
    uint64_t (*shared_bytes_of_format)(const Tile&, const ElementBytes&, Type b) = nullptr;  // null: the same; else
        // shared_bytes is that of the format that takes the least
    const char* (*refuses)(const Problem&);  // the reason against this normalised problem, or null
    Problem (*sample)(const Tile&, const Problem& like) = any_sample;  // a problem that it does not refuse
    bool reads_chunk64 = false;      // 64 elements of B at a time, DEPTH times as many side by side
    bool wants_wide = false;         // A and B must allow 16-byte loads throughout
    bool wants_wide_d = false;       // and D must allow 16-byte stores
    bool takes_straight = false;     // with STAGES 0 it needs wide and k-contiguous A and B
    bool wants_pitches = false;      // rows and matrices of A and B must begin at multiples of 16 bytes, and
                                     // elements of one byte or eight must be k-contiguous
    bool wants_chunks = false;       // sides of matrices are multiples of 16 bytes, where not k-contiguous
    bool in_one_step = false;        // K must not be larger than BK
    bool uses_matrix_units = false;  // MM x MN x MK must be a shape that the device offers
    bool uses_packed_dots = false;   // the device must have shaderIntegerDotProduct
    bool wants_addresses = false;    // the device must have bufferDeviceAddress
    bool takes_converted = false;    // A and B of other types, which a first pass converts to the module's
    bool takes_fp8 = false;          // its modules multiply e4m3 and e5m2 in any pair; their columns say e4m3
    bool pads_sums = false;          // pads rows of bare sums to multiples of four elements
    bool takes_pairs = false;        // computes pairs: sums up by B2, then by B
    bool in_integers = false;        // handles f64 as pairs of words, so the device need not have it; the high words
                                     // of alpha and beta are in clamp_or_scalars
    bool packs_fragments = false;    // A and B are in the workspace, as a packer of the same split left them
    OperandSplit operand_split = {};
    VkgemmAccuracy accuracy = VKGEMM_ACCURACY_DEFAULT;  // the least exact accuracy that a problem must allow
    double (*registers)(const Tile&, const ElementBytes&) = [](const Tile&, const ElementBytes&) { return 64.0; };
    // The 32-bit values that an invocation holds at once. If the device has fewer registers, some go to memory. Null:
    // few. Mixed operands have the elements of the problem, those of blocks one byte.
    double (*live_registers)(const Tile&, const ElementBytes&, const Registers&) = nullptr;
    // What it holds besides if A, or B, is not read in 16-byte chunks. Null: nothing.
    double (*narrow_registers)(const Tile&, const ElementBytes&, const Registers&, bool is_b) = nullptr;
    bool free_edges = false;  // a tile that crosses an edge takes no more registers than others
    GpuCost gpu_cost;
    double cpu_weight;            // time of a multiply-add on a CPU driver, relative to the family vec4
    double cpu_extra_rows = 0;    // the overhead of a step of K there, in rows of the tile
    double cpu_mixed_weight = 0;  // as cpu_weight, of modules for mixed types, which decode; 0: no different
    double cpu_beyond_cache = 1;  // the factor on it where A and B do not fit into a core's cache
};

/// Whether `text` names this variant: "simt", "gemv_blocks::mxint8".
constexpr bool is_called(const Family& family, std::string_view text) {
    if (!text.starts_with(family.name)) return false;
    text.remove_prefix(family.name.size());
    if (family.variant.empty()) return text.empty();
    return text.starts_with("::") && text.substr(2) == family.variant;
}

/// Does the kernel load its matrices straight from memory?
constexpr bool is_straight(const Family& family, const Tile& tile) { return family.takes_straight && tile.STAGES == 0; }

/// The type that the matrix units multiply if an operand has type `operand`, where DEFAULT stands for mixed types.
constexpr Type unit_type(const Family& family, Type operand) {
    if (operand == VKGEMM_TYPE_DEFAULT) return f16;
    return family.operand_split.count > 1 ? family.operand_split.unit : operand;
}

inline constexpr uint32_t max_tile_constant = 4096;  // so that products of two or three cannot wrap

/// Every broken rule of `tile`: its sanity, the family's, and those of the limits.
constexpr TileRules broken_rules(const Family& family, const Tile& tile, const ElementBytes& bytes,
                                 const TileLimits& limits = {}) {
    TileRules r;
#define X(id, name, meaning)                                                                               \
    r.check(tile.name <= max_tile_constant, "no tile constant may be so large", #name, tile.name, "limit", \
            max_tile_constant);
    VKGEMM_TILE_CONSTANTS(X)
#undef X
    r.check(tile.WG && tile.BM && tile.BN, "a tile has at least one invocation, row and column", "WG*BM*BN", 0, "least",
            1);
    if (r.count) return r;
#define X(id, name, meaning)                                                                                           \
    r.check(!tile.name || (family.reads & constant::name), "the family does not read this constant", #name, tile.name, \
            "must be", 0);
    VKGEMM_TILE_CONSTANTS(X)
#undef X
    if (r.count) {
        r.family = family.name;
        r.reads = family.reads;
    }
    r.check(tile.PACK <= 4, "there are four ways to pack operands", "PACK", tile.PACK, "limit", 4);
    family.rules(tile, r);
    if (r.count == 0) family.copy_rules(tile, bytes, r);
    const bool is_sound = r.count == 0;
    r.check(tile.WG <= limits.max_invocations, "the work group must not be larger than the device allows", "WG",
            tile.WG, "limit", limits.max_invocations);
    if (!is_sound) return r;  // its shared memory could not be computed
    const uint64_t shared = family.shared_bytes(tile, bytes);
    r.check(shared <= limits.shared_bytes, "shared memory must not exceed the device's", "bytes", shared, "limit",
            limits.shared_bytes);
    return r;
}

}  // namespace vkgemm::plan
