// SPDX-License-Identifier: MIT
// Reports of devices: what is written is read again, each bad line is refused with its number, and a page escapes
// whatever a driver says.
#include "tools/vkgemm/report/device_report.h"

#include <doctest/doctest.h>

#include "plan/device/device_caps.h"
#include "support/files.h"
#include "support/string_util.h"
#include "tools/vkgemm/report/device_page.h"

using namespace vkgemm::tool;
using vkgemm::test::has_words;

namespace {

std::string unreadable(std::string_view line) {
    const auto caps = vkgemm::plan::parse_device_caps(line);
    return caps ? "" : std::string(caps.status().text);
}

const std::string& sound_text() {
    static const std::string text = vkgemm::test::file_text("fuzz/corpus/device_report/small.txt");
    return text;
}

DeviceReport sound_report() { return read_report(sound_text(), unreadable).report; }

/// The problems of the sound text with `from` replaced.
std::string problems_with(const std::string& from, const std::string& to) {
    std::string text = sound_text();
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    std::string all;
    for (const std::string& problem : read_report(text, unreadable).problems) all += problem + "\n";
    return all;
}

}  // namespace

TEST_CASE("a report is read, and written the same again") {
    const ReadReport read = read_report(sound_text(), unreadable);
    REQUIRE_MESSAGE(read.problems.empty(), read.problems.front());
    const DeviceReport& r = read.report;
    CHECK(r.fact("name") == "GPU 7");
    CHECK(r.fact("matrix_shape") == "f16 f16 f32 f32 16x16x16");
    CHECK(r.kernels == 12);
    CHECK(r.extensions.size() == 2);
    REQUIRE(r.products.size() == 2);
    CHECK(r.products[0].rate() == doctest::Approx(2.0 * 64 * 64 * 64 / 2e-5));
    CHECK(r.products[0].loss() == doctest::Approx(0.25));
    CHECK(r.products[1].loss() == 0);
    const ReadReport again = read_report(report_text(r), unreadable);
    CHECK(again.problems.empty());
    CHECK(report_text(again.report) == report_text(r));
    for (const char* line :
         {"origin = submitted\n", "peak = f32 5e+13\n", "copy = 1.5e+12\n", "wrong = tiled_f32_8x8 | "})
        CHECK_MESSAGE(has_words(report_text(r), line), line);
}

TEST_CASE("each bad line of a report is refused with its number") {
    const struct {
        const char *from, *to, *line, *why;
    } cases[] = {
        {"vkgemm report 1", "vkgemm report 2", "line 1: ", "begins with"},
        {"origin = submitted", "origin = mine", "line 3: ", "'mine'"},
        {"date = 2026-11-28", "date = 28.11.2026", "line 4: ", "2026-11-28"},
        {"date = 2026-11-28", "date = 2026-13-28", "line 4: ", "not a date"},
        {"date = 2026-11-28", "version = 2", "line 4: ", "twice"},
        {"name = GPU 7", "name =", "line 5: ", "no value"},
        {"name = GPU 7", "nam = GPU 7", "line 5: ", "not a known key"},
        {"kind = discrete", "kind = toy", "line 7: ", "'toy'"},
        {"vendor = 4318", "vendor = -1", "line 8: ", "'-1'"},
        {"vendor = 4318", "vendor", "line 8: ", "key = value"},
        {"features = float16", "features = flaot16", "line 11: ", "flaot16"},
        {"16x16x16", "16x16", "line 12: ", "'matrix_shape'"},
        {"extensions = VK_", "extensions = GL_", "line 13: ", "GL_KHR"},
        {"kernels=12", "kernels=0", "line 14: ", "kernels=0"},
        {"runs=24", "", "line 14: ", "runs= is missing"},
        {"wrong = tiled_f32_8x8 |", "wrong = tiled_f32_8x8", "line 15: ", "'|'"},
        {"copy = 1.5e+12", "copy = inf", "line 16: ", "'inf'"},
        {"peak = f32 5e+13", "peak = f32", "line 17: ", "above 0"},
        {"64x64x64 |", "64x64xx64 |", "line 18: ", "product"},
        {"seconds=2e-05", "seconds=nan", "line 18: ", "seconds=nan"},
        {"seconds=2e-05", "seconds=-1", "line 18: ", "seconds=-1"},
        {"seconds=2e-05", "second=2e-05", "line 18: ", "'second=2e-05'"},
        {"seconds=2e-05", "seconds=2e-05 seconds=3", "line 18: ", "twice"},
        {"best_seconds=1.5e-05", "best_seconds=3", "line 18: ", "more than seconds="},
        {"best=simt_f32_64x64x16", "", "line 18: ", "best= is missing"},
        {"kernel=tiled_f32_8x8", "kernel=<script>", "line 18: ", "<script>"},
        {"tried=7 of=80", "tried=81 of=80", "line 18: ", "tried="},
        {"f16*f16+f32->f16 64x64x64 |", "f32*f32+f32->f32 64x64x64 |", "line 19: ", "twice"},
        {"64x64x64 | the device has", "64x64x64 the device has", "line 20: ", "'|'"},
        {"check = kernels=12 runs=24\n", "", "line 19: ", "'check' is missing"},
        {"submitted", "submitted\x01", "line 3: ", "control character"},
    };
    for (const auto& c : cases) {
        const std::string problems = problems_with(c.from, c.to);
        CHECK_MESSAGE(problems.starts_with(c.line), std::string(c.to), ": ", problems);
        CHECK_MESSAGE(has_words(problems, c.why), std::string(c.to), ": ", problems);
        CHECK_MESSAGE(std::count(problems.begin(), problems.end(), '\n') <= 2, problems);
    }
    CHECK(problems_with("copy = 1.5e+12\n", "copy = 1.5e+12\n" + std::string(2000, '\n')).starts_with("line 1001: "));
    CHECK(problems_with("GPU 7", std::string(5000, 'x')).starts_with("line 5: it has more than 4096"));
    CHECK(!read_report("", unreadable).problems.empty());
    CHECK(read_report("root:x:0\ndaemon:x:1\n", unreadable).problems.size() == 1);  // another file altogether
}

