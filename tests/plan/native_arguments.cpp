// SPDX-License-Identifier: MIT
// The parameter of a native kernel: how work is counted, and where the copy engine may write.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "plan/native/arguments.h"

using namespace vkgemm;
using namespace vkgemm::plan;

namespace {

const Kernel& f16_product() {
    const auto rows = kernels();
    return *std::find_if(rows.begin(), rows.end(), [](const Kernel& k) {
        return k.module.is_product() && k.module.a == f16 && k.module.b == f16 && k.module.d == f16;
    });
}

struct Product {
    plan::Step step{};
    abi::GemmArgs args{};

    Product(uint32_t m, uint32_t n, uint32_t k, uint32_t batch = 1) {
        step.kernel = &f16_product();
        step.tile = {.BM = 128, .BN = 256, .BK = 64};
        step.constants.TRANS_B = 1;
        args.m = m;
        args.n = n;
        args.k = args.k_chunk = k;
        args.batch = batch;
        args.lda = args.ldb = (k + 7) / 8 * 8;
        args.ldd = (n + 7) / 8 * 8;
        args.batch_a = args.lda * m;
        args.batch_b = args.ldb * n;
        args.batch_d = args.ldd * m;
        args.a = {0x1000, 7};
        args.b = {0x2000, 7};
        args.d = {0x3000, 7};
    }
    native::NativeArgs arguments() const { return native_arguments(step, args); }
};

constexpr uint32_t high(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
constexpr uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }

}  // namespace

TEST_CASE("work of native kernels: slices, products and tiles") {
    Product p(129, 512, 640, 3);
    CHECK(work_of(p.arguments()) == 2 * 2 * 3);
    p.step.constants.PARTIAL = 1;
    p.args.k_chunk = 256;
    const native::NativeArgs x = p.arguments();
    CHECK(x.slices == 3);
    CHECK(work_of(x) == 2 * 2 * 3 * 3);
    CHECK(x.constants[native::PARTIAL] == 1);
    CHECK(x.constants[native::TRANS_B] == 1);
    CHECK(low(x.d.words[5]) == 3 * 3 - 1);                  // sums of every slice and product
    CHECK(high(x.d.words[1]) == 512 * sizeof(float) / 16);  // in rows of n
    p.args.k = 0;
    CHECK(p.arguments().slices == 1);
}

TEST_CASE("native kernels: the copy engine writes D in units of 16 bytes") {
    CHECK(Product(128, 264, 64).arguments().d_is_mapped);
    CHECK(!Product(128, 261, 64).arguments().d_is_mapped);  // its rows end inside of one
    Product p(128, 264, 64, 2);
    CHECK(p.arguments().d_is_mapped);
    p.args.batch_d += 1;
    CHECK(!p.arguments().d_is_mapped);
    p.args.batch_d += 7;
    p.args.ldd += 4;
    CHECK(!p.arguments().d_is_mapped);
    p.args.ldd += 4;
    p.args.d.x += 8;
    CHECK(!p.arguments().d_is_mapped);
}

TEST_CASE("native kernels: boxes follow the layouts, and a stride of 0 is one matrix") {
    Product p(300, 500, 100, 4);
    p.args.batch_b = 0;
    native::NativeArgs x = p.arguments();
    CHECK(x.a.words[0] == 0x700001000);
    CHECK(low(x.a.words[4]) == 100 - 1);  // k runs along the lines of A
    CHECK(high(x.a.words[4]) == 300 - 1);
    CHECK(x.a.words[7] == 128 - 1);
    CHECK(x.b.words[7] == 256 - 1);
    CHECK(x.a.words[5] == 4 - 1);
    CHECK(x.b.words[5] == 0);
    p.step.constants.TRANS_A = 1;
    p.args.lda = 304;
    x = p.arguments();
    CHECK(low(x.a.words[4]) == 300 - 1);
    CHECK(high(x.a.words[4]) == 100 - 1);
    CHECK(x.a.words[7] == 64 - 1);  // a box has BK lines
    p.args.k = 0;
    CHECK(high(p.arguments().a.words[4]) == 0);  // no size is 0
}

TEST_CASE("native kernels: boxes have no more lines than A and B, in units of the swizzle") {
    const auto lines = [](uint32_t m, uint32_t n, bool a_along_k = true) {
        Product p(m, n, 128);
        p.step.constants.TRANS_A = a_along_k ? 0 : 1;
        const native::NativeArgs x = p.arguments();
        const auto a = low(x.a.words[7]) + 1, b = low(x.b.words[7]) + 1;
        CHECK(x.loaded_bytes == ((a_along_k ? a : 128) + b) * native::box_bytes);  // transposed: boxes for 128 rows
        return std::array{a, b};
    };
    CHECK(lines(128, 256) == std::array{128U, 256U});
    CHECK(lines(1162, 1000) == std::array{128U, 256U});  // of the last tile, too
    CHECK(lines(121, 249) == std::array{128U, 256U});
    CHECK(lines(120, 248) == std::array{120U, 248U});
    CHECK(lines(4, 17) == std::array{8U, 24U});
    CHECK(lines(0, 0) == std::array{8U, 8U});
    CHECK(lines(4, 17, false) == std::array{64U, 24U});  // BK
}
