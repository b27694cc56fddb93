// SPDX-License-Identifier: MIT
// Machine code is found in the object of a pipeline cache, and nothing outside a damaged one is read. The objects here
// are made up.
#include "drivers/pipeline_code.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>

using vkgemm::test::code_in_object;

namespace {

struct Section {
    uint32_t type, length, offset;
};

/// "NVuc" and its table of sections, after some bytes that do not count, with "code" at 96.
std::vector<std::byte> object_with(const std::vector<Section>& sections) {
    std::vector<std::byte> out(8 + 100);
    std::memcpy(out.data(), "NVDANVVMNVuc", 12);
    const auto count = static_cast<uint32_t>(sections.size());
    std::memcpy(out.data() + 8 + 8, &count, sizeof count);
    for (size_t i = 0; i < sections.size(); ++i)
        std::memcpy(out.data() + 8 + 32 + 32 * i, &sections[i], sizeof(Section));
    std::memcpy(out.data() + 8 + 96, "code", 4);
    return out;
}

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("pipeline code: the section of code, whichever it is") {
    CHECK(text_of(code_in_object(object_with({{3, 8, 0}, {1, 4, 96}}))) == "code");
    CHECK(text_of(code_in_object(object_with({{1, 0, 96}, {1, 4, 96}}))) == "code");  // an empty one does not count
}

TEST_CASE("pipeline code: none in what is damaged") {
    CHECK(code_in_object({}).empty());
    CHECK(code_in_object(object_with({{3, 4, 96}})).empty());
    for (const Section s : {Section{1, 5, 96}, {1, 4, 97}, {1, 0xffffffff, 4}, {1, 4, 0xffffffff}})
        CHECK(code_in_object(object_with({s})).empty());
    auto many = object_with({});
    std::memset(many.data() + 8 + 8, 0xff, 4);  // 65,535 sections
    CHECK(code_in_object(many).empty());
    for (size_t size = 0; size < 108; ++size) {
        auto cut = object_with({{3, 8, 0}, {1, 4, 96}});
        cut.resize(size);
        CHECK(code_in_object(cut).empty());
    }
    CHECK(vkgemm::test::pipeline_code(object_with({{1, 4, 96}})).empty());  // not packed
}
