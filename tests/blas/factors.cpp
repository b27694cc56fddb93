// SPDX-License-Identifier: MIT
// getrf, getrs and gesv on a device, in panels of 4 columns and strips of 20. The CPU LAPACK is the tests' own
// (cpu_lapack.cpp), which counts its calls: a panel is one call, and so is a whole matrix.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "blas/cpu_lapack.h"
#include "blas/library.h"
#include "support/random.h"
#include "vkgemm/rounding.hpp"

using namespace vkgemm::test;

namespace {

constexpr int64_t panel = 4;

int lapack_count(const char* name) {
    static void* const library = dlopen(VKGEMM_TESTS_CPU_BLAS, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<int (*)()>(dlsym(library, name))();
}
int factor_calls() { return lapack_count("test_cpu_factor_calls"); }

/// A matrix with poison between its columns and behind them.
template <class T>
struct Stored {
    int64_t m, n, ld;
    std::vector<T> all;
    Stored(int64_t rows, int64_t columns, int64_t gap)
        : m(rows),
          n(columns),
          ld(std::max<int64_t>(1, rows + gap)),
          all(static_cast<size_t>(ld * columns + 3), std::numeric_limits<T>::quiet_NaN()) {}
    T& at(int64_t i, int64_t j) { return all[static_cast<size_t>(i + j * ld)]; }
    /// Of rows of the matrix alone.
    bool has_same_gaps(const Stored& other) const {
        for (size_t i = 0; i < all.size(); ++i) {
            const bool inside = static_cast<int64_t>(i) % ld < m && static_cast<int64_t>(i) / ld < n;
            if (!inside && std::memcmp(&all[i], &other.all[i], sizeof(T)) != 0) return false;
        }
        return true;
    }
};

template <class T>
Stored<T> random_matrix(int64_t m, int64_t n, uint64_t seed, int64_t gap = 3) {
    Random random(seed);
    Stored<T> a(m, n, gap);
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) a.at(i, j) = static_cast<T>(random.between(0, 1 << 20)) / T(1 << 19) - T{1};
    return a;
}

/// max |P A - L U| / (max |L| |U| k epsilon): at most a few units, whatever the matrix is.
template <class T, class Int>
double residual(Stored<T> a, Stored<T>& lu, const std::vector<Int>& pivots) {
    const int64_t k = std::min(a.m, a.n);
    for (int64_t i = 0; i < k; ++i)
        for (int64_t c = 0; c < a.n; ++c) std::swap(a.at(i, c), a.at(pivots[static_cast<size_t>(i)] - 1, c));
    double worst = 0, scale = 0;
    for (int64_t i = 0; i < a.m; ++i)
        for (int64_t j = 0; j < a.n; ++j) {
            double sum = 0, absolute = 0;
            for (int64_t l = 0; l <= std::min({i, j, k - 1}); ++l) {
                const double product = (l == i ? 1.0 : double(lu.at(i, l))) * double(lu.at(l, j));
                sum += product;
                absolute += std::abs(product);
            }
            worst = std::max(worst, std::abs(double(a.at(i, j)) - sum));
            scale = std::max(scale, absolute);
        }
    return worst == 0 ? 0 : worst / (scale * static_cast<double>(k) * std::numeric_limits<T>::epsilon());
}

template <class T, class Int>
struct Factored {
    Stored<T> a, lu;
    std::vector<Int> pivots;
    int64_t info = 99;
    explicit Factored(const Stored<T>& matrix)
        : a(matrix), lu(matrix), pivots(static_cast<size_t>(std::min(a.m, a.n)) + 1, Int{-7}) {}

    void call(const char* name) {
        using Getrf = void(const Int*, const Int*, T*, const Int*, Int*, Int*);
        const Int m = static_cast<Int>(a.m), n = static_cast<Int>(a.n), ld = static_cast<Int>(a.ld);
        Int out = 99;
        reinterpret_cast<Getrf*>(blas_function(name))(&m, &n, lu.all.data(), &ld, pivots.data(), &out);
        info = out;
    }
    bool is_right() {
        Stored<T> plain = a;
        std::vector<Int> plain_pivots = pivots;
        const int64_t plain_info = factor_plainly(a.m, a.n, plain.all.data(), a.ld, plain_pivots.data());
        const double error = residual(a, lu, pivots);
        if (error <= 2 && info == plain_info && pivots == plain_pivots && lu.has_same_gaps(a)) return true;
        std::printf("%d x %d: residual %g, info %d for %d, pivots %s, gaps %s\n", int(a.m), int(a.n), error, int(info),
                    int(plain_info), pivots == plain_pivots ? "equal" : "differ",
                    lu.has_same_gaps(a) ? "untouched" : "written");
        return false;
    }
};

/// Panels that the CPU factors if the device does the rest, else 1.
int64_t wanted_calls(int64_t m, int64_t n) { return m > panel && n > panel ? vkgemm::divUp(std::min(m, n), panel) : 1; }

template <class T>
constexpr const char* names[] = {"", "", "", ""};
template <>
constexpr const char* names<float>[] = {"sgetrf_", "scipy_sgetrf_", "sgetrf_64_", "scipy_sgetrf_64_"};
template <>
constexpr const char* names<double>[] = {"dgetrf_", "scipy_dgetrf_", "dgetrf_64_", "scipy_dgetrf_64_"};

/// False where the device lacks the type, or memory.
template <class T>
bool is_factored_there() {
    const int before = factor_calls();
    Factored<T, int32_t> f(random_matrix<T>(9, 9, 1));
    f.call(names<T>[0]);
    return factor_calls() - before == wanted_calls(9, 9);
}

constexpr int64_t sizes[][2] = {{5, 5},   {8, 8},   {9, 7},   {7, 9},    {4, 30},   {30, 4}, {21, 20},
                                {20, 21}, {41, 43}, {64, 64}, {30, 100}, {100, 30}, {5, 61}};

}  // namespace

