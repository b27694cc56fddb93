// SPDX-License-Identifier: MIT
// The exported functions on a device: every name and transpose, what must not be read or written, what goes to the CPU
// BLAS, threads, fork. The variables make every product go to the device, in tiles of 5.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <thread>

#include "blas/cpu_blas.h"
#include "blas/library.h"

using namespace vkgemm::blas;
using namespace vkgemm::test;

namespace {

constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

/// Fortran's name of a type with 32-bit integers.
template <class T>
Entry<T> first_entry() {
    return entries<T>().front();
}

/// True if the device has this type: then a product does not reach the CPU BLAS.
template <class T>
bool is_on_device() {
    Operands<T> operands(Op::none, Op::none, 2, 2, 2, T{1}, T{}, 1);
    const int before = cpu_calls();
    first_entry<T>().call(operands.call());
    CHECK(operands.is_right());
    return cpu_calls() == before;
}

template <class T>
T factor(int real, int imaginary) {
    if constexpr (is_complex<T>)
        return T(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary));
    else
        return static_cast<T>(real);
}

}  // namespace

/// Columns of A and C that are 2^31 elements apart, of which the system gives out the pages that are used.
TEST_CASE("leading dimensions above 2^31") {
    constexpr int64_t ld = (int64_t{1} << 31) + 16, m = 6, n = 2, k = 2;
    constexpr size_t bytes = static_cast<size_t>(ld + m) * sizeof(float);
    float* matrices[2];
    for (float*& x : matrices) {
        void* const memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            MESSAGE("no address space");
            return;
        }
        x = static_cast<float*>(memory);
    }
    for (int64_t j = 0; j < 2; ++j)
        for (int64_t i = 0; i < m; ++i) matrices[0][i + j * ld] = static_cast<float>(i + 10 * j);
    const float b[] = {1, 2, 3, 4};
    const Gemm<float> g{Op::none, Op::none, m, n, k, 1, matrices[0], ld, b, k, 0, matrices[1], ld};
    const int before = cpu_calls();
    for (const Entry<float>& entry : entries<float>()) {
        if (!entry.wide) continue;
        for (int64_t j = 0; j < n; ++j) std::fill_n(matrices[1] + j * ld, m, -1.f);
        entry.call(g);
        bool right = true;
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < m; ++i)
                right = right && matrices[1][i + j * ld] ==
                                     static_cast<float>(i) * b[2 * j] + static_cast<float>(i + 10) * b[2 * j + 1];
        CHECK_MESSAGE(right, entry.name);
    }
    CHECK(cpu_calls() == before);
    for (float* x : matrices) munmap(x, bytes);
}

TEST_CASE("f32 is computed on the device") {
    CHECK(is_on_device<float>());
    CHECK(is_on_device<std::complex<float>>());
}

TEST_CASE_TEMPLATE("every name computes every transpose", T, float, double, std::complex<float>, std::complex<double>) {
    const bool on_device = is_on_device<T>();
    const int before = cpu_calls();
    CHECK(entries<T>().size() == 9);
    uint64_t seed = 0;
    for (const Entry<T>& entry : entries<T>())
        for (const Op a : ops)
            for (const Op b : ops)
                for (const T beta : {T{}, factor<T>(1, 0), factor<T>(-2, 3)}) {
                    Operands<T> column(a, b, 7, 3, 11, factor<T>(2, -1), beta, ++seed);
                    entry.call(column.call());
                    CHECK_MESSAGE(column.is_right(), entry.name);
                    if (!entry.call_row_major) continue;
                    Operands<T> row(a, b, 3, 6, 2, factor<T>(3, 0), beta, ++seed);
                    entry.call_row_major(row.call());
                    CHECK_MESSAGE(row.is_right(), entry.name);
                }
    if (on_device) CHECK(cpu_calls() == before);
}

TEST_CASE_TEMPLATE("sizes around a tile", T, float, double, std::complex<float>, std::complex<double>) {
    uint64_t seed = 100;
    for (const int64_t m : {1, 2, 4, 5, 6, 16})
        for (const int64_t n : {1, 4, 5, 6, 11})
            for (const int64_t k : {1, 5, 6, 65}) {
                Operands<T> operands(Op::none, Op::transpose, m, n, k, T{1}, T{1}, ++seed, m % 3);
                first_entry<T>().call(operands.call());
                CHECK_MESSAGE(operands.is_right(), m, "x", n, "x", k);
            }
}

