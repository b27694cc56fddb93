// SPDX-License-Identifier: MIT
// Operands of small whole numbers, for which every correct kernel gives the same bits, and the comparison of results.
// vkgemm's results have a tolerance only after GELU and SiLU, which no device computes to the last bit; the results of
// other libraries always have one (verify_rounded). Pure: it works on bytes.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/cases.h"

namespace vkgemm::tool {

/// Whole numbers for one case, chosen so that every sum, in any order, is exact in the accumulator and in D.
/// Runs that are checked use alpha 2 and beta -1, each 0 where the case's is: a wrong factor shows, and nothing rounds.
class ExactCase {
   public:
    explicit ExactCase(const Case& c, uint64_t seed = 0);

    double alpha() const { return alpha_; }
    double beta() const { return beta_; }
    const Resolved& matrices() const { return r_; }

    /// The operand's memory, gaps poisoned. For D its memory before the run: all poison, or C if C is D.
    std::vector<std::byte> bytes(VkgemmSlot slot) const;

    /// How much of D was compared: every element by itself; every row through a random sum of its elements; or some
    /// rows and columns. In each case, elements that were never written are found.
    enum class Extent { all, projected, sampled };
    struct Outcome {
        Extent extent = Extent::all;
        std::string wrong{};    // the first wrong element; empty: none
        std::string rounded{};  // by verify_rounded(): the first element that is not exact; empty: all are
    };
    /// `d`: what D holds after the run, first to last element of its span.
    Outcome verify(std::span<const std::byte> d) const;

    /// For a library that does not promise exact sums: it may store partial sums in the coarser one of D's and the
    /// accumulator's type. An element may be off by 4 u (|alpha| * sum of |a||b| + |beta c|), where u is that type's
    /// unit roundoff: four such roundings, each of the largest partial sum that there can be. Integers must be exact.
    /// Of a large D that is not exact, the rows that are furthest off are compared.
    Outcome verify_rounded(std::span<const std::byte> d) const;

   private:
    int a(uint64_t batch, uint64_t row, uint64_t k) const {
        return a_[(r_.a.matrix_of(batch) * r_.a.rows + row / r_.indices_per_row) * r_.a.cols + k];
    }
    int c(uint64_t batch, uint64_t row, uint64_t col) const;
    int residual(uint64_t batch, uint64_t row, uint64_t col) const;
    int sign_of_b2() const;  // B2 is B times it
    double gate(uint64_t batch, uint64_t row, uint64_t col, int64_t sum) const;
    const int8_t* b_row(uint64_t batch, uint64_t k) const {
        return &b_[(r_.b.matrix_of(batch) * r_.b.rows + k) * r_.b.cols];
    }
    uint64_t matrices_of_d() const { return r_.d.matrices(); }
    int vector_value(VkgemmSlot slot, uint64_t index) const;

    struct Expected {
        double value, slack;
    };
    /// D's element for a sum over k, after alpha, beta, the epilogue and the rounding to D's type.
    Expected expected(uint64_t batch, uint64_t row, uint64_t col, int64_t sum) const;
    std::optional<std::string> wrong_element(std::span<const std::byte> d, uint64_t batch, uint64_t row, uint64_t col,
                                             int64_t sum) const;
    std::optional<std::string> wrong_row(std::span<const std::byte> d, uint64_t batch, uint64_t row) const;
    std::optional<std::string> gross_row(std::span<const std::byte> d, uint64_t batch, uint64_t row) const;
    /// How far row `row` of D is off, through a random sum of its elements; infinity: an element is not a whole number.
    double row_mismatch(std::span<const std::byte> d, uint64_t batch, uint64_t row, const std::vector<int64_t>& x,
                        const std::vector<int64_t>& bx) const;
    /// A random x for each column, and B x.
    void project(uint64_t batch, std::vector<int64_t>& x, std::vector<int64_t>& bx) const;
    std::optional<std::string> wrong_col(std::span<const std::byte> d, uint64_t batch, uint64_t col) const;
    std::optional<std::string> unwritten(std::span<const std::byte> d) const;
    std::optional<std::string> touched_gap(std::span<const std::byte> d) const;
    std::optional<std::string> wrong_projection(std::span<const std::byte> d, uint64_t batch) const;
    /// So many random rows and columns, at least two of each if there are.
    std::optional<std::string> wrong_sample(std::span<const std::byte> d, uint64_t rows, uint64_t cols) const;

    Problem p_;
    Resolved r_;
    double alpha_ = 2, beta_ = 0;
    bool plain_ = true;          // no epilogue
    std::vector<int8_t> a_, b_;  // row-major and dense, whatever the layout
};

const char* extent_name(ExactCase::Extent extent);

}  // namespace vkgemm::tool