TEST_CASE("LU of f32 is computed on the device") { CHECK(is_factored_there<float>()); }

TEST_CASE_TEMPLATE("getrf: every name, shapes around panels and strips", T, float, double) {
    uint64_t seed = 0;
    const bool on_device = is_factored_there<T>();
    for (const auto& [m, n] : sizes) {
        const int before = factor_calls();
        ++seed;
        Factored<T, int32_t> small(random_matrix<T>(m, n, seed, static_cast<int64_t>(seed % 3)));
        small.call(names<T>[seed % 2]);
        CHECK(small.is_right());
        Factored<T, int64_t> large(random_matrix<T>(m, n, ++seed));
        large.call(names<T>[2 + seed % 4 / 2]);
        CHECK(large.is_right());
        CHECK(factor_calls() - before == 2 * (on_device ? wanted_calls(m, n) : 1));
    }
}

TEST_CASE_TEMPLATE("getrf: random shapes", T, float, double) {
    Random random(7);
    for (int i = 0; i < 60; ++i) {
        const auto m = static_cast<int64_t>(random.between(1, 70)), n = static_cast<int64_t>(random.between(1, 70));
        Factored<T, int32_t> f(random_matrix<T>(m, n, static_cast<uint64_t>(i), i % 5));
        f.call(names<T>[0]);
        CHECK(f.is_right());
    }
}

TEST_CASE_TEMPLATE("getrf: hard matrices", T, float, double) {
    const auto check = [](const Stored<T>& a) {
        Factored<T, int32_t> f(a);
        f.call(names<T>[0]);
        CHECK(f.is_right());
        return f.info;
    };
    Stored<T> a(23, 23, 1);
    const auto fill = [&](const auto& value) {
        for (int64_t i = 0; i < a.m; ++i)
            for (int64_t j = 0; j < a.n; ++j) a.at(i, j) = static_cast<T>(value(i, j));
        return a;
    };
    CHECK(check(fill([](auto, auto) { return 0; })) == 1);
    CHECK(check(fill([](auto, auto) { return 1; })) == 2);                                      // ties, and rank 1
    CHECK(check(fill([](auto i, auto j) { return (i + j) % 23 == 5; })) == 0);                  // a permutation
    CHECK(check(fill([](auto i, auto j) { return i == j ? 1 : i > j ? -1 : j == 22; })) == 0);  // pivots grow to 2^22
    CHECK(check(fill([](auto i, auto j) { return (i * 7 + j * 3) % 4 < 2 ? 1 : -1; })) > 0);    // ties, rank 2
    for (const int64_t column : {0, 3, 4, 11, 22}) {
        a = random_matrix<T>(23, 23, 50);
        for (int64_t i = 0; i < a.m; ++i) a.at(i, column) = 0;
        CHECK(check(a) == column + 1);
    }
}

TEST_CASE("getrf: nothing to factor, and bad arguments, go to the CPU LAPACK") {
    for (const auto& [m, n] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
        const int before = factor_calls();
        Factored<double, int32_t> f(Stored<double>(m, n, 1));
        f.call("dgetrf_");
        CHECK(f.info == 0);
        CHECK(factor_calls() == before + 1);
    }
    const auto call = [](int32_t m, int32_t n, int32_t lda) {
        std::vector<double> a(400, 1);
        std::vector<int32_t> pivots(20);
        int32_t info = 99;
        using Getrf = void(const int32_t*, const int32_t*, double*, const int32_t*, int32_t*, int32_t*);
        reinterpret_cast<Getrf*>(blas_function("dgetrf_"))(&m, &n, a.data(), &lda, pivots.data(), &info);
        return info;
    };
    CHECK(call(-1, 9, 9) == -1);
    CHECK(call(9, -1, 9) == -2);
    CHECK(call(9, 9, 8) == -4);
}