TEST_CASE("strings of a driver end no line, no code block and no element") {
    DeviceReport r = sound_report();
    const std::string hostile = "<script>alert(\"1\")</script>`` `\norigin = ours & |";
    for (auto& [key, value] : r.device)
        if (key == "name" || key == "driver") value = hostile;
    r.left_out.front().second = hostile;
    const std::string text = report_text(r);
    CHECK(text.find('`') == std::string::npos);
    const ReadReport again = read_report(text, unreadable);
    CHECK_MESSAGE(again.problems.empty(), again.problems.front());
    CHECK(again.report.origin == "submitted");
    const std::string page = device_page(r, standings(r, {r}), issue_link(r, "https://example.org/\"><b>"));
    CHECK(page.find("alert(\"1\")") == std::string::npos);
    CHECK(page.find("\"><b>") == std::string::npos);
    CHECK(has_words(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
    const std::string table = devices_table({{"gpu", again.report}});
    CHECK(table.find("<script>") == std::string::npos);
    CHECK(table.find(" |\n") != std::string::npos);
}

TEST_CASE("a link has as much of the report as an address may have, in whole lines") {
    DeviceReport r = sound_report();
    CHECK(issue_link(r, "").empty());
    const std::string whole = issue_link(r, "https://github.com/a/b");
    CHECK(whole.starts_with("https://github.com/a/b/issues/new?template=device.yml&title=Device%3A%20GPU%207&report="));
    CHECK(whole.ends_with("no%20shaderInt8%0A"));
    for (int i = 0; i < 200; ++i) r.left_out.emplace_back("f32*f32+f32->f32 1x1x" + std::to_string(i + 1), "no time");
    const std::string cut = issue_link(r, "https://github.com/a/b");
    CHECK(cut.size() <= 7500);
    CHECK(has_words(cut, "no%20time%0A%23%20paste%20the%20whole%20report"));
}

TEST_CASE("a device stands by the highest rates of the types that it has") {
    const DeviceReport r = sound_report();
    DeviceReport faster = r, bare = r;
    for (ReportedProduct& p : faster.products) p.seconds /= 2;
    bare.products.resize(1);  // f32 alone
    bare.products[0].seconds /= 10;
    const auto all = standings(r, {bare, faster});
    REQUIRE(all.size() == 3);
    CHECK(all[0].report.products[1].seconds == faster.products[1].seconds);
    CHECK(all[1].is_this);
    CHECK(all[2].report.products.size() == 1);
    CHECK(top_rate(r, top_rates[2]) == 0);
    CHECK(share_of_best(r) == doctest::Approx(0.75));
}

TEST_CASE("the files of docs/devices are sound") {
    CHECK(!known_devices().empty());
    for (const KnownDevice& known : known_devices()) {
        const ReadReport read = read_report(known.text, unreadable);
        CHECK_MESSAGE(read.problems.empty(), known.name, ": ", read.problems.empty() ? "" : read.problems.front());
    }
}
