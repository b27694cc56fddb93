// SPDX-License-Identifier: MIT
// vkgemm_blas_hold: results that stay on the device, and what brings them back.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "blas/held.h"
#include "blas/place.h"

using namespace vkgemm::blas;
using namespace vkgemm::test;

TEST_CASE("what is held stays on the device") {
    REQUIRE(is_on_device<float>());
    Sum<float> sum(12, 11, 1);
    REQUIRE(hold(sum.c.data(), sum.bytes()) == 0);
    const auto before = sum.c;
    sum.add(7, 1, 1, 2);
    sum.add(11, -1, 1, 3);
    CHECK(std::memcmp(sum.c.data(), before.data(), sum.bytes()) == 0);
    CHECK(flush(sum.c.data()) == 0);
    CHECK(sum.is_right());
    const auto flushed = sum.c;
    sum.c[0] += 1;  // which a program must not do: it shows that C was not sent again, and comes back after a product
    CHECK(flush(nullptr) == 0);
    CHECK(sum.c[0] == flushed[0] + 1);
    sum.add(4, 1, 1, 4);
    CHECK(forget(sum.c.data()) == 0);
    CHECK(sum.is_right());
    sum.add(4, 1, 1, 5);
    CHECK(sum.is_right());  // it is not held any more
    CHECK(flush(sum.c.data()) == 0);
}

TEST_CASE_TEMPLATE("products add to what is held", T, float, double, std::complex<float>, std::complex<double>) {
    const int before = cpu_calls();
    const bool on_device = is_on_device<T>();
    Sum<T> sum(13, 12, 1);
    std::fill(sum.c.begin(), sum.c.end(), T(std::numeric_limits<float>::quiet_NaN()));
    CHECK(hold(sum.c.data(), sum.bytes()) == 0);
    sum.add(11, T{2}, T{}, 1);  // C is not read
    sum.add(3, T{1}, T{1}, 2);
    sum.add(8, T{1}, T{-2}, 3);
    if constexpr (is_complex<T>) sum.add(4, T(1, 2), T(0, 1), 4);
    sum.add(5, T{1}, T{1}, 5);
    CHECK(flush(sum.c.data()) == 0);
    CHECK(sum.is_right());
    sum.add(2, T{1}, T{1}, 6);
    CHECK(forget(sum.c.data()) == 0);
    CHECK(sum.is_right());
    if (on_device) CHECK(cpu_calls() == before);
}

