// SPDX-License-Identifier: MIT
#include "kernels/rows.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/tally.h"
#include "shaders/common/row_block.h"
#include "support/limited_device.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::test {
namespace {

using plan::Kernel;
using plan::Layout;
using plan::Tile;

/// Tiles that compile several times as fast as the rows' own, and still have more than one of what the family repeats
/// (teams, subgroups, matrices). One of `step` cases is run.
struct SmallTile {
    std::string_view variant;
    const char* constants;
    size_t step;
};
constexpr SmallTile small_tiles[] = {
    {"block", "WG=16,BM=16,BN=16,BK=4,TM=4,TN=4", 1},
    {"simt", "WG=64,BM=32,BN=32,BK=8,WM=16,WN=32,TM=4,TN=4", 2},
    {"coopmat", "WG=16,BM=16,BN=16,WM=8,WN=16,STAGES=1", 2},
    {"coopmat", "WG=16,BM=16,BN=32,WM=16,WN=16,STAGES=1", 4},  // two matrices below one another leave as one
    {"coopmat", "WG=8,BM=8,BN=8,WM=8,WN=8,STAGES=2", 16},
    {"coopmat", "WG=16,BM=16,BN=32,WM=16,WN=16,STAGES=3", 4},
    {"coopmat", "WG=16,BM=8,BN=16,BK=32,WM=8,WN=16,STAGES=3", 16},    // two subgroups share a part of D
    {"coopmat", "WG=16,BM=8,BN=16,BK=32,WM=8,WN=16,STAGES=1", 16},    // two subgroups share a part of D
    {"coopmat", "WG=16,BM=16,BN=40,BK=32,WM=16,WN=40,STAGES=1", 16},  // rows of B are shared unevenly
    {"coopmat_resident", "WG=16,BM=32,BN=16,BK=16,WM=8,WN=16", 1},
    {"coopmat_resident", "WG=32,BM=32,BN=32,BK=32,WM=16,WN=16", 2},  // two subgroups abreast
};

std::string_view chosen;  // a family or a variant; "": all families
bool only_eight = false;  // only those of choose_subgroups_of_eight()
size_t every_nth = 1;     // of what rows share
size_t every_own = 1;     // of what is tested in every row
size_t turns = 1;         // of n walks, each takes other rows
size_t turn = 0;

/// A row to run: a product, or a row of another role inside the smallest product that it can be added to.
struct Row {
    const Kernel* product;
    const Kernel* helper = nullptr;
    const Kernel& kernel() const { return helper ? *helper : *product; }
    const plan::Module& module() const { return kernel().module; }
    const plan::Family& family() const { return module().family; }
};

/// Makes the plan take the helper, with a product that shows its faults: one that reads 16 bytes at a time, and so what
/// a packer fills up with past the end of K, or one of more slices than a team of a reducer has invocations.
Twist twist_for(const Kernel& helper) {
    const plan::Family& family = helper.module.family;
    if (family.packs_fragments) return {"PACK=4,SPLIT=1"};
    const char* const constants = helper.module.role == plan::Role::packer
                                      ? "PACK=4,SPLIT=1,WG=64,BM=32,BN=32,BK=8,WM=16,WN=32,TM=4,TN=4"
                                  : helper.tile.TEAM == 1 ? "PACK=1,SPLIT=3"
                                                          : "PACK=1,SPLIT=40";
    return {constants, helper.tile.WG};  // the limit, so that no wider one takes its place
}

bool same_matrices(const Tile& a, const Tile& b) {
    return a.MM == b.MM && a.MN == b.MN && a.MK == b.MK && a.SG == b.SG;
}

// Machine code has no parts of subgroups.
uint32_t row_block(uint32_t part) { return part ? ROW_BLOCK_OF(part) : PACKED_ROW_BLOCK; }

bool helps(const Kernel& helper, const Kernel& product) {
    if (helper.module.family.packs_fragments)
        return product.module.is_product() && product.module.family.packs_fragments &&
               product.module.a == helper.module.a &&
               product.module.family.operand_split == helper.module.family.operand_split &&
               same_matrices(product.tile, helper.tile) && row_block(product.tile.WM) == row_block(helper.tile.BM) &&
               row_block(product.tile.WN) == row_block(helper.tile.BM);
    const bool packs = helper.module.role == plan::Role::packer;
    if (product.module.family.name != (packs ? "simt" : "tiled") || product.tile.WG > helper.tile.WG) return false;
    if (packs && helper.module.is_mixed()) return false;  // what converts has tests of its own
    if (packs)
        return !product.module.is_mixed() && plan::info(product.module.a).bytes == plan::info(helper.module.a).bytes;
    return product.module.accumulate == helper.module.accumulate && product.module.d == helper.module.d;
}

/// The tile that shapes come from, so that a helper's own edges are crossed, not those of its product.
Tile shaping(const Row& row, Tile tile) {
    if (!row.helper || row.family().packs_fragments) return tile;
    const Tile& own = row.helper->tile;
    if (row.module().role == plan::Role::packer) {
        tile.BM = own.BM;
        tile.BN = own.BN;
        tile.BK = own.BN / 2;
    } else {
        tile.BM = tile.BN = std::max(8u, own.BN / 16);  // more elements of D than a work group finishes
        if (own.TEAM > 1) tile.BK *= 8;                 // its teams are for many slices
    }
    return tile;
}

std::vector<Row> rows_that_fit(bool with_helpers) {
    std::vector<Row> out;
    for (const Kernel& kernel : plan::kernels()) {
        const plan::Role role = kernel.module.role;
        if (!is_chosen(kernel) || role == plan::Role::lister) continue;  // in grouped.cpp
        if (role == plan::Role::splitter || role == plan::Role::joiner || role == plan::Role::finisher)
            continue;  // in from_int8.cpp
        if (kernel.module.is_product()) {
            if (fits(kernel)) out.push_back({&kernel});
            continue;
        }
        const Kernel* product = nullptr;
        for (const Kernel& k : plan::kernels())
            if (!product && helps(kernel, k) && fits(k)) product = &k;
        if (product && with_helpers) out.push_back({product, &kernel});
    }
    return out;
}

uint32_t grain_of(const Kernel& k) { return wants_alignment(k) ? 16 / plan::info(k.module.a).bytes : 1; }

size_t hash(std::string_view s) {
    size_t h = 0;
    for (const char c : s) h = h * 31 + static_cast<unsigned char>(c);
    return h;
}

/// On CPU drivers operands are addresses unless a GPU is mocked: half of the rows run as on a mocked GPU.
Twist in_turn(const Row& row) { return {"", hash(row.kernel().name) % 2 ? as_on_a_gpu : 0}; }

/// Was a case run? Of `step` cases one is, beginning with the `first`.
bool walk(const Row& row, const OnKernel& each, size_t step, size_t first, const Twist& twist) {
    const std::string_view name = row.kernel().name;
    const Kernel& k = *row.product;
    Tally tally(std::string(name), step, first, row.helper ? twist_for(*row.helper) : twist);
    each({k.name, k.module, k.needs, shaping(row, *plan::with_constants(k.tile, twist.tile))}, tally);
    return tally.ran();
}

/// One of so many cases is run with the row's own tile.
size_t step_of(const Row& row, bool first_of_family, bool first_of_module) {
    const uint32_t area = row.product->tile.BM * row.product->tile.BN;
    const size_t rank = first_of_family ? 1 : first_of_module ? (every_nth == 1 ? 1 : 5) : 20;
    if (row.helper) return 2 * rank;  // two pipelines a case
    if (row.family().uses_matrix_units) return 40 * rank;
    if (row.family().wants_addresses) return 4 * rank;  // a block of straight code, which compiles for a second
    return rank * (area <= 1024 ? 1 : area <= 4096 ? 2 : 8);
}

/// Does the small tile keep the rules, together with the constants of the row that it leaves alone? The matrices of a
/// GPU may be larger than it.
bool suits(const Kernel& k, const SmallTile& small) {
    const auto tile = plan::with_constants(k.tile, small.constants);
    return variant_of(k.module) == small.variant && tile &&
           plan::broken_rules(k.module.family, *tile, k.module.element_bytes()).count == 0;
}

void walk_shared(bool with_helpers, const OnKernel& each) {
    std::set<std::string> families, modules;
    for (const Row& row : rows_that_fit(with_helpers)) {
        const bool first_of_family = families.insert(variant_of(row.module())).second;
        const bool first_of_module = modules.insert(std::string(row.module().name)).second;
        bool has_small_tile = false;
        const auto visit = [&](size_t step, const char* constants) {
            // Every test runs its first case in every family, however few cases it has.
            const size_t first = first_of_family && !has_small_tile ? 0 : hash(row.kernel().name);
            walk(row, each, step * every_nth, first, {constants, 0, true});
        };
        for (const SmallTile& small : small_tiles) {
            if (everything() || !suits(*row.product, small)) continue;
            if (first_of_module) visit((first_of_family ? 1 : 5) * small.step, small.constants);
            has_small_tile = true;
        }
        if (!has_small_tile) visit(step_of(row, first_of_family, first_of_module), "");
    }
}

Tile tile_of(const Kernel& k, const Case& x) { return *plan::with_constants(k.tile, x.tile); }

// Staged blocks of some formats may take more than the device's shared memory.
bool exceeds_shared_memory(const Kernel& k, const Case& x, plan::Type b) {
    const auto bytes_of = k.module.family.shared_bytes_of_format;
    if (!bytes_of) return false;
    return bytes_of(tile_of(k, x), k.module.element_bytes(), b) > device().info().sharedBytes;
}

// Boxes of a row-major B have 64 columns.
bool wants_column_major_b(const Kernel& kernel) { return kernel.module.is_native() && kernel.tile.BN < 64; }

}  // namespace

