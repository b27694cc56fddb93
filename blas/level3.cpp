// SPDX-License-Identifier: MIT
// The exported functions other than gemm: read into a Level3, and computed in blocks if a product of them is worth the
// device. Everything else goes to the CPU BLAS as it came.
#include <cstdio>

#include "blas/diagonal.h"
#include "blas/export.h"
#include "blas/product.h"
#include "blas/signatures.h"

namespace vkgemm::blas {
namespace {

template <class T>
double operations_of(const Level3<T>& p) {
    const double n = static_cast<double>(p.n), parts = is_complex<T> ? 4 : 1;
    if (is_update(p.kind))
        return parts * n * n * static_cast<double>(p.k) * (p.kind == Kind::syr2k || p.kind == Kind::her2k ? 2 : 1);
    return parts * static_cast<double>(p.m) * n * static_cast<double>(p.order()) * (is_triangular(p.kind) ? 1 : 2);
}

template <class T>
void note(const Level3<T>& p) {
    if (!notes_memory()) return;
    const auto read = [](const T* x, int64_t rows, int64_t columns, int64_t ld) {
        if (x) note_read(place_of(x, rows, columns, ld, sizeof(T)));
    };
    const bool update = is_update(p.kind), plain = p.op == Op::none;
    const int64_t rows = update ? (plain ? p.n : p.k) : p.order(), columns = update ? (plain ? p.k : p.n) : p.order();
    read(p.a, rows, columns, p.lda);
    if (update)
        read(p.b, rows, columns, p.ldb);
    else
        read(p.b, p.m, p.n, p.ldb);
    note_write(place_of(p.c, update ? p.n : p.m, p.n, p.ldc, sizeof(T)));
}

/// The CPU BLAS in the style of the call: for products, and for calls of the same kind.
template <class T>
struct Next {
    NextSymbol &gemm, &same;
    void (*call_gemm)(NextSymbol&, const Gemm<T>&);
    void (*call_same)(NextSymbol&, const Level3<T>&);
};

template <class T>
struct Use {
    const Next<T>& cpu;
    bool& on_device;