TEST_CASE("what is held comes back for everything that is not a product of the same C") {
    REQUIRE(is_on_device<float>());
    Sum<float> sum(12, 12, 1), other(12, 12, 2);
    const auto bytes = sum.bytes();
    CHECK(hold(sum.c.data(), bytes) == 0);
    const int n = 12, ld = 15;
    const float one = 1, zero = 0;
    // A part of C that lies across its tiles, and then all of it again.
    sum.add(6, 1, 1, 1);
    sum.add(3, 4, 7, 5, 6, 1, 1, 2);
    sum.add(6, 1, 1, 3);
    sum.add(7, 0, 5, 12, 2, 1, 1, 4);
    CHECK(flush(sum.c.data()) == 0);
    CHECK(sum.is_right());
    // It is read as A, and as B.
    const auto multiply = [&](const float* a, const float* b, float* c) {
        Gemm<float> g{Op::none, Op::none, 12, 12, 12, 1, a, 15, b, 15, 0, c, 15};
        entries<float>().front().call(g);
    };
    for (const bool is_a : {true, false}) {
        sum.add(2, 1, 1, 5);
        std::vector<float> x(other.c), y(other.c);
        multiply(is_a ? sum.c.data() : other.c.data(), is_a ? other.c.data() : sum.c.data(), x.data());
        Gemm<float> plain{Op::none,
                          Op::none,
                          12,
                          12,
                          12,
                          1,
                          is_a ? sum.wanted.data() : other.c.data(),
                          15,
                          is_a ? other.c.data() : sum.wanted.data(),
                          15,
                          0,
                          y.data(),
                          15};
        multiply_plainly(plain);
        CHECK(std::memcmp(x.data(), y.data(), bytes) == 0);
        CHECK(sum.is_right());
    }
    // The CPU BLAS computes C = 2 C.
    sum.add(3, 1, 1, 6);
    sum.add(2, 0, 2, 7);
    CHECK(sum.is_right());
    // Another routine has it as C, and computes a part of it on the device.
    sum.add(3, 1, 1, 8);
    reinterpret_cast<void (*)(const char*, const char*, const int*, const int*, const float*, const float*, const int*,
                              const float*, float*, const int*)>(blas_function("ssyrk_"))(
        "L", "N", &n, &n, &one, other.c.data(), &ld, &one, sum.c.data(), &ld);
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i)
            for (int l = 0; l < n; ++l) sum.wanted[sum.at(i, j)] += other.c[sum.at(i, l)] * other.c[sum.at(j, l)];
    CHECK(sum.is_right());
    // Another one has it as A.
    sum.add(3, 1, 1, 9);
    std::vector<float> x(other.c), y(other.c);
    reinterpret_cast<void (*)(const char*, const char*, const char*, const int*, const int*, const float*, const float*,
                              const int*, const float*, const int*, const float*, float*, const int*)>(
        blas_function("sgemmt_"))("U", "N", "N", &n, &n, &one, sum.c.data(), &ld, other.c.data(), &ld, &zero, x.data(),
                                  &ld);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i <= j; ++i) {
            float& to = y[sum.at(i, j)] = 0;
            for (int l = 0; l < n; ++l) to += sum.wanted[sum.at(i, l)] * other.c[sum.at(l, j)];
        }
    CHECK(std::memcmp(x.data(), y.data(), bytes) == 0);
    CHECK(sum.is_right());
    CHECK(forget(sum.c.data()) == 0);
}

TEST_CASE("what is held comes back to be factored and solved") {
    REQUIRE(is_on_device<float>());
    Sum<float> sum(9, 9, 3);
    CHECK(hold(sum.c.data(), sum.bytes()) == 0);
    sum.add(4, 1, 0, 1);
    sum.add(9, 2, 1, 2);
    const int n = 9, ld = 12;
    int pivots[9] = {}, wanted_pivots[9] = {}, info = -1, wanted_info = -1;
    const auto sgetrf =
        reinterpret_cast<void (*)(const int*, const int*, float*, const int*, int*, int*)>(blas_function("sgetrf_"));
    sgetrf(&n, &n, sum.c.data(), &ld, pivots, &info);
    sgetrf(&n, &n, sum.wanted.data(), &ld, wanted_pivots, &wanted_info);
    CHECK(sum.is_right());
    CHECK(info == wanted_info);
    CHECK(std::ranges::equal(pivots, wanted_pivots));
    CHECK(forget(sum.c.data()) == 0);
}

TEST_CASE("what cannot be held is refused") {
    std::vector<float> all(64);
    CHECK(hold(all.data() + 8, 64) == 0);
    CHECK(hold(all.data() + 8, 64) == 0);
    CHECK(hold(all.data() + 8, 68) == 1);
    CHECK(hold(all.data(), 36) == 1);
    CHECK(hold(all.data() + 23, 4) == 1);
    CHECK(hold(all.data() + 24, 4) == 0);
    CHECK(hold(all.data(), 0) == 1);
    CHECK(forget(all.data()) == 0);
    CHECK(forget(all.data() + 8) == 0);
    CHECK(forget(all.data() + 24) == 0);
    CHECK(hold(all.data(), 36) == 0);
    CHECK(forget(all.data()) == 0);
    CHECK(forget(nullptr) == 0);
    // C that is held in part comes back as ever.
    Sum<float> sum(12, 11, 1);
    CHECK(hold(sum.c.data() + 40, 200) == 0);
    sum.add(4, 1, 1, 1);
    sum.add(4, 1, 1, 2);
    CHECK(sum.is_right());
    CHECK(forget(sum.c.data() + 40) == 0);
}

