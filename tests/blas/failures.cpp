// SPDX-License-Identifier: MIT
// Vulkan calls that fail (failing_vulkan.c, which is preloaded). C is right, because the CPU BLAS computes the tiles
// that failed. Each case is a process of its own, in which the library opens a device.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "blas/library.h"

using namespace vkgemm::blas;
using namespace vkgemm::test;

namespace {

struct Failure {
    const char* function;
    int result;  // a VkResult
    int after;   // so many calls work
    bool ends;   // before the second product, for which the device is used again
};
constexpr int timeout = 2, out_of_host_memory = -1, out_of_device_memory = -2, device_lost = -4;
constexpr Failure failures[] = {
    {"vkAllocateMemory", out_of_device_memory, 0, true},
    {"vkAllocateMemory", out_of_host_memory, 3, true},
    {"vkAllocateMemory", out_of_device_memory, 5, true},
    {"vkMapMemory", out_of_host_memory, 1, true},
    {"vkQueueSubmit", device_lost, 0, false},
    {"vkQueueSubmit", device_lost, 2, false},
    {"vkWaitForFences", device_lost, 1, false},
    {"vkWaitForFences", timeout, 3, false},
};

/// In a child, by a name of Fortran, or of CBLAS with row-major matrices: two calls of several tiles, the first of
/// which fails. 0 if everything is as it should be.
int run(const Failure& failure, bool row_major) {
    auto* const fail = fail_vulkan();
    if (!fail) {
        std::printf("failing_vulkan is not preloaded\n");
        return 1;
    }
    fail(failure.function, failure.result, failure.after);
    const Entry<float> fortran = entries<float>().front(), cblas = entries<float>().back();
    const auto& sgemm = row_major ? cblas.call_row_major : fortran.call;
    Operands<float> failed(Op::transpose, Op::none, 13, 12, 11, 2, 1, 1), next(Op::none, Op::none, 6, 7, 8, 2, 1, 2);
    sgemm(failed.call());
    const int after_failure = cpu_calls();
    if (after_failure == 0) {
        std::printf("nothing fell back\n");
        return 2;
    }
    if (after_failure > 9) {
        std::printf("%d calls for 9 tiles\n", after_failure);
        return 3;
    }
    if (!failed.is_right()) return 4;
    fail("", 0, 0);
    sgemm(next.call());
    if (!next.is_right()) return 5;
    if (failure.ends != (cpu_calls() == after_failure)) {
        std::printf("%d calls for the second product\n", cpu_calls() - after_failure);
        return 6;
    }
    return 0;
}

/// In a child: A is kept, and the call fails at its first allocations. A product of it afterwards must not use what was
/// packed and never sent.
int run_kept(const Failure& failure) {
    auto* const fail = fail_vulkan();
    if (!fail) return 1;
    using Keep = void(const void*, size_t);
    const auto sgemm = entries<float>().front().call;
    Operands<float> operands(Op::none, Op::none, 5, 4, 3, 2, 0, 1);
    const Gemm<float> g = operands.call();
    reinterpret_cast<Keep*>(blas_function("vkgemm_blas_keep"))(g.a, static_cast<size_t>(g.lda * g.k) * sizeof(float));
    fail(failure.function, failure.result, failure.after);
    sgemm(g);
    if (cpu_calls() != 1 || !operands.is_right()) return 2;
    fail("", 0, 0);
    std::fill_n(g.c, 5, -1.f);
    sgemm(g);
    return cpu_calls() == 1 && operands.is_right() ? 0 : 3;
}

/// In a child: two products, the first of which opens the device. The call of Vulkan after `call` others fails, or the
/// allocation after `allocation` others. Both products are right all the same. 50: the turn did not come.
constexpr int no_turn = 50;
int run_once(int call, int result, int allocation) {
    auto* const fail = fail_vulkan();
    if (!fail) return 1;
    const auto sgemm = entries<float>().front().call;
    Operands<float> first(Op::transpose, Op::none, 6, 5, 4, 2, 1, 1), next(Op::none, Op::none, 4, 5, 3, 2, 1, 2);
    static_cast<void>(blas_function("sgemm_"));  // loads the library
    fail("*", result, call);
    fail_allocation(allocation);
    sgemm(first.call());
    const bool came = allocation < 0 ? vulkan_calls() > call : allocation_failed();
    fail_allocation(-1);
    fail("", 0, 0);
    if (!first.is_right()) return 4;
    sgemm(next.call());
    if (!next.is_right()) return 5;
    return came ? 0 : no_turn;
}

/// Lets one after the other fail, or with VKGEMM_TESTS_QUICK the first `whole` and a sample of the others. Returns how
/// many did.
int each_fails(const char* what, int whole, int step, const std::function<int(int)>& run) {
    const char* const quick = std::getenv("VKGEMM_TESTS_QUICK");
    int failed = 0;
    for (int n = 0;; n += quick && *quick && n >= whole ? step : 1) {
        const int status = status_of_child([&] { return run(n); });
        if (status == no_turn << 8) break;
        CHECK_MESSAGE(status == 0, what, " ", n, ": status ", status);
        ++failed;
    }
    std::printf("%d %s failed once each\n", failed, what);
    return failed;
}

void check_in_child(const Failure& failure, const std::function<int()>& run) {
    CHECK_MESSAGE(status_of_child(run) == 0, failure.function, " ", failure.result, " after ", failure.after);
}

}  // namespace

TEST_SUITE("failures") {
    TEST_CASE("what fails on the device is computed by the CPU BLAS") {
        bool row_major = false;
        for (const Failure& failure : failures) {
            row_major = !row_major;
            check_in_child(failure, [&] { return run(failure, row_major); });
        }
    }

    TEST_CASE("each call of Vulkan fails once, from opening the device on, and products are right") {
        for (const int result : {out_of_host_memory, device_lost})
            CHECK(each_fails("calls", 0, 11, [&](int n) { return run_once(n, result, -1); }) > 5);
    }

    TEST_CASE("each allocation fails once, from opening the device on, and products are right") {
        constexpr int of_settings = 24;  // which the first call reads
        CHECK(each_fails("allocations", of_settings, 97, [](int n) { return run_once(1 << 30, 0, n); }) > 5);
    }

    TEST_CASE("what was not sent is not kept") {
        for (int after = 1; after < 6; ++after) {
            const Failure failure{
                .function = "vkAllocateMemory", .result = out_of_device_memory, .after = after, .ends = true};
            check_in_child(failure, [&] { return run_kept(failure); });
        }
    }
}

TEST_SUITE("opening") {
    TEST_CASE("the device is opened again for f64, and keeps what was kept") {
        const auto sgemm = entries<float>().front().call;
        Operands<float> operands(Op::none, Op::none, 6, 7, 6, 1, 0, 1);
        const Gemm<float> g = operands.call();
        using Keep = void(const void*, size_t);
        reinterpret_cast<Keep*>(blas_function("vkgemm_blas_keep"))(g.a,
                                                                   static_cast<size_t>(g.lda * g.k) * sizeof(float));
        sgemm(g);
        CHECK(operands.is_right());
        for (const uint64_t seed : {uint64_t{1}, uint64_t{2}}) {
            Operands<double> real(Op::none, Op::transpose, 6, 7, 8, 1, 1, seed);
            entries<double>().front().call(real.call());
            CHECK(real.is_right());
        }
        sgemm(g);
        CHECK(operands.is_right());
        const_cast<float*>(g.a)[0] += 1;  // which a program must not do: it shows that A was not sent again
        sgemm(g);
        CHECK(operands.is_right());
        CHECK(cpu_calls() == 0);
    }
}