    bool is_worth(const Gemm<T>& g) const {
        double predicted = 0;
        return wants_device(g, predicted);
    }
    void multiply(const Gemm<T>& g) const {
        const auto by_next = [&](const Gemm<T>& part) {
            const InsideNext inside;
            cpu.call_gemm(cpu.gemm, part);
        };
        const Outcome outcome = blas::multiply(g, by_next);
        if (outcome == Outcome::device) on_device = true;
        if (outcome == Outcome::small || outcome == Outcome::untouched) by_next(g);
    }
    void next(const Level3<T>& p) const {
        const InsideNext inside;
        note(p);
        cpu.call_same(cpu.same, p);
    }
    void diagonal(const Level3<T>& p) const {
        if (!multiply_diagonal(p, *this)) next(p);
    }
};

/// The caller's call as it came, for the CPU BLAS. It owns nothing, because xerbla may leave it by longjmp.
struct Whole {
    const void* call;
    void (*invoke)(const void*);
    void operator()() const { invoke(call); }
};

/// The largest product of the call is about half as large in each direction of A.
template <class T>
bool may_use_device(const Level3<T>& p) {
    const int64_t other = is_update(p.kind) ? p.k : p.left ? p.n : p.m, half = (p.order() + 1) / 2;
    const Settings& s = settings();
    return p.order() > 1 && !s.disabled_level3[static_cast<size_t>(routine_of<T>)][static_cast<size_t>(p.kind)] &&
           may_use_device(s, routine_of<T>, half, half, other);
}

// Compiled once for each type: the kind is a value here, and the style of the call is in `cpu` and `whole`.
template <class T>
void run(const std::optional<Level3<T>>& p, const Next<T>& cpu, const Whole& whole) {
    if (InsideNext::active()) return whole();
    if (!p || !is_valid(*p)) {  // xerbla may leave by longjmp, so nothing is to be undone here
        ++counts().next_calls;
        return whole();
    }
    bool on_device = false;
    const Settings& s = settings();
    // Blocks on the diagonal are computed in the host's memory. What only scales C writes it, too.
    const SuspendResidency nothing;
    note(*p);
    const auto forward = [&] {
        const InsideNext inside;
        whole();
    };
    if (!has_product(*p) || !may_use_device(*p)) {
        forward();
    } else {
        const HoldExceptions held;
        // The CPU BLAS computes the triangles, so they are small; the others cost the device twice their operations.
        const int64_t block = std::min<int64_t>(is_triangular(p->kind) ? 256 : 1024, s.tile);
        const auto start = Clock::now();
        const Use<T> use{cpu, on_device};
        Blocked<T, Use<T>>(use, block).run(*p);
        if (!on_device && predicts(s)) estimates().saw_next(routine_of<T>, operations_of(*p), seconds_since(start));
    }
    ++(on_device ? counts().device_calls : counts().next_calls);
    if (s.log != LogLevel::calls) return;
    char how[20];
    std::snprintf(how, sizeof how, "%s%s%c", p->left ? " " : " right ", p->upper ? "upper " : "lower ",
                  op_letters[static_cast<size_t>(p->op)]);
    log_call(routine_of<T>, kind_names[static_cast<size_t>(p->kind)], how, is_update(p->kind) ? p->n : p->m, p->n,
             is_update(p->kind) ? p->k : p->order(), on_device);
}

template <Kind kind, class Style, class T, class Call>
void run(const std::optional<Level3<T>>& p, NextSymbol& gemm, NextSymbol& same, const Call& call) {
    const Next<T> cpu = {
        .gemm = gemm,
        .same = same,
        .call_gemm = [](NextSymbol& next, const Gemm<T>& g) { Style::call(next, g); },
        .call_same = [](NextSymbol& next, const Level3<T>& x) { Style::template call<kind>(next, x); }};
    run(p, cpu, {&call, [](const void* whole) { (*static_cast<const Call*>(whole))(); }});
}

/// trans of updates: real routines take all three letters, complex ones two of them.
template <class T>
std::optional<Op> update_op(Kind kind, std::optional<Op> op) {
    if (!op || *op == Op::none) return op;
    if constexpr (!is_complex<T>) return Op::transpose;
    return *op == (has_conjugate(kind) ? Op::conjugate_transpose : Op::transpose) ? op : std::nullopt;
}

template <Kind kind, class T, class Int>
void fortran_rank(NextSymbol& gemm, NextSymbol& same, const char* uplo, const char* trans, const Int* n, const Int* k,
                  const Alpha<kind, T>* alpha, const T* a, const Int* lda, const T* b, const Int* ldb,
                  const Beta<kind, T>* beta, T* c, const Int* ldc) {
    std::optional<Level3<T>> p;
    if (const auto upper = choice(*uplo, "UL"); upper)
        if (const auto op = update_op<T>(kind, op_of(*trans)); op)
            p = Level3<T>{.kind = kind,
                          .upper = *upper,
                          .op = *op,
                          .n = *n,
                          .k = *k,
                          .alpha = *alpha,
                          .a = a,
                          .lda = *lda,
                          .b = b,
                          .ldb = *ldb,
                          .beta = *beta,
                          .c = c,
                          .ldc = *ldc};
    run<kind, Fortran<Int>>(p, gemm, same, [&] {
        if constexpr (kind == Kind::syrk || kind == Kind::herk)
            same.get<typename Fortran<Int>::template Rank<kind, T>>()(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, 1,
                                                                      1);
        else
            same.get<typename Fortran<Int>::template Two<kind, T>>()(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c,
                                                                     ldc, 1, 1);
    });
}

template <Kind kind, class T, class Int>
void fortran_symmetric(NextSymbol& gemm, NextSymbol& same, const char* side, const char* uplo, const Int* m,
                       const Int* n, const T* alpha, const T* a, const Int* lda, const T* b, const Int* ldb,
                       const T* beta, T* c, const Int* ldc) {
    std::optional<Level3<T>> p;
    if (const auto left = choice(*side, "LR"), upper = choice(*uplo, "UL"); left && upper)
        p = Level3<T>{.kind = kind,
                      .left = *left,
                      .upper = *upper,
                      .m = *m,
                      .n = *n,
                      .alpha = *alpha,
                      .a = a,
                      .lda = *lda,
                      .b = b,
                      .ldb = *ldb,
                      .beta = *beta,
                      .c = c,
                      .ldc = *ldc};
    run<kind, Fortran<Int>>(p, gemm, same, [&] {
        same.get<typename Fortran<Int>::template Two<kind, T>>()(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc,
                                                                 1, 1);
    });
}

template <Kind kind, class T, class Int>
void fortran_triangle(NextSymbol& gemm, NextSymbol& same, const char* side, const char* uplo, const char* trans,
                      const char* diag, const Int* m, const Int* n, const T* alpha, const T* a, const Int* lda, T* b,
                      const Int* ldb) {
    std::optional<Level3<T>> p;
    const auto left = choice(*side, "LR"), upper = choice(*uplo, "UL"), unit = choice(*diag, "UN");
    if (const auto op = op_of(*trans); left && upper && unit && op)
        p = Level3<T>{.kind = kind,
                      .left = *left,
                      .upper = *upper,
                      .op = *op,
                      .unit = *unit,
                      .m = *m,
                      .n = *n,
                      .alpha = *alpha,
                      .a = a,
                      .lda = *lda,
                      .c = b,
                      .ldc = *ldb};
    run<kind, Fortran<Int>>(p, gemm, same, [&] {
        same.get<typename Fortran<Int>::template Triangle<T>>()(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, 1,
                                                                1, 1, 1);
    });
}

bool is_order(int order) { return order == cblas_row_major || order == cblas_column_major; }

template <Kind kind, class T, class Int>
void cblas_rank(NextSymbol& gemm, NextSymbol& same, int order, int uplo, int trans, Int n, Int k,
                CblasFactor<Alpha<kind, T>> alpha, CblasMatrix<T> a, Int lda, CblasMatrix<T> b, Int ldb,
                CblasFactor<Beta<kind, T>> beta, CblasResult<T> c, Int ldc) {
    std::optional<Level3<T>> p;
    const auto upper = choice(uplo, cblas_upper, cblas_lower);
    if (const auto op = update_op<T>(kind, op_of(trans)); upper && op && is_order(order)) {
        p = Level3<T>{.kind = kind,
                      .upper = *upper,
                      .op = *op,
                      .n = n,
                      .k = k,
                      .alpha = value_of<Alpha<kind, T>>(alpha),
                      .a = static_cast<const T*>(a),
                      .lda = lda,
                      .b = static_cast<const T*>(b),
                      .ldb = ldb,
                      .beta = value_of<Beta<kind, T>>(beta),
                      .c = static_cast<T*>(c),
                      .ldc = ldc};
        if (order == cblas_row_major) transpose_call(*p);
    }
    run<kind, Cblas<Int>>(p, gemm, same, [&] {
        if constexpr (kind == Kind::syrk || kind == Kind::herk)
            same.get<typename Cblas<Int>::template Rank<kind, T>>()(order, uplo, trans, n, k, alpha, a, lda, beta, c,
                                                                    ldc);
        else
            same.get<typename Cblas<Int>::template Two<kind, T>>()(order, uplo, trans, n, k, alpha, a, lda, b, ldb,
                                                                   beta, c, ldc);
    });
}

template <Kind kind, class T, class Int>
void cblas_symmetric(NextSymbol& gemm, NextSymbol& same, int order, int side, int uplo, Int m, Int n,
                     CblasFactor<T> alpha, CblasMatrix<T> a, Int lda, CblasMatrix<T> b, Int ldb, CblasFactor<T> beta,
                     CblasResult<T> c, Int ldc) {
    std::optional<Level3<T>> p;
    const auto left = choice(side, cblas_left, cblas_right), upper = choice(uplo, cblas_upper, cblas_lower);
    if (left && upper && is_order(order)) {
        p = Level3<T>{.kind = kind,
                      .left = *left,
                      .upper = *upper,
                      .m = m,
                      .n = n,
                      .alpha = value_of<T>(alpha),
                      .a = static_cast<const T*>(a),
                      .lda = lda,
                      .b = static_cast<const T*>(b),
                      .ldb = ldb,
                      .beta = value_of<T>(beta),
                      .c = static_cast<T*>(c),
                      .ldc = ldc};
        if (order == cblas_row_major) transpose_call(*p);
    }
    run<kind, Cblas<Int>>(p, gemm, same, [&] {
        same.get<typename Cblas<Int>::template Two<kind, T>>()(order, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c,
                                                               ldc);
    });
}

template <Kind kind, class T, class Int>
void cblas_triangle(NextSymbol& gemm, NextSymbol& same, int order, int side, int uplo, int trans, int diag, Int m,
                    Int n, CblasFactor<T> alpha, CblasMatrix<T> a, Int lda, CblasResult<T> b, Int ldb) {
    std::optional<Level3<T>> p;
    const auto left = choice(side, cblas_left, cblas_right), upper = choice(uplo, cblas_upper, cblas_lower);
    const auto unit = choice(diag, cblas_unit, cblas_non_unit);
    if (const auto op = op_of(trans); left && upper && unit && op && is_order(order)) {
        p = Level3<T>{.kind = kind,
                      .left = *left,
                      .upper = *upper,
                      .op = *op,
                      .unit = *unit,
                      .m = m,
                      .n = n,
                      .alpha = value_of<T>(alpha),
                      .a = static_cast<const T*>(a),
                      .lda = lda,
                      .c = static_cast<T*>(b),
                      .ldc = ldb};
        if (order == cblas_row_major) transpose_call(*p);
    }
    run<kind, Cblas<Int>>(p, gemm, same, [&] {
        same.get<typename Cblas<Int>::template Triangle<T>>()(order, side, uplo, trans, diag, m, n, alpha, a, lda, b,
                                                              ldb);
    });
}

}  // namespace
}  // namespace vkgemm::blas