bool choose_family(std::string_view name) {
    chosen = name;
    for (const Kernel& kernel : plan::kernels())
        if (is_chosen(kernel)) return true;
    return false;
}

void thin_out(size_t n) { every_nth *= std::max<size_t>(n, 1); }

void take_turns(size_t n) { turns = std::max<size_t>(n, 1); }

bool all_have_turns() { return turns == 1; }

bool has_turn(const Kernel& kernel) { return (hash(kernel.name) + turn) % turns == 0; }

void be_quick() {
    every_nth *= 8;
    every_own = 5;
}
bool is_quick() { return every_own > 1; }

bool skips_way() {
    static size_t asked = 0;
    return is_quick() && ++asked % 4;
}

void choose_subgroups_of_eight() { only_eight = true; }

bool is_chosen(const Kernel& kernel) {
    const plan::Family& f = kernel.module.family;
    if (only_eight && !f.uses_matrix_units && !f.packs_fragments && !f.name.starts_with("pack_")) return false;
    const std::string variant = variant_of(kernel.module);
    return chosen.empty() || f.name == chosen || variant == chosen || variant + "::plain" == chosen;
}

const Kernel* converter_of(const Kernel& product) {
    const plan::Module& m = product.module;
    const bool from_fragments = m.family.packs_fragments && m.a == plan::f16;
    if (!m.is_product() || m.is_native() || !(m.takes_converted() || from_fragments)) return nullptr;
    for (const Kernel& k : plan::kernels())
        if (k.module.role == plan::Role::packer && k.module.is_mixed() && k.module.d == m.a &&
            k.module.family.packs_fragments == from_fragments &&
            (!from_fragments || same_matrices(k.tile, product.tile)))
            return &k;
    return nullptr;
}

