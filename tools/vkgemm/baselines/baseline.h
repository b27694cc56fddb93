// SPDX-License-Identifier: MIT
// Other libraries that compute the same problems on the same operands, to be timed beside vkgemm.
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
    virtual host::Clock clock() const = 0;               // which one its times come from
    virtual std::string unfit(const Case& c) const = 0;  // why it cannot compute the case; "" where it can

    /// Takes the operands of a case that it fits, in `sets` copies, in place of those before.
    virtual Status load(const Case& c, const OperandBytes& operands, size_t sets) = 0;
    /// D = alpha A B + beta C as often as `runs` says, with one set after another, beginning at `first`; the seconds of
    /// each.
    virtual Result<std::vector<double>> run(size_t runs, size_t first, double alpha, double beta) = 0;
    /// The same without a look at the clock in between: the seconds of all together.
    virtual Result<double> run_together(size_t runs, double alpha, double beta) = 0;
    virtual Result<std::vector<std::byte>> result() = 0;  // D of the first set
    virtual void unload() = 0;                            // gives the operands' memory back
};

/// Opens the baseline of that name for comparison on `device`, or says in one sentence why it cannot be had.
Result<std::unique_ptr<Baseline>> open_baseline(const std::string& name, const host::Device& device);
inline constexpr const char* baseline_names[] = {"cublas", "openblas"};

Result<std::unique_ptr<Baseline>> open_cublas(const host::Device& device);
Result<std::unique_ptr<Baseline>> open_openblas();

/// A baseline on one case, as CaseRunner has it for a kernel: the same operands, as many sets of them, the same rules.
class BaselineRun {
   public:
    BaselineRun(Baseline& baseline, CaseRunner& runner);
    ~BaselineRun() { baseline_.unload(); }
    BaselineRun(const BaselineRun&) = delete;
    BaselineRun& operator=(const BaselineRun&) = delete;

    const char* name() const { return baseline_.name(); }
    void part();           // of its samples: called while a kernel is timed, so that they take turns
    Measurement finish();  // the rest; once

   private:
    /// Is it to be timed? The first time it is checked, and takes the operands: by then the kernel has its memory.
    bool goes_on();
    Result<host::Times> run(size_t runs);
    Status time_the_rest();

    Baseline& baseline_;
    CaseRunner& runner_;
    Measurement result_;
    Timing timing_;
    bool begun_ = false;
    size_t next_ = 0;  // the set of operands, counted on and on
};

/// One matrix as BLAS sees it: column-major. A row-major one is there its own transpose.
struct BlasMatrix {
    VkgemmSlot slot = VKGEMM_SLOT_A;
    bool transposed = false;
    int ld = 0;
    long long batch_step = 0;  // elements
};

/// A problem in the words of BLAS: out = left * right, all column-major, `out` is rows x cols. Where D is row-major,
/// that is the transposed problem, and left is B.
struct BlasProblem {
    int rows = 0, cols = 0, depth = 0, batch = 1;
    BlasMatrix left, right, out;
};
BlasProblem blas_problem(const Case& c);

/// What no BLAS can do: numbers over 31 bits, a product without elements, a C that is neither D nor laid out like it.
std::string unfit_for_blas(const Case& c);

}  // namespace vkgemm::tool
