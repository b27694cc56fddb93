// SPDX-License-Identifier: MIT
// The exported functions of LAPACK: getrf, and getrs and gesv, which use it. Where LU is worth the device its trailing
// part stays there; everything else goes to the CPU LAPACK as it came.
#include <cstdio>

#include "blas/export.h"
#include "blas/factor.h"
#include "blas/signatures.h"

namespace vkgemm::blas {
namespace {

template <class T, class Int>
using Getrf = void(const Int*, const Int*, T*, const Int*, Int*, Int*);
template <class T, class Int>
using Getrs = void(const char*, const Int*, const Int*, const T*, const Int*, const Int*, T*, const Int*, Int*, size_t);
template <class T, class Int>
using Gesv = void(const Int*, const Int*, T*, const Int*, Int*, T*, const Int*, Int*);
template <class T, class Int>  // as level3.cpp defines it
using Trsm = void(const char*, const char*, const char*, const char*, const Int*, const Int*, const T*, const T*,
                  const Int*, T*, const Int*);

/// The next definitions of what a factorization uses.
struct Symbols {
    NextSymbol &getrf, &trsm, &gemm;
};

/// For Factorization. Calls of this library's names from inside go to the CPU BLAS while `inside` is true: the device
/// is busy with the factorization.
template <class T, class Int>
struct NextLapack {
    const Symbols& symbols;
    bool inside = true;

    int64_t factor(int64_t m, int64_t n, T* a, int64_t lda, Int* pivots) const {
        const Int rows = static_cast<Int>(m), columns = static_cast<Int>(n), ld = static_cast<Int>(lda);
        Int info = 0;
        guarded([&] { symbols.getrf.get<Getrf<T, Int>>()(&rows, &columns, a, &ld, pivots, &info); });
        return static_cast<int64_t>(info);
    }
    void solve(const Level3<T>& p) const {
        guarded([&] { Fortran<Int>::template call<Kind::trsm>(symbols.trsm, p); });
    }
    void multiply(const Gemm<T>& g) const {
        guarded([&] { Fortran<Int>::call(symbols.gemm, g); });
    }

