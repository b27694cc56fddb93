// SPDX-License-Identifier: MIT
// The exported functions of gemm. Each reads its arguments into a Gemm, and tries the device; what that does not
// compute, and every call with bad arguments, goes to the CPU BLAS as it came, so that its owner's xerbla is called.
#include "blas/export.h"
#include "blas/product.h"
#include "blas/signatures.h"

namespace vkgemm::blas {
namespace {

/// `whole` computes the call as it came, by the CPU BLAS.
template <class Style, class T, class Whole>
void run(const std::optional<Gemm<T>>& g, NextSymbol& symbol, const Whole& whole) {
    if (InsideNext::active()) return whole();
    if (!g || !is_valid(*g)) {  // xerbla may leave by longjmp, so nothing is to be undone here
        ++counts().next_calls;
        return whole();
    }
    const auto guarded = [](const Gemm<T>& part, const auto& call) {
        const InsideNext inside;
        if (notes_memory()) {
            note_read(place_of_a(part));
            note_read(place_of_b(part));
            note_write(place_of_c(part));
        }
        call();
    };
    const Outcome outcome =
        multiply(*g, [&](const Gemm<T>& part) { guarded(part, [&] { Style::call(symbol, part); }); });
    if (outcome == Outcome::small)
        guarded(*g, whole);
    else if (outcome == Outcome::untouched)
        call_timed(*g, [&] { guarded(*g, whole); });
    const bool on_device = outcome == Outcome::device;
    ++(on_device ? counts().device_calls : counts().next_calls);
    if (settings().log != LogLevel::calls) return;
    const char how[] = {' ', op_letters[static_cast<size_t>(g->op_a)], op_letters[static_cast<size_t>(g->op_b)], 0};
    log_call(routine_of<T>, "gemm", how, g->m, g->n, g->k, on_device);
}

template <class T, class Int>
void fortran(NextSymbol& symbol, const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k,
             const T* alpha, const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c,
             const Int* ldc) {
    std::optional<Gemm<T>> g;
    if (const auto read_a = op_of(*op_a), read_b = op_of(*op_b); read_a && read_b)
        g = Gemm<T>{*read_a, *read_b, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc};
    run<Fortran<Int>>(g, symbol, [&] {
        symbol.get<typename Fortran<Int>::template Gemm_<T>>()(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                                                               1, 1);
    });
}

template <class T, class Int>
void cblas(NextSymbol& symbol, int order, int op_a, int op_b, Int m, Int n, Int k, CblasFactor<T> alpha,
           CblasMatrix<T> a, Int lda, CblasMatrix<T> b, Int ldb, CblasFactor<T> beta, CblasResult<T> c, Int ldc) {
    std::optional<Gemm<T>> g;
    const auto read_a = op_of(op_a), read_b = op_of(op_b);
    if (read_a && read_b && (order == cblas_row_major || order == cblas_column_major)) {
        g = read_gemm<T>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        g->op_a = *read_a;
        g->op_b = *read_b;
        if (order == cblas_row_major) {  // C row by row is its transpose column by column: op(B)' op(A)'
            std::swap(g->op_a, g->op_b);
            std::swap(g->m, g->n);
            std::swap(g->a, g->b);
            std::swap(g->lda, g->ldb);
        }
    }
    run<Cblas<Int>>(g, symbol, [&] {
        symbol.get<typename Cblas<Int>::template Gemm_<T>>()(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                                             ldc);
    });
}

}  // namespace
}  // namespace vkgemm::blas

using vkgemm::blas::plain_int;
#define FORTRAN_NAME(Int, name, T)                                                                                   \
    EXPORT void name(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const T* alpha,   \
                     const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) {  \
        static constinit vkgemm::blas::NextSymbol next(#name);                                                       \
        vkgemm::blas::by_width<Int>([]<class I>(auto... x) { vkgemm::blas::fortran<T, I>(next, x...); }, op_a, op_b, \
                                    m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                   \
    }
#define CBLAS_NAME(Int, name, T)                                                                                    \
    EXPORT void name(int order, int op_a, int op_b, Int m, Int n, Int k, vkgemm::blas::CblasFactor<T> alpha,        \
                     vkgemm::blas::CblasMatrix<T> a, Int lda, vkgemm::blas::CblasMatrix<T> b, Int ldb,              \
                     vkgemm::blas::CblasFactor<T> beta, vkgemm::blas::CblasResult<T> c, Int ldc) {                  \
        static constinit vkgemm::blas::NextSymbol next(#name);                                                      \
        vkgemm::blas::by_width<Int>([]<class I>(auto... x) { vkgemm::blas::cblas<T, I>(next, x...); }, order, op_a, \
                                    op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                            \
    }
#define EACH_TYPE(NAME, Int, before, after)                \
    NAME(Int, before##s##gemm##after, float)               \
    NAME(Int, before##d##gemm##after, double)              \
    NAME(Int, before##c##gemm##after, std::complex<float>) \
    NAME(Int, before##z##gemm##after, std::complex<double>)
#define FORTRAN(Int, before, after) EACH_TYPE(FORTRAN_NAME, Int, before, after)
#define CBLAS(Int, before, after) EACH_TYPE(CBLAS_NAME, Int, before, after)
#include "blas/names.def"
#undef EACH_TYPE
#undef FORTRAN
#undef CBLAS
