// SPDX-License-Identifier: MIT
// gemm_batch, gemm_batch_strided, gemmt and gemm3m by every name, beside loops by the definition. The CPU BLAS of the
// tests has one of them, sgemm_batch_strided_, each call of which counts as 100.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "blas/cpu_blas.h"
#include "blas/library.h"
#include "support/random.h"

using namespace vkgemm::blas;
using namespace vkgemm::test;

namespace {

struct Name {
    bool is_cblas, is_wide;
    std::string before, after;
};
const std::vector<Name> all_names = {
#define FORTRAN(Int, before, after) {false, is_wide(#before, #after, sizeof(Int)), #before, #after},
#define CBLAS(Int, before, after) {true, is_wide(#before, #after, sizeof(Int)), #before, #after},
#include "blas/names.def"
#undef FORTRAN
#undef CBLAS
};

/// Calls with(Int{}) of the name's integers.
template <class With>
void with_integers(const Name& name, const With& with) {
    if (name.is_wide)
        with(int64_t{});
    else
        with(int32_t{});
}

template <class Function>
Function* function_of(const Name& name, const std::string& routine) {
    void* const found = blas_function((name.before + routine + name.after).c_str());
    REQUIRE_MESSAGE(found, name.before, routine, name.after);
    return reinterpret_cast<Function*>(found);
}

template <class T>
constexpr char letter = is_complex<T>    ? (sizeof(T) == 16 ? 'z' : 'c')
                        : sizeof(T) == 8 ? 'd'
                                         : 's';

/// What CBLAS gets: a real factor by value, a complex one by address.
template <class T>
auto factor(const T& x) {
    if constexpr (is_complex<T>)
        return static_cast<const void*>(&x);
    else
        return x;
}
template <class T>
using Factor = decltype(factor(T{}));

template <class T>
T number(int64_t real, int64_t imaginary = 0) {
    if constexpr (is_complex<T>)
        return T(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary));
    else
        return static_cast<T>(real);
}

/// Whole numbers, so that every order of additions gives the same bits.
template <class T>
std::vector<T> numbers(int64_t count, Random& random) {
    std::vector<T> all(static_cast<size_t>(count));
    const auto next = [&] { return static_cast<int64_t>(random.between(0, 8)) - 4; };
    for (T& x : all) x = is_complex<T> ? number<T>(next(), next()) : number<T>(next());
    return all;
}

/// `groups` of products, dense but for a gap of 1 in C, packed one after the other.
template <class T, class Int>
struct Batch {
    std::vector<char> op_a, op_b;
    std::vector<int> cblas_a, cblas_b;
    std::vector<Int> m, n, k, lda, ldb, ldc, sizes;
    std::vector<T> alpha, beta;
    std::vector<std::vector<T>> a, b, c, wanted;

    Batch(Random& random, int groups, bool by_rows) {
        for (int g = 0; g < groups; ++g) {
            const bool ta = random.one_in(2), tb = random.one_in(2);
            op_a.push_back(ta ? 'T' : 'n');
            op_b.push_back(tb ? 'c' : 'N');
            cblas_a.push_back(ta ? 112 : 111);
            cblas_b.push_back(tb ? 113 : 111);
            for (auto* size : {&m, &n, &k}) size->push_back(static_cast<Int>(random.between(1, 14)));
            const Int rows = m.back(), columns = n.back(), depth = k.back();
            lda.push_back(ta != by_rows ? depth : rows);
            ldb.push_back(tb != by_rows ? columns : depth);
            ldc.push_back((by_rows ? columns : rows) + 1);
            alpha.push_back(number<T>(int64_t(random.between(1, 2)), 1));
            beta.push_back(number<T>(int64_t(random.between(0, 2)), by_rows ? -1 : 0));
            sizes.push_back(static_cast<Int>(random.between(0, 3)));
            for (Int i = 0; i < sizes.back(); ++i) add(random, static_cast<size_t>(g), ta, tb, by_rows);
        }
    }
    void add(Random& random, size_t g, bool ta, bool tb, bool by_rows) {
        a.push_back(numbers<T>(m[g] * k[g], random));
        b.push_back(numbers<T>(k[g] * n[g], random));
        c.push_back(numbers<T>(ldc[g] * (by_rows ? m[g] : n[g]), random));
        wanted.push_back(c.back());
        Gemm<T> p{ta ? Op::transpose : Op::none,
                  tb ? Op::conjugate_transpose : Op::none,
                  m[g],
                  n[g],
                  k[g],
                  alpha[g],
                  a.back().data(),
                  lda[g],
                  b.back().data(),
                  ldb[g],
                  beta[g],
                  wanted.back().data(),
                  ldc[g]};
        if (by_rows) {
            std::swap(p.op_a, p.op_b);
            std::swap(p.m, p.n);
            std::swap(p.a, p.b);
            std::swap(p.lda, p.ldb);
        }
        multiply_plainly(p);
    }
    template <class Vectors>
    static auto pointers(Vectors& all) {
        std::vector<decltype(all[0].data())> out;
        for (auto& x : all) out.push_back(x.data());
        return out;
    }
};