using namespace vkgemm::blas;
using complex_float = std::complex<float>;
using complex_double = std::complex<double>;
// `gemm_name` is the routine for the products that the device does not compute.
#define SYMBOLS(name, gemm_name) static constinit NextSymbol same(#name), gemm(#gemm_name)

#define FORTRAN_RANK(Int, name, gemm_name, kind, T)                                                                    \
    EXPORT void name(const char* uplo, const char* trans, const Int* n, const Int* k,                                  \
                     const Alpha<Kind::kind, T>* alpha, const T* a, const Int* lda, const Beta<Kind::kind, T>* beta,   \
                     T* c, const Int* ldc) {                                                                           \
        SYMBOLS(name, gemm_name);                                                                                      \
        by_width<Int>([]<class I>(auto... x) { fortran_rank<Kind::kind, T, I>(gemm, same, x...); }, uplo, trans, n, k, \
                      alpha, a, lda, nullptr, lda, beta, c, ldc);                                                      \
    }
#define FORTRAN_RANK_2(Int, name, gemm_name, kind, T)                                                                  \
    EXPORT void name(const char* uplo, const char* trans, const Int* n, const Int* k, const T* alpha, const T* a,      \
                     const Int* lda, const T* b, const Int* ldb, const Beta<Kind::kind, T>* beta, T* c,                \
                     const Int* ldc) {                                                                                 \
        SYMBOLS(name, gemm_name);                                                                                      \
        by_width<Int>([]<class I>(auto... x) { fortran_rank<Kind::kind, T, I>(gemm, same, x...); }, uplo, trans, n, k, \
                      alpha, a, lda, b, ldb, beta, c, ldc);                                                            \
    }
