// SPDX-License-Identifier: MIT
// Machine code states its figures; another file, or a damaged one, is refused.
#include "tools/vkgemm/report/cubin.h"

#include <doctest/doctest.h>

#include <random>

#include "plan/kernels/kernels.h"
#include "spirv/bytes.h"
#include "support/files.h"

using vkgemm::tool::CubinFunction;
using vkgemm::tool::read_cubin;

namespace {

/// Two functions, as nvcc would describe them; written by hand, so that it weighs little.
std::vector<uint8_t> two_functions() {
    const std::string text = vkgemm::test::file_text("fuzz/corpus/cubin/two.cubin");
    return {text.begin(), text.end()};
}

void set_32(std::vector<uint8_t>& bytes, size_t at, uint32_t x) {
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(x >> 8 * i);
}

}  // namespace

TEST_CASE("cubin: registers, local memory, static shared memory and code of each function") {
    const auto functions = read_cubin(two_functions());
    REQUIRE(functions);
    const std::vector<CubinFunction> right = {
        {.name = "one", .registers = 40, .local = 16, .shared = 1040, .code = 32},
        {.name = "two", .registers = 168, .local = 0, .shared = 0, .code = 16},
    };
    CHECK(*functions == right);
}

TEST_CASE("cubin: one that is cut off anywhere is refused, with a reason") {
    const std::vector<uint8_t> whole = two_functions();
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const auto functions = read_cubin(std::span(whole).first(bytes));
        REQUIRE_MESSAGE(!functions, bytes);
        CHECK(!functions.status().text.empty());
    }
}

TEST_CASE("cubin: places beyond the end, and sizes that wrap around, are refused") {
    const std::vector<uint8_t> whole = two_functions();
    const size_t headers = 336, info = headers + 4 * 64;
    for (const size_t at : {size_t{40}, size_t{44}, info + 24, info + 28, info + 32, info + 36, headers + 64 + 24}) {
        for (const uint32_t x : {0xffffffffu, 0x7fffffffu, 0xfffffff0u, 100000u}) {
            std::vector<uint8_t> bytes = whole;
            set_32(bytes, at, x);
            CHECK_MESSAGE(!read_cubin(bytes), at, " ", x);
        }
    }
    std::vector<uint8_t> other = whole;
    other[18] = 62;  // x86-64
    CHECK(read_cubin(other).status().text == "not a cubin: it is for another kind of machine");
}

TEST_CASE("cubin: random bytes in it do no harm") {
    const std::vector<uint8_t> whole = two_functions();
    std::mt19937 random(1);
    for (int round = 0; round < 20000; ++round) {
        std::vector<uint8_t> bytes = whole;
        for (size_t changes = 1 + random() % 4; changes; --changes)
            bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
        if (const auto functions = read_cubin(bytes); !functions) CHECK(!functions.status().text.empty());
    }
}

TEST_CASE("cubin: no function of this build's machine code uses local memory") {
    size_t modules = 0;
    const vkgemm::plan::Module* last = nullptr;
    for (const vkgemm::plan::Kernel& k : vkgemm::plan::kernels()) {
        if (!k.module.is_native() || !k.module.built() || &k.module == last) continue;
        last = &k.module;
        ++modules;
        const auto code = vkgemm::spirv::unpack_bytes(k.module.packed());
        REQUIRE(code);
        const auto functions = read_cubin(*code);
        REQUIRE_MESSAGE(functions, k.module.name);
        CHECK(!functions->empty());
        for (const CubinFunction& f : *functions) {
            CHECK_MESSAGE(f.name.starts_with(k.module.name), f.name);
            CHECK_MESSAGE(f.local == 0, f.name);
            CHECK_MESSAGE((f.registers > 16 && f.registers <= 255 && f.code > 1000), f.name);
        }
    }
    if (!modules) MESSAGE("this build has no machine code");
}
