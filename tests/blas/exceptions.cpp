// SPDX-License-Identifier: MIT
// Floating-point exceptions under a thread that traps, with a driver that raises them (failing_vulkan.c). Those of the
// device's side neither trap nor stay; those of the CPU BLAS are the program's own.
#include <doctest/doctest.h>

#include <cfenv>
#include <csignal>
#include <cstdio>
#include <limits>

#include "blas/library.h"

using namespace vkgemm::blas;
using namespace vkgemm::test;

namespace {

constexpr int trapping = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

void enable_traps() {
    std::feclearexcept(FE_ALL_EXCEPT);
#ifdef __GLIBC__
    feenableexcept(trapping);
#endif
}

/// Ends the traps. False if they were not in force any more, or if a flag was raised.
bool end_traps() {
    bool as_before = !std::fetestexcept(trapping);
#ifdef __GLIBC__
    const int before = fedisableexcept(FE_ALL_EXCEPT);
#    ifdef __x86_64__  // other processors may have no traps
    as_before = as_before && before == trapping;
#    endif
#endif
    return as_before;
}

/// In a child: opens the device, compiles and multiplies.
int multiply() {
    Operands<float> x(Op::transpose, Op::none, 13, 12, 11, 2, 1, 1);
    const Gemm<float> g = x.call();
    const auto names = entries<float>();
    enable_traps();
    names.front().call(g);
    if (!end_traps()) return 1;
    return x.is_right() && cpu_calls() == 0 ? 0 : 2;
}

/// In a child: by the CPU BLAS, until the device is opened, measured, and predicted to be faster.
int multiply_until_on_device() {
    Operands<float> x(Op::none, Op::none, 300, 310, 320, 1, 0, 1);
    const Gemm<float> g = x.call();
    const auto names = entries<float>();
    bool on_device = false;
    enable_traps();
    for (int i = 0; i < 200 && !on_device; ++i) {
        const int before = cpu_calls();
        names.front().call(g);
        on_device = cpu_calls() == before;
    }
    if (!end_traps()) return 1;
    if (!on_device) return 3;
    return x.is_right() ? 0 : 2;
}

/// In a child: a result that stays on the device, and comes back.
int hold_and_flush() {
    using Hold = int(void*, size_t);
    using Flush = int(const void*);
    auto* const hold = reinterpret_cast<Hold*>(blas_function("vkgemm_blas_hold"));
    auto* const forget = reinterpret_cast<Flush*>(blas_function("vkgemm_blas_forget"));
    Operands<double> x(Op::none, Op::none, 5, 4, 3, 2, 0, 1);
    const Gemm<double> g = x.call();
    const auto names = entries<double>();
    enable_traps();
    const int held = hold(g.c, static_cast<size_t>(g.ldc * g.n) * sizeof(double));
    names.front().call(g);
    const int flushed = forget(g.c);
    if (!end_traps()) return 1;
    if (held != 0 || flushed != 0) return 3;
    return x.is_right() ? 0 : 2;
}

/// In a child: infinity times 0 by the CPU BLAS, after the device failed. It traps, or its flag stays.
int fall_back(bool traps) {
    Operands<float> x(Op::none, Op::none, 3, 3, 3, 1, 0, 1);
    const Gemm<float> g = x.call();
    const_cast<float*>(g.a)[0] = std::numeric_limits<float>::infinity();
    const_cast<float*>(g.b)[0] = 0;
    fail_vulkan()("vkQueueSubmit", -4, 0);
    const auto names = entries<float>();
    std::signal(SIGFPE, SIG_DFL);  // instead of doctest's
    std::feclearexcept(FE_ALL_EXCEPT);
    if (traps) enable_traps();
    names.front().call(g);
    const int raised = std::fetestexcept(trapping);
    if (cpu_calls() == 0) return 1;
    return raised == FE_INVALID ? 0 : 2;
}

}  // namespace

TEST_SUITE("exceptions") {
    TEST_CASE("what the device's side raises does not trap") {
        REQUIRE(fail_vulkan());
        fail_vulkan()("raise", 0, 0);
        CHECK(status_of_child(multiply) == 0);
        CHECK(status_of_child(hold_and_flush) == 0);
    }
    TEST_CASE("what the CPU BLAS raises is the program's") {
        REQUIRE(fail_vulkan());
        CHECK(status_of_child([] { return fall_back(false); }) == 0);
#if defined(__GLIBC__) && defined(__x86_64__)
        CHECK(status_of_child([] { return fall_back(true); }) == SIGFPE);
#endif
    }
    TEST_CASE("measuring and predicting do not trap" * doctest::skip()) {  // with VKGEMM_BLAS=auto
        REQUIRE(fail_vulkan());
        fail_vulkan()("raise", 0, 0);
        CHECK(status_of_child(multiply_until_on_device) == 0);
    }
}
