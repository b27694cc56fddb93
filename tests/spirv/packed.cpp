// SPDX-License-Identifier: MIT
// Packed SPIR-V: every module unpacks to what the shader compiler wrote, and a damaged one is refused.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include "plan/kernels/kernels.h"
#include "spirv/pack.h"

using namespace vkgemm;
using spirv::Variant;
using Words = std::vector<uint32_t>;

namespace {

Words file_words(const std::string& name) {
    std::ifstream file(std::string(VKGEMM_SPIRV_DIR) + "/" + name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    Words out(bytes.size() / 4);
    for (size_t i = 0; i < out.size() * 4; ++i) out[i / 4] |= uint32_t{static_cast<uint8_t>(bytes[i])} << i % 4 * 8;
    spirv::drop_names(out);
    return out;
}

std::optional<Words> unpack(std::span<const uint32_t> packed, Variant v) {
    return spirv::unpack(packed, v, plan::Module::packed_base());
}

std::vector<const plan::Module*> modules() {
    std::set<std::string_view> seen;
    std::vector<const plan::Module*> out;
    for (const plan::Kernel& k : plan::kernels())
        if (k.module.built() && !k.module.is_native() && seen.insert(k.module.name).second) out.push_back(&k.module);
    return out;
}

/// On the heap and of exactly this size, so that a sanitizer sees a read outside.
Words copy_of(std::span<const uint32_t> words) { return {words.begin(), words.end()}; }

}  // namespace

TEST_CASE("every module unpacks to the SPIR-V that the shader compiler wrote") {
    CHECK(modules().size() >= 40);
    for (const plan::Module* m : modules())
        for (const auto& [v, ending] : {std::pair{Variant::descriptors, "_descriptors"},
                                        {Variant::addresses, "_addresses"},
                                        {Variant::grouped, "_grouped"}}) {
            const std::string name = std::string(m->name) + ending;
            CAPTURE(name);
            const auto words = unpack(m->packed(), v);
            const bool has = v != Variant::grouped || m->takes_groups();
            REQUIRE(words.has_value() == has);
            if (!has) continue;
            CHECK(words->front() == 0x07230203);
            // A build from an archive has no files to compare with; the archive's own build had them.
            if (*VKGEMM_SPIRV_DIR) CHECK(*words == file_words(name + ".spv"));
        }
}

TEST_CASE("what is not SPIR-V is packed and unpacked all the same") {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        Words three[3];
        for (Words& words : three) {
            words.resize(random() % (round < 100 ? 12 : 400));
            for (uint32_t& w : words) {
                const uint32_t r = static_cast<uint32_t>(random());
                w = r % 3 == 0 ? r : r % 3 == 1 ? (r >> 8 & 7) << 16 | (r >> 16 & 0xf) : r >> 24;
            }
        }
        if (round % 5 == 0) three[1] = three[0];
        const auto variants = std::span(three).first(round % 2 ? 3 : 2);
        const Words base = *spirv::unpack(plan::Module::packed_base(), Variant::descriptors, {});
        const Words packed = spirv::pack(variants, base);
        CHECK(unpack(packed, Variant::descriptors) == three[0]);
        CHECK(unpack(packed, Variant::addresses) == three[1]);
        CHECK(unpack(packed, Variant::grouped).has_value() == (variants.size() == 3));
        if (variants.size() == 3) CHECK(unpack(packed, Variant::grouped) == three[2]);
    }
}

TEST_CASE("a packed module that is cut off is refused") {
    const plan::Module* m = modules().front();
    for (size_t size = 0; size < m->packed().size(); ++size)
        for (const Variant v : {Variant::descriptors, Variant::addresses})
            CHECK_FALSE(unpack(copy_of(m->packed().first(size)), v));
}

TEST_CASE("a packed module needs the base after which it was packed") {
    const plan::Module* m = modules().front();
    const auto base = plan::Module::packed_base();
    CHECK_FALSE(spirv::unpack(m->packed(), Variant::descriptors, {}));
    CHECK_FALSE(spirv::unpack(m->packed(), Variant::descriptors, modules().back()->packed()));
    for (size_t size = 1; size < base.size(); ++size)
        CHECK_FALSE(spirv::unpack(m->packed(), Variant::descriptors, copy_of(base.first(size))));
}

TEST_CASE("a packed module that is damaged gives its own SPIR-V or none") {
    const plan::Module* m = modules().front();
    const auto whole = unpack(m->packed(), Variant::addresses);
    std::mt19937 random(1);
    size_t refused = 0;
    constexpr size_t rounds = 2000;
    for (size_t round = 0; round < rounds; ++round) {
        Words words = copy_of(m->packed());
        for (size_t n = 1 + round % 3; n; --n) {
            const size_t header = 1 + 2 * spirv::header_words;
            const size_t at = round % 4 ? random() % words.size() : random() % header;
            words[at] ^= round % 2 ? 1u << random() % 32 : static_cast<uint32_t>(random());
        }
        const auto got = unpack(words, Variant::addresses);
        refused += !got;
        if (got) CHECK(*got == *whole);  // the last bytes may hold nothing that matters
    }
    CHECK(refused > rounds * 9 / 10);
}

TEST_CASE("a packed module may not ask for more memory than a module can need") {
    const Words words = {2, UINT32_MAX, 0, 0, UINT32_MAX, 0, 0};
    CHECK_FALSE(unpack(words, Variant::descriptors));
    CHECK_FALSE(unpack(words, Variant::addresses));
    const Words many = {UINT32_MAX, 5, 0, 0}, none = {0};  // variants
    CHECK_FALSE(unpack(many, Variant::descriptors));
    CHECK_FALSE(unpack(none, Variant::descriptors));
    const Words wraps = {2, 5, 0, UINT32_MAX, 5, 0, 2, 0};  // the sum of the sizes is 1 if it is added in 32 bits
    CHECK_FALSE(unpack(wraps, Variant::addresses));
}