TEST_CASE("threads hold matrices of their own") {
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (uint64_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            Sum<float> sum(7 + static_cast<int64_t>(t), 8, t);
            wrong += hold(sum.c.data(), sum.bytes());
            for (uint64_t i = 0; i < 6; ++i) {
                sum.add(3 + static_cast<int64_t>(i), 1, 1, i);
                if (i == t) wrong += flush(t % 2 ? sum.c.data() : nullptr);
            }
            wrong += forget(sum.c.data());
            wrong += !sum.is_right();
        });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
}

TEST_CASE("a forked child finds what its parent holds") {
    REQUIRE(is_on_device<float>());
    Sum<float> sum(9, 8, 1);
    CHECK(hold(sum.c.data(), sum.bytes()) == 0);
    sum.add(5, 1, 1, 1);
    sum.add(4, 1, 1, 2);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60);
        const bool was_right = sum.is_right();
        sum.add(3, 1, 1, 3);  // nothing is held here
        _exit(was_right && sum.is_right() && flush(sum.c.data()) == 0 ? 0 : 1);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    sum.add(6, 1, 1, 4);
    CHECK(forget(sum.c.data()) == 0);
    CHECK(sum.is_right());
}

namespace {

/// A batch without a product, which the CPU BLAS gets: it computes nothing, and calls the hook.
void call_batch() {
    const int n = 2, k = 0, ld = 2, stride = 0, count = 1;
    const float one = 1;
    float x[4] = {};
    reinterpret_cast<void (*)(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                              const int*, const int*, const float*, const int*, const int*, const float*, float*,
                              const int*, const int*, const int*)>(blas_function("sgemm_batch_strided_"))(
        "N", "N", &n, &n, &k, &one, x, &ld, &stride, x, &ld, &stride, &one, x, &ld, &stride, &count);
}

enum class Held { stays, comes_back, wrong };
Held hold_and_add() {
    Sum<float> sum(6, 6, 1);
    if (hold(sum.c.data(), sum.bytes()) != 0) return Held::wrong;
    const auto before = sum.c;
    sum.add(4, 1, 1, 1);
    const bool stays = std::memcmp(sum.c.data(), before.data(), sum.bytes()) == 0;
    return forget(sum.c.data()) != 0 || !sum.is_right() ? Held::wrong : stays ? Held::stays : Held::comes_back;
}

}  // namespace