template <class T, class Int>
void try_batch(const Name& name, Random& random, bool by_rows) {
    Batch<T, Int> x(random, static_cast<int>(random.between(1, 3)), by_rows);
    const auto a = x.pointers(x.a), b = x.pointers(x.b), c = x.pointers(x.c);
    const Int groups = static_cast<Int>(x.sizes.size());
    const std::string routine = std::string(1, letter<T>) + "gemm_batch";
    if (name.is_cblas) {
        using F = void(int, const int*, const int*, const Int*, const Int*, const Int*, const T*, T* const*, const Int*,
                       T* const*, const Int*, const T*, T* const*, const Int*, Int, const Int*);
        function_of<F>(name, routine)(by_rows ? 101 : 102, x.cblas_a.data(), x.cblas_b.data(), x.m.data(), x.n.data(),
                                      x.k.data(), x.alpha.data(), a.data(), x.lda.data(), b.data(), x.ldb.data(),
                                      x.beta.data(), c.data(), x.ldc.data(), groups, x.sizes.data());
    } else {
        using F = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, T* const*, const Int*,
                       T* const*, const Int*, const T*, T* const*, const Int*, const Int*, const Int*);
        function_of<F>(name, routine)(x.op_a.data(), x.op_b.data(), x.m.data(), x.n.data(), x.k.data(), x.alpha.data(),
                                      a.data(), x.lda.data(), b.data(), x.ldb.data(), x.beta.data(), c.data(),
                                      x.ldc.data(), &groups, x.sizes.data());
    }
    CHECK_MESSAGE(x.c == x.wanted, name.before, routine, name.after);
}

/// Three products; A is shared (stride 0).
template <class T, class Int>
void try_strided(const Name& name, Random& random) {
    const Int m = static_cast<Int>(random.between(1, 12)), n = static_cast<Int>(random.between(1, 12)),
              k = static_cast<Int>(random.between(1, 12)), count = 3, ldc = m + 2, zero = 0, stride_b = k * n,
              stride_c = ldc * n + 1;
    const auto a = numbers<T>(m * k, random), b = numbers<T>(3 * stride_b, random);
    auto c = numbers<T>(3 * stride_c, random), wanted = c;
    const T alpha = number<T>(2, -1), beta = number<T>(1, 1);
    for (int64_t i = 0; i < 3; ++i)
        multiply_plainly<T>({Op::none, Op::none, m, n, k, alpha, a.data(), m, b.data() + i * stride_b, k, beta,
                             wanted.data() + i * stride_c, ldc});
    const std::string routine = std::string(1, letter<T>) + "gemm_batch_strided";
    if (name.is_cblas) {
        using F = void(int, int, int, Int, Int, Int, Factor<T>, const T*, Int, Int, const T*, Int, Int, Factor<T>, T*,
                       Int, Int, Int);
        function_of<F>(name, routine)(102, 111, 111, m, n, k, factor(alpha), a.data(), m, zero, b.data(), k, stride_b,
                                      factor(beta), c.data(), ldc, stride_c, count);
    } else {
        using F = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, const Int*,
                       const Int*, const T*, const Int*, const Int*, const T*, T*, const Int*, const Int*, const Int*);
        function_of<F>(name, routine)("N", "N", &m, &n, &k, &alpha, a.data(), &m, &zero, b.data(), &k, &stride_b, &beta,
                                      c.data(), &ldc, &stride_c, &count);
    }
    CHECK_MESSAGE(c == wanted, name.before, routine, name.after);
}

