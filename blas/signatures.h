// SPDX-License-Identifier: MIT
// The letters, numbers and argument lists of Fortran BLAS and CBLAS.
#pragma once
#include <optional>

#include "blas/level3.h"
#include "blas/next_library.h"
#include "blas/packing.h"
#include "blas/state.h"

namespace vkgemm::blas {

/// An integer of plain names such as sgemm_ and cblas_sgemm: of 32 bits, or of 64 with VKGEMM_BLAS_ILP64=1. By value it
/// is taken as one of 64 bits, whose upper half is undefined where the caller passed 32.
enum class plain_int : std::conditional_t<sizeof(void*) == 8, int64_t, int32_t>{};

template <class Int, class A>
auto with_width(A argument) {
    if constexpr (std::is_same_v<A, plain_int>)
        return static_cast<Int>(argument);
    else if constexpr (std::is_same_v<A, const plain_int*>)
        return reinterpret_cast<const Int*>(argument);
    else if constexpr (std::is_same_v<A, plain_int*>)
        return reinterpret_cast<Int*>(argument);
    else
        return argument;
}

/// Calls f<I>(arguments...), where I is int32_t or int64_t: `Int`, or what plain names have.
template <class Int, class F, class... Arguments>
void by_width(const F& f, Arguments... arguments) {
    if constexpr (!std::is_same_v<Int, plain_int>)
        f.template operator()<Int>(arguments...);
    else if (settings().ilp64)
        f.template operator()<int64_t>(with_width<int64_t>(arguments)...);
    else
        f.template operator()<int32_t>(with_width<int32_t>(arguments)...);
}

// CBLAS's enums
inline constexpr int cblas_row_major = 101, cblas_column_major = 102;
inline constexpr int cblas_ops[] = {111, 112, 113};  // as Op
inline constexpr int cblas_upper = 121, cblas_lower = 122, cblas_non_unit = 131, cblas_unit = 132;
inline constexpr int cblas_left = 141, cblas_right = 142;

inline std::optional<Op> op_of(char letter) {
    for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose})
        if (const char known = op_letters[static_cast<size_t>(op)]; letter == known || letter == known + ('a' - 'A'))
            return op;
    return {};
}
inline std::optional<Op> op_of(int number) {
    for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose})
        if (number == cblas_ops[static_cast<size_t>(op)]) return op;
    return {};
}

/// True for the first letter (number), false for the second.
inline std::optional<bool> choice(char letter, const char (&both)[3]) {
    for (int i = 0; i < 2; ++i)
        if (letter == both[i] || letter == both[i] + ('a' - 'A')) return i == 0;
    return {};
}
inline std::optional<bool> choice(int number, int yes, int no) {
    if (number == yes || number == no) return number == yes;
    return {};
}

/// CBLAS passes real factors by value, complex ones by address.
template <class T>
using CblasFactor = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
using CblasMatrix = std::conditional_t<is_complex<T>, const void*, const T*>;
template <class T>
using CblasResult = std::conditional_t<is_complex<T>, void*, T*>;
template <class T>
T value_of(CblasFactor<T> factor);

/// A call whose matrices are column-major, without its ops.
template <class T>
Gemm<T> read_gemm(int64_t m, int64_t n, int64_t k, CblasFactor<T> alpha, CblasMatrix<T> a, int64_t lda,
                  CblasMatrix<T> b, int64_t ldb, CblasFactor<T> beta, CblasResult<T> c, int64_t ldc) {
    Gemm<T> g{.m = m, .n = n, .k = k, .alpha = value_of<T>(alpha), .lda = lda, .ldb = ldb, .beta = value_of<T>(beta)};
    g.a = static_cast<const T*>(a);
    g.b = static_cast<const T*>(b);
    g.c = static_cast<T*>(c);
    g.ldc = ldc;
    return g;
}

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

/// Factors that are real although the matrices are complex.
template <Kind kind, class T>
using Alpha = std::conditional_t<kind == Kind::herk, Real<T>, T>;
template <Kind kind, class T>
using Beta = std::conditional_t<kind == Kind::herk || kind == Kind::her2k, Real<T>, T>;
template <class S, class T>
S part_of(T factor) {
    if constexpr (std::is_same_v<S, T>)
        return factor;
    else
        return factor.real();
}

