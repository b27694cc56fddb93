// SPDX-License-Identifier: MIT
// Which rows a test walks, with which tiles, and which of its cases. CPU drivers take up to seconds to compile a
// pipeline, so no row gets every case: what the rows of a family share is looked at once, in its first row, with a tile
// that compiles fast; and every row gets the cases that its own tile could break.
#pragma once
#include <functional>
#include <string_view>

#include "kernels/run.h"

namespace vkgemm::test {

class Tally;

/// From here on only the rows of this family are walked. False: there is no such family.
bool choose_family(std::string_view name);

/// From here on only every n-th case of those that rows share is run.
void thin_out(size_t n);

/// From here on far fewer cases are run: of those that rows share, and of each row's own.
void be_quick();
bool is_quick();

/// Is the row of the chosen family, or are all families chosen?
bool is_chosen(const plan::Kernel& kernel);

/// Does a row of the chosen family fit this device?
bool any_row_fits();

/// `kernel` is a row, its tile perhaps replaced by a smaller one: shapes come from kernel.tile. The tally knows what to
/// replace, so the test need not.
using OnKernel = std::function<void(const plan::Kernel& kernel, Tally& tally)>;

/// Every row that fits the device as it is, every case. Rows that are added to products come in one: reducers with a
/// product of slices, packers with one that packs both operands.
void for_each_row(const OnKernel& each);

/// Of the products of one family and one tile, which differ only in their types, the first.
void for_each_tile(const OnKernel& each);

/// What rows share: of the first row of each family every case, of the others the fewer the more their predecessors
/// had in common with them. Products alone. --all: every case of every row, as it is.
void for_each_product(const OnKernel& each);

/// The same, and the rows that are added to products.
void for_each_kernel(const OnKernel& each);

/// Elements in 16 bytes of A where the family asks for rows of whole 16 bytes, else 1.
uint32_t grain(const plan::Kernel& kernel);

/// The case with sizes rounded up to what the family wants of the rows of A and B.
Case widened(Case x);

/// Does the family refuse the case by its shape or its alignment?
bool refused(const Case& x);

/// A case of the types of `kernel`, of size m x n x k or a little more (see widened).
Case case_for(const plan::Kernel& kernel, uint64_t m, uint64_t n, uint64_t k);

/// Crosses every edge of the tile, and is no multiple of anything.
Case odd_case(const plan::Kernel& kernel);

/// Whole tiles, two by one of them, and two trips along K: no edge anywhere.
Case whole_case(const plan::Kernel& kernel);

}  // namespace vkgemm::test
