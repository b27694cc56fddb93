// SPDX-License-Identifier: MIT
// Numbers with units, wrapped lines, tables.
#include "tools/vkgemm/cli/text.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "support/string_util.h"
#include "tools/vkgemm/cli/terminal.h"

using namespace vkgemm::tool;

TEST_CASE("times and rates have four digits and the unit that suits them") {
    const struct {
        double seconds;
        std::string text;
    } times[] = {{1.5, "1.500 s"},        {12.345, "12.35 s"},    {123.45, "123.5 s"},    {2000, "2000 s"},
                 {0.9999, "999.9 ms"},    {0.99996, "1.000 s"},   {1.234e-3, "1.234 ms"}, {9.9996e-3, "10.00 ms"},
                 {127.83e-6, "127.8 us"}, {1e-6, "1.000 us"},     {5e-9, "5.000 ns"},     {0, "0.000 ns"},
                 {9.9994e-3, "9.999 ms"}, {99.996e-3, "100.0 ms"}};
    for (const auto& row : times) CHECK(seconds_text(row.seconds) == row.text);
    CHECK(rate_text(51.4e12, false) == "51.40 TFLOP/s");
    CHECK(rate_text(999.97e9, true) == "1.000 TOP/s");
    CHECK(rate_text(4.103e9, true) == "4.103 GOP/s");
    CHECK(rate_text(2000, false) == "0.002 MFLOP/s");
    CHECK(rate_unit(5e12, true, true).name == "TFLOP/s or TOP/s");
    CHECK(rate_unit(5e9, false, true).name == "GOP/s");
    CHECK(rate_unit(5e9, true, false).size == 1e9);
    CHECK(rate_unit(0, true, false).name == "MFLOP/s");
}

TEST_CASE("bytes and versions") {
    CHECK(bytes_text(0) == "0 B");
    CHECK(bytes_text(1023) == "1023 B");
    CHECK(bytes_text(48 * 1024) == "48 KiB");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(bytes_text(uint64_t{24} << 30) == "24 GiB");
    CHECK(bytes_text(uint64_t{5000} << 40) == "5000 TiB");
    CHECK(vkgemm::versionText((1u << 22) | (4u << 12) | 312u) == "1.4.312");
}

TEST_CASE("a common beginning is no likeness") {
    const std::vector<std::string> extensions = {"VK_KHR_ray_query", "VK_KHR_push_descriptor", "VK_EXT_memory_budget"};
    CHECK(vkgemm::nearestWord("VK_KHR_made_up", extensions) == "");
    CHECK(vkgemm::nearestWord("VK_KHR_ray_qury", extensions) == "VK_KHR_ray_query");
    CHECK(vkgemm::nearestWord("VK_KHR_psh_descripter", extensions) == "VK_KHR_push_descriptor");
    const std::vector<std::string> words = {"bias=", "batch=", "--size"};
    CHECK(vkgemm::nearestWord("bais=", words) == "bias=");
    CHECK(vkgemm::nearestWord("--siz", words) == "--size");
    CHECK(vkgemm::nearestWord("x", words) == "");
}

TEST_CASE("lines break at spaces, and no later than the page ends") {
    CHECK(wrapped("", 4) == "");
    CHECK(wrapped("one  two", 4) == "    one two\n");
    const std::string word(30, 'x'), long_word(200, 'y');
    const std::string text = wrapped(word + " " + word + " " + word + " " + word, 6);
    CHECK(text == "      " + word + " " + word + " " + word + "\n      " + word + "\n");
    CHECK(wrapped("a " + long_word + " b", 2) == "  a\n  " + long_word + "\n  b\n");
    CHECK(wrapped(word + " " + word + " " + word + " b", 2, 4) == "  " + word + " " + word + " " + word + " b\n");
    CHECK(wrapped(word + " " + word + " " + word + " " + word, 2, 4) ==
          "  " + word + " " + word + " " + word + "\n      " + word + "\n");
    std::string umlauts;
    for (int i = 0; i < 49; ++i) umlauts += "\xc3\xa4 ";  // 98 columns, 147 bytes
    CHECK(columns(umlauts) == 98);
    CHECK(wrapped(umlauts, 0).find('\n') == umlauts.size() - 1);  // one line
}