/// The triangle of a whole product; the other one stays.
template <class T, class Int>
void try_gemmt(const Name& name, Random& random, bool by_rows) {
    const Int n = static_cast<Int>(random.between(1, 23)), k = static_cast<Int>(random.between(1, 9)), ld = 24;
    const bool upper = random.one_in(2), ta = random.one_in(2), tb = random.one_in(2);
    const T alpha = number<T>(2, 1), beta = number<T>(int64_t(random.between(0, 1)));
    const auto a = numbers<T>(ld * ld, random), b = numbers<T>(ld * ld, random);
    auto c = numbers<T>(ld * n, random), wanted = c, whole = c;
    if (beta == T{})  // which is not read
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < n; ++i)
                if ((i < j) == (upper != by_rows) && i != j) {
                    c[size_t(i + j * ld)] = T(std::numeric_limits<decltype(std::abs(T{}))>::quiet_NaN());
                    whole[size_t(i + j * ld)] = 0;
                }
    Gemm<T> g{ta ? Op::transpose : Op::none,
              tb ? Op::conjugate_transpose : Op::none,
              n,
              n,
              k,
              alpha,
              a.data(),
              ld,
              b.data(),
              ld,
              beta,
              whole.data(),
              ld};
    if (by_rows) {
        std::swap(g.op_a, g.op_b);
        std::swap(g.a, g.b);
    }
    multiply_plainly(g);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i)  // i is the row in memory by columns
            if (i == j || (i < j) == (upper != by_rows)) wanted[size_t(i + j * ld)] = whole[size_t(i + j * ld)];
    const std::string routine = std::string(1, letter<T>) + "gemmt";
    if (name.is_cblas) {
        using F = void(int, int, int, int, Int, Int, Factor<T>, const T*, Int, const T*, Int, Factor<T>, T*, Int);
        function_of<F>(name, routine)(by_rows ? 101 : 102, upper ? 121 : 122, ta ? 112 : 111, tb ? 113 : 111, n, k,
                                      factor(alpha), a.data(), ld, b.data(), ld, factor(beta), c.data(), ld);
    } else {
        using F = void(const char*, const char*, const char*, const Int*, const Int*, const T*, const T*, const Int*,
                       const T*, const Int*, const T*, T*, const Int*);
        function_of<F>(name, routine)(upper ? "U" : "l", ta ? "T" : "N", tb ? "c" : "n", &n, &k, &alpha, a.data(), &ld,
                                      b.data(), &ld, &beta, c.data(), &ld);
    }
    CHECK_MESSAGE(c == wanted, name.before, routine, name.after, " n ", n, " k ", k);
}

}  // namespace

TEST_CASE_TEMPLATE("gemm_batch, gemm_batch_strided and gemmt by every name", T, float, double, std::complex<float>,
                   std::complex<double>) {
    Random random(11);
    for (const Name& name : all_names)
        for (int run = 0; run < 6; ++run)
            with_integers(name, [&](auto integer) {
                using Int = decltype(integer);
                try_batch<T, Int>(name, random, name.is_cblas && run % 2 == 1);
                try_gemmt<T, Int>(name, random, name.is_cblas && run % 2 == 1);
                if (run < 2) try_strided<T, Int>(name, random);
            });
}

TEST_CASE("gemm3m is gemm") {
    const auto gemms = entries<std::complex<float>>();
    for (size_t i = 0; i < gemms.size(); ++i) {
        const std::string name = all_names[i].before + "cgemm3m" + all_names[i].after;
        REQUIRE_MESSAGE(blas_function(name.c_str()), name);
    }
    using F =
        void(const char*, const char*, const int32_t*, const int32_t*, const int32_t*, const std::complex<double>*,
             const std::complex<double>*, const int32_t*, const std::complex<double>*, const int32_t*,
             const std::complex<double>*, std::complex<double>*, const int32_t*);
    Operands<std::complex<double>> operands(Op::conjugate_transpose, Op::none, 7, 6, 8, {2, 1}, {1, -1}, 9);
    const auto g = operands.call();
    const int32_t m = 7, n = 6, k = 8, lda = int32_t(g.lda), ldb = int32_t(g.ldb), ldc = int32_t(g.ldc);
    reinterpret_cast<F*>(blas_function(plain_is_wide() ? "scipy_zgemm3m_" : "zgemm3m_"))(
        "C", "N", &m, &n, &k, &g.alpha, g.a, &lda, g.b, &ldb, &g.beta, g.c, &ldc);
    CHECK(operands.is_right());
}

TEST_CASE("a batch without a product goes to the CPU BLAS, if that has the routine, and gemmt with bad arguments") {
    const float a[4] = {1, 2, 3, 4}, one = 1, two = 2;
    float c[4] = {1, 1, 1, 1};
    const int32_t size = 2, none = 0, four = 4, count = 1;
    using F = void(const char*, const char*, const int32_t*, const int32_t*, const int32_t*, const float*, const float*,
                   const int32_t*, const int32_t*, const float*, const int32_t*, const int32_t*, const float*, float*,
                   const int32_t*, const int32_t*, const int32_t*);
    auto* const strided = reinterpret_cast<F*>(blas_function("sgemm_batch_strided_"));
    const int before = cpu_calls();
    strided("N", "N", &size, &size, &none, &one, a, &size, &four, a, &size, &four, &two, c, &size, &four, &count);
    CHECK(cpu_calls() == before + 100);
    using G = void(const char*, const char*, const char*, const int32_t*, const int32_t*, const float*, const float*,
                   const int32_t*, const float*, const int32_t*, const float*, float*, const int32_t*);
    auto* const gemmt = reinterpret_cast<G*>(blas_function("sgemmt_"));
    std::fill_n(c, 4, 5.f);
    gemmt("X", "N", "N", &size, &size, &one, a, &size, a, &size, &one, c, &size);  // no BLAS here reports it
    CHECK(std::count(c, c + 4, 5.f) == 4);
    gemmt("U", "N", "N", &size, &none, &one, a, &size, a, &size, &two, c, &size);  // nor computes it: gemm does
    CHECK(c[0] == 10);
    CHECK(c[1] == 5);
    CHECK(c[3] == 10);
}
