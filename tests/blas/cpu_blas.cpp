// SPDX-License-Identifier: MIT
// The CPU BLAS of the tests: every name of blas/names.def as plain loops, which count their calls. A call with a bad
// argument is counted apart and computes nothing, as a BLAS whose xerbla returns.
#include "blas/cpu_blas.h"

#include <atomic>

namespace {

std::atomic<int> calls = 0, bad_calls = 0;
std::atomic<void (*)()> hook = nullptr;

template <class T>
void multiply(const vkgemm::blas::Gemm<T>& g) {
    using vkgemm::blas::Op;
    if (!is_valid(g)) return void(++bad_calls);
    ++calls;
    vkgemm::test::multiply_plainly(g);
}

template <class T, class Int>
void fortran(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const T* alpha, const T* a,
             const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) {
    using vkgemm::test::op_of;
    if (!op_of(*op_a) || !op_of(*op_b)) return void(++bad_calls);
    multiply<T>({*op_of(*op_a), *op_of(*op_b), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}

template <class T, class Int>
void cblas(int order, int op_a, int op_b, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b, Int ldb,
           T beta, T* c, Int ldc) {
    using vkgemm::blas::Op;
    if (order < 101 || order > 102 || op_a < 111 || op_a > 113 || op_b < 111 || op_b > 113) return void(++bad_calls);
    const Op a_op = static_cast<Op>(op_a - 111), b_op = static_cast<Op>(op_b - 111);
    if (order == 102)
        multiply<T>({a_op, b_op, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
    else
        multiply<T>({b_op, a_op, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc});
}

template <class T>
T value(T x) {
    return x;
}
template <class T>
T value(const void* x) {
    return *static_cast<const T*>(x);
}

}  // namespace

void vkgemm::test::call_hook() {
    if (void (*const call)() = hook) call();
}

#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT int test_cpu_blas_calls() { return calls; }
EXPORT int test_cpu_blas_bad_calls() { return bad_calls; }
EXPORT void test_cpu_blas_hook(void (*call)()) { hook = call; }

#define FORTRAN_NAME(Int, name, T, Factor, Matrix, Result)                                                          \
    EXPORT void name(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const T* alpha,  \
                     const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) { \
        fortran(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                          \
    }
#define CBLAS_NAME(Int, name, T, Factor, Matrix, Result)                                                            \
    EXPORT void name(int order, int op_a, int op_b, Int m, Int n, Int k, Factor alpha, Matrix a, Int lda, Matrix b, \
                     Int ldb, Factor beta, Result c, Int ldc) {                                                     \
        cblas<T, Int>(order, op_a, op_b, m, n, k, value<T>(alpha), static_cast<const T*>(a), lda,                   \
                      static_cast<const T*>(b), ldb, value<T>(beta), static_cast<T*>(c), ldc);                      \
    }
#define EACH_TYPE(NAME, Int, before, after)                                                 \
    NAME(Int, before##s##gemm##after, float, float, const float*, float*)                   \
    NAME(Int, before##d##gemm##after, double, double, const double*, double*)               \
    NAME(Int, before##c##gemm##after, std::complex<float>, const void*, const void*, void*) \
    NAME(Int, before##z##gemm##after, std::complex<double>, const void*, const void*, void*)
#define FORTRAN(Int, before, after) EACH_TYPE(FORTRAN_NAME, Int, before, after)
#define CBLAS(Int, before, after) EACH_TYPE(CBLAS_NAME, Int, before, after)
#include "blas/names.def"
#undef FORTRAN
#undef CBLAS

// Of ScaLAPACK's PBLAS: B = alpha A + beta B.
#define ADDITION(name, T)                                                                                         \
    EXPORT void name(const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* beta, T* b, \
                     const int* ldb) {                                                                            \
        ++calls;                                                                                                  \
        for (int64_t j = 0; j < *n; ++j)                                                                          \
            for (int64_t i = 0; i < *m; ++i) {                                                                    \
                T& x = b[i + j * *ldb];                                                                           \
                x = *alpha * a[i + j * *lda] + (*beta == T{} ? T{} : *beta * x);                                  \
            }                                                                                                     \
    }
ADDITION(smmadd_, float)
ADDITION(dmmadd_, double)
ADDITION(cmmadd_, std::complex<float>)
ADDITION(zmmadd_, std::complex<double>)

/// The one extension that this BLAS has. It shows by its count who computed a batch.
EXPORT void sgemm_batch_strided_(const char*, const char*, const void*, const void*, const void*, const float*,
                                 const float*, const void*, const void*, const float*, const void*, const void*,
                                 const float*, float*, const void*, const void*, const void*) {
    calls += 100;
    vkgemm::test::call_hook();
}
