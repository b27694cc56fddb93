// SPDX-License-Identifier: MIT
// What the shader of the same name promises: all that the host need know of it, as functions of its tile and the
// problem.
#pragma once
#include <array>
#include <string>
#include <string_view>

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

/// A set of tile constants: the bit of its id in abi.h for each.
using Constants = uint32_t;
namespace constant {
#define X(id, name, meaning) inline constexpr Constants name = Constants{1} << (id);
VKGEMM_TILE_CONSTANTS(X)
#undef X
/// What the host does for every product: the subgroup size it asks for, the order of the work groups, slices of K.
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

/// One broken rule: the rule in words, and the two numbers that disagree, each with what it is.
struct BrokenRule {
    std::string_view rule, left_name, right_name;
    uint64_t left = 0, right = 0;
};

/// Collects every broken rule of a tile; constexpr, so that a malformed built-in row does not compile.
struct TileRules {
    std::array<BrokenRule, 16> broken{};
    size_t count = 0;
    std::string_view family{};  // named where the tile sets a constant that it does not read
    Constants reads = 0;        // those that it does

    constexpr void check(bool holds, std::string_view rule, std::string_view left_name, uint64_t left,
                         std::string_view right_name, uint64_t right) {
        if (!holds && count < broken.size()) broken[count++] = {rule, left_name, right_name, left, right};
    }
    constexpr void multiple(std::string_view rule, std::string_view left_name, uint64_t left,
                            std::string_view right_name, uint64_t right) {
        check(left && right && left % right == 0, rule, left_name, left, right_name, right);
    }
};
std::string to_text(const TileRules&);  // every broken rule with its numbers, "; " between

/// What Family::copy_rules is by default. Not null: g++ 12 with UBSan cannot compare functions at compile time.
constexpr void no_rules(const Tile&, const ElementBytes&, TileRules&) {}

/// How fast a family is on a GPU, in cycles of a multiprocessor: measured on an H200 (docs/performance.md), and taken
/// for the proportions of every other.
struct Speed {
    double mac;                   // a multiply-add (matrix units: of two-byte elements)
    double fragment_load = 0;     // an element that an invocation reads from shared memory for its strip of a step
    double step = 0;              // a step, beyond its multiply-adds, where no other work group fills the time
    double step_overlapped = 0;   // the same with STAGES 2
    double element = 0;           // of D, to finish and write
    double group = 0;             // to begin and to end a round of work groups
    double launch = 8000;         // a barrier and a dispatch
    double bytes_per_cycle = 33;  // of operands and results, once each
    double misaligned = 1;        // factor on a step where A or B cannot be read in 16-byte chunks
    double transposed_bytes = 1;  // the same where elements of one byte lie with another index than k the fast one
    double k_contiguous = 1;      // the same for each of A and B that lies k-contiguous
};

/// What its kernels do in a plan: only a product is chosen; the others are added to one.
enum class Role : uint8_t { product, reducer, packer };

/// Operands that the matrix units do not take are sums of `count` parts of type `unit`, which they do.
struct OperandSplit {
    uint32_t count = 1;
    Type unit = Type::f32;  // means nothing where count is 1
    bool scaled = false;    // each row of A and column of B has a power of two for a factor, found by the first pass
    bool operator==(const OperandSplit&) const = default;
};

struct Family {
    std::string_view name;
    Constants reads;                         // the tile constants that mean something to it; every other must be 0
    void (*rules)(const Tile&, TileRules&);  // without which no pipeline can be specialised
    void (*copy_rules)(const Tile&, const ElementBytes&, TileRules&) = no_rules;  // those that depend on the types
    uint64_t (*shared_bytes)(const Tile&, const ElementBytes&);
    const char* (*refuses)(const Problem&);  // why it does not serve this normalised problem; null: nothing against it
    Role role = Role::product;
    bool wants_wide = false;                   // A and B must allow loads of 16 bytes throughout
    bool uses_matrix_units = false;            // MM x MN x MK must be a shape that the device offers
    bool wants_addresses = false;              // the device must have bufferDeviceAddress
    bool packs_fragments = false;              // A and B lie in the workspace as the shader pack_fragments puts them
    OperandSplit operand_split = {};           // that its operands are taken apart into
    Accuracy accuracy = Accuracy::arithmetic;  // the least that a problem must be content with
    double (*registers)(const Tile&, const ElementBytes&) = [](const Tile&, const ElementBytes&) { return 64.0; };
    Speed speed;
    double cpu_weight;          // time of a multiply-add on a CPU driver, against the `vec4` family's
    double cpu_extra_rows = 0;  // what a step of K costs there besides, in rows of the tile
};

/// What the matrix units multiply where the operands are of this type.
constexpr Type unit_type(const Family& family, Type operand) {
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
    if (r.count) r.family = family.name, r.reads = family.reads;
    r.check(tile.PACK <= 4, "there are four ways to pack operands", "PACK", tile.PACK, "limit", 4);
    family.rules(tile, r);
    if (r.count == 0) family.copy_rules(tile, bytes, r);
    const bool adds_up = r.count == 0;
    r.check(tile.WG <= limits.max_invocations, "the work group must not be larger than the device allows", "WG",
            tile.WG, "limit", limits.max_invocations);
    if (!adds_up) return r;  // then its shared memory means nothing
    const uint64_t shared = family.shared_bytes(tile, bytes);
    r.check(shared <= limits.shared_bytes, "shared memory must not exceed the device's", "bytes", shared, "limit",
            limits.shared_bytes);
    return r;
}

}  // namespace vkgemm::plan
