// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <regex>

#include "cli/program.h"

using namespace vkgemm::test;

namespace {

/// What is between the fences.
std::string block_of(const std::string& out) {
    const size_t begin = out.find("\n```\n"), end = out.find("\n```\n", begin + 5);
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    CHECK(out.find("```", end + 5) == std::string::npos);
    return out.substr(begin + 5, end + 1 - begin - 5);
}

/// What is in it where nothing was read from elsewhere.
void expect_own_page(const std::string& html) {
    CHECK(html.starts_with("<!doctype html>"));
    CHECK(html.ends_with("</html>\n"));
    for (const char* tag : {"table", "tr", "td", "ul", "dl", "pre", "div", "span", "script", "style"}) {
        const auto count = [&](const std::string& part) {
            size_t n = 0;
            for (size_t at = 0; (at = html.find(part, at)) != std::string::npos; ++at) ++n;
            return n;
        };
        const std::string name = tag;
        CHECK_MESSAGE(count("<" + name + ">") + count("<" + name + " ") == count("</" + name + ">"), tag);
    }
    CHECK(contains(html, "prefers-color-scheme: dark"));
    CHECK(contains(html, "default-src 'none'"));
    for (const std::string outside : {" src=", "@import", "url(", "<link", "<img", "<iframe"})
        CHECK_MESSAGE(!contains(html, outside), outside);
}

}  // namespace

TEST_SUITE_BEGIN("report");

TEST_CASE("report: the block is what --out writes and --check takes, and the page and the link have it") {
    const Folder folder("report");
    const Run r = run(0,
                      "report --budget 8 --html page.html --out report.txt --quiet --repository "
                      "https://github.com/some/where");
    CHECK_MESSAGE(r.err.empty(), r.err);
    const std::string block = block_of(r.out), html = read("page.html");
    CHECK(block.starts_with("vkgemm report 1\nversion = "));
    CHECK(block == read("report.txt"));
    expect(run(0, "report --check report.txt").out, {"report.txt: sound", "llvmpipe", "submitted"});
    CHECK(std::regex_search(block, std::regex("\ncheck = kernels=[1-9][0-9]* runs=[1-9]")));
    const std::regex product("\nproduct = (f32|f16|i8)[^|]* \\| kernel=[a-z0-9_]+ tile=[A-Z0-9=,]+ seconds=[0-9.e-]+");
    CHECK(std::regex_search(block, product));
    expect(block, {"driver = llvmpipe", "matrix_shape = f16 f16 f32 f32 8x8x8", "left_out = ", "4096x4096x4096 | ",
                   "extensions = VK_"});
    expect(r.out, {"llvmpipe", "every result is exact", "chosen", "among the known devices", " now ",
                   "written: page.html", "written: report.txt"});
    expect_own_page(html);
    expect(html, {"llvmpipe", "vkgemm report 1", "every result is exact"});
    const size_t link = r.out.find("https://github.com/some/where/issues/new?template=device.yml&title=");
    REQUIRE(link != std::string::npos);
    const std::string address = r.out.substr(link, r.out.find('\n', link) - link);
    CHECK(address.size() <= 8000);
    CHECK(contains(address, "&report=vkgemm%20report%201%0Aversion%20%3D%20"));
    CHECK(contains(html, "href=\"" + replace(address, "&", "&amp;") + "\""));
}

TEST_CASE("report: a wrong kernel is in the report, and the exit code is 1") {
    const Folder folder("report_wrong");
    const Run r = run(1, "report --budget 4 --out - --quiet --inject-fault naive_f32_8x8");
    CHECK(r.out.starts_with("vkgemm report 1\n"));
    CHECK(std::regex_search(r.out, std::regex("\nwrong = naive_f32_8x8 \\| f32[^\n]*D\\[")));
    write("wrong.txt", r.out);
    run(0, "report --check wrong.txt");
}

TEST_CASE("report: each bad line of a file is named with its number") {
    const Folder folder("report_check");
    const std::string sound = read(VKGEMM_TESTS_DIR "/fuzz/corpus/device_report/small.txt");
    write("sound.txt", sound);
    write("pasted.txt", "```\r\n" + replace(sound, "\n", "\r\n") + "```\r\n");
    write("bad.txt", replace(replace(sound, "origin = submitted", "origin = mine"), "kind = discrete", "kind = toy"));
    CHECK(run(0, "report --check sound.txt pasted.txt").out ==
          "sound.txt: sound, GPU 7, 2 products, submitted\npasted.txt: sound, GPU 7, 2 products, submitted\n");
    const Run bad = run(1, "report --check bad.txt sound.txt");
    CHECK(bad.out == "sound.txt: sound, GPU 7, 2 products, submitted\n");
    expect(bad.err, {"bad.txt, line 3: origin: 'mine'", "bad.txt, line 7: 'kind'", "'toy'"});
    refused(2, "report --check none.txt", {"none.txt"});
    refused(2, "report --check sound.txt --device 0", {"--check"});
    refused(2, "report --check sound.txt --html x.html", {"--check"});
    write("empty.txt", "");
    write("binary.txt", std::string("vkgemm report 1\nname = \0\1\n", 26));
    expect(run(1, "report --check empty.txt").err, {"empty.txt, line 0", "missing"});
    expect(run(1, "report --check binary.txt").err, {"line 2: it has a control character"});
}

TEST_CASE("report: bad options and places are refused before anything is measured") {
    const Folder folder("report_places");
    refused(2, "report --budget 0", {"--budget", "3600", "'0'"});
    refused(2, "report --html none/page.html", {"none/page.html"});
    refused(2, "report --html x --out ./x", {"--html x", "--out ./x"});
    refused(2, "report --html - --out -", {"--html -", "--out -"});
    refused(2, "report --repository javascript:alert(1)", {"https://", "javascript:alert(1)"});
    refused(3, "report --device nobody --html page.html", {"'nobody'", "llvmpipe"});
    CHECK(!is_file("page.html"));
    CHECK(!is_file("page.html.partial"));
    std::filesystem::create_symlink("/dev/full", "full.html");
    expect(run(5, "report --budget 1 --quiet --html full.html --out kept.txt").err, {"full.html", "No space left"});
    run(0, "report --check kept.txt");
}

TEST_CASE("report: Ctrl-C ends it within a step, and the old files stay") {
    using Clock = std::chrono::steady_clock;
    const Folder folder("report_interrupt");
    write("page.html", "old");
    const auto begin = Clock::now();
    Clock::time_point sent;
    const auto ready = [&] {
        sent = Clock::now();
        return is_file("page.html.partial") && sent - begin > std::chrono::seconds(12);
    };
    const Run r = run_until(ready, SIGINT, "report --html page.html --out report.txt");
    const double waited = std::chrono::duration<double>(Clock::now() - sent).count();
    CHECK(r.code == 130);
    CHECK_MESSAGE(waited < 60, "it ended ", waited, " s after Ctrl-C");  // all of it takes two minutes more
    expect(r.err, {"interrupted", "no file is written"});
    CHECK(!contains(r.out, "```"));
    CHECK(read("page.html") == "old");
    for (const char* path : {"page.html.partial", "report.txt", "report.txt.partial"}) CHECK(!is_file(path));
}

TEST_SUITE_END();
