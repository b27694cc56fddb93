// SPDX-License-Identifier: MIT
// SVG elements and the page for plot.h and cover_plot.h. Units are pixels. Pure.
#pragma once
#include <string>
#include <vector>

namespace vkgemm::tool::draw {

inline constexpr double margin = 20, title_height = 26, subtitle_height = 20;
inline constexpr double legend_top = margin + title_height + subtitle_height;

/// As the content of an element, or of an attribute in double quotes.
std::string escaped(const std::string& text);
std::string number(double value);
double width_of(const std::string& text);
std::string text_at(double x, double y, const std::string& words, const char* more = "");
/// Rotated text, read from below, that ends at `y` and is centred on `x`.
std::string upright_at(double x, double y, const std::string& words, const char* more = "");
std::string line_at(double x1, double y1, double x2, double y2, const char* kind);
std::string rect_at(double x, double y, double width, double height, const std::string& kind);
std::string dot_at(double x, double y, const std::string& kind, double radius = 4);
/// "f2": the class of the colour of a series, filled (f) or as a stroke (s).
std::string kind_of(const char* what, size_t series);

/// The page with its heading and its content.
std::string page(double width, double height, const std::string& title, const std::string& subtitle,
                 const std::string& body);
std::string legend(const std::vector<std::string>& series, const std::string& mark, double& width);

}  // namespace vkgemm::tool::draw
