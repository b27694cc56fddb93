// SPDX-License-Identifier: MIT
// What MKL and OpenBLAS have beside BLAS: gemm_batch, gemm_batch_strided, gemmt and gemm3m. All of them are calls of
// this library's gemm, because the CPU BLAS may not have them. If it does, it gets calls without a product that may be
// worth the device, and bad arguments.
#include "blas/export.h"
#include "blas/multiply.h"
#include "blas/signatures.h"
#include "blas/state.h"
#include "blas/triangle.h"

namespace vkgemm::blas {
namespace {

/// This library's gemm, as gemm.cpp defines it.
template <class T, class Int>
using FortranGemm = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, const Int*,
                         const T*, const Int*, const T*, T*, const Int*);
template <class T, class Int>
using CblasGemm = void(int, int, int, Int, Int, Int, CblasFactor<T>, CblasMatrix<T>, Int, CblasMatrix<T>, Int,
                       CblasFactor<T>, CblasResult<T>, Int);

/// A function of plain_int as one of its caller's integers, which are passed alike.
template <class Function, class Other>
Function* as_function(Other* function) {
    return reinterpret_cast<Function*>(reinterpret_cast<void (*)()>(function));
}

template <class T, class Int>
void call_gemm(FortranGemm<T, Int>* gemm, const Gemm<T>& g) {
    const auto i = [](int64_t x) { return static_cast<Int>(x); };
    const Int m = i(g.m), n = i(g.n), k = i(g.k), lda = i(g.lda), ldb = i(g.ldb), ldc = i(g.ldc);
    gemm(&op_letters[static_cast<size_t>(g.op_a)], &op_letters[static_cast<size_t>(g.op_b)], &m, &n, &k, &g.alpha, g.a,
         &lda, g.b, &ldb, &g.beta, g.c, &ldc);
}
template <class T, class Int>
void call_gemm(CblasGemm<T, Int>* gemm, const Gemm<T>& g) {
    const auto i = [](int64_t x) { return static_cast<Int>(x); };
    gemm(cblas_column_major, cblas_ops[static_cast<size_t>(g.op_a)], cblas_ops[static_cast<size_t>(g.op_b)], i(g.m),
         i(g.n), i(g.k), factor_of(g.alpha), g.a, i(g.lda), g.b, i(g.ldb), factor_of(g.beta), g.c, i(g.ldc));
}

template <class T>
bool may_use_device(int64_t m, int64_t n, int64_t k) {
    return m > 0 && n > 0 && k > 0 && may_use_device(settings(), routine_of<T>, m, n, k);
}

/// Products of one batch: their sizes and results, for what is kept.
template <class T, class Int>
struct Batch {
    const Int *m, *n, *k, *ldc, *sizes;  // of each group
    Int groups;

    template <class Each>
    void for_each(const Each& each) const {
        int64_t i = 0;
        for (Int g = 0; g < groups; ++g)
            for (Int in_group = 0; in_group < sizes[g]; ++in_group) each(i++, g);
    }
    bool is_worth_device() const {
        for (Int g = 0; g < groups; ++g)
            if (may_use_device<T>(m[g], n[g], k[g])) return true;
        return false;
    }
    /// At least what is written, by rows or by columns.
    void note(T* c, Int g) const {
        if (m[g] > 0 && n[g] > 0)
            note_write(place_of(c, sizeof(T) * static_cast<uint64_t>(ldc[g]) * std::max(m[g], n[g])));
    }
};

/// `product(i, group)` calls gemm for the i-th product of all, which is in this group, and result(i) is its C.
template <class T, class Int, class Whole, class Product, class Result>
void run_batch(NextSymbol& same, const Batch<T, Int>& batch, const Whole& whole, const Product& product,
               const Result& result) {
    if (InsideNext::active() && same.exists()) return whole();
    if (batch.is_worth_device() || !same.exists()) return batch.for_each(product);
    if (notes_memory()) {
        note_read(place_of(nullptr, UINT64_MAX));
        batch.for_each([&](int64_t i, Int g) { batch.note(result(i), g); });
    }
    const SuspendResidency nothing;
    whole();
}

template <class T, class Whole, class Multiply>
void run_gemmt(NextSymbol& same, const std::optional<Gemmt<T>>& p, const Whole& whole, const Multiply& multiply) {
    if (InsideNext::active() && same.exists()) return whole();
    const bool valid = p && is_valid(p->g);
    if (valid && p->g.n > 0 && !InsideNext::active()) {
        note_read(place_of_a(p->g));
        note_read(place_of_b(p->g));
        note_write(place_of_c(p->g));
    }
    const SuspendResidency nothing;  // a block on the diagonal is added to C in the host's memory
    const bool may = valid && may_use_device<T>((p->g.n + 1) / 2, (p->g.n + 1) / 2, p->g.k);
    if (!may && same.exists()) return whole();
    if (!valid) return complain("gemmt has a bad argument, and no BLAS library reports it: nothing is computed");
    multiply_triangle(*p, std::min<int64_t>(256, settings().tile), multiply);
}

template <class T>
std::optional<Gemmt<T>> read_gemmt(std::optional<bool> upper, std::optional<Op> op_a, std::optional<Op> op_b,
                                   Gemm<T> g) {
    if (!upper || !op_a || !op_b) return {};
    g.op_a = *op_a;
    g.op_b = *op_b;
    return Gemmt<T>{*upper, g};
}

/// A triangle by rows is the other one of the transpose by columns: op(B)' op(A)'.
template <class T>
void transpose_gemmt(Gemmt<T>& p) {
    p.upper = !p.upper;
    std::swap(p.g.op_a, p.g.op_b);
    std::swap(p.g.a, p.g.b);
    std::swap(p.g.lda, p.g.ldb);
}

// The calls, as MKL and OpenBLAS have them.
template <class T, class Int>
using FortranBatch = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T* const*,
                          const Int*, const T* const*, const Int*, const T*, T* const*, const Int*, const Int*,
                          const Int*);
