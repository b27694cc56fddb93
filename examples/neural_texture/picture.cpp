// SPDX-License-Identifier: MIT
#include "picture.h"

#include <stb_easy_font.h>
#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "gpu.h"

namespace renderer {
namespace {

constexpr uint32_t black = 0xff202020, grey = 0xffc8c8c8, blue = 0xffb06020, paper = 0xffffffff;

std::string number(double value, const char* format) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

}  // namespace

void Picture::fill(int x, int y, int w, int h, uint32_t colour) {
    for (int row = std::max(y, 0); row < std::min(y + h, static_cast<int>(height)); ++row)
        for (int column = std::max(x, 0); column < std::min(x + w, static_cast<int>(width)); ++column)
            rgba[static_cast<size_t>(row) * width + static_cast<size_t>(column)] = colour;
}

void Picture::text(int x, int y, const std::string& line, uint32_t colour, int scale) {
    struct Vertex {
        float x, y, z;
        uint32_t colour;
    };
    std::vector<Vertex> corners(line.size() * 70 + 4);
    std::string copy = line;
    const int quads = stb_easy_font_print(0, 0, copy.data(), nullptr, corners.data(),
                                          static_cast<int>(corners.size() * sizeof(Vertex)));
    for (size_t q = 0; q < static_cast<size_t>(quads); ++q) {
        const Vertex &low = corners[q * 4], &high = corners[q * 4 + 2];
        fill(x + static_cast<int>(low.x) * scale, y + static_cast<int>(low.y) * scale,
             static_cast<int>(high.x - low.x) * scale, static_cast<int>(high.y - low.y) * scale, colour);
    }
}

void Picture::line(float x0, float y0, float x1, float y1, uint32_t colour) {
    const float length = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0f});
    for (float t = 0; t <= length; t += 0.5f)
        fill(static_cast<int>(x0 + (x1 - x0) * t / length), static_cast<int>(y0 + (y1 - y0) * t / length), 2, 2,
             colour);
}

void Picture::paste(int x, int y, uint32_t w, uint32_t h, std::span<const uint32_t> pixels) {
    for (uint32_t row = 0; row < h; ++row)
        std::ranges::copy(pixels.subspan(size_t{row} * w, w),
                          rgba.begin() + static_cast<std::ptrdiff_t>((static_cast<size_t>(y) + row) * width) + x);
}

void Picture::save(const std::string& file) const {
    const int w = static_cast<int>(width), h = static_cast<int>(height);
    stbi_write_png_compression_level = 12;
    if (!stbi_write_png(file.c_str(), w, h, 4, rgba.data(), w * 4))
        fail("cannot write " + file + "; does its folder exist?");
}

Picture contact_sheet(const std::vector<Snapshot>& all) {
    constexpr int gap = 8, caption = 24;
    const int side = static_cast<int>(all[0].side), cell = side + gap;
    Picture sheet(static_cast<uint32_t>(gap + cell * static_cast<int>(all.size() + 1)),
                  static_cast<uint32_t>(caption + 2 * cell), paper);
    sheet.text(gap, 5, "reference", black);
    sheet.paste(gap, caption, all[0].side, all[0].side, all[0].reference);
    sheet.text(gap, caption + cell + side / 2, "difference x 8", black);
    for (size_t i = 0; i < all.size(); ++i) {
        const Snapshot& s = all[i];
        const int x = gap + cell * static_cast<int>(i + 1);
        sheet.text(x, 5, std::to_string(s.step) + " steps: " + number(s.psnr, "%.1f dB"), black);
        sheet.paste(x, caption, s.side, s.side, s.network);
        sheet.paste(x, caption + cell, s.side, s.side, s.difference);
    }
    return sheet;
}

Picture curve(const std::vector<CurvePoint>& points) {
    constexpr int left = 70, top = 30, width = 640, height = 320;
    Picture plot(left + width + 20, top + height + 40, paper);
    const auto [least, most] =
        std::ranges::minmax(points, {}, [](const CurvePoint& p) { return std::log10(p.loss + 1e-12); });
    const double low = std::floor(std::log10(least.loss + 1e-12)), high = std::ceil(std::log10(most.loss + 1e-12));
    const double last = std::max(points.back().step, 1u);
    const auto x_of = [&](double step) { return static_cast<float>(left + width * step / last); };
    const auto y_of = [&](double loss) {
        return static_cast<float>(top + height * (high - std::log10(loss + 1e-12)) / std::max(high - low, 1.0));
    };
    for (double e = low; e <= high; ++e) {
        plot.line(left, y_of(std::pow(10, e)), left + width, y_of(std::pow(10, e)), grey);
        plot.text(6, static_cast<int>(y_of(std::pow(10, e))) - 6, number(e, "1e%.0f"), black);
    }
    for (int i = 0; i <= 4; ++i) {
        plot.line(x_of(last * i / 4), top, x_of(last * i / 4), top + height, grey);
        plot.text(static_cast<int>(x_of(last * i / 4)) - (i == 4 ? 50 : 10), top + height + 12,
                  number(last * i / 4, "%.0f"), black);
    }
    plot.text(left, 6, "loss of one point, by steps; the last: " + number(points.back().psnr, "%.1f dB"), black);
    for (size_t i = 0; i + 1 < points.size(); ++i)
        plot.line(x_of(points[i].step), y_of(points[i].loss), x_of(points[i + 1].step), y_of(points[i + 1].loss), blue);
    return plot;
}

}  // namespace renderer
