// SPDX-License-Identifier: MIT
#include "report/svg.h"

#include <cstdio>

#include "cli/text.h"

namespace vkgemm::tool::draw {
namespace {

// Pixels.
constexpr double letter = 7.25;
constexpr size_t colours = 6;

constexpr const char* style =
    "<style>\n"
    "text { font: 12px ui-monospace, 'DejaVu Sans Mono', Consolas, monospace; fill: #1f2328 }\n"
    ".title { font-size: 15px; font-weight: bold }\n"
    ".dim { fill: #59636e }\n"
    ".value { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round }\n"
    ".page { fill: #ffffff }\n"
    ".grid { stroke: #d1d9e0; stroke-width: 1 }\n"
    ".mark { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 3 2 }\n"
    ".line { fill: none; stroke-width: 2 }\n"
    ".spread { stroke: #59636e; stroke-width: 1 }\n"
    ".tile { stroke: #ffffff; stroke-width: 1; fill-opacity: 0.45 }\n"
    ".faint { fill-opacity: 0.2 } .half { fill-opacity: 0.5 } .frame { fill: none; stroke: #59636e }\n"
    ".f0 { fill: #0969da } .f1 { fill: #d1651b } .f2 { fill: #1a7f37 }\n"
    ".f3 { fill: #8250df } .f4 { fill: #bf3989 } .f5 { fill: #8a6a00 }\n"
    ".s0 { stroke: #0969da } .s1 { stroke: #d1651b } .s2 { stroke: #1a7f37 }\n"
    ".s3 { stroke: #8250df } .s4 { stroke: #bf3989 } .s5 { stroke: #8a6a00 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6edf3 } .dim { fill: #9198a1 } .page { fill: #0d1117 } .grid { stroke: #30363d }\n"
    ".mark { stroke: #e6edf3 } .value { stroke: #0d1117 } .tile { stroke: #0d1117 } .frame, .spread { stroke: #9198a1 "
    "}\n"
    ".f0 { fill: #4493f8 } .f1 { fill: #f0883e } .f2 { fill: #3fb950 }\n"
    ".f3 { fill: #a371f7 } .f4 { fill: #db61a2 } .f5 { fill: #d4a72c }\n"
    ".s0 { stroke: #4493f8 } .s1 { stroke: #f0883e } .s2 { stroke: #3fb950 }\n"
    ".s3 { stroke: #a371f7 } .s4 { stroke: #db61a2 } .s5 { stroke: #d4a72c }\n"
    "}\n"
    "</style>\n";

}  // namespace

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text)
        safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
    return safe;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

double width_of(const std::string& text) { return letter * static_cast<double>(columns(text)); }

std::string text_at(double x, double y, const std::string& words, const char* more) {
    return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + more + ">" + escaped(words) + "</text>\n";
}

std::string upright_at(double x, double y, const std::string& words, const char* more) {
    const std::string turn = "transform=\"rotate(-90 " + number(x + 4) + " " + number(y) + ")\" text-anchor=\"end\" ";
    return text_at(x + 4, y, words, (turn + more).c_str());
}

std::string line_at(double x1, double y1, double x2, double y2, const char* kind) {
    return "<line class=\"" + std::string(kind) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
           number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

std::string rect_at(double x, double y, double width, double height, const std::string& kind) {
    return "<rect class=\"" + kind + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
           "\" height=\"" + number(height) + "\"/>\n";
}

std::string dot_at(double x, double y, const std::string& kind, double radius) {
    return "<circle class=\"" + kind + "\" cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) +
           "\"/>\n";
}

std::string kind_of(const char* what, size_t series) { return what + std::to_string(series % colours); }

/// The page with its heading and its content.
std::string page(double width, double height, const std::string& title, const std::string& subtitle,
                 const std::string& body) {
    const std::string size = "width=\"" + number(width) + "\" height=\"" + number(height) + "\"";
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " viewBox=\"0 0 " + number(width) + " " +
           number(height) + "\" role=\"img\">\n<title>" + escaped(title) + "</title>\n" + style +
           "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" +
           text_at(margin, margin + 12, title, "class=\"title\"") +
           text_at(margin, margin + title_height + 8, subtitle, "class=\"dim\"") + body + "</svg>\n";
}

std::string legend(const std::vector<std::string>& series, const std::string& mark, double& width) {
    std::string body;
    double x = margin;
    for (size_t i = 0; i < series.size(); ++i) {
        body += rect_at(x, legend_top + 2, 12, 12, kind_of("f", i)) + text_at(x + 18, legend_top + 12, series[i]);
        x += 18 + width_of(series[i]) + 22;
    }
    if (!mark.empty()) {
        body += line_at(x + 6, legend_top, x + 6, legend_top + 16, "mark") + text_at(x + 18, legend_top + 12, mark);
        x += 18 + width_of(mark) + 22;
    }
    width = x;
    return body;
}

}  // namespace vkgemm::tool::draw
