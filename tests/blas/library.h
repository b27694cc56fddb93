// SPDX-License-Identifier: MIT
// libvkgemm_blas.so as a program sees it: functions by name. The CPU BLAS is the tests' own (cpu_blas.cpp), which
// counts its calls.
#pragma once
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "blas/call.h"

namespace vkgemm::test {

/// A function of the library that is loaded, or null.
void* blas_function(const char* name);
/// The function of the tests' own BLAS, or null.
int cpu_calls();
int cpu_bad_calls();
/// test_cpu_blas_hook: what its getrf and sgemm_batch_strided_ call; null for nothing.
void set_cpu_hook(void (*hook)());
/// test_fail_vulkan of failing_vulkan.c, or null if that is not preloaded.
using FailVulkan = void(const char* function, int result, int after);
FailVulkan* fail_vulkan();
/// On this thread the library's next allocation but so many fails, once; -1: none.
void fail_allocation(int after);
/// How many calls of Vulkan were counted since fail_vulkan's "*".
int vulkan_calls();
/// Whether the allocation that was to fail has failed.
bool allocation_failed();
/// How often the function fails, instead of always or once.
void fail_vulkan_times(int count);

/// Whether sgemm_, cblas_sgemm and the like have 64-bit integers.
inline bool plain_is_wide() { return std::getenv("VKGEMM_BLAS_ILP64") != nullptr; }
/// The same of any name, in names.def's parts.
inline bool is_wide(std::string_view before, std::string_view after, size_t bytes) {
    return bytes == 8 || (plain_is_wide() && !before.starts_with("scipy") && after.find("64") == after.npos);
}

/// One exported name: calls it with the arguments of a Gemm, which is column-major.
template <class T>
struct Entry {
    std::string name;
    std::function<void(const blas::Gemm<T>&)> call;
    std::function<void(const blas::Gemm<T>&)> call_row_major{};  // of the same memory, for CBLAS only
    bool wide = false;                                           // its integers have 64 bits
};

template <class T>
std::vector<Entry<T>> entries();
template <>
std::vector<Entry<float>> entries();
template <>
std::vector<Entry<double>> entries();
template <>
std::vector<Entry<std::complex<float>>> entries();
template <>
std::vector<Entry<std::complex<double>>> entries();

/// Runs it in a child process, which has 60 s. Returns the child's status as waitpid() has it: 0 if `run` returned 0.
int status_of_child(const std::function<int()>& run);

/// Operands of small whole numbers, with poison (NaN) between the columns of A, B and C and behind them, and the call
/// of them. `gap` elements lie between columns.
template <class T>
class Operands {
   public:
    Operands(blas::Op op_a, blas::Op op_b, int64_t m, int64_t n, int64_t k, T alpha, T beta, uint64_t seed,
             int64_t gap = 3);
    blas::Gemm<T> call();
    /// Whether C has the bits that it should have, poison included. Prints the first element that has not.
    bool is_right() const;

   private:
    blas::Gemm<T> g_;
    std::vector<T> a_, b_, c_, wanted_;
};

}  // namespace vkgemm::test