TEST_CASE_TEMPLATE("calls without a product, and calls with bad arguments, go to the CPU BLAS", T, float,
                   std::complex<double>) {
    const struct {
        int64_t m, n, k;
        T alpha;
    } empty[] = {{0, 3, 2, T{1}}, {3, 0, 2, T{1}}, {3, 4, 0, T{1}}, {3, 4, 2, T{}}};
    for (const auto& row : empty) {
        Operands<T> operands(Op::none, Op::none, row.m, row.n, row.k, row.alpha, T{2}, 5);
        const int before = cpu_calls();
        first_entry<T>().call(operands.call());
        CHECK(cpu_calls() == before + 1);
        CHECK(operands.is_right());
    }
    for (const Entry<T>& entry : entries<T>()) {
        Operands<T> operands(Op::none, Op::none, 3, 4, 2, T{1}, T{1}, 6);
        const Gemm<T> good = operands.call();
        Gemm<T> bad[] = {good, good, good, good, good, good};
        bad[0].m = -1;
        bad[1].n = -1;
        bad[2].k = -1;
        bad[3].lda = 2;
        bad[4].ldb = 1;
        bad[5].ldc = 2;
        const int before = cpu_bad_calls();
        for (const Gemm<T>& g : bad) entry.call(g);
        CHECK_MESSAGE(cpu_bad_calls() == before + 6, entry.name);
        entry.call(good);  // C was not touched before
        CHECK_MESSAGE(operands.is_right(), entry.name);
    }
    Gemm<T> unknown_op = Operands<T>(Op::none, Op::none, 1, 1, 1, T{1}, T{}, 7).call();
    unknown_op.op_a = static_cast<Op>(3);  // the null after the letters, and ConjNoTrans
    const int before = cpu_bad_calls();
    for (const Entry<T>& entry : entries<T>()) entry.call(unknown_op);
    CHECK(cpu_bad_calls() == before + 9);
}

/// Writes a kept matrix of 6x6 by routines that compute it on the host or by the CPU LAPACK.
template <class IsRight>
void write_otherwise(std::vector<float>& a, const IsRight& is_right, void (*keep)(const void*, size_t),
                     void (*forget)(const void*)) {
    const int two = 2, ld = 6;
    const float one = 1, zero = 0, x[] = {1, 2, 0, 0, 0, 0, 3, 1};
    reinterpret_cast<void (*)(const char*, const char*, const char*, const int*, const int*, const float*, const float*,
                              const int*, const float*, const int*, const float*, float*, const int*)>(
        blas_function("sgemmt_"))("L", "N", "N", &two, &two, &one, x, &ld, x, &ld, &zero, a.data(), &ld);
    CHECK(a[0] == 7);
    CHECK(is_right());
    forget(a.data());
    a[0] = a[7] = 0;
    a[1] = a[6] = 2;  // whose factors are whole numbers: it exchanges two rows
    keep(a.data(), a.size() * sizeof a[0]);
    CHECK(is_right());
    int pivots[2] = {}, info = -1;
    reinterpret_cast<void (*)(const int*, const int*, float*, const int*, int*, int*)>(blas_function("sgetrf_"))(
        &two, &two, a.data(), &ld, pivots, &info);
    CHECK(info == 0);
    CHECK(a[0] == 2);
    CHECK(is_right());
}

TEST_CASE("what is kept stays on the device until it is written or forgotten") {
    REQUIRE(is_on_device<float>());
    const auto keep = reinterpret_cast<void (*)(const void*, size_t)>(blas_function("vkgemm_blas_keep"));
    const auto forget = reinterpret_cast<void (*)(const void*)>(blas_function("vkgemm_blas_forget"));
    std::vector<float> a(6 * 6), b(6 * 6), c(6 * 6), was, found;
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i % 7) - 3;
        b[i] = static_cast<float>(i % 5) - 2;
    }
    const Gemm<float> g{Op::none, Op::none, 6, 6, 6, 1, a.data(), 6, b.data(), 6, 0, c.data(), 6};
    const auto product = [&] {
        first_entry<float>().call(g);
        return c;
    };
    const auto wanted = [&] {
        std::vector<float> sum(c.size());
        Gemm<float> plain = g;
        plain.c = sum.data();
        multiply_plainly(plain);
        return sum;
    };
    was = product();
    a[0] += 1;
    CHECK(product() == wanted());  // by default nothing is kept
    keep(a.data(), a.size() * sizeof a[0]);
    was = product();
    a[7] += 1;  // which a program must not do: it shows that A was not sent again
    const std::vector<float> now = product(), sent = wanted();
    const bool one_device = !std::getenv("VKGEMM_BLAS_CONFIG");  // of two, the one that has no A yet may take a tile
    for (size_t i = 0; i < now.size(); ++i) CHECK((now[i] == was[i] || (!one_device && now[i] == sent[i])));
    Gemm<float> writes = g;  // one of the library's own routines writes A
    writes.a = b.data();
    writes.c = a.data();
    first_entry<float>().call(writes);
    CHECK(product() == wanted());
    writes.alpha = 0;
    writes.beta = 2;  // the CPU BLAS does
    first_entry<float>().call(writes);
    was = product();
    CHECK(was == wanted());
    const int six = 6;
    const float zero = 0, two = 2;  // alpha and beta: another routine of it only scales what is kept
    reinterpret_cast<void (*)(const char*, const char*, const int*, const int*, const float*, const float*, const int*,
                              const float*, float*, const int*)>(blas_function("ssyrk_"))(
        "L", "N", &six, &six, &zero, b.data(), &six, &two, a.data(), &six);
    CHECK(product() != was);
    CHECK(product() == wanted());
    write_otherwise(
        a, [&] { return product() == wanted(); }, keep, forget);
    forget(a.data());
    a[9] += 1;
    CHECK(product() == wanted());
    forget(a.data());
    forget(nullptr);
}

