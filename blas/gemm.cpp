// SPDX-License-Identifier: MIT
// The exported functions. Each reads its arguments into a Gemm, and tries the device; what that does not compute, and
// every call with bad arguments, goes to the next BLAS as it came, so that its owner's xerbla is called.
#include <optional>

#include "blas/next_library.h"
#include "blas/tiles.h"

namespace vkgemm::blas {
namespace {

// CBLAS's enums
constexpr int cblas_row_major = 101, cblas_column_major = 102;
constexpr int cblas_ops[] = {111, 112, 113};  // as Op

std::optional<Op> op_of_letter(char letter) {
    for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose})
        if (const char known = op_letters[static_cast<size_t>(op)]; letter == known || letter == known + ('a' - 'A'))
            return op;
    return {};
}

std::optional<Op> op_of_number(int number) {
    for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose})
        if (number == cblas_ops[static_cast<size_t>(op)]) return op;
    return {};
}

/// Fortran's lengths of the two texts come last. A function that does not know them ignores them.
template <class T, class Int>
using Fortran = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, const Int*,
                     const T*, const Int*, const T*, T*, const Int*, size_t, size_t);

/// CBLAS passes real factors by value, complex ones by address.
template <class T>
using CblasFactor = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
using CblasMatrix = std::conditional_t<is_complex<T>, const void*, const T*>;
template <class T>
using CblasResult = std::conditional_t<is_complex<T>, void*, T*>;
template <class T, class Int>
using Cblas = void(int, int, int, Int, Int, Int, CblasFactor<T>, CblasMatrix<T>, Int, CblasMatrix<T>, Int,
                   CblasFactor<T>, CblasResult<T>, Int);

template <class T>
T value_of(CblasFactor<T> factor) {
    if constexpr (is_complex<T>)
        return *static_cast<const T*>(factor);
    else
        return factor;
}

template <class T>
CblasFactor<T> factor_of(const T& value) {
    if constexpr (is_complex<T>)
        return &value;
    else
        return value;
}

/// `whole` computes the call as it came, `next` a part of it, both by the next BLAS.
template <class T, class Whole, class Next>
void run(const std::optional<Gemm<T>>& g, const Whole& whole, const Next& next) {
    if (InsideNext::active()) return whole();
    if (!g || !is_valid(*g)) {  // xerbla may leave by longjmp, so nothing is to be undone here
        ++counts().next_calls;
        return whole();
    }
    const auto guarded = [](const auto& call, const auto&... arguments) {
        const InsideNext inside;
        call(arguments...);
    };
    const bool done = multiply(*g, [&](const Gemm<T>& part) { guarded(next, part); });
    ++(done ? counts().device_calls : counts().next_calls);
    if (settings().log == LogLevel::calls)
        log_call(routine_of<T>, op_letters[static_cast<size_t>(g->op_a)], op_letters[static_cast<size_t>(g->op_b)],
                 g->m, g->n, g->k, done ? "on the device" : "by the next BLAS");
    if (!done) guarded(whole);
}

template <class T, class Int>
void fortran(NextSymbol& symbol, const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k,
             const T* alpha, const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c,
             const Int* ldc) {
    std::optional<Gemm<T>> g;
    if (const auto read_a = op_of_letter(*op_a), read_b = op_of_letter(*op_b); read_a && read_b)
        g = Gemm<T>{*read_a, *read_b, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc};
    auto* const function = symbol.get<Fortran<T, Int>>();
    run(
        g, [&] { function(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1); },
        [&](const Gemm<T>& p) {
            const Int rows = static_cast<Int>(p.m), columns = static_cast<Int>(p.n);
            function(op_a, op_b, &rows, &columns, k, alpha, p.a, lda, p.b, ldb, beta, p.c, ldc, 1, 1);
        });
}

template <class T, class Int>
void cblas(NextSymbol& symbol, int order, int op_a, int op_b, Int m, Int n, Int k, CblasFactor<T> alpha,
           CblasMatrix<T> a, Int lda, CblasMatrix<T> b, Int ldb, CblasFactor<T> beta, CblasResult<T> c, Int ldc) {
    std::optional<Gemm<T>> g;
    const auto read_a = op_of_number(op_a), read_b = op_of_number(op_b);
    if (read_a && read_b && (order == cblas_row_major || order == cblas_column_major)) {
        g = Gemm<T>{*read_a,
                    *read_b,
                    m,
                    n,
                    k,
                    value_of<T>(alpha),
                    static_cast<const T*>(a),
                    lda,
                    static_cast<const T*>(b),
                    ldb,
                    value_of<T>(beta),
                    static_cast<T*>(c),
                    ldc};
        if (order == cblas_row_major) {  // C row by row is its transpose column by column: op(B)' op(A)'
            std::swap(g->op_a, g->op_b), std::swap(g->m, g->n);
            std::swap(g->a, g->b), std::swap(g->lda, g->ldb);
        }
    }
    auto* const function = symbol.get<Cblas<T, Int>>();
    run(
        g, [&] { function(order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); },
        [&](const Gemm<T>& p) {
            function(cblas_column_major, cblas_ops[static_cast<size_t>(p.op_a)], cblas_ops[static_cast<size_t>(p.op_b)],
                     static_cast<Int>(p.m), static_cast<Int>(p.n), k, factor_of(p.alpha), p.a, static_cast<Int>(p.lda),
                     p.b, static_cast<Int>(p.ldb), factor_of(p.beta), p.c, ldc);
        });
}

}  // namespace
}  // namespace vkgemm::blas

#define FORTRAN_NAME(Int, name, T)                                                                                \
    extern "C" __attribute__((visibility("default"))) void name(                                                  \
        const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k, const T* alpha, const T* a, \
        const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) {                        \
        static constinit vkgemm::blas::NextSymbol next(#name);                                                    \
        vkgemm::blas::fortran<T, Int>(next, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);            \
    }
#define CBLAS_NAME(Int, name, T)                                                                            \
    extern "C" __attribute__((visibility("default"))) void name(                                            \
        int order, int op_a, int op_b, Int m, Int n, Int k, vkgemm::blas::CblasFactor<T> alpha,             \
        vkgemm::blas::CblasMatrix<T> a, Int lda, vkgemm::blas::CblasMatrix<T> b, Int ldb,                   \
        vkgemm::blas::CblasFactor<T> beta, vkgemm::blas::CblasResult<T> c, Int ldc) {                       \
        static constinit vkgemm::blas::NextSymbol next(#name);                                              \
        vkgemm::blas::cblas<T, Int>(next, order, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); \
    }
#define EACH_TYPE(NAME, Int, before, after)          \
    NAME(Int, before##s##after, float)               \
    NAME(Int, before##d##after, double)              \
    NAME(Int, before##c##after, std::complex<float>) \
    NAME(Int, before##z##after, std::complex<double>)
#define FORTRAN(Int, before, after) EACH_TYPE(FORTRAN_NAME, Int, before, after)
#define CBLAS(Int, before, after) EACH_TYPE(CBLAS_NAME, Int, before, after)
#include "blas/names.def"
