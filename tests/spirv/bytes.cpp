// SPDX-License-Identifier: MIT
// Machine code packed and unpacked: what is written comes back, and what is damaged is refused.
#include "spirv/bytes.h"

#include <doctest/doctest.h>

#include <random>

#include "plan/kernels/kernels.h"
#include "spirv/pack.h"

using namespace vkgemm;
using Bytes = std::vector<uint8_t>;

namespace {

/// Instructions of 16 bytes that repeat themselves with small changes, and a stretch of noise.
Bytes code_like(std::mt19937& random, size_t size) {
    Bytes out(size);
    for (size_t i = 0; i < size; ++i) {
        out[i] = static_cast<uint8_t>(i >= 64 && random() % 8 ? out[i - 16 * (1 + random() % 2)] : random());
        if (i >= 512 && i % 512 < 300) out[i] = out[i - 512];
    }
    return out;
}

Bytes some_code() {
    std::mt19937 random(3);
    return code_like(random, 3000);
}

}  // namespace

TEST_CASE("bytes come back as they were, however many and whatever they are") {
    std::mt19937 random(1);
    for (size_t size = 0; size < 300; size += 1 + size / 8) {
        Bytes noise(size);
        for (uint8_t& b : noise) b = static_cast<uint8_t>(random());
        CHECK(spirv::unpack_bytes(spirv::pack_bytes(noise)) == noise);
        CHECK(spirv::unpack_bytes(spirv::pack_bytes(Bytes(size, 7))) == Bytes(size, 7));
    }
    for (int round = 0; round < 20; ++round) {
        const Bytes code = code_like(random, random() % 20000);
        CHECK(spirv::unpack_bytes(spirv::pack_bytes(code)) == code);
    }
}

TEST_CASE("what repeats itself takes few bytes") {
    Bytes twice = some_code();
    const size_t once = spirv::pack_bytes(twice).size();
    twice.insert(twice.end(), twice.begin(), twice.begin() + 3000);
    CHECK(spirv::pack_bytes(twice).size() < once + once / 10);
}

TEST_CASE("packed bytes that are cut off or damaged are refused") {
    const Bytes code = some_code();
    const std::vector<uint32_t> packed = spirv::pack_bytes(code);
    for (size_t size = 0; size + 1 < packed.size(); ++size)  // the last word may hold nothing that matters
        CHECK_FALSE(spirv::unpack_bytes(std::vector<uint32_t>(packed.begin(), packed.begin() + std::ptrdiff_t(size))));
    std::mt19937 random(1);
    size_t refused = 0;
    constexpr size_t rounds = 300;
    for (size_t round = 0; round < rounds; ++round) {
        std::vector<uint32_t> words = packed;
        words[random() % words.size()] ^= 1u << random() % 32;
        const auto got = spirv::unpack_bytes(words);
        refused += !got;
        if (got) CHECK(*got == code);
    }
    CHECK(refused > rounds * 9 / 10);
    CHECK_FALSE(spirv::unpack_bytes(std::vector<uint32_t>{UINT32_MAX, 0, 0}));  // more than any module has
}

TEST_CASE("the machine code in this library is of ELF, and names its functions") {
    for (const plan::Kernel& k : plan::kernels()) {
        if (!k.module.is_native() || !k.module.built()) continue;
        CAPTURE(k.name);
        const auto code = spirv::unpack_bytes(k.module.packed());
        REQUIRE(code.has_value());
        const std::string_view text(reinterpret_cast<const char*>(code->data()), code->size());
        CHECK(text.starts_with("\177ELF"));
        const bool k_contiguous = k.module.a != plan::f16 && k.module.a != plan::bf16;
        std::vector<std::string_view> layouts{"_nt"};
        if (!k.module.is_product())
            layouts = {"_n", "_t"};
        else if (!k_contiguous && k.tile.BN < 64)
            layouts = {"_nt", "_tt"};  // boxes of a row-major B have 64 columns
        else if (!k_contiguous)
            layouts = {"_nt", "_nn", "_tn", "_tt"};
        for (const std::string_view layout : layouts)  // a name ends with a zero
            CHECK(text.find(".text." + std::string(k.name) + std::string(layout) + '\0') != std::string_view::npos);
    }
}