TEST_CASE("PBLAS is told a depth whose rows have 32 KiB") {
    const auto depth = reinterpret_cast<int (*)(const int*, const char*)>(blas_function("pilaenv_"));
    const int grid = 0;
    for (const auto& [type, wanted] : {std::pair{"S", 8192}, {"D", 4096}, {"C", 4096}, {"Z", 2048}, {"I", 4096}})
        CHECK_MESSAGE(depth(&grid, type) == wanted, type);
}

/// 4 MiB and more are copied by this library, everything else by the CPU BLAS of the tests, which counts it.
TEST_CASE_TEMPLATE("PBLAS's copies of many bytes", T, float, double, std::complex<float>, std::complex<double>) {
    using Add = void(const int*, const int*, const T*, const T*, const int*, const T*, T*, const int*);
    const std::string name = std::string(1, is_complex<T>    ? (sizeof(T) == 16 ? 'z' : 'c')
                                            : sizeof(T) == 8 ? 'd'
                                                             : 's') +
                             "mmadd_";
    const auto add = reinterpret_cast<Add*>(blas_function(name.c_str()));
    is_on_device<float>();  // opens it
    const int m = 1100, n = int((4 << 20) / (m * sizeof(T))) + 1, lda = m + 3, ldb = m + 2;
    const T poison = T(std::numeric_limits<decltype(std::abs(T{}))>::quiet_NaN());
    std::vector<T> a(size_t(lda) * size_t(n), poison), b(size_t(ldb) * size_t(n), poison);
    const auto value = [&](int i, int j) { return factor<T>(i - 7 * j, i % 5); };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) a[size_t(i) + size_t(j) * size_t(lda)] = value(i, j);
    const auto is_right = [&](T by) {
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < ldb; ++i) {
                const T found = b[size_t(i) + size_t(j) * size_t(ldb)];
                if (i < m ? found != by * value(i, j) : found == found) return false;
            }
        return true;
    };
    const T one{1}, none{}, two{2};
    const int before = cpu_calls(), few = 3;
    add(&m, &n, &one, a.data(), &lda, &none, b.data(), &ldb);
    CHECK_MESSAGE(is_right(one), name);
    CHECK(cpu_calls() == before);
    add(&m, &n, &two, a.data(), &lda, &none, b.data(), &ldb);
    CHECK_MESSAGE(is_right(two), name);
    add(&m, &few, &one, a.data(), &lda, &none, b.data(), &ldb);
    CHECK(cpu_calls() == before + 2);
}

TEST_CASE("threads") {
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (uint64_t t = 0; t < 16; ++t)
        threads.emplace_back([&, t] {
            for (uint64_t i = 0; i < 8; ++i) {
                Operands<float> real(ops[t % 3], ops[i % 3], 7, 6, 12, 1, 1, 16 * i + t);
                entries<float>()[t % 9].call(real.call());
                Operands<std::complex<float>> complex(ops[i % 3], ops[t % 3], 3, 4, 5, 1, 0, 16 * i + t);
                entries<std::complex<float>>()[i % 9].call(complex.call());
                wrong += !real.is_right() + !complex.is_right();
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
}

TEST_CASE("a forked child computes by the CPU BLAS or opens the device, its parent still on its own") {
    REQUIRE(is_on_device<float>());
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60);
        Operands<float> operands(Op::none, Op::none, 7, 6, 12, 2, 1, 3);
        const int before = cpu_calls();
        first_entry<float>().call(operands.call());
        const int on_cpu = std::getenv("VKGEMM_TESTS_FORK_REOPENS") ? 0 : 1;
        _exit(operands.is_right() && cpu_calls() == before + on_cpu ? 0 : 1);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(is_on_device<float>());
}
