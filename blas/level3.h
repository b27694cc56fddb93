// SPDX-License-Identifier: MIT
// The other routines of level 3, as products: C is split in two by two blocks again and again. What is off the diagonal
// is a product; what is on it, once it is small, goes to the CPU BLAS. All matrices are column-major. Pure.
#pragma once
#include "blas/call.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::blas {

enum class Kind : uint8_t { syrk, herk, syr2k, her2k, symm, hemm, trmm, trsm };
inline constexpr const char* kind_names[] = {"syrk", "herk", "syr2k", "her2k", "symm", "hemm", "trmm", "trsm"};

inline constexpr size_t kind_count = std::size(kind_names);

inline bool is_update(Kind kind) { return kind <= Kind::her2k; }
inline bool is_triangular(Kind kind) { return kind >= Kind::trmm; }
inline bool has_conjugate(Kind kind) { return kind == Kind::herk || kind == Kind::her2k || kind == Kind::hemm; }

/// One call. C is n x n for updates, whose op(A) and op(B) are n x k; else m x n. trmm and trsm have their B in C.
template <class T>
struct Level3 {
    Kind kind = Kind::syrk;
    bool left = true;  // the triangle A is
    bool upper = false;
    Op op = Op::none;  // of updates and triangles
    bool unit = false;
    int64_t m = 0, n = 0, k = 0;
    T alpha{};
    const T* a = nullptr;
    int64_t lda = 0;
    const T* b = nullptr;
    int64_t ldb = 0;
    T beta{};
    T* c = nullptr;
    int64_t ldc = 0;

    /// Of the matrix that is split.
    int64_t order() const { return is_update(kind) ? n : left ? m : n; }
};

/// As is_valid(Gemm). The letters were read before.
template <class T>
bool is_valid(const Level3<T>& p) {
    const auto fits = [](int64_t ld, int64_t rows) { return ld >= std::max<int64_t>(1, rows); };
    if (p.m < 0 || p.n < 0 || p.k < 0) return false;
    if (is_update(p.kind)) {
        const int64_t rows = p.op == Op::none ? p.n : p.k;
        const bool two = p.kind == Kind::syr2k || p.kind == Kind::her2k;
        return fits(p.lda, rows) && (!two || fits(p.ldb, rows)) && fits(p.ldc, p.n);
    }
    return fits(p.lda, p.order()) && (is_triangular(p.kind) || fits(p.ldb, p.m)) && fits(p.ldc, p.m);
}

/// There is something to multiply.
template <class T>
bool has_product(const Level3<T>& p) {
    return p.n > 0 && (is_update(p.kind) ? p.k > 0 : p.m > 0) && p.alpha != T{};
}

template <class T>
T conjugate(T x) {
    if constexpr (is_complex<T>)
        return std::conj(x);
    else
        return x;
}

/// Calls use.diagonal(Level3) for blocks of the diagonal of at most `block` rows, use.next(Level3) for larger ones
/// whose product is not worth the device (use.is_worth(Gemm)), and use.multiply(Gemm) for the rest.
template <class T, class Use>
class Blocked {
   public:
    Blocked(const Use& use, int64_t block) : use_(use), block_(block) {}

    void run(const Level3<T>& p) const {
        if (p.order() <= block_) return use_.diagonal(p);
        // The first part is the larger one, a multiple of the block.
        const int64_t first = roundUp(p.order() / 2, block_);
        if (is_update(p.kind)) return update(p, first);
        if (is_triangular(p.kind)) return triangle(p, first);
        symmetric(p, first);
    }