template <class T, class Int>
using CblasBatch = void(int, const int*, const int*, const Int*, const Int*, const Int*, const T*, const T* const*,
                        const Int*, const T* const*, const Int*, const T*, T* const*, const Int*, Int, const Int*);
template <class T, class Int>
using FortranStrided = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*,
                            const Int*, const Int*, const T*, const Int*, const Int*, const T*, T*, const Int*,
                            const Int*, const Int*);
template <class T, class Int>
using CblasStrided = void(int, int, int, Int, Int, Int, CblasFactor<T>, CblasMatrix<T>, Int, Int, CblasMatrix<T>, Int,
                          Int, CblasFactor<T>, CblasResult<T>, Int, Int, Int);
template <class T, class Int>
using FortranGemmt = void(const char*, const char*, const char*, const Int*, const Int*, const T*, const T*, const Int*,
                          const T*, const Int*, const T*, T*, const Int*);
template <class T, class Int>
using CblasGemmt = void(int, int, int, int, Int, Int, CblasFactor<T>, CblasMatrix<T>, Int, CblasMatrix<T>, Int,
                        CblasFactor<T>, CblasResult<T>, Int);

template <class T, class Int>
void fortran_batch(NextSymbol& same, FortranGemm<T, Int>* gemm, const char* op_a, const char* op_b, const Int* m,
                   const Int* n, const Int* k, const T* alpha, const T* const* a, const Int* lda, const T* const* b,
                   const Int* ldb, const T* beta, T* const* c, const Int* ldc, const Int* groups, const Int* sizes) {
    run_batch<T, Int>(
        same, {m, n, k, ldc, sizes, *groups},
        [&] {
            same.get<FortranBatch<T, Int>>()(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes);
        },
        [&](int64_t i, Int g) {
            gemm(op_a + g, op_b + g, m + g, n + g, k + g, alpha + g, a[i], lda + g, b[i], ldb + g, beta + g, c[i],
                 ldc + g);
        },
        [&](int64_t i) { return c[i]; });
}

template <class T, class Int>
void cblas_batch(NextSymbol& same, CblasGemm<T, Int>* gemm, int order, const int* op_a, const int* op_b, const Int* m,
                 const Int* n, const Int* k, const T* alpha, const T* const* a, const Int* lda, const T* const* b,
                 const Int* ldb, const T* beta, T* const* c, const Int* ldc, Int groups, const Int* sizes) {
    run_batch<T, Int>(
        same, {m, n, k, ldc, sizes, groups},
        [&] {
            same.get<CblasBatch<T, Int>>()(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups,
                                           sizes);
        },
        [&](int64_t i, Int g) {
            gemm(order, op_a[g], op_b[g], m[g], n[g], k[g], factor_of(alpha[g]), a[i], lda[g], b[i], ldb[g],
                 factor_of(beta[g]), c[i], ldc[g]);
        },
        [&](int64_t i) { return c[i]; });
}

template <class T, class Int>
void fortran_strided(NextSymbol& same, FortranGemm<T, Int>* gemm, const char* op_a, const char* op_b, const Int* m,
                     const Int* n, const Int* k, const T* alpha, const T* a, const Int* lda, const Int* stride_a,
                     const T* b, const Int* ldb, const Int* stride_b, const T* beta, T* c, const Int* ldc,
                     const Int* stride_c, const Int* count) {
    run_batch<T, Int>(
        same, {m, n, k, ldc, count, Int{1}},
        [&] {
            same.get<FortranStrided<T, Int>>()(op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                                               ldc, stride_c, count);
        },
        [&](int64_t i, Int) {
            gemm(op_a, op_b, m, n, k, alpha, a + i * *stride_a, lda, b + i * *stride_b, ldb, beta, c + i * *stride_c,
                 ldc);
        },
        [&](int64_t i) { return c + i * *stride_c; });
}

