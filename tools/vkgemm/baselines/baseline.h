// SPDX-License-Identifier: MIT
// Other libraries that are timed on the same problems and operands as vkgemm.
#pragma once
#include <memory>

#include "measure/measure.h"

namespace vkgemm::tool {

class Baseline {
   public:
    Baseline() = default;
    Baseline(const Baseline&) = delete;
    Baseline& operator=(const Baseline&) = delete;
    virtual ~Baseline() = default;

    virtual const char* name() const = 0;                // as --vs takes it: "cublas"
    virtual std::string title() const = 0;               // "cuBLAS 13.0.2, CUDA 13.0"
    virtual host::Clock clock() const = 0;               // the clock of its times
    virtual std::string unfit(const Case& c) const = 0;  // why it cannot compute the case; "" if it can

    /// Copies the operands of a case that it can compute, `sets` times; replaces those before.
    virtual Status load(const Case& c, const OperandBytes& operands, size_t sets) = 0;
    /// Computes D = alpha A B + beta C `runs` times, with one set after another from `first` on; returns the seconds of
    /// each run.
    virtual Result<std::vector<double>> run(size_t runs, size_t first, double alpha, double beta) = 0;
    /// The same without timing each run: the seconds of all together.
    virtual Result<double> run_together(size_t runs, double alpha, double beta) = 0;
    virtual Result<std::vector<std::byte>> result() = 0;  // D of the first set
    virtual void unload() = 0;                            // frees the operands
};

/// Opens the baseline of that name for `device`, or returns in one sentence why it is not available.
Result<std::unique_ptr<Baseline>> open_baseline(const std::string& name, const host::Device& device);
inline constexpr const char* baseline_names[] = {"cublas", "openblas"};

Result<std::unique_ptr<Baseline>> open_cublas(const host::Device& device);
Result<std::unique_ptr<Baseline>> open_openblas();

/// A baseline on one case, with the same operands, number of sets and rules as CaseRunner has for a kernel.
class BaselineRun {
   public:
    BaselineRun(Baseline& baseline, CaseRunner& runner);
    ~BaselineRun() { baseline_.unload(); }
    BaselineRun(const BaselineRun&) = delete;
    BaselineRun& operator=(const BaselineRun&) = delete;

    const char* name() const { return baseline_.name(); }
    void begin() { goes_on(); }  // checks it and loads the operands; called before a kernel's timing
    void part();                 // some of its samples; called between parts of a kernel's timing
    Measurement finish();        // the rest; once

   private:
    /// Whether it is to be timed. The first call checks it and loads the operands; by then the kernel has its memory.
    bool goes_on();
    Result<host::Times> run(size_t runs);
    Status time_the_rest();

    Baseline& baseline_;
    CaseRunner& runner_;
    Measurement result_;
    Timing timing_;
    bool begun_ = false;
    size_t next_ = 0;  // the next set of operands, not yet taken modulo their number
};

/// One matrix as BLAS sees it: column-major. A row-major matrix is given as its transpose.
struct BlasMatrix {
    VkgemmSlot slot = VKGEMM_SLOT_A;
    bool transposed = false;
    int ld = 0;
    long long batch_step = 0;  // elements
};

/// A problem for BLAS: out = left * right, all column-major, `out` is rows x cols. If D is row-major, this is the
/// transposed problem, and left is B.
struct BlasProblem {
    int rows = 0, cols = 0, depth = 0, batch = 1;
    BlasMatrix left, right, out;
};
BlasProblem blas_problem(const Case& c);

/// Why no BLAS can compute the case: numbers over 31 bits, an empty product, a C apart from D; "" if one can.
std::string unfit_for_blas(const Case& c);

}  // namespace vkgemm::tool