   private:
    template <class Call>
    void guarded(const Call& call) const {
        if (!inside) return call();
        const InsideNext calls;
        call();
    }
};

ResidentShape shape_of(const Settings& chosen, const Engine& engine, Type type, int64_t m, int64_t n) {
    const double share = chosen.memory_share * static_cast<double>(engine.info().memoryBytes);
    return {.type = type,
            .m = m,
            .n = n,
            .panel = chosen.panel,
            .tile = chosen.tile,
            .limit = std::min(chosen.budget, static_cast<uint64_t>(share))};
}

/// Where the rate of the CPU BLAS is not known: a product of a part of A, into other memory.
template <class T, class Next>
void sample_next(const Lu<T>& p, const Next& next) {
    constexpr int64_t rows = 2048, columns = 1024, depth = 1024;  // 4 ms at 1 TFLOP/s
    if (p.m < rows || p.n < columns) return;
    const std::unique_ptr<T[]> sum(new (std::nothrow) T[static_cast<size_t>(rows * columns)]);
    if (!sum) return;
    const Gemm<T> g{.m = rows,
                    .n = columns,
                    .k = depth,
                    .alpha = T{1},
                    .a = p.a,
                    .lda = p.lda,
                    .b = p.a,
                    .ldb = p.lda,
                    .beta = T{},
                    .c = sum.get(),
                    .ldc = rows};
    for (int run = 0; run < 2; ++run)  // the first one may start threads
        call_timed(g, [&] { next.multiply(g); });
}

/// As wants_device of a product.
template <class T, class Next>
bool wants_device(const Lu<T>& p, const Next& next, double& predicted) {
    const HoldExceptions held;
    const Settings& s = settings();
    predicted = 0;
    if (p.m <= s.panel || p.n <= s.panel || s.disabled_lu[static_cast<size_t>(routine_of<T>)] || !is_usable())
        return false;
    if (!may_use_device(s, routine_of<T>, p.m, p.n, p.order())) return false;
    if (!predicts(s)) return can_try(type_of<T>);
    const LuCost cost = cost_of_lu(p.m, p.n, s.panel, sizeof(T));
    Estimates& e = estimates();
    if (e.next_rate(routine_of<T>) == 0) sample_next(p, next);
    const double rate = e.next_rate(routine_of<T>);
    if (rate == 0) return false;
    const double seconds = next_seconds_of_lu(cost, rate);
    const Measured& measured = measured_rates(type_of<T>);
    if (!measured.done && !e.is_time_to_open(seconds)) return false;
    const Rates* rates = measured.done ? &measured.rates : rates_of<Real<T>>();
    if (!rates || !can_try(type_of<T>)) return false;
    const double steps = static_cast<double>(p.order()) / static_cast<double>(s.panel);
    predicted = e.lu_bias() * device_seconds_of_lu(cost, *rates, rate, steps);
    return predicted < 0.9 * seconds;
}

void log_lu(const LuSpent& s, double seconds) {
    char line[240];
    const auto ms = [](double x) { return x * 1e3; };
    std::snprintf(line, sizeof line,
                  "%.3f ms: open %.3f, send %.3f, panels %.3f, submit %.3f, columns %.3f, wait %.3f, exchanges %.3f",
                  ms(seconds), ms(s.open), ms(s.send), ms(s.panels), ms(s.submit), ms(s.columns), ms(s.wait),
                  ms(s.exchanges));
    complain(line);
}

/// Computes the call, or returns nothing and has done nothing.
template <class T, class Int>
std::optional<int64_t> factor_on_device(const Lu<T>& p, Int* pivots, const Symbols& symbols) {
    NextLapack<T, Int> next{symbols};
    double predicted = 0;
    if (!wants_device(p, next, predicted)) return {};
    Factorization<T, Int, NextLapack<T, Int>> lu(p, pivots, next);
    try {
        const HoldExceptions held;
        const LockedEngine locked = lock_engine(type_of<T>);
        if (!locked.engine()) return {};
        const auto start = Clock::now();
        Engine& engine = *locked.engine();
        const uint64_t created = engine.created();
        const Status done = lu.on_device(engine, shape_of(settings(), engine, type_of<T>, p.m, p.n));
        keep_pipelines(locked);
        if (settings().log == LogLevel::calls) log_lu(lu.spent(), seconds_since(start));
        if (done && predicted > 0 && engine.created() == created) estimates().saw_lu(predicted, seconds_since(start));
        if (!done && done.code == VKGEMM_ERROR_UNSUPPORTED && lu.is_untouched()) return {};
        if (!done) report_failure(locked, &engine, done);
    } catch (...) {  // no memory for a message
    }
    if (!lu.is_complete()) {
        next.inside = false;
        lu.rest();
        ++counts().failed_tiles;
    }
    return lu.info();
}

/// Counts and logs a call. `whole` computes it as it came, by the CPU LAPACK, which may use this library's products.
template <class T, class Call>
void by_next(const Call& whole) {
    const uint64_t before = counts().device_calls;
    const auto start = Clock::now();
    ++counts().next_calls;
    whole();
    if (counts().device_calls == before) estimates().spent_by_next(seconds_since(start));
}
template <class T>
void note(const char* routine, int64_t m, int64_t n, int64_t k, bool on_device) {
    if (on_device) ++counts().device_calls;
    if (settings().log == LogLevel::calls) log_call(routine_of<T>, routine, "", m, n, k, on_device);
}

template <class T, class Int>
void getrf(const Symbols& symbols, const Int* m, const Int* n, T* a, const Int* lda, Int* pivots, Int* info) {
    const auto whole = [&] { symbols.getrf.get<Getrf<T, Int>>()(m, n, a, lda, pivots, info); };
    if (InsideNext::active()) return whole();
    const Lu<T> p{*m, *n, a, *lda};
    if (!is_valid(p) || p.order() == 0) {
        ++counts().next_calls;
        return whole();
    }
    const SuspendResidency nothing;  // the CPU LAPACK may use this library's products
    note_write(place_of(a, p.m, p.n, p.lda, sizeof(T)));
    const auto found = factor_on_device(p, pivots, symbols);
    if (found)
        *info = static_cast<Int>(*found);
    else
        by_next<T>(whole);
    note<T>("getrf", p.m, p.n, p.order(), found.has_value());
}

/// X of op(A) X = B, from the factors. Its two triangles are this library's own trsm.
template <class T, class Int>
void getrs(NextSymbol& same, Trsm<T, Int>* trsm, const char* trans, const Int* n, const Int* nrhs, const T* a,
           const Int* lda, const Int* pivots, T* b, const Int* ldb, Int* info) {
    const auto whole = [&] { same.get<Getrs<T, Int>>()(trans, n, nrhs, a, lda, pivots, b, ldb, info, 1); };
    if (InsideNext::active()) return whole();
    const auto op = op_of(*trans);
    const int64_t order = *n, columns = *nrhs, half = order / 2, least = std::max<int64_t>(1, order);
    if (!op || order < 2 || columns < 1 || *lda < least || *ldb < least) {
        ++counts().next_calls;
        return whole();
    }
    double predicted = 0;
    const Gemm<T> g{.m = half,
                    .n = columns,
                    .k = half,
                    .alpha = T{1},
                    .a = a,
                    .lda = *lda,
                    .b = b,
                    .ldb = *ldb,
                    .beta = T{1},
                    .c = b,
                    .ldc = *ldb};
    const SuspendResidency nothing;
    note_read(place_of(a, order, order, int64_t{*lda}, sizeof(T)));
    note_write(place_of(b, order, columns, int64_t{*ldb}, sizeof(T)));
    if (!wants_device(g, predicted)) return by_next<T>(whole);
    const T one{1};
    const auto solve = [&](const char* uplo, const char* unit) {
        trsm("L", uplo, op == Op::none ? "N" : "T", unit, n, nrhs, &one, a, lda, b, ldb);
    };
    const std::span<const Int> all(pivots, static_cast<size_t>(order));
    if (op == Op::none) {
        for (int64_t j = 0; j < columns; ++j) exchange_rows(b + j * *ldb, all);
        solve("L", "U");
        solve("U", "N");
    } else {
        solve("U", "N");
        solve("L", "U");
        for (int64_t j = 0; j < columns; ++j)
            for (int64_t i = order; i-- > 0;) std::swap(b[i + j * *ldb], b[pivots[i] - 1 + j * *ldb]);
    }
    *info = 0;
}

template <class T, class Int>
void gesv(const Symbols& symbols, NextSymbol& same, Getrs<T, Int>* solve, const Int* n, const Int* nrhs, T* a,
          const Int* lda, Int* pivots, T* b, const Int* ldb, Int* info) {
    const auto whole = [&] { same.get<Gesv<T, Int>>()(n, nrhs, a, lda, pivots, b, ldb, info); };
    if (InsideNext::active()) return whole();
    const Lu<T> p{*n, *n, a, *lda};
    if (!is_valid(p) || p.n == 0 || *nrhs < 0 || *ldb < p.n) {
        ++counts().next_calls;
        return whole();
    }
    const SuspendResidency nothing;  // the CPU LAPACK may use this library's products
    note_write(place_of(a, p.m, p.n, p.lda, sizeof(T)));
    const auto found = factor_on_device(p, pivots, symbols);
    if (!found) {
        note_write(place_of(b, p.n, int64_t{*nrhs}, int64_t{*ldb}, sizeof(T)));
        by_next<T>(whole);
    } else if (*info = static_cast<Int>(*found); *info == 0 && *nrhs > 0) {
        solve("N", n, nrhs, a, lda, pivots, b, ldb, info, 1);
    }
    note<T>("gesv", p.n, p.n, *nrhs, found.has_value());
}

}  // namespace
}  // namespace vkgemm::blas