TEST_CASE("nothing stays during a call of the CPU BLAS, other than in a child that is forked then") {
    static Held during;
    static pid_t child;
    child = -1;
    set_cpu_hook([] { during = hold_and_add(); });
    call_batch();
    CHECK(during == Held::comes_back);
    if (std::getenv("VKGEMM_TESTS_FORK_REOPENS")) {  // else the child has no device
        set_cpu_hook([] {
            if (child = fork(); child == 0) {
                alarm(60);
                during = hold_and_add();
            }
        });
        call_batch();
        if (child == 0) {
            const bool stayed = during == Held::stays;
            set_cpu_hook([] { during = hold_and_add(); });
            call_batch();
            _exit(stayed && during == Held::comes_back && hold_and_add() == Held::stays ? 0 : 1);
        }
        REQUIRE(child > 0);
        int status = 1;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    set_cpu_hook(nullptr);
}

TEST_CASE("a CPU LAPACK calls extensions while the device factors") {
    Sum<float> held(6, 6, 1), a(13, 13, 2);
    CHECK(hold(held.c.data(), held.bytes()) == 0);
    held.add(4, 1, 1, 1);
    static float product;
    product = 0;
    set_cpu_hook([] {
        set_cpu_hook(nullptr);
        const int one = 1;
        const float x = 3, zero = 0, factor = 1;
        call_batch();
        reinterpret_cast<void (*)(const char*, const char*, const char*, const int*, const int*, const float*,
                                  const float*, const int*, const float*, const int*, const float*, float*,
                                  const int*)>(blas_function("sgemmt_"))("U", "N", "N", &one, &one, &factor, &x, &one,
                                                                         &x, &one, &zero, &product, &one);
    });
    const int n = 13, ld = 16;
    int pivots[13], info = -1;
    reinterpret_cast<void (*)(const int*, const int*, float*, const int*, int*, int*)>(blas_function("sgetrf_"))(
        &n, &n, a.c.data(), &ld, pivots, &info);
    CHECK(info >= 0);
    CHECK(product == 9);
    CHECK(forget(held.c.data()) == 0);
    CHECK(held.is_right());
}

TEST_SUITE("small") {  // with VKGEMM_BLAS_MIN=10
    TEST_CASE("what is held comes back for a call that is forwarded") {
        Sum<float> sum(12, 12, 1), other(12, 12, 2);
        CHECK(hold(sum.c.data(), sum.bytes()) == 0);
        for (const bool is_a : {true, false}) {
            sum.add(12, 1, 1, 3);
            const int before = cpu_calls();
            const float* const a = is_a ? sum.c.data() : other.c.data();
            const float* const b = is_a ? other.c.data() : sum.c.data();
            std::vector<float> x(4), y(4);
            Gemm<float> g{Op::none, Op::none, 2, 2, 12, 1, a, sum.ld, b, sum.ld, 0, x.data(), 2};
            entries<float>().front().call(g);
            CHECK(cpu_calls() == before + 1);
            g.a = is_a ? sum.wanted.data() : a;
            g.b = is_a ? b : sum.wanted.data();
            g.c = y.data();
            multiply_plainly(g);
            CHECK(x == y);
            CHECK(flush(nullptr) == 0);  // only what was read has come back
            CHECK(sum.is_right());
        }
        sum.add(12, 1, 1, 4);
        sum.add(3, 4, 2, 2, 3, 1, 1, 5);  // a part of C
        CHECK(forget(sum.c.data()) == 0);
        CHECK(sum.is_right());
    }
}

TEST_CASE("places") {
    const auto at = [](uint64_t address, int64_t rows, int64_t columns, int64_t ld) {
        return place_of(reinterpret_cast<const void*>(address), rows, columns, ld, 4);
    };
    CHECK(overlap(at(400, 5, 4, 10), at(400, 5, 4, 10)));
    CHECK(!overlap(at(400, 5, 4, 10), at(420, 5, 4, 10)));  // below each other
    CHECK(overlap(at(400, 5, 4, 10), at(416, 5, 4, 10)));
    CHECK(!overlap(at(420, 5, 4, 10), at(400, 5, 4, 10)));
    CHECK(!overlap(at(400, 5, 4, 10), at(400 + 160, 5, 4, 10)));  // beside each other
    CHECK(overlap(at(400, 5, 4, 10), at(400 + 120, 5, 4, 10)));
    CHECK(!overlap(at(400, 5, 4, 10), at(420, 5, 1, 10)));  // a single column, below
    CHECK(!overlap(at(460, 5, 1, 10), at(400, 5, 4, 10)));
    CHECK(overlap(at(400, 5, 4, 10), at(456, 5, 1, 10)));
    CHECK(overlap(at(436, 5, 1, 10), at(400, 5, 4, 10)));        // rows 9 to 13
    CHECK(overlap(at(400, 5, 4, 10), at(400 + 36, 5, 4, 10)));   // rows 9 to 13 are 0 to 3 of the next column
    CHECK(!overlap(at(400, 3, 4, 10), at(400 + 12, 7, 4, 10)));  // up to the end of each column
    CHECK(overlap(at(400, 3, 4, 10), at(400 + 12, 7, 4, 11)));   // of other matrices: by first and last byte
    CHECK(!overlap(at(400, 3, 4, 10), at(400, 0, 4, 10)));
    CHECK(!overlap(at(400, 3, 4, 10), at(400, 3, 0, 10)));
    CHECK(overlap(place_of(nullptr, UINT64_MAX), at(400, 3, 4, 10)));
    CHECK(overlap(place_of(nullptr, UINT64_MAX), place_of(nullptr, UINT64_MAX)));
    CHECK(contains(at(400, 10, 4, 10), at(420, 5, 4, 10)));
    CHECK(!contains(at(400, 10, 4, 10), at(424, 10, 4, 10)));
}
