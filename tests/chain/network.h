// SPDX-License-Identifier: MIT
// A network whose operands are in one buffer, with poison between them: computed as a chain, and as separate products.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "support/device.h"
#include "vkgemm/vkgemm.hpp"

namespace vkgemm::test {

struct LayerCase {
    uint64_t width = 16;
    VkgemmStepKind act = VKGEMM_STEP_NONE;
    bool bias = false;
    bool b_column_major = false;
    Type bias_type = VKGEMM_TYPE_DEFAULT;
    double alpha = 1;
};

struct NetworkCase {
    Type type = VKGEMM_TYPE_F32;
    uint64_t rows = 16, inputs = 16;
    std::vector<LayerCase> layers{};
    uint32_t kept = 0;
    uint64_t pad = 0;     // elements between rows of the first A and of every D
    bool varies = false;  // m is up to `rows`
    bool d_column_major = false;
    bool a_column_major = false;
    bool counted = false;  // m is in memory, up to `rows`
};

/// What A, B and bias are. With `ones` as weights, an infinity meets no 0, whose product with it is NaN.
enum class Fill { small_integers, ones, fractions };

class Network {
   public:
    Network(const NetworkCase&, Fill, uint64_t seed);

    std::span<const Problem> problems() const { return problems_; }
    ChainProblem chain_problem(uint32_t flags = 0) const { return {problems_, case_.kept, flags}; }

    /// The operands of a run of the chain, for so many rows (all, unless m varies).
    std::vector<Run> runs(uint64_t rows) const;

    /// Puts poison into every D, then computes. Fails the test if something goes wrong or anything but D has changed.
    void run_chain(const Chain&, uint64_t rows);
    void run_separately(uint64_t rows);
    void run_chain(const Chain& c) { run_chain(c, case_.rows); }
    void run_separately() { run_separately(case_.rows); }

    /// All bytes of the D of a product, with padding and what follows.
    std::vector<std::byte> d_bytes(size_t product) const;
    std::vector<double> a() const { return numbers(a_, case_.rows, case_.inputs, problems_[0].a); }
    std::vector<double> b(size_t product) const;  // row-major
    std::vector<double> bias(size_t product) const;
    std::vector<double> d(size_t product) const;  // row-major
    void set_a(uint64_t row, uint64_t col, double value);
    host::Buffer& memory() { return memory_; }
    const host::Buffer& workspace() const { return workspace_; }

   private:
    struct Region {
        VkDeviceSize offset = 0, bytes = 0;
    };
    struct LayerMemory {
        Region b, bias, d, residual;
    };
    Region place(uint64_t bytes);
    Operand operand(const Region& r) const { return memory_.operand(r.offset, r.bytes); }
    std::vector<double> numbers(const Region&, uint64_t rows, uint64_t cols, const Matrix&) const;
    void fill(Fill, uint64_t seed);
    void poison_results();
    void set_count(uint64_t rows);
    void check_untouched(uint64_t rows, const std::vector<std::byte>& before, bool all_d) const;

    NetworkCase case_;
    std::vector<Problem> problems_;
    Region a_, group_;
    std::vector<LayerMemory> layers_;
    VkDeviceSize end_ = 256;
    host::Buffer memory_, workspace_;
};

/// Where chains are made: the device, or a GPU if it is a CPU, which would compute separate products.
VkgemmContext chain_context();

/// Both must succeed.
Chain make_chain(const ChainProblem&, VkgemmContext = chain_context());
std::string explain_chain(const ChainProblem&, VkgemmContext = chain_context());

/// The index of an element of a dense or padded matrix.
uint64_t index_of(const Matrix&, uint64_t row, uint64_t col);

}  // namespace vkgemm::test
