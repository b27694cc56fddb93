// SPDX-License-Identifier: MIT
#include "picture.h"

#include <stb_easy_font.h>
#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace renderer {
namespace {

constexpr uint32_t black = 0xff202020, grey = 0xffc8c8c8, blue = 0xffb06020;

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

void Picture::text(int x, int y, std::string line) {
    struct Vertex {
        float x, y, z;
        uint32_t colour;
    };
    std::vector<Vertex> corners(line.size() * 70 + 4);
    const int bytes = static_cast<int>(corners.size() * sizeof(Vertex));
    const int quads = stb_easy_font_print(0, 0, line.data(), nullptr, corners.data(), bytes);
    for (size_t q = 0; q < static_cast<size_t>(quads); ++q) {
        const Vertex &low = corners[q * 4], &high = corners[q * 4 + 2];
        fill(x + static_cast<int>(low.x) * 2, y + static_cast<int>(low.y) * 2, static_cast<int>(high.x - low.x) * 2,
             static_cast<int>(high.y - low.y) * 2, black);
    }
}

void Picture::paste(uint32_t x, uint32_t y, const Picture& other) {
    for (uint32_t row = 0; row < other.height; ++row)
        std::copy_n(&other.rgba[size_t{row} * other.width], other.width, &rgba[size_t{y + row} * width + x]);
}

void Picture::save(const std::string& file) const {
    const int w = static_cast<int>(width), h = static_cast<int>(height);
    stbi_write_png_compression_level = 12;
    if (!stbi_write_png(file.c_str(), w, h, 4, rgba.data(), w * 4)) fail("cannot write " + file);
}

Picture contact_sheet(const std::vector<Snapshot>& all) {
    constexpr uint32_t gap = 8, caption = 24;
    const uint32_t side = all[0].reference.width, cell = side + gap, columns = static_cast<uint32_t>(all.size()) + 1;
    Picture sheet(gap + cell * columns, caption + 2 * cell);
    sheet.text(gap, 5, "reference");
    sheet.paste(gap, caption, all[0].reference);
    sheet.text(gap, static_cast<int>(caption + cell + side / 2), "difference x 8");
    for (uint32_t i = 1; i < columns; ++i) {
        const Snapshot& s = all[i - 1];
        const uint32_t x = gap + cell * i;
        sheet.text(static_cast<int>(x), 5, std::to_string(s.step) + " steps: " + number(s.psnr, "%.1f dB"));
        sheet.paste(x, caption, s.network);
        sheet.paste(x, caption + cell, s.difference);
    }
    return sheet;
}

Picture loss_curve(const std::vector<Finished>& points) {
    constexpr int left = 70, top = 30, width = 640, height = 320;
    Picture plot(left + width + 20, top + height + 40);
    const auto exponent = [](const Finished& p) { return std::log10(p.loss + 1e-12); };
    const auto [least, most] = std::ranges::minmax(points, {}, exponent);
    const double low = std::floor(exponent(least)), high = std::max(std::ceil(exponent(most)), low + 1);
    const double last = points.back().steps;
    const auto x_of = [&](double step) { return static_cast<int>(left + width * step / last); };
    const auto y_of = [&](double e) { return static_cast<int>(top + height * (high - e) / (high - low)); };
    for (double e = low; e <= high; ++e) {
        plot.fill(left, y_of(e), width, 2, grey);
        plot.text(6, y_of(e) - 6, number(e, "1e%.0f"));
    }
    for (int i = 0; i <= 4; ++i) {
        plot.fill(x_of(last * i / 4), top, 2, height, grey);
        plot.text(x_of(last * i / 4) - (i == 4 ? 50 : 10), top + height + 12, number(last * i / 4, "%.0f"));
    }
    plot.text(left, 6, "loss of one point, by steps; the last: " + number(points.back().psnr, "%.1f dB"));
    for (size_t i = 0; i + 1 < points.size(); ++i) {
        const int x0 = x_of(points[i].steps), x1 = x_of(points[i + 1].steps);
        const int y0 = y_of(exponent(points[i])), y1 = y_of(exponent(points[i + 1]));
        for (int x = x0; x <= x1; ++x) plot.fill(x, y0 + (y1 - y0) * (x - x0) / std::max(x1 - x0, 1), 2, 2, blue);
    }
    return plot;
}

}  // namespace renderer
