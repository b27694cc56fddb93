// SPDX-License-Identifier: MIT
// With VKGEMM_BLAS=auto, on a driver that is faster than the tests' own BLAS.
#include <doctest/doctest.h>

#include "blas/library.h"

using namespace vkgemm::test;
using vkgemm::blas::Op;

namespace {

/// Whether the device computed it.
bool on_device(Operands<float>& x) {
    static const auto names = entries<float>();
    const int before = cpu_calls();
    names.front().call(x.call());
    CHECK(x.is_right());
    return cpu_calls() == before;
}

/// How many calls went to the CPU before one was on the device. ctest ends it if none ever is.
int calls_before_device(Operands<float>& x) {
    int calls = 0;
    while (!on_device(x)) ++calls;
    return calls;
}

}  // namespace

TEST_SUITE("compiling") {
    TEST_CASE("a kernel that is not compiled is not waited for") {
        Operands<float> plain(Op::none, Op::none, 300, 310, 320, 1, 0, 1);
        REQUIRE(calls_before_device(plain) > 0);  // the device is opened once the CPU BLAS has taken half a second
        Operands<float> transposed(Op::transpose, Op::none, 310, 320, 330, 1, 0, 2);
        CHECK(calls_before_device(transposed) > 0);
        Operands<float> both(Op::transpose, Op::transpose, 320, 330, 340, 1, 0, 4);
        CHECK(!on_device(both));  // the process may end while this one is compiled, or fork
        CHECK(status_of_child([] { return 0; }) == 0);
        Operands<float> last(Op::none, Op::transpose, 330, 340, 350, 1, 0, 5);
        CHECK(!on_device(last));
    }
}
