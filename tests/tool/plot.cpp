// SPDX-License-Identifier: MIT
// Pictures: lengths in proportion, axes that say what they are, nothing outside the page.
#include "tools/vkgemm/report/plot.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "support/string_util.h"

using namespace vkgemm::tool;
using vkgemm::test::has_words;

namespace {

/// What `pattern` with one group finds in `text`, as numbers.
std::vector<double> numbers(const std::string& text, const std::string& pattern) {
    std::vector<double> out;
    const std::regex regex(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
        out.push_back(std::stod((*at)[1]));
    return out;
}

std::vector<double> bar_lengths(const std::string& svg, int series) {
    return numbers(svg, "<rect class=\"f" + std::to_string(series) + "\" [^>]*width=\"([^\"]*)\" height=\"12\"/>");
}

void check_sound(const std::string& svg) {
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(!std::regex_search(svg, std::regex("[\", ](-?nan|-?inf)")));
    const std::vector<double> width = numbers(svg, "^<svg [^>]*width=\"([^\"]*)\"");
    REQUIRE(width.size() == 1);
    for (const char* x : {" x=\"([^\"%]*)\"", "cx=\"([^\"]*)\"", "x1=\"([^\"]*)\"", "x2=\"([^\"]*)\""})
        for (const double at : numbers(svg, x)) CHECK((at >= 0 && at <= width[0]));
}

BarPlot bars(const std::vector<double>& values) {
    BarPlot plot{.title = "a < b & c", .subtitle = "device", .axis = "GFLOP/s", .series = {"ours", "theirs"}};
    for (const double v : values) plot.groups.push_back({.label = "64x64", .bars = {{.value = v, .text = "text"}}});
    return plot;
}

}  // namespace

TEST_CASE("bars are as long as their values say, from 0") {
    const std::string text = svg(bars({100, 50, 10, 0}));
    check_sound(text);
    const std::vector<double> lengths = bar_lengths(text, 0);
    REQUIRE(lengths.size() == 4);  // with the legend's; 0 has no bar
    CHECK(lengths[1] == doctest::Approx(420));
    CHECK(lengths[2] == doctest::Approx(210));
    CHECK(lengths[3] == doctest::Approx(42));
    CHECK(has_words(text, "a &lt; b &amp; c", "GFLOP/s", "ours", "theirs", ">100<", ">0<"));
    CHECK(!has_words(text, "logarithmic"));
}

TEST_CASE("the spread of runs is a thin line through the end of a bar, or through a dot") {
    BarPlot plot = bars({100, 50});
    CHECK(numbers(svg(plot), "class=\"spread\" x1=\"([^\"]*)\"").empty());
    plot.groups[1].bars[0].spread = {40, 80};
    const std::string text = svg(plot);
    check_sound(text);
    const std::vector<double> from = numbers(text, "class=\"spread\" x1=\"([^\"]*)\""),
                              to = numbers(text, "class=\"spread\" [^>]*x2=\"([^\"]*)\"");
    REQUIRE((from.size() == 1 && to.size() == 1));
    CHECK(to[0] - from[0] == doctest::Approx(168));  // 40 of 100, and 100 is 420 wide
    plot.groups[1].bars[0].spread = {40, 200};       // then the axis is longer
    check_sound(svg(plot));
    CHECK(bar_lengths(svg(plot), 0)[1] == doctest::Approx(210));

    LinePlot lines{.x_axis = "M"};
    lines.panels = {{.y_axis = "TFLOP/s", .series = {{"ours", {{64, 1, {0.5, 1.5}}, {128, 2}}}}}};
    check_sound(svg(lines));
    CHECK(numbers(svg(lines), "class=\"spread\" x1=\"([^\"]*)\"").size() == 1);
}

TEST_CASE("what is too far apart to compare lengths becomes dots on a logarithmic axis") {
    BarPlot plot = bars({20, 2000, 20000});
    plot.groups[0].mark = 200;
    plot.mark = "aim";
    const std::string text = svg(plot);
    check_sound(text);
    CHECK(has_words(text, "GFLOP/s (logarithmic)", "aim", ">10<", ">100000<"));
    CHECK(bar_lengths(text, 0).size() == 1);  // the legend's alone
    const std::vector<double> dots = numbers(text, "<circle [^>]*cx=\"([^\"]*)\"");
    REQUIRE(dots.size() == 3);
    CHECK((dots[1] - dots[0]) == doctest::Approx(2 * (dots[2] - dots[1])).epsilon(1e-4));  // 100 times, 10 times
    CHECK(!has_words(svg(bars({1, 100})), "logarithmic"));
    CHECK(has_words(svg(bars({1, 101})), "logarithmic"));
}

TEST_CASE("lines rise as their values do, and spread where sizes double") {
    LinePlot plot{.title = "t", .subtitle = "s", .x_axis = "M = N = K"};
    plot.panels = {
        {.y_axis = "TFLOP/s", .series = {{"ours", {{64, 1}, {128, 2}, {256, 4}, {1024, 5}}}, {"theirs", {{64, 3}}}}}};
    const std::string text = svg(plot);
    check_sound(text);
    CHECK(has_words(text, "M = N = K<", "TFLOP/s", "ours", "theirs", ">1024<", ">128<"));
    const std::vector<double> x = numbers(text, "<circle class=\"f0\" cx=\"([^\"]*)\""),
                              y = numbers(text, "<circle class=\"f0\" [^>]*cy=\"([^\"]*)\"");
    REQUIRE(x.size() == 4);
    CHECK(numbers(text, "<circle class=\"f1\" cx=\"([^\"]*)\"") == std::vector<double>{x[0]});
    CHECK((x[1] - x[0]) == doctest::Approx(x[2] - x[1]).epsilon(1e-4));
    CHECK((x[3] - x[2]) == doctest::Approx(2 * (x[1] - x[0])).epsilon(1e-4));
    CHECK((y[1] < y[0] && y[2] < y[1] && y[3] < y[2]));
    CHECK((y[0] - y[1]) * 2 == doctest::Approx(y[1] - y[2]).epsilon(1e-4));
    plot.panels[0].series = {{"ours", {{100, 1}, {200, 2}, {300, 3}}}};
    const std::vector<double> even = numbers(svg(plot), "<circle [^>]*cx=\"([^\"]*)\"");
    CHECK((even[1] - even[0]) == doctest::Approx(even[2] - even[1]).epsilon(1e-4));
}

TEST_CASE("sizes that a scale would put on top of each other stand side by side") {
    LinePlot plot{.title = "t", .subtitle = "s", .x_axis = "M = N = K"};
    plot.panels = {{.y_axis = "TFLOP/s", .series = {{"ours", {{64, 1}, {1023, 2}, {1024, 4}, {1025, 1}}}}}};
    const std::string text = svg(plot);
    check_sound(text);
    CHECK(has_words(text, "M = N = K, not to scale", ">64<", ">1023<", ">1024<", ">1025<"));
    const std::vector<double> x = numbers(text, "<circle [^>]*cx=\"([^\"]*)\"");
    REQUIRE(x.size() == 4);
    for (size_t i = 1; i + 1 < x.size(); ++i) CHECK(x[i + 1] - x[i] == doctest::Approx(x[1] - x[0]).epsilon(1e-4));
    CHECK(x[1] - x[0] > 100);
}

TEST_CASE("panels lie below one another, over one axis, each with a scale of its own") {
    LinePlot plot{.title = "t", .subtitle = "s", .x_axis = "M"};
    plot.panels = {{.title = "f32", .y_axis = "TFLOP/s", .series = {{"ours", {{64, 1}, {128, 50}}}}},
                   {.title = "f16", .y_axis = "GFLOP/s", .series = {{"theirs", {{64, 400}}}, {"ours", {{128, 800}}}}}};
    const std::string text = svg(plot);
    check_sound(text);
    CHECK(has_words(text, ">f32, TFLOP/s<", ">f16, GFLOP/s<", ">50<", ">800<"));
    const std::vector<double> x = numbers(text, "<circle class=\"f0\" cx=\"([^\"]*)\""),
                              y = numbers(text, "<circle class=\"f0\" [^>]*cy=\"([^\"]*)\"");
    REQUIRE(x.size() == 3);  // "ours" has one colour in both
    CHECK((x[1] == x[2] && x[0] < x[1]));
    CHECK((y[1] < y[0] && y[0] < y[2]));
}

TEST_CASE("points stand over a logarithmic error, each with its label") {
    PointPlot plot{.title = "t", .subtitle = "s", .x_axis = "error", .y_axis = "TFLOP/s"};
    plot.series = {{"exact", {{1e-8, 10, "4096"}}}, {"split", {{1e-7, 20, "4096"}, {1e-6, 30, "8192"}}}};
    const std::string text = svg(plot);
    check_sound(text);
    CHECK(has_words(text, "error (logarithmic)", "TFLOP/s", "exact", "split", ">8192<", ">1e-08<", ">1e-06<"));
    const std::vector<double> x = numbers(text, "<circle [^>]*cx=\"([^\"]*)\""),
                              y = numbers(text, "<circle [^>]*cy=\"([^\"]*)\"");
    REQUIRE(x.size() == 3);
    CHECK((x[1] - x[0]) == doctest::Approx(x[2] - x[1]).epsilon(1e-4));
    CHECK((y[0] - y[1]) == doctest::Approx(y[1] - y[2]).epsilon(1e-4));
}

TEST_CASE("the labels of points make way for one another") {
    PointPlot plot;
    plot.series = {{"a", {{1e-7, 20, "first"}, {1e-7, 20, "second"}, {1.01e-7, 20, "third"}}}};
    const std::string text = svg(plot);
    check_sound(text);
    std::vector<std::pair<double, bool>> places;  // line, and which side of the dot
    for (const std::string word : {"first", "second", "third"}) {
        const std::vector<double> y = numbers(text, "<text [^>]*y=\"([^\"]*)\"[^>]*>" + word + "<");
        REQUIRE(y.size() == 1);
        places.emplace_back(y[0], !numbers(text, "y=\"([^\"]*)\" [^>]*anchor=\"end\">" + word + "<").empty());
    }
    CHECK((places[0] != places[1] && places[1] != places[2] && places[0] != places[2]));
}

TEST_CASE("pictures of what is too great or too small to draw come to an end") {
    const double least = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
    for (const auto& values :
         {std::vector{most}, {HUGE_VAL}, {1, most}, {1, HUGE_VAL}, {least, 1}, {least, most}, {least}, {NAN, 1}}) {
        CHECK(svg(bars(values)).size() < 100000);
        PointPlot dots;
        LinePlot lines;
        lines.panels = {{.series = {{"a", {}}}}, {.series = {{"a", {}}}, .logarithmic = true}};
        for (const double v : values) {
            dots.series.push_back({"a", {{v, v, ""}}});
            for (LinePanel& p : lines.panels) p.series[0].points.push_back({64, v});
        }
        CHECK(svg(dots).size() < 100000);
        CHECK(svg(lines).size() < 100000);
    }
}

TEST_CASE("pictures of nothing, of one thing and of many are pictures") {
    check_sound(svg(BarPlot{}));
    check_sound(svg(bars({0, 0})));
    check_sound(svg(LinePlot{}));
    check_sound(svg(PointPlot{}));
    LinePlot point;
    point.panels = {{.series = {{"x", {{64, 0}}}}}};
    check_sound(svg(point));
    point.panels.push_back({});
    check_sound(svg(point));
    BarPlot many = bars({1});
    for (int i = 0; i < 9; ++i) many.series.push_back("series " + std::to_string(i));
    many.groups[0].bars.push_back({.series = 8, .value = 2, .text = "ninth"});
    many.groups[0].label = std::string(80, 'm');
    check_sound(svg(many));
}