bool any_row_fits() {
    for (const Kernel& k : plan::kernels()) {  // convert.cpp tests what converts, with the products that take it
        const Kernel* const converter = converter_of(k);
        if (converter && is_chosen(*converter) && fits(k)) return true;
    }
    return !rows_that_fit(true).empty();
}

void for_each_row(const OnKernel& each) {
    std::set<std::string> families, seen;
    ++turn;
    for (const Row& row : rows_that_fit(true)) {
        const size_t start = families.insert(variant_of(row.module())).second ? 0 : hash(row.kernel().name);
        Twist twist = in_turn(row);
        const bool first = seen.insert(variant_of(row.module()) + " " + to_text(row.product->tile)).second;
        if (!first && !has_turn(*row.product)) continue;
        if (!first && !everything() && !row.helper && !row.family().uses_matrix_units)
            for (const SmallTile& small : small_tiles)
                if (suits(*row.product, small)) twist.tile = small.constants;
        if (walk(row, each, every_own, start, twist) && row.helper && !row.family().packs_fragments &&
            every_own == 1)  // the products of those that pack_fragments run with no other
            CHECK_MESSAGE(limited_plan_made(row.kernel().name).value_or(true), row.kernel().name, " was not taken");
    }
}

void for_each_tile(const OnKernel& each) {
    std::set<std::string> seen;
    ++turn;
    for (const Row& row : rows_that_fit(false))
        if (everything() ||
            (seen.insert(variant_of(row.module()) + " " + to_text(row.product->tile)).second && has_turn(*row.product)))
            walk(row, each, every_own, hash(row.kernel().name), in_turn(row));
}

void for_each_product(const OnKernel& each) { walk_shared(false, each); }

void for_each_kernel(const OnKernel& each) { walk_shared(true, each); }

const char* small_tile(const Kernel& kernel) {
    for (const SmallTile& small : small_tiles)
        if (suits(kernel, small)) return small.constants;
    return "";
}

uint32_t grain(const Kernel& kernel) { return grain_of(kernel); }