template <class T, class Int>
void cblas_strided(NextSymbol& same, CblasGemm<T, Int>* gemm, int order, int op_a, int op_b, Int m, Int n, Int k,
                   CblasFactor<T> alpha, CblasMatrix<T> a, Int lda, Int stride_a, CblasMatrix<T> b, Int ldb,
                   Int stride_b, CblasFactor<T> beta, CblasResult<T> c, Int ldc, Int stride_c, Int count) {
    const auto *const first_a = static_cast<const T*>(a), *const first_b = static_cast<const T*>(b);
    T* const first_c = static_cast<T*>(c);
    run_batch<T, Int>(
        same, {&m, &n, &k, &ldc, &count, Int{1}},
        [&] {
            same.get<CblasStrided<T, Int>>()(order, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,
                                             beta, c, ldc, stride_c, count);
        },
        [&](int64_t i, Int) {
            gemm(order, op_a, op_b, m, n, k, alpha, first_a + i * stride_a, lda, first_b + i * stride_b, ldb, beta,
                 first_c + i * stride_c, ldc);
        },
        [&](int64_t i) { return first_c + i * stride_c; });
}

template <class T, class Int>
void fortran_gemmt(NextSymbol& same, FortranGemm<T, Int>* gemm, const char* uplo, const char* op_a, const char* op_b,
                   const Int* n, const Int* k, const T* alpha, const T* a, const Int* lda, const T* b, const Int* ldb,
                   const T* beta, T* c, const Int* ldc) {
    const Gemm<T> all{{}, {}, *n, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc};
    run_gemmt(
        same, read_gemmt(choice(*uplo, "UL"), op_of(*op_a), op_of(*op_b), all),
        [&] { same.get<FortranGemmt<T, Int>>()(uplo, op_a, op_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc); },
        [&](const Gemm<T>& g) { call_gemm<T, Int>(gemm, g); });
}

template <class T, class Int>
void cblas_gemmt(NextSymbol& same, CblasGemm<T, Int>* gemm, int order, int uplo, int op_a, int op_b, Int n, Int k,
                 CblasFactor<T> alpha, CblasMatrix<T> a, Int lda, CblasMatrix<T> b, Int ldb, CblasFactor<T> beta,
                 CblasResult<T> c, Int ldc) {
    auto p = read_gemmt(choice(uplo, cblas_upper, cblas_lower), op_of(op_a), op_of(op_b),
                        read_gemm<T>(n, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
    if (order != cblas_row_major && order != cblas_column_major) p.reset();
    if (p && order == cblas_row_major) transpose_gemmt(*p);
    run_gemmt(
        same, p,
        [&] { same.get<CblasGemmt<T, Int>>()(order, uplo, op_a, op_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc); },
        [&](const Gemm<T>& g) { call_gemm<T, Int>(gemm, g); });
}

}  // namespace
}  // namespace vkgemm::blas

