// SPDX-License-Identifier: MIT
// Chooses the rows that a test runs, their tiles, and which of the test's cases. CPU drivers take up to seconds to
// compile a pipeline, so no row gets every case: what the rows of a family share is tested once, in its first row, with
// a tile that compiles fast, and every row gets the cases that its own tile could break.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "kernels/run.h"

namespace vkgemm::test {

class Tally;

/// From here on only the rows of this family, or of this variant of one, are walked. False: there is no such family.
bool choose_family(std::string_view name);

/// From here on only rows of families that need matrix units, or subgroups of a certain size, and what packs for them.
void choose_subgroups_of_eight();

/// From here on only every n-th case of those that rows share is run.
void thin_out(size_t n);

/// The family's name, and its variant's: "simt", "gemv_blocks::mxint8".
inline std::string variant_of(const plan::Module& m) {
    const std::string name(m.family.name);
    return m.family.variant.empty() ? name : name + "::" + std::string(m.family.variant);
}

/// Whether A and B must begin, and have rows that begin, at multiples of 16 bytes.
inline bool wants_alignment(const plan::Kernel& k) {
    const plan::Family& f = k.module.family;
    return f.wants_wide || plan::is_straight(f, k.tile) || f.wants_pitches;
}

/// From here on far fewer cases are run: of those that rows share, and of each row's own.
void be_quick();
bool is_quick();

/// From here on each walk of for_each_tile has one tile of n, the next walk others, and each of for_each_row has, of
/// the rows that differ only in their types, the first and one of n others.
void take_turns(size_t n);

/// Has the row its turn in this walk?
bool has_turn(const plan::Kernel& kernel);
/// Has each row its turn in each walk?
bool all_have_turns();

/// True for three of four calls of a quick run. For tests that run every problem in several ways, with a pipeline each:
/// the next problem runs in others.
bool skips_way();

/// Is the row of a chosen family, or are all families chosen?
bool is_chosen(const plan::Kernel& kernel);

/// What converts operands of other types for a product with accuracy=narrow; null: the product takes none.
const plan::Kernel* converter_of(const plan::Kernel& product);

/// Does a row of the chosen family fit this device?
bool any_row_fits();

/// `kernel` is a row; its tile may be a smaller one than the row's own, and shapes come from it. The tally replaces the
/// tile in the cases, so that the test need not.
using OnKernel = std::function<void(const plan::Kernel& kernel, Tally& tally)>;

/// Every row that fits the device, every case. A row of ordinary arithmetic whose tile an earlier row has, for other
/// types, runs with a tile that compiles fast, if its family has one. Rows that are added to products come in one:
/// reducers with a product of slices, packers with one that packs both operands.
void for_each_row(const OnKernel& each);

/// The first of the products that have the same family and the same tile and differ only in their types, if it has its
/// turn.
void for_each_tile(const OnKernel& each);

/// For what rows share: every case of the first row of each family, and the fewer cases of another row the more it has
/// in common with those before it. Products only. With --all: every case of every row, with its own tile.
void for_each_product(const OnKernel& each);

/// The same, and also the rows that are added to products.
void for_each_kernel(const OnKernel& each);

/// Elements in 16 bytes of A if the family needs rows of whole 16 bytes, else 1.
uint32_t grain(const plan::Kernel& kernel);

/// The case with sizes rounded up to what the family needs for the rows of A and B.
Case widened(Case x);

/// Does the family refuse the case by its shape or its alignment?
bool refused(const Case& x);

/// Constants for a tile of the kernel's family that compiles several times as fast as its own; "": there are none.
const char* small_tile(const plan::Kernel& kernel);

/// A case of the types of `kernel`, of size m x n x k or a little more (see widened).
Case case_for(const plan::Kernel& kernel, uint64_t m, uint64_t n, uint64_t k);

/// A case that crosses every edge of the tile, with sizes that are no multiples of the tile's.
Case odd_case(const plan::Kernel& kernel);

/// A case of whole tiles, two by one of them, and two steps along K, without an edge.
Case whole_case(const plan::Kernel& kernel);

}  // namespace vkgemm::test