/// Fortran's lengths of the texts come last. A function that does not know them ignores them.
template <class Int>
struct Fortran {
    template <class T>
    using Gemm_ = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, const Int*,
                       const T*, const Int*, const T*, T*, const Int*, size_t, size_t);
    template <Kind kind, class T>
    using Rank = void(const char*, const char*, const Int*, const Int*, const Alpha<kind, T>*, const T*, const Int*,
                      const Beta<kind, T>*, T*, const Int*, size_t, size_t);
    template <Kind kind, class T>  // of syr2k and symm
    using Two = void(const char*, const char*, const Int*, const Int*, const T*, const T*, const Int*, const T*,
                     const Int*, const Beta<kind, T>*, T*, const Int*, size_t, size_t);
    template <class T>
    using Triangle = void(const char*, const char*, const char*, const char*, const Int*, const Int*, const T*,
                          const T*, const Int*, T*, const Int*, size_t, size_t, size_t, size_t);

    template <class T>
    static void call(NextSymbol& next, const Gemm<T>& g) {
        const Int m = Int(g.m), n = Int(g.n), k = Int(g.k), lda = Int(g.lda), ldb = Int(g.ldb), ldc = Int(g.ldc);
        next.get<Gemm_<T>>()(letter(g.op_a), letter(g.op_b), &m, &n, &k, &g.alpha, g.a, &lda, g.b, &ldb, &g.beta, g.c,
                             &ldc, 1, 1);
    }
    template <Kind kind, class T>
    static void call(NextSymbol& next, const Level3<T>& p) {
        const Int m = Int(p.m), n = Int(p.n), k = Int(p.k), lda = Int(p.lda), ldb = Int(p.ldb), ldc = Int(p.ldc);
        const char *uplo = p.upper ? "U" : "L", *side = p.left ? "L" : "R";
        const auto alpha = part_of<Alpha<kind, T>>(p.alpha);
        const auto beta = part_of<Beta<kind, T>>(p.beta);
        if constexpr (kind == Kind::syrk || kind == Kind::herk)
            next.get<Rank<kind, T>>()(uplo, letter(p.op), &n, &k, &alpha, p.a, &lda, &beta, p.c, &ldc, 1, 1);
        else if constexpr (kind == Kind::syr2k || kind == Kind::her2k)
            next.get<Two<kind, T>>()(uplo, letter(p.op), &n, &k, &alpha, p.a, &lda, p.b, &ldb, &beta, p.c, &ldc, 1, 1);
        else if constexpr (kind == Kind::symm || kind == Kind::hemm)
            next.get<Two<kind, T>>()(side, uplo, &m, &n, &alpha, p.a, &lda, p.b, &ldb, &beta, p.c, &ldc, 1, 1);
        else
            next.get<Triangle<T>>()(side, uplo, letter(p.op), p.unit ? "U" : "N", &m, &n, &alpha, p.a, &lda, p.c, &ldc,
                                    1, 1, 1, 1);
    }

   private:
    static const char* letter(Op op) { return &op_letters[static_cast<size_t>(op)]; }
};

template <class Int>
struct Cblas {
    template <class T>
    using Gemm_ = void(int, int, int, Int, Int, Int, CblasFactor<T>, CblasMatrix<T>, Int, CblasMatrix<T>, Int,
                       CblasFactor<T>, CblasResult<T>, Int);
    template <Kind kind, class T>
    using Rank = void(int, int, int, Int, Int, CblasFactor<Alpha<kind, T>>, CblasMatrix<T>, Int,
                      CblasFactor<Beta<kind, T>>, CblasResult<T>, Int);
    template <Kind kind, class T>
    using Two = void(int, int, int, Int, Int, CblasFactor<T>, CblasMatrix<T>, Int, CblasMatrix<T>, Int,
                     CblasFactor<Beta<kind, T>>, CblasResult<T>, Int);
    template <class T>
    using Triangle = void(int, int, int, int, int, Int, Int, CblasFactor<T>, CblasMatrix<T>, Int, CblasResult<T>, Int);

    template <class T>
    static void call(NextSymbol& next, const Gemm<T>& g) {
        next.get<Gemm_<T>>()(cblas_column_major, number(g.op_a), number(g.op_b), Int(g.m), Int(g.n), Int(g.k),
                             factor_of(g.alpha), g.a, Int(g.lda), g.b, Int(g.ldb), factor_of(g.beta), g.c, Int(g.ldc));
    }
    template <Kind kind, class T>
    static void call(NextSymbol& next, const Level3<T>& p) {
        const int order = cblas_column_major, uplo = p.upper ? cblas_upper : cblas_lower;
        const int side = p.left ? cblas_left : cblas_right;
        const Int m = Int(p.m), n = Int(p.n), k = Int(p.k), lda = Int(p.lda), ldb = Int(p.ldb), ldc = Int(p.ldc);
        const auto alpha = part_of<Alpha<kind, T>>(p.alpha);
        const auto beta = part_of<Beta<kind, T>>(p.beta);
        if constexpr (kind == Kind::syrk || kind == Kind::herk)
            next.get<Rank<kind, T>>()(order, uplo, number(p.op), n, k, factor_of(alpha), p.a, lda, factor_of(beta), p.c,
                                      ldc);
        else if constexpr (kind == Kind::syr2k || kind == Kind::her2k)
            next.get<Two<kind, T>>()(order, uplo, number(p.op), n, k, factor_of(alpha), p.a, lda, p.b, ldb,
                                     factor_of(beta), p.c, ldc);
        else if constexpr (kind == Kind::symm || kind == Kind::hemm)
            next.get<Two<kind, T>>()(order, side, uplo, m, n, factor_of(alpha), p.a, lda, p.b, ldb, factor_of(beta),
                                     p.c, ldc);
        else
            next.get<Triangle<T>>()(order, side, uplo, number(p.op), p.unit ? cblas_unit : cblas_non_unit, m, n,
                                    factor_of(alpha), p.a, lda, p.c, ldc);
    }

   private:
    static int number(Op op) { return cblas_ops[static_cast<size_t>(op)]; }
};

/// A call of CBLAS with row-major matrices as one with column-major ones, which are their transposes.
template <class T>
void transpose_call(Level3<T>& p) {
    p.upper = !p.upper;
    if (is_update(p.kind)) {
        const Op other = has_conjugate(p.kind) ? Op::conjugate_transpose : Op::transpose;
        p.op = p.op == Op::none ? other : Op::none;
        if (p.kind == Kind::her2k) p.alpha = conjugate(p.alpha);
    } else {
        p.left = !p.left;
        std::swap(p.m, p.n);
    }
}

}  // namespace vkgemm::blas
