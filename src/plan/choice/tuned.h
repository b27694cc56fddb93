// SPDX-License-Identifier: MIT
// Tuned rows: the kernels that were measured to be the fastest. One row a line, '#' begins a comment:
//
//     DEVICE | PROBLEM | KERNEL | TILE
//     NVIDIA H200 | f16*f16 1024x1024x1024 | coopmat_f16_128x64x64 | SPLIT=1,PACK=1
//
// A row applies to devices whose name contains DEVICE. PROBLEM is a problem's line; its alpha, beta, C and epilogue are
// ignored. TILE holds constants that replace those of the kernel; it may be empty.
//
// A row of weights belongs to no problem, but to the cost model on the device. It has "model VERSION" for PROBLEM, a
// family for KERNEL, and for TILE the weights of the parts of its predicted cost; those left out are 1:
//
//     NVIDIA H200 | model 6 | simt | launch=0.9,steps=1.1,results=1.3,memory=0.8,passes=1
#pragma once
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/base/result.h"
#include "plan/kernels/kernels.h"

namespace vkgemm::plan {

struct TunedRow {
    std::string device, kernel, tile;
    Problem problem;  // normalised; in tuned_for() it becomes what the kernel multiplies
    int model = 0;    // the version of the cost model of a row of weights; 0: it is of a problem
    CostParts weights = no_weights;
    std::string text;          // the line without its comment
    bool is_built_in = false;  // and was measured without native kernels, to which it gives way if they cost less
    std::string skipped;       // why the device that tuned_for() was asked about cannot follow it; "": it can
    // What tuned_for() finds for the names above: the kernel (null: there is none) and its tile with the constants.
    const Kernel* found = nullptr;
    Tile found_tile = {};
};

/// Refusals (VKGEMM_ERROR_PARSE) name the line. With `skipped`, a line that cannot be read is skipped, and a sentence
/// about it is added there. Whether a kernel exists and fits is decided by tuned_for(). With a device, rows for others
/// are not read, which saves time on text that is known to be sound.
Result<std::vector<TunedRow>> parse_tuned(std::string_view text, const DeviceCaps* for_device = nullptr,
                                          std::vector<std::string>* skipped = nullptr);

/// src/plan/choice/tuned.txt
std::string_view built_in_tuned();

/// Those of `rows` that apply to this device, in their order, each with the reason if it cannot be followed.
std::vector<TunedRow> tuned_for(const DeviceCaps&, std::vector<TunedRow> rows);

/// The weights of the families that rows have, of several rows the first one's; for DeviceCaps::fitted.
std::vector<FamilyWeights> fitted_weights(std::span<const TunedRow> of_device);

/// How far `p` (normalised) is from a row: the sum of the |log| of the ratios of m, n, k and batch. nullopt: the row
/// does not apply to `p`, because one of them is more than 1.5 times the other's, or types, layouts of A and B,
/// batching, or which of A and B can be read in 16-byte chunks or come packed differ.
std::optional<double> tuned_distance(const TunedRow&, const Problem& p, uint32_t operand_alignment);

/// The rows of one device, indexed: a question costs a few binary searches, however many rows there are.
class TunedRows {
   public:
    TunedRows() = default;
    explicit TunedRows(std::vector<TunedRow> of_device);

    std::span<const TunedRow> rows() const { return rows_; }

    /// The nearest row that can be followed; of equally near ones the first. Null: no row is near.
    const TunedRow* nearest(const Problem& p, uint32_t operand_alignment) const;

    /// The rows near `p` that cannot be followed, a sentence each.
    std::vector<std::string> skipped_near(const Problem& p, uint32_t operand_alignment) const;

   private:
    friend std::optional<double> tuned_distance(const TunedRow&, const Problem&, uint32_t);
    using Class = uint64_t;                 // all but sizes that must be the same in a row and a problem
    using Sizes = std::array<uint64_t, 4>;  // m, n, k, batch
    struct Entry {
        Sizes sizes;
        uint32_t row;
        auto operator<=>(const Entry&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
    };
    struct Search;
    static Class class_of(const Problem&, uint32_t operand_alignment);
    static Sizes sizes_of(const Problem&);
    static void search(Search&, std::span<const Entry> sorted, size_t dimension, double distance);
    static std::vector<uint32_t> near(const std::map<Class, std::vector<Entry>>&, const Problem&,
                                      uint32_t operand_alignment, bool all);

    std::vector<TunedRow> rows_;
    std::map<Class, std::vector<Entry>> followed_, skipped_;  // entries sorted by sizes, then by row
};

/// A sentence for a log on each reason why rows are skipped.
std::vector<std::string> skipped_in_short(std::span<const TunedRow> rows);

}  // namespace vkgemm::plan
