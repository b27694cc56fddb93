// SPDX-License-Identifier: MIT
// The CPU LAPACK of the tests, and the trsm that a factorization asks of the CPU BLAS.
#include "blas/cpu_lapack.h"

#include <atomic>
#include <cstring>

#include "blas/cpu_blas.h"

namespace {

using namespace vkgemm::test;
std::atomic<int> factor_calls = 0, solve_calls = 0, bad_lapack_calls = 0;

template <class T, class Int>
void getrf(const Int* m, const Int* n, T* a, const Int* lda, Int* pivots, Int* info) {
    *info = *m < 0 ? -1 : *n < 0 ? -2 : *lda < (*m > 1 ? *m : 1) ? -4 : 0;
    if (*info != 0) return void(++bad_lapack_calls);
    ++factor_calls;
    call_hook();
    *info = static_cast<Int>(factor_plainly(*m, *n, a, *lda, pivots));
}

template <class T, class Int>
void getrs(const char* trans, const Int* n, const Int* nrhs, const T* a, const Int* lda, const Int* pivots, T* b,
           const Int* ldb, Int* info) {
    const Int least = *n > 1 ? *n : 1;
    *info = !std::strchr("NTCntc", *trans) ? -1
            : *n < 0                       ? -2
            : *nrhs < 0                    ? -3
            : *lda < least                 ? -5
            : *ldb < least                 ? -8
                                           : 0;
    if (*info != 0) return void(++bad_lapack_calls);
    ++solve_calls;
    solve_with_factors(!std::strchr("Nn", *trans), *n, *nrhs, a, *lda, pivots, b, *ldb);
}

template <class T, class Int>
void gesv(const Int* n, const Int* nrhs, T* a, const Int* lda, Int* pivots, T* b, const Int* ldb, Int* info) {
    const Int least = *n > 1 ? *n : 1;
    *info = *n < 0 ? -1 : *nrhs < 0 ? -2 : *lda < least ? -4 : *ldb < least ? -7 : 0;
    if (*info != 0) return void(++bad_lapack_calls);
    ++factor_calls;
    ++solve_calls;
    *info = static_cast<Int>(factor_plainly(*n, *n, a, *lda, pivots));
    if (*info == 0) solve_with_factors(false, *n, *nrhs, a, *lda, pivots, b, *ldb);
}

template <class T, class Int>
void trsm(const char* side, const char* uplo, const char* trans, const char* diag, const Int* m, const Int* n,
          const T* alpha, const T* a, const Int* lda, T* b, const Int* ldb) {
    const bool left = *side == 'L', transposed = *trans != 'N';
    // X op(A) = B is op(A)' X' = B'
    const Triangle<T> t{*uplo == 'U', left ? transposed : !transposed, *diag == 'U', a, *lda};
    for (Int j = 0; j < *n; ++j)
        for (Int i = 0; i < *m; ++i) b[i + j * *ldb] *= *alpha;
    for (Int k = 0; k < (left ? *n : *m); ++k)
        solve_plainly(t, left ? *m : *n, left ? b + k * *ldb : b + k, left ? 1 : static_cast<int64_t>(*ldb));
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT int test_cpu_factor_calls() { return factor_calls; }
EXPORT int test_cpu_solve_calls() { return solve_calls; }
EXPORT int test_cpu_bad_lapack_calls() { return bad_lapack_calls; }

#define LAPACK_NAMES(Int, before, after, T)                                                                        \
    EXPORT void before##getrf##after(const Int* m, const Int* n, T* a, const Int* lda, Int* pivots, Int* info) {   \
        getrf(m, n, a, lda, pivots, info);                                                                         \
    }                                                                                                              \
    EXPORT void before##getrs##after(const char* trans, const Int* n, const Int* nrhs, const T* a, const Int* lda, \
                                     const Int* pivots, T* b, const Int* ldb, Int* info) {                         \
        getrs(trans, n, nrhs, a, lda, pivots, b, ldb, info);                                                       \
    }                                                                                                              \
    EXPORT void before##gesv##after(const Int* n, const Int* nrhs, T* a, const Int* lda, Int* pivots, T* b,        \
                                    const Int* ldb, Int* info) {                                                   \
        gesv(n, nrhs, a, lda, pivots, b, ldb, info);                                                               \
    }                                                                                                              \
    EXPORT void before##trsm##after(const char* side, const char* uplo, const char* trans, const char* diag,       \
                                    const Int* m, const Int* n, const T* alpha, const T* a, const Int* lda, T* b,  \
                                    const Int* ldb) {                                                              \
        trsm(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);                                                \
    }
#define FORTRAN(Int, before, after)            \
    LAPACK_NAMES(Int, before##s, after, float) \
    LAPACK_NAMES(Int, before##d, after, double)
#define CBLAS(Int, before, after)
#include "blas/names.def"
