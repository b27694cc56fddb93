// SPDX-License-Identifier: MIT
// The cost model: how long a kernel would take. The kernel with the least cost is chosen.
#pragma once
#include <array>

#include "plan/choice/tile_terms.h"

namespace vkgemm::plan {

/// K is split into `slices` of depth `chunk`. Each writes its sum to the workspace, and `reducer` adds them in order.
struct SplitK {
    uint32_t slices = 1;              // of K; one slice has a reducer only where larger sizes are split
    uint64_t chunk = 0;               // depth of a slice, a multiple of BK; k if there is one
    const Kernel* reducer = nullptr;  // null: K is not split

    uint64_t workspace_bytes(const Problem& p, uint64_t row_bytes) const;  // with rows of sums of so many bytes
};

/// What the cost model derives from a kernel, a tile and a device, whatever the problem.
struct KernelCost {
    KernelCost(const Kernel&, const Tile&, const DeviceCaps&);

    const Family* family;
    ElementBytes bytes;
    bool on_cpu;
    double cpu_weight;         // of a multiply-add, if it is
    double units;              // multiprocessors, or threads
    double rows, cols, block;  // of D in a work group
    double depth;              // of a step
    double arithmetic = 0;     // of a step, if other work groups hide its latency
    double alone = 0;          // of a step of a group that is alone
    double further_parts = 0;  // subgroups beside the first that share a part of D
    // Work groups that a multiprocessor holds, by whether A is k-contiguous and whether B is.
    std::array<std::array<double, 2>, 2> at_once = {{{1, 1}, {1, 1}}};
    double most_at_once = 1;
    // The values that an invocation holds at once as a part of its registers, by the bytes of an element of A and of
    // B: 1, 2, 4. Beyond 1 some go to memory; 0 if it is not known. filled_more is added if a tile crosses an edge,
    // filled_narrow if A, or B, is not read in 16-byte chunks.
    std::array<std::array<float, 3>, 3> filled = {};
    float filled_more = 0;
    std::array<float, 2> filled_narrow = {};
    CostParts weights = no_weights;
    const TileTerms* terms = nullptr;  // null: there are none
};

/// How the layouts and the alignment of A and B affect a kernel.
struct OperandEffects {
    double slowdown = 1;                      // the factor on the time of a step
    double at_once = 1;                       // work groups that a multiprocessor holds
    double full_step = 0;                     // the time of a step of so many work groups, without slowdown
    TermSum terms;                            // of the facts that a split of K does not change
    bool a_narrow = false, b_narrow = false;  // not read in 16-byte chunks
};

/// What a kernel costs on a problem, however that is scheduled: predicted time, on a GPU in cycles of a multiprocessor;
/// comparable only within one problem on one device. The arguments must outlive it.
class ProductCost {
   public:
    /// Without the terms of the tile unless `corrected`.
    ProductCost(const KernelCost&, const Problem&, bool corrected = true);

    /// Without other passes.
    CostParts parts(const SplitK&, const OperandEffects&) const;
    double product(const SplitK& split, const OperandEffects& x) const { return parts(split, x).weighted(k_.weights); }
    /// The factor on the cost of all passes, whose parts are given, by the terms of the tile.
#if VKGEMM_HAS_TILE_TERMS
    double correction(const CostParts&, const SplitK&, const OperandEffects&) const;
    /// All facts that it depends on, of the operands as the product reads them. For those who fit terms.
    TileFacts facts(const std::array<Operand, 4>&, const CostParts&, const SplitK&, const OperandEffects&) const;
    double least_correction() const { return terms_ ? least_factor : 1; }
#else
    double correction(const CostParts&, const SplitK&, const OperandEffects&) const { return 1; }
    double least_correction() const { return 1; }
#endif
    const CostParts& weights() const { return k_.weights; }
    OperandEffects effects_of(const std::array<Operand, 4>&, uint32_t operand_alignment) const;
    /// The factor on the time of a step of a kernel whose values exceed the registers; else 1. `narrow`: not read in
    /// 16-byte chunks.
    double spill_factor(bool a_narrow, bool b_narrow) const;
    /// No more than reducing_cost() with any reducer, weighted.
    double least_second_pass(uint32_t slices) const;
    /// No more than the cost of so many slices and of any larger number, without other passes than the second.
    double least_with(uint32_t slices, double slowdown) const;
    double least_with(uint32_t slices) const;  // whatever the slowdown

   private:
    CostParts on_gpu(const SplitK&, const OperandEffects&) const;
    double slowdown(const std::array<Operand, 4>&, uint32_t operand_alignment) const;
    bool is_whole() const;  // no tile crosses an edge
#if VKGEMM_HAS_TILE_TERMS
    std::array<float, size_t(TileFact::groups)> facts_of(const std::array<Operand, 4>&, const OperandEffects&) const;
    std::array<float, size_t(TileFact::count) - size_t(TileFact::groups)> facts_of(const CostParts&, const SplitK&,
                                                                                   const OperandEffects&) const;
#endif
    double on_cpu(const SplitK&) const;
    double step_of(double groups) const;  // that share a multiprocessor
    double memory(uint32_t slices) const;
    double not_hidden(uint32_t slices, double work) const;

    const KernelCost& k_;
    const Problem& p_;
    double tiles_;                                      // work groups of one slice
    double cpu_mac_ = 0;                                // the time of a multiply-add on a CPU driver
    const TileTerms* terms_;                            // null: there are none
    double alone_ = 0;                                  // of a step of a work group that is alone
    double operand_traffic_ = 0, element_traffic_ = 0;  // cycles; the latter for each byte of an element of D
};

/// Whether neighbours in memory differ in k. For A and B.
bool is_k_contiguous(const Operand&);

/// Does a kernel with these costs run faster if the operand is transposed first?
bool prefers_transposed(const GpuCost&, const Operand&);

/// The cost of packing operands first: once for the pass, and for each operand by the bytes that are read and written,
/// and by the `tiles` of the copy. `transposed`: rows become columns. cpu_weight: the packer's.
double first_pass_cost(const DeviceCaps&);
double packing_cost(const DeviceCaps&, double cpu_weight, uint64_t bytes, bool transposed, uint64_t groups,
                    uint64_t tiles);

/// The cost of the second pass alone.
double reducing_cost(const Kernel& reducer, const DeviceCaps&, const Problem&, uint32_t slices);

}  // namespace vkgemm::plan
