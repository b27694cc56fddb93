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

constexpr uint32_t black = 0xff202020, grey = 0xffc8c8c8, blue = 0xffb06020, pale = 0xfff0d0b0;

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
    const Snapshot& any = all[0];
    const uint32_t cell = any.whole.reference.width + gap, columns = static_cast<uint32_t>(all.size()) + 1;
    Picture sheet(gap + cell * columns, caption + 3 * cell);
    for (uint32_t i = 0; i < columns; ++i) {
        const Snapshot& s = all[std::max(i, 1u) - 1];
        const uint32_t x = gap + cell * i;
        const std::string steps = std::to_string(s.step) + " steps: " + number(s.psnr, "%.1f dB");
        sheet.text(static_cast<int>(x), 5, i == 0 ? "reference" : steps);
        sheet.paste(x, caption, i == 0 ? any.whole.reference : s.whole.network);
        sheet.paste(x, caption + cell, i == 0 ? any.detail.reference : s.detail.network);
        if (i > 0) sheet.paste(x, caption + 2 * cell, s.detail.difference);
    }
    sheet.text(gap, static_cast<int>(caption + 2 * cell + cell / 2), "difference x 8");
    return sheet;
}

Picture loss_curve(const std::vector<Finished>& points) {
    constexpr int left = 70, top = 30, width = 640, height = 320;
    Picture plot(left + width + 40, top + height + 40);
    const auto exponent = [](const Finished& p) { return std::log10(p.loss + 1e-12); };
    const auto [least, most] = std::ranges::minmax(points, {}, exponent);
    const double low = std::floor(exponent(least)), high = std::max(std::ceil(exponent(most)), low + 1);
    const double last = std::log10(std::max(points.back().steps, 10u));
    const auto x_of = [&](double e) { return static_cast<int>(left + width * e / last); };
    const auto y_of = [&](double e) { return static_cast<int>(top + height * (high - e) / (high - low)); };
    for (double e = low; e <= high; ++e) {
        plot.fill(left, y_of(e), width, 2, grey);
        plot.text(6, y_of(e) - 6, number(e, "1e%.0f"));
    }
    for (double e = 0; e <= last; ++e) {
        plot.fill(x_of(e), top, 2, height, grey);
        plot.text(x_of(e) - 10, top + height + 12, number(std::pow(10, e), "%.0f"));
    }
    plot.text(left, 6, "loss of a point, by steps; the last: " + number(points.back().psnr, "%.1f dB"));
    for (const Finished& p : points) plot.fill(x_of(std::log10(p.steps)), y_of(exponent(p)), 2, 2, pale);
    double mean = exponent(points[0]);  // over about the last tenth of the points
    int x0 = x_of(std::log10(points[0].steps)), y0 = y_of(mean);
    for (size_t i = 1; i < points.size(); ++i) {
        mean += (exponent(points[i]) - mean) / std::max(1.0, 0.1 * static_cast<double>(i));
        const int x1 = x_of(std::log10(points[i].steps)), y1 = y_of(mean);
        for (int x = x0; x <= x1; ++x) plot.fill(x, y0 + (y1 - y0) * (x - x0) / std::max(x1 - x0, 1), 2, 2, blue);
        x0 = x1, y0 = y1;
    }
    return plot;
}

}  // namespace renderer