using namespace vkgemm::blas;
#define NAME(before, letter, routine, after) before##letter##routine##after
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
// A variable next_NAME, with which the next library's function of that name is called.
#define NEXT(before, letter, routine, after) \
    static constinit NextSymbol NAME(next_##before, letter, routine, after)(TEXT(NAME(before, letter, routine, after)));
// The next library's functions that LU consists of.
#define PARTS_OF_LU(before, letter, after)                                                   \
    Symbols {                                                                                \
        NAME(next_##before, letter, getrf, after), NAME(next_##before, letter, trsm, after), \
            NAME(next_##before, letter, gemm, after)                                         \
    }
#define GETRF(Int, T, before, letter, after)                                                                      \
    EXPORT void NAME(before, letter, getrf, after)(const Int* m, const Int* n, T* a, const Int* lda, Int* pivots, \
                                                   Int* info) {                                                   \
        const auto call = []<class I>(auto... x) { getrf<T, I>(PARTS_OF_LU(before, letter, after), x...); };      \
        by_width<Int>(call, m, n, a, lda, pivots, info);                                                          \
    }
#define GETRS(Int, T, before, letter, after)                                                                           \
    EXPORT void NAME(before, letter, trsm, after)(const char*, const char*, const char*, const char*, const Int*,      \
                                                  const Int*, const T*, const T*, const Int*, T*, const Int*);         \
    EXPORT void NAME(before, letter, getrs, after)(const char* trans, const Int* n, const Int* nrhs, const T* a,       \
                                                   const Int* lda, const Int* pivots, T* b, const Int* ldb, Int* info, \
                                                   size_t) {                                                           \
        const auto call = []<class I>(auto... x) {                                                                     \
            auto* const trsm = reinterpret_cast<Trsm<T, I>*>(NAME(before, letter, trsm, after));                       \
            getrs<T, I>(NAME(next_##before, letter, getrs, after), trsm, x...);                                        \
        };                                                                                                             \
        by_width<Int>(call, trans, n, nrhs, a, lda, pivots, b, ldb, info);                                             \
    }
#define GESV(Int, T, before, letter, after)                                                                         \
    EXPORT void NAME(before, letter, gesv, after)(const Int* n, const Int* nrhs, T* a, const Int* lda, Int* pivots, \
                                                  T* b, const Int* ldb, Int* info) {                                \
        const auto call = []<class I>(auto... x) {                                                                  \
            auto* const solve = reinterpret_cast<Getrs<T, I>*>(NAME(before, letter, getrs, after));                 \
            gesv<T, I>(PARTS_OF_LU(before, letter, after), NAME(next_##before, letter, gesv, after), solve, x...);  \
        };                                                                                                          \
        by_width<Int>(call, n, nrhs, a, lda, pivots, b, ldb, info);                                                 \
    }
#define EACH_TYPE(Int, T, before, letter, after) \
    NEXT(before, letter, getrf, after)           \
    NEXT(before, letter, getrs, after)           \
    NEXT(before, letter, gesv, after)            \
    NEXT(before, letter, trsm, after)            \
    NEXT(before, letter, gemm, after)            \
    GETRF(Int, T, before, letter, after)         \
    GETRS(Int, T, before, letter, after)         \
    GESV(Int, T, before, letter, after)
#define FORTRAN(Int, before, after)         \
    EACH_TYPE(Int, float, before, s, after) \
    EACH_TYPE(Int, double, before, d, after)
#define CBLAS(Int, before, after)
#include "blas/names.def"
#undef EACH_TYPE
#undef FORTRAN
#undef CBLAS