   private:
    /// C21 = op(A)2 op(A)1' or, above the diagonal, C12 = op(A)1 op(A)2'.
    void update(const Level3<T>& p, int64_t n1) const {
        const bool plain = p.op == Op::none;
        const Op other = has_conjugate(p.kind) ? Op::conjugate_transpose : Op::transpose;
        const auto second = [&](const T* x, int64_t ld) { return x + (plain ? n1 : n1 * ld); };
        const auto product = [&](const T* x, int64_t ldx, const T* y, int64_t ldy, T alpha, T beta) {
            Gemm<T> g{.op_a = plain ? Op::none : other, .op_b = plain ? other : Op::none, .k = p.k, .alpha = alpha};
            g.m = p.upper ? n1 : p.n - n1;
            g.n = p.n - g.m;
            g.a = p.upper ? x : second(x, ldx);
            g.lda = ldx;
            g.b = p.upper ? second(y, ldy) : y;
            g.ldb = ldy;
            g.beta = beta;
            g.c = p.c + (p.upper ? n1 * p.ldc : n1);
            g.ldc = p.ldc;
            return g;
        };
        const bool two = p.kind == Kind::syr2k || p.kind == Kind::her2k;
        const Gemm<T> g =
            two ? product(p.a, p.lda, p.b, p.ldb, p.alpha, p.beta) : product(p.a, p.lda, p.a, p.lda, p.alpha, p.beta);
        if (!use_.is_worth(g)) return use_.next(p);
        use_.multiply(g);
        if (two)
            use_.multiply(product(p.b, p.ldb, p.a, p.lda, p.kind == Kind::her2k ? conjugate(p.alpha) : p.alpha, T{1}));
        Level3<T> part = p;
        part.n = n1;
        run(part);
        part.n = p.n - n1;
        part.a = second(p.a, p.lda);
        part.b = two ? second(p.b, p.ldb) : nullptr;
        part.c = p.c + n1 * (1 + p.ldc);
        run(part);
    }

    /// The parts of a call that the two blocks of the diagonal belong to. `index`: 0 or 1.
    Level3<T> half(const Level3<T>& p, int64_t first, int index) const {
        Level3<T> part = p;
        (p.left ? part.m : part.n) = index == 0 ? first : p.order() - first;
        if (index == 0) return part;
        part.a = p.a + first * (1 + p.lda);
        if (p.b) part.b = p.b + (p.left ? first : first * p.ldb);
        part.c = p.c + (p.left ? first : first * p.ldc);
        return part;
    }

    /// C of `to` = alpha x (block x B of `from`, or the other way round) + beta C.
    Gemm<T> across(const Level3<T>& to, const Level3<T>& from, Op op, const T* block, T alpha, T beta) const {
        const bool triangular = is_triangular(to.kind);
        const T* const b = triangular ? from.c : from.b;
        const int64_t ldb = triangular ? from.ldc : from.ldb;
        Gemm<T> g{.m = to.m, .n = to.n, .k = from.order(), .alpha = alpha, .beta = beta, .c = to.c, .ldc = to.ldc};
        if (to.left) {
            g.op_a = op;
            g.a = block;
            g.lda = to.lda;
            g.b = b;
            g.ldb = ldb;
        } else {
            g.op_b = op;
            g.b = block;
            g.ldb = to.lda;
            g.a = b;
            g.lda = ldb;
        }
        return g;
    }

    const T* beside_diagonal(const Level3<T>& p, int64_t first) const {
        return p.a + (p.upper ? first * p.lda : first);
    }

    void symmetric(const Level3<T>& p, int64_t first) const {
        const Op other = p.kind == Kind::hemm ? Op::conjugate_transpose : Op::transpose;
        const Level3<T> one = half(p, first, 0), two = half(p, first, 1);
        const T* const block = beside_diagonal(p, first);
        // A12 = A21'. C1 has A12 from the left, or A21 from the right.
        const Gemm<T> to_one = across(one, two, p.upper == p.left ? Op::none : other, block, p.alpha, T{1});
        if (!use_.is_worth(to_one)) return use_.next(p);
        run(one);
        use_.multiply(to_one);
        run(two);
        use_.multiply(across(two, one, p.upper == p.left ? other : Op::none, block, p.alpha, T{1}));
    }

    /// With op(A) as it is used, upper or lower, one of the halves of B takes part in the other one.
    void triangle(const Level3<T>& p, int64_t first) const {
        const bool upper = p.upper == (p.op == Op::none);
        const int to = upper == p.left ? 0 : 1;
        Level3<T> target = half(p, first, to);
        const Level3<T> source = half(p, first, 1 - to);
        const bool solve = p.kind == Kind::trsm;
        const Gemm<T> g =
            across(target, source, p.op, beside_diagonal(p, first), solve ? T{-1} : p.alpha, solve ? p.alpha : T{1});
        if (!use_.is_worth(g)) return use_.next(p);
        run(solve ? source : target);
        use_.multiply(g);
        if (solve) target.alpha = T{1};
        run(solve ? target : source);
    }

    const Use& use_;
    const int64_t block_;
};

}  // namespace vkgemm::blas
