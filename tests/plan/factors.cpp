// SPDX-License-Identifier: MIT
// What alpha and beta become, and which are refused.
#include "plan/problem/factors.h"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include "support/string_util.h"

using namespace vkgemm;
using namespace vkgemm::plan;

namespace {

abi::GemmArgs with(double alpha, double beta, Type accumulator) {
    abi::GemmArgs args{};
    args.k = 9;
    args.k_chunk = 5;
    args.lda = 10;
    args.ldb = 11;
    args.batch_a = 12;
    args.batch_b = 13;
    set_factors(args, alpha, beta, accumulator);
    return args;
}

// A refusal, or success and no text.
VkgemmResult code(const Problem& p, double alpha, double beta) {
    const auto refused = unfit_factors(p, alpha, beta);
    return refused ? refused->code : VKGEMM_SUCCESS;
}
std::string why(const Problem& p, double alpha, double beta) {
    const auto refused = unfit_factors(p, alpha, beta);
    return refused ? refused->text : "";
}

}  // namespace

TEST_CASE("factors: as the accumulator holds them") {
    CHECK((with(2, -1, f32).alpha == 0x40000000 && with(2, -1, f32).beta == 0xbf800000));
    CHECK((with(2, -1, i32).alpha == 2 && with(2, -1, i32).beta == 0xffffffff));
    const abi::GemmArgs exact = with(1.1, -1e300, f64);  // as they are
    CHECK((uint64_t{exact.alpha_high} << 32 | exact.alpha) == std::bit_cast<uint64_t>(1.1));
    CHECK((uint64_t{exact.beta_high} << 32 | exact.beta) == std::bit_cast<uint64_t>(-1e300));
    CHECK((with(2, 0, f32).k == 9 && with(2, 0, f32).lda == 10));
}

TEST_CASE("factors: where alpha becomes 0, the sum is empty") {
    for (const double alpha : {0.0, -0.0}) {
        const abi::GemmArgs args = with(alpha, 1, f32);
        CHECK((args.k == 0 && args.k_chunk == 0 && args.lda == 0 && args.ldb == 0));
        CHECK((args.batch_a == 0 && args.batch_b == 0));
    }
    CHECK((with(0, 1, i32).k == 0 && with(-0.0, 1, f64).k == 0 && with(1e-300, 1, f64).k == 9));
    CHECK((is_zero_factor(-0.0, f32) && !is_zero_factor(1e-45, f32) && !is_zero_factor(0.5, i32)));
}

TEST_CASE("factors: whole numbers for whole sums, and beta only where there is a C") {
    Problem p;
    p.accumulate = p.d.type = i32;
    p.cSource = VKGEMM_C_IS_D;
    CHECK(!unfit_factors(p, -2147483648.0, 2147483647.0));
    for (const double x : {0.5, 2147483648.0, -2147483649.0, 1e-60}) {
        CHECK(code(p, x, 0) == VKGEMM_ERROR_INVALID_ARGUMENT);
        CHECK(code(p, 1, x) == VKGEMM_ERROR_INVALID_ARGUMENT);
    }
    CHECK(test::has_words(why(p, 1, 0.5), "beta", "0.5", "i32"));
    p.accumulate = f32;
    p.cSource = VKGEMM_C_NONE;
    CHECK(code(p, 1, 1) == VKGEMM_ERROR_INVALID_PROBLEM);
}

TEST_CASE("factors: overflow and underflow are refused but for sums in f64, infinities and NaN pass") {
    Problem wide;
    wide.accumulate = f64;
    wide.cSource = VKGEMM_C_IS_D;
    for (const double x : {1e300, -1e-60, 5e-324}) CHECK((!unfit_factors(wide, x, x) && !is_zero_factor(x, f64)));
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const Type t : {f32, f16}) {
        Problem p;
        p.accumulate = t;
        p.cSource = VKGEMM_C_IS_D;
        // The last numbers that round to something else than infinity or 0, and the first that do not.
        for (const double x :
             {0.5, 0.0, -0.0, 1e-45, 3.4028235677973364e38, 0x1.000002p-150, infinity, -infinity, infinity - infinity})
            CHECK_MESSAGE((!unfit_factors(p, x, 1) && !unfit_factors(p, 1, x)), x);
        for (const double x : {1e300, -1e300, 3.4028235677973366e38})
            CHECK(test::has_words(why(p, x, 0), "alpha is ", "sums would use infinity", "range of f32"));
        for (const double x : {1e-60, -1e-60, 0x1p-150}) {
            CHECK(test::has_words(why(p, x, 0), "alpha is ", "sums would use 0", "range of f32"));
            CHECK(test::has_words(why(p, 1, x), "beta is ", "sums would use 0"));
        }
        CHECK(code(p, 1e-60, 0) == VKGEMM_ERROR_INVALID_ARGUMENT);
    }
}