TEST_CASE("a message keeps its lines but for those that are too wide") {
    CHECK(fitted("") == "");
    CHECK(fitted("one  two\n      ^") == "one  two\n      ^\n");
    CHECK(fitted("one\n") == "one\n");
    const std::string word(40, 'x');
    CHECK(fitted("first\n  " + word + " " + word + " " + word + "\nlast") ==
          "first\n  " + word + " " + word + "\n      " + word + "\nlast\n");
}

TEST_CASE("a table aligns its columns, whatever is coloured or written in UTF-8") {
    Table table({{.title = "name"}, {.title = "rate", .right = true}, {.title = "fit"}});
    table.add({"a", "12.5", {"yes", Style::good}});
    table.add({"\xc3\xa4\xc3\xb6\xc3\xbc-long", "3", "no"});
    table.note("why not");
    table.add({"b"});
    CHECK(table.header(false) == "name      rate  fit\n");
    CHECK(table.body(false) ==
          "a         12.5  yes\n"
          "\xc3\xa4\xc3\xb6\xc3\xbc-long     3  no\n"
          "      why not\n"
          "b\n");
    CHECK(vkgemm::test::has_words(table.body(true), "\x1b[32myes\x1b[0m"));
    CHECK(styled("plain", Style::plain, true) == "plain");
    CHECK(styled("bad", Style::bad, false) == "bad");
    Table wide({{.title = "x", .width = 5}, {.title = "y"}});
    CHECK(wide.header(false) == "x      y\n");
    Table noted({{.title = "x"}});
    noted.note("alone");
    CHECK(noted.body(false) == "      alone\n");
}

TEST_CASE("reasons stand one below the other") {
    CHECK(listed("x: only one") == "x: only one");
    CHECK(listed("row: a (1, 2); b (3)") == "row:\n    a (1, 2)\n    b (3)");
    CHECK(listed("a; b") == "    a\n    b");
}

TEST_CASE("a line of progress tells the time that is left first, and fits") {
    CHECK(progress_line(1, 14, -1, "64x64x64", 100) == "[1/14] 64x64x64");
    CHECK(progress_line(2, 14, 7.4, "64x64x64", 100) == "[2/14, about 7 s left] 64x64x64");
    CHECK(progress_line(2, 14, 89.4, "x", 100) == "[2/14, about 89 s left] x");
    CHECK(progress_line(2, 14, 640, "x", 100) == "[2/14, about 11 min left] x");
    CHECK(columns(progress_line(2, 14, 640, std::string(200, 'x'), 80)) == 79);
    CHECK(progress_line(1, 2, -1, "\xc3\xa4\xc3\xb6", 9) == "[1/2] \xc3\xa4\xc3\xb6");
    CHECK(progress_line(1, 2, -1, "\xc3\xa4\xc3\xb6", 8) == "[1/2] \xc3\xa4");
}

TEST_CASE("progress: a line now and then where standard error is no terminal, and none without that wish") {
    const auto written = [](double every, bool quiet) {
        std::FILE* const file = std::tmpfile();
        set_streams(stdout, file);
        {
            Progress progress(3, quiet, every);
            progress.begin("first");
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            progress.begin("second");
            progress.phase("checks");
        }
        set_streams(stdout, stderr);
        std::rewind(file);
        char text[512] = "";
        const size_t n = std::fread(text, 1, sizeof text - 1, file);
        std::fclose(file);
        return std::string(text, n);
    };
    CHECK(written(0, false).empty());
    CHECK(written(1e-3, true).empty());
    CHECK(written(1e9, false).empty());
    CHECK(written(1e-3, false).starts_with("vkgemm: [2/3, about 0 s left] second\n"));
}
