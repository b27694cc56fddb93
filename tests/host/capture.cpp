// SPDX-License-Identifier: MIT
// Captures: written, read back, and refused by place whatever is cut off, changed or foreign.
#include "host/capture.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/capture_text.h"
#include "support/random.h"
#include "support/string_util.h"

using namespace vkgemm::host::detail;
using vkgemm::host::Capture;
using vkgemm::test::capture_text;
using vkgemm::test::has_words;

namespace {

std::vector<std::byte> bytes(size_t count, uint64_t seed) {
    vkgemm::test::Random random(seed);
    std::vector<std::byte> all(count);
    for (std::byte& b : all) b = static_cast<std::byte>(random.below(256));
    return all;
}

Capture sample() {
    Capture c{.version = "0.1.0", .device = "Toy 3", .driver = "toys", .problem = "f32*f32+f32->f32 2x3x4 alpha=2"};
    c.kernel = "naive_f32_8x8";
    c.tile = "WG=64,BM=8,BN=8,TM=1,TN=1";
    c.alignment = 16;
    c.workspace = 0;
    c.hasData = c.hasResult = true;
    c.operands = {{VKGEMM_SLOT_A, bytes(32, 1)}, {VKGEMM_SLOT_B, bytes(48, 2)}, {VKGEMM_SLOT_D, bytes(24, 3)}};
    c.resultBytes = 24;
    c.resultChecksum = 0x0123456789abcdef;
    return c;
}

std::string changed(const std::string& from, const std::string& to) {
    std::string text = capture_text(sample());
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::string why(const std::string& text) {
    const auto c = parse_capture(text);
    if (c) return "read";
    CHECK(c.status().code == VKGEMM_ERROR_PARSE);
    return c.status().text;
}

}  // namespace

TEST_CASE("capture: what is written is read back") {
    const Capture c = sample();
    const auto again = parse_capture(capture_text(c));
    REQUIRE_MESSAGE(bool(again), again.status().text);
    CHECK((again->device == c.device && again->driver == c.driver && again->version == c.version));
    CHECK((again->problem == c.problem && again->kernel == c.kernel && again->tile == c.tile));
    CHECK((again->alignment == 16 && again->workspace == 0));
    CHECK((again->resultBytes == 24 && again->resultChecksum == 0x0123456789abcdef));
    REQUIRE(again->operands.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(again->operands[i].slot == c.operands[i].slot);
        CHECK(again->operands[i].bytes == c.operands[i].bytes);
    }
    CHECK(capture_text(*again) == capture_text(c));
    for (const char* alpha : {"alpha=inf", "alpha=-nan"}) CHECK(why(changed("alpha=2", alpha)) == "read");
    CHECK(checksum({}) == 0xcbf29ce484222325u);  // FNV-1a
    const std::byte a[] = {std::byte{'a'}};
    CHECK(checksum(a) == 0xaf63dc4c8601ec8cu);
}

TEST_CASE("capture: a run without its operands, or without a result") {
    Capture c = sample();
    c.addresses = true;
    c.hasResult = false;
    const auto lost = parse_capture(capture_text(c));
    REQUIRE_MESSAGE(bool(lost), lost.status().text);
    CHECK((lost->addresses && lost->hasData && !lost->hasResult && lost->resultBytes == 24));
    c.hasData = false;
    const auto bare = parse_capture(capture_text(c));
    REQUIRE_MESSAGE(bool(bare), bare.status().text);
    CHECK((!bare->hasData && !bare->hasResult && bare->operands.empty() && bare->kernel == c.kernel));
}

TEST_CASE("capture: refusals name the place") {
    CHECK(has_words(why(""), "line 1"));
    CHECK(has_words(why("\x7f"
                        "ELF"),
                    "line 1"));
    CHECK(has_words(why(changed("capture 2", "capture 1")), "line 1", "'1'", "2"));
    CHECK(has_words(why(changed("driver toys", "pilot toys")), "line 4", "'driver ...'", "pilot toys"));
    CHECK(has_words(why(changed("2x3x4", "2x3xx")), "line 5", "character"));
    CHECK(has_words(why(changed("operands desc", "operands none desc")), "line 8", "'addresses'", "none desc"));
    CHECK(has_words(why(changed("alignment 16", "alignment 12")), "line 9", "12"));
    CHECK(has_words(why(changed("workspace 0", "workspace -1")), "line 10", "-1"));
    CHECK(has_words(why(changed("operand b", "operand x")), "line 12", "operand x"));
    CHECK(has_words(why(changed("operand b", "operand a")), "line 12", "operand a"));
    CHECK(has_words(why(changed("kernel naive", std::string("kernel na\0ive", 13))), "line 6"));
    CHECK(has_words(why(changed("result 24", "operand bias 0 cbf29ce484222325\nresult 24")), "line 14", "bias"));
    CHECK(has_words(why(changed("result 24", "result 2.4")), "line 14", "16"));
    CHECK(has_words(why(changed("result 24 ", "result 24 unknown ")), "line 14", "'unknown'"));
    CHECK(has_words(why(changed("\ndata\n", "\nDATA\n")), "line 15", "'data'"));
    CHECK(has_words(why(changed("operand b 48", "operand b 47")), "operand b"));
    CHECK(has_words(why(changed("operand d 24", "operand d 18446744073709551615")), "operand d"));
    CHECK(has_words(why(capture_text(sample()) + "x"), "1 byte"));
}

TEST_CASE("capture: a file that is cut off anywhere is refused, and so is one with any byte of its data changed") {
    const std::string text = capture_text(sample());
    const size_t short_form = text.find("operand a");  // is whole
    for (size_t n = 0; n < text.size(); ++n) CHECK((why(text.substr(0, n)) == "read") == (n == short_form));
    CHECK(has_words(why(text.substr(0, text.size() - 1)), "byte " + std::to_string(text.size() - 1), "operand d",
                    "1 byte"));
    const size_t data = text.find("\ndata\n") + 6, sizes[] = {32, 48, 24};
    size_t at = data;
    for (size_t i = 0; i < 3; ++i)
        for (const size_t end = at + sizes[i]; at < end; ++at) {
            std::string damaged = text;
            damaged[at] = static_cast<char>(damaged[at] ^ 1);
            CHECK(has_words(why(damaged), std::string("operand ") + "abd"[i], "byte "));
        }
    CHECK(at == text.size());
}

TEST_CASE("capture: a text that was changed by chance is refused, or is read and written the same again") {
    vkgemm::test::Random random(5);
    const std::string text = capture_text(sample());
    int read = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string t = text;
        for (uint64_t n = 1 + random.below(4); n > 0; --n) {
            const size_t at = random.below(t.size());
            if (random.one_in(3))
                t.erase(at, random.below(9));
            else if (random.one_in(2))
                t.insert(at, 1 + random.below(3), static_cast<char>(random.below(256)));
            else
                t[at] = static_cast<char>(random.below(256));
        }
        const auto c = parse_capture(t);
        if (!c) {
            CHECK(!c.status().text.empty());
            continue;
        }
        const auto again = parse_capture(capture_text(*c));
        REQUIRE(again);
        CHECK(capture_text(*again) == capture_text(*c));
        ++read;
    }
    CHECK(read > 0);
    CHECK(read < 3000);
}