using namespace vkgemm::blas;
// `gemm` is this library's routine of the same types.
#define FORTRAN_BATCH(Int, name, gemm, T)                                                                              \
    EXPORT void name(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const T* alpha,     \
                     const T* const* a, const Int* lda, const T* const* b, const Int* ldb, const T* beta, T* const* c, \
                     const Int* ldc, const Int* groups, const Int* sizes) {                                            \
        static constinit NextSymbol same(#name);                                                                       \
        const auto call = []<class I>(auto... x) {                                                                     \
            fortran_batch<T, I>(same, as_function<FortranGemm<T, I>>(gemm), x...);                                     \
        };                                                                                                             \
        by_width<Int>(call, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes);                  \
    }
#define FORTRAN_STRIDED(Int, name, gemm, T)                                                                            \
    EXPORT void name(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const T* alpha,     \
                     const T* a, const Int* lda, const Int* stride_a, const T* b, const Int* ldb, const Int* stride_b, \
                     const T* beta, T* c, const Int* ldc, const Int* stride_c, const Int* count) {                     \
        static constinit NextSymbol same(#name);                                                                       \
        const auto call = []<class I>(auto... x) {                                                                     \
            fortran_strided<T, I>(same, as_function<FortranGemm<T, I>>(gemm), x...);                                   \
        };                                                                                                             \
        by_width<Int>(call, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,    \
                      count);                                                                                          \
    }
#define FORTRAN_GEMMT(Int, name, gemm, T)                                                                              \
    EXPORT void name(const char* uplo, const char* op_a, const char* op_b, const Int* n, const Int* k, const T* alpha, \
                     const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) {    \
        static constinit NextSymbol same(#name);                                                                       \
        const auto call = []<class I>(auto... x) {                                                                     \
            fortran_gemmt<T, I>(same, as_function<FortranGemm<T, I>>(gemm), x...);                                     \
        };                                                                                                             \
        by_width<Int>(call, uplo, op_a, op_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                              \
    }
#define CBLAS_BATCH(Int, name, gemm, T)                                                                      \
    EXPORT void name(int order, const int* op_a, const int* op_b, const Int* m, const Int* n, const Int* k,  \
                     const T* alpha, const T* const* a, const Int* lda, const T* const* b, const Int* ldb,   \
                     const T* beta, T* const* c, const Int* ldc, Int groups, const Int* sizes) {             \
        static constinit NextSymbol same(#name);                                                             \
        const auto call = []<class I>(auto... x) {                                                           \
            cblas_batch<T, I>(same, as_function<CblasGemm<T, I>>(gemm), x...);                               \
        };                                                                                                   \
        by_width<Int>(call, order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes); \
    }
#define CBLAS_STRIDED(Int, name, gemm, T)                                                                        \
    EXPORT void name(int order, int op_a, int op_b, Int m, Int n, Int k, CblasFactor<T> alpha, CblasMatrix<T> a, \
                     Int lda, Int stride_a, CblasMatrix<T> b, Int ldb, Int stride_b, CblasFactor<T> beta,        \
                     CblasResult<T> c, Int ldc, Int stride_c, Int count) {                                       \
        static constinit NextSymbol same(#name);                                                                 \
        const auto call = []<class I>(auto... x) {                                                               \
            cblas_strided<T, I>(same, as_function<CblasGemm<T, I>>(gemm), x...);                                 \
        };                                                                                                       \
        by_width<Int>(call, order, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, \
                      stride_c, count);                                                                          \
    }
#define CBLAS_GEMMT(Int, name, gemm, T)                                                                             \
    EXPORT void name(int order, int uplo, int op_a, int op_b, Int n, Int k, CblasFactor<T> alpha, CblasMatrix<T> a, \
                     Int lda, CblasMatrix<T> b, Int ldb, CblasFactor<T> beta, CblasResult<T> c, Int ldc) {          \
        static constinit NextSymbol same(#name);                                                                    \
        const auto call = []<class I>(auto... x) {                                                                  \
            cblas_gemmt<T, I>(same, as_function<CblasGemm<T, I>>(gemm), x...);                                      \
        };                                                                                                          \
        by_width<Int>(call, order, uplo, op_a, op_b, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                    \
    }

// gemm3m has the arguments of gemm, and is gemm, also where the CPU BLAS computes it.
#define FORTRAN_GEMM3M(Int, T, gemm, gemm3m)                                                                          \
    EXPORT void gemm3m(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const T* alpha,  \
                       const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) { \
        gemm(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                               \
    }
#define CBLAS_GEMM3M(Int, T, gemm, gemm3m)                                                                            \
    EXPORT void gemm3m(int order, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* a, Int lda, \
                       const void* b, Int ldb, const void* beta, void* c, Int ldc) {                                  \
        gemm(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                        \
    }

#define FORTRAN_DECLARE(Int, name, T) EXPORT FortranGemm<T, Int> name;
#define CBLAS_DECLARE(Int, name, T) EXPORT CblasGemm<T, Int> name;

#define EACH_ROUTINE(STYLE, Int, before, letter, after, T)                                                  \
    STYLE##_DECLARE(Int, before##letter##gemm##after, T)                                                    \
        STYLE##_BATCH(Int, before##letter##gemm_batch##after, before##letter##gemm##after, T)               \
            STYLE##_STRIDED(Int, before##letter##gemm_batch_strided##after, before##letter##gemm##after, T) \
                STYLE##_GEMMT(Int, before##letter##gemmt##after, before##letter##gemm##after, T)
#define EACH_TYPE(STYLE, Int, before, after)                                               \
    EACH_ROUTINE(STYLE, Int, before, s, after, float)                                      \
    EACH_ROUTINE(STYLE, Int, before, d, after, double)                                     \
    EACH_ROUTINE(STYLE, Int, before, c, after, std::complex<float>)                        \
    EACH_ROUTINE(STYLE, Int, before, z, after, std::complex<double>)                       \
    STYLE##_GEMM3M(Int, std::complex<float>, before##cgemm##after, before##cgemm3m##after) \
        STYLE##_GEMM3M(Int, std::complex<double>, before##zgemm##after, before##zgemm3m##after)
#define FORTRAN(Int, before, after) EACH_TYPE(FORTRAN, Int, before, after)
#define CBLAS(Int, before, after) EACH_TYPE(CBLAS, Int, before, after)
#include "blas/names.def"
#undef EACH_TYPE
#undef FORTRAN
#undef CBLAS