#define FORTRAN_SYMMETRIC(Int, name, gemm_name, kind, T)                                                             \
    EXPORT void name(const char* side, const char* uplo, const Int* m, const Int* n, const T* alpha, const T* a,     \
                     const Int* lda, const T* b, const Int* ldb, const T* beta, T* c, const Int* ldc) {              \
        SYMBOLS(name, gemm_name);                                                                                    \
        by_width<Int>([]<class I>(auto... x) { fortran_symmetric<Kind::kind, T, I>(gemm, same, x...); }, side, uplo, \
                      m, n, alpha, a, lda, b, ldb, beta, c, ldc);                                                    \
    }
#define FORTRAN_TRIANGLE(Int, name, gemm_name, kind, T)                                                             \
    EXPORT void name(const char* side, const char* uplo, const char* trans, const char* diag, const Int* m,         \
                     const Int* n, const T* alpha, const T* a, const Int* lda, T* b, const Int* ldb) {              \
        SYMBOLS(name, gemm_name);                                                                                   \
        by_width<Int>([]<class I>(auto... x) { fortran_triangle<Kind::kind, T, I>(gemm, same, x...); }, side, uplo, \
                      trans, diag, m, n, alpha, a, lda, b, ldb);                                                    \
    }
#define CBLAS_RANK(Int, name, gemm_name, kind, T)                                                                     \
    EXPORT void name(int order, int uplo, int trans, Int n, Int k, CblasFactor<Alpha<Kind::kind, T>> alpha,           \
                     CblasMatrix<T> a, Int lda, CblasFactor<Beta<Kind::kind, T>> beta, CblasResult<T> c, Int ldc) {   \
        SYMBOLS(name, gemm_name);                                                                                     \
        by_width<Int>([]<class I>(auto... x) { cblas_rank<Kind::kind, T, I>(gemm, same, x...); }, order, uplo, trans, \
                      n, k, alpha, a, lda, nullptr, lda, beta, c, ldc);                                               \
    }