TEST_CASE_TEMPLATE("gesv and getrs solve", T, float, double) {
    using Gesv = void(const int32_t*, const int32_t*, T*, const int32_t*, int32_t*, T*, const int32_t*, int32_t*);
    using Getrs = void(const char*, const int32_t*, const int32_t*, const T*, const int32_t*, const int32_t*, T*,
                       const int32_t*, int32_t*);
    const std::string letter = sizeof(T) == 8 ? "d" : "s";
    auto* const gesv = reinterpret_cast<Gesv*>(blas_function((letter + "gesv_").c_str()));
    auto* const getrs = reinterpret_cast<Getrs*>(blas_function((letter + "getrs_").c_str()));
    for (const int32_t n : {1, 4, 5, 13, 40})
        for (const int32_t columns : {0, 1, 9}) {
            const Stored<T> a = random_matrix<T>(n, n, 3);
            Stored<T> lu = a, b = random_matrix<T>(n, columns, 4), plain = a, wanted = b;
            const Stored<T> given = b;
            std::vector<int32_t> pivots(static_cast<size_t>(n)), plain_pivots = pivots;
            const auto lda = static_cast<int32_t>(a.ld), ldb = static_cast<int32_t>(b.ld);
            const auto near = [&](Stored<T>& x) {
                double error = 0, size = 0;
                for (int64_t j = 0; j < columns; ++j)
                    for (int64_t i = 0; i < n; ++i) {
                        error = std::max(error, double(std::abs(x.at(i, j) - wanted.at(i, j))));
                        size = std::max(size, double(std::abs(wanted.at(i, j))));
                    }
                return error <= 1e4 * std::numeric_limits<T>::epsilon() * size;  // times its condition
            };
            int32_t info = 99;
            gesv(&n, &columns, lu.all.data(), &lda, pivots.data(), b.all.data(), &ldb, &info);
            factor_plainly(n, n, plain.all.data(), a.ld, plain_pivots.data());
            solve_with_factors(false, n, columns, plain.all.data(), a.ld, plain_pivots.data(), wanted.all.data(), b.ld);
            CHECK(info == 0);
            CHECK(pivots == plain_pivots);
            CHECK(near(b));
            CHECK(b.has_same_gaps(given));
            b = wanted = given;
            info = 99;
            getrs("T", &n, &columns, lu.all.data(), &lda, pivots.data(), b.all.data(), &ldb, &info);
            solve_with_factors(true, n, columns, plain.all.data(), a.ld, plain_pivots.data(), wanted.all.data(), b.ld);
            CHECK(info == 0);
            CHECK(near(b));
        }
    Stored<T> zero(9, 9, 0), b = random_matrix<T>(9, 1, 1, 0);
    std::ranges::fill(zero.all, T{});
    const std::vector<T> given = b.all;
    const int32_t n = 9, one = 1;
    int32_t pivots[9], info = 99;
    gesv(&n, &one, zero.all.data(), &n, pivots, b.all.data(), &n, &info);
    CHECK(info == 1);
    CHECK(std::memcmp(b.all.data(), given.data(), 9 * sizeof(T)) == 0);  // B is not solved for
}

TEST_SUITE("failures") {
    TEST_CASE("a factorization that fails on the device is completed by the CPU LAPACK") {
        auto* const fail = reinterpret_cast<void (*)(const char*, int, int)>(dlsym(RTLD_DEFAULT, "test_fail_vulkan"));
        REQUIRE(fail);
        const struct {
            const char* function;
            int result, most;
            bool ends;
        } rows[] = {// 12 submissions send A, then each step has three
                    {"vkAllocateMemory", -2, 9, true},
                    {"vkMapMemory", -1, 1, true},
                    {"vkQueueSubmit", -4, 48, false},
                    {"vkWaitForFences", -4, 48, false}};
        for (const auto& row : rows)
            for (int after = 0; after <= row.most; after += row.most > 9 ? 4 : 1) {
                std::fflush(nullptr);
                const pid_t child = fork();
                REQUIRE(child >= 0);
                if (child == 0) {
                    alarm(60);
                    fail(row.function, row.result, after);
                    Factored<float, int32_t> first(random_matrix<float>(45, 51, 8)), second = first;
                    first.call("sgetrf_");
                    const int calls = factor_calls();
                    fail("", 0, 0);
                    second.call("sgetrf_");
                    const bool was_on_device = factor_calls() - calls == wanted_calls(45, 51);
                    const int code = !first.is_right()                         ? 1
                                     : !second.is_right()                      ? 2
                                     : calls < 12 && was_on_device != row.ends ? 3
                                                                               : 0;
                    std::fflush(nullptr);
                    _exit(code);
                }
                int status = -1;
                REQUIRE(waitpid(child, &status, 0) == child);
                CHECK_MESSAGE(status == 0, row.function, " after ", after);
            }
    }
}