Case widened(Case x) {
    const Kernel* kernel = plan::find_kernel(x.kernel);
    if (!kernel) return x;
    plan::Problem& p = x.problem;
    const uint32_t to = grain_of(*kernel);
    const bool blocks = kernel->module.family.reads_chunk64;
    if (blocks || is_called(kernel->module.family, "gemv::mixed")) {  // which take nothing else
        p.a.layout = rowMajor;
        p.b.layout = plan::columnMajor;
        p.k = roundUp(p.k, blocks ? 64 : 32);
    }
    if (blocks) p.m = std::min<uint64_t>(p.m, 16);
    if (wants_column_major_b(*kernel)) p.b.layout = plan::columnMajor;
    if (kernel->module.family.in_one_step && p.k > 0) p.k = (p.k - 1) % tile_of(*kernel, x).BK + 1;
    if (plan::is_straight(kernel->module.family, kernel->tile)) {
        p.a.layout = rowMajor;
        p.b.layout = plan::columnMajor;
    }
    (p.a.layout == rowMajor ? p.k : p.m) = roundUp(p.a.layout == rowMajor ? p.k : p.m, to);
    (p.b.layout == rowMajor ? p.n : p.k) = roundUp(p.b.layout == rowMajor ? p.n : p.k, to);
    if (kernel->module.family.wants_wide_d) p.n = roundUp(p.n, to);
    x.shift = static_cast<uint32_t>(roundUp(x.shift, to));
    return x;
}

bool refused(const Case& x) {
    const Kernel* kernel = plan::find_kernel(x.kernel);
    const auto completed = plan::complete(x.problem);
    if (kernel && kernel->module.is_mixed() && !completed) return true;  // some lay A and B out along k
    for (const VkgemmSlot slot : {VKGEMM_SLOT_C, VKGEMM_SLOT_RESIDUAL})
        if (completed && plan::is_read_in_words(*completed, slot) && x.shift % 2 != 0) return true;
    if (!kernel || !completed || plan::is_empty(*completed)) return false;
    const plan::Problem p = plan::normalise(*completed).problem;
    if (kernel->module.a != kernel->module.b && p.a.type != kernel->module.a) return true;  // A and B were swapped
    if (wants_column_major_b(*kernel) && p.b.layout == rowMajor) return true;
    if (plan::is_straight(kernel->module.family, kernel->tile) &&
        (p.a.layout != rowMajor || p.b.layout != plan::columnMajor))
        return true;
    const auto all = plan::operands(p);
    const uint32_t alignment = x.shift * plan::info(p.a.type).bytes % 16 ? 1 : 16;
    const auto is_wide = [&](const plan::Operand& o) {  // or becomes so
        const bool converted = kernel->module.takes_converted() && o.matrix->type != kernel->module.a;
        return converted || plan::is_wide(o, alignment);
    };
    const bool wide = is_wide(all[0]) && is_wide(all[1]);
    if (kernel->module.family.wants_wide_d && !plan::is_wide(all[3], alignment)) return true;
    if (kernel->module.family.in_one_step && p.k > tile_of(*kernel, x).BK) return true;
    if (kernel->module.family.refuses(p) || exceeds_shared_memory(*kernel, x, p.b.type)) return true;
    return wants_alignment(*kernel) && !wide;
}

Case case_for(const Kernel& kernel, uint64_t m, uint64_t n, uint64_t k) {
    Case x;
    x.kernel = kernel.name;
    x.problem.m = m;
    x.problem.n = n;
    x.problem.k = k;
    const bool is_mixed = kernel.module.is_mixed();
    x.problem.a.type = is_mixed ? plan::f16 : kernel.module.a;
    x.problem.b.type = is_mixed ? plan::f32 : kernel.module.b;
    if (kernel.module.family.reads_chunk64) x.problem.b.type = VKGEMM_TYPE_Q4_0;    // which needs a format
    constexpr plan::Type results[] = {plan::f32, plan::f16, plan::bf16, plan::i8};  // of a scaled product, in turn
    const size_t count = kernel.module.writes(plan::i8) ? 4 : 3;
    x.problem.d.type = kernel.module.d == plan::scaled ? results[(m + n + k) % count] : kernel.module.d;
    if (kernel.module.family.takes_fp8 && m % 2) x.problem.b.type = plan::e5m2;
    x.problem.accumulate = kernel.module.accumulate;
    x.problem.accuracy = kernel.module.family.accuracy;
    return widened(std::move(x));
}

Case odd_case(const Kernel& kernel) {
    const Tile& t = kernel.tile;
    return case_for(kernel, t.BM + 3, t.BN + 5, 2 * std::max(t.BK, 4u) + 3);
}

Case whole_case(const Kernel& kernel) {
    const Tile& t = kernel.tile;
    return case_for(kernel, 2 * t.BM, t.BN, 2 * std::max(t.BK, 4u));
}

}  // namespace vkgemm::test