#define CBLAS_RANK_2(Int, name, gemm_name, kind, T)                                                                   \
    EXPORT void name(int order, int uplo, int trans, Int n, Int k, CblasFactor<T> alpha, CblasMatrix<T> a, Int lda,   \
                     CblasMatrix<T> b, Int ldb, CblasFactor<Beta<Kind::kind, T>> beta, CblasResult<T> c, Int ldc) {   \
        SYMBOLS(name, gemm_name);                                                                                     \
        by_width<Int>([]<class I>(auto... x) { cblas_rank<Kind::kind, T, I>(gemm, same, x...); }, order, uplo, trans, \
                      n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                                     \
    }
#define CBLAS_SYMMETRIC(Int, name, gemm_name, kind, T)                                                              \
    EXPORT void name(int order, int side, int uplo, Int m, Int n, CblasFactor<T> alpha, CblasMatrix<T> a, Int lda,  \
                     CblasMatrix<T> b, Int ldb, CblasFactor<T> beta, CblasResult<T> c, Int ldc) {                   \
        SYMBOLS(name, gemm_name);                                                                                   \
        by_width<Int>([]<class I>(auto... x) { cblas_symmetric<Kind::kind, T, I>(gemm, same, x...); }, order, side, \
                      uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                                             \
    }
#define CBLAS_TRIANGLE(Int, name, gemm_name, kind, T)                                                              \
    EXPORT void name(int order, int side, int uplo, int trans, int diag, Int m, Int n, CblasFactor<T> alpha,       \
                     CblasMatrix<T> a, Int lda, CblasResult<T> b, Int ldb) {                                       \
        SYMBOLS(name, gemm_name);                                                                                  \
        by_width<Int>([]<class I>(auto... x) { cblas_triangle<Kind::kind, T, I>(gemm, same, x...); }, order, side, \
                      uplo, trans, diag, m, n, alpha, a, lda, b, ldb);                                             \
    }

#define EACH_KIND(STYLE, Int, before, after, letter, T)                                                  \
    STYLE##_RANK(Int, before##letter##syrk##after, before##letter##gemm##after, syrk, T)                 \
        STYLE##_RANK_2(Int, before##letter##syr2k##after, before##letter##gemm##after, syr2k, T)         \
            STYLE##_SYMMETRIC(Int, before##letter##symm##after, before##letter##gemm##after, symm, T)    \
                STYLE##_TRIANGLE(Int, before##letter##trmm##after, before##letter##gemm##after, trmm, T) \
                    STYLE##_TRIANGLE(Int, before##letter##trsm##after, before##letter##gemm##after, trsm, T)
#define EACH_HERMITIAN(STYLE, Int, before, after, letter, T)                                     \
    STYLE##_RANK(Int, before##letter##herk##after, before##letter##gemm##after, herk, T)         \
        STYLE##_RANK_2(Int, before##letter##her2k##after, before##letter##gemm##after, her2k, T) \
            STYLE##_SYMMETRIC(Int, before##letter##hemm##after, before##letter##gemm##after, hemm, T)
#define EACH_TYPE(STYLE, Int, before, after)                    \
    EACH_KIND(STYLE, Int, before, after, s, float)              \
    EACH_KIND(STYLE, Int, before, after, d, double)             \
    EACH_KIND(STYLE, Int, before, after, c, complex_float)      \
    EACH_KIND(STYLE, Int, before, after, z, complex_double)     \
    EACH_HERMITIAN(STYLE, Int, before, after, c, complex_float) \
    EACH_HERMITIAN(STYLE, Int, before, after, z, complex_double)
#define FORTRAN(Int, before, after) EACH_TYPE(FORTRAN, Int, before, after)
#define CBLAS(Int, before, after) EACH_TYPE(CBLAS, Int, before, after)
#include "blas/names.def"
#undef EACH_TYPE
#undef FORTRAN
#undef CBLAS
