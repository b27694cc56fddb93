// SPDX-License-Identifier: MIT
// What a run has to show: a line each second, and in the end averages and PNG files.
#pragma once
#include <stb_easy_font.h>
#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "renderer.h"

namespace renderer {

inline void save(const Picture& p, const std::string& file) {
    const int w = static_cast<int>(p.width), h = static_cast<int>(p.height);
    stbi_write_png_compression_level = 12;
    if (!stbi_write_png(file.c_str(), w, h, 4, p.rgba.data(), w * 4)) fail("cannot write " + file);
}

/// A picture to draw in, white at first.
struct Drawing : Picture {
    static constexpr uint32_t black = 0xff202020, grey = 0xffc8c8c8, blue = 0xffb06020, pale = 0xfff0d0b0;

    Drawing(uint32_t w, uint32_t h) : Picture{w, h, std::vector(size_t{w} * h, 0xffffffff)} {}
    void fill(int x, int y, int w, int h, uint32_t colour) {
        for (int row = std::max(y, 0); row < std::min(y + h, static_cast<int>(height)); ++row)
            for (int column = std::max(x, 0); column < std::min(x + w, static_cast<int>(width)); ++column)
                rgba[static_cast<size_t>(row) * width + static_cast<size_t>(column)] = colour;
    }
    void text(int x, int y, std::string line) {
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
    void number(int x, int y, const char* format, double value) {
        std::array<char, 64> line{};
        std::snprintf(line.data(), line.size(), format, value);
        text(x, y, line.data());
    }
    void paste(uint32_t x, uint32_t y, const Picture& other) {
        for (uint32_t row = 0; row < other.height; ++row)
            std::copy_n(&other.rgba[size_t{row} * other.width], other.width, &rgba[size_t{y + row} * width + x]);
    }
};

/// Columns: the reference, then one for each snapshot. Rows: the texture, a detail, the detail's difference times 8.
inline Picture contact_sheet(const std::vector<Snapshot>& all) {
    constexpr uint32_t gap = 8, caption = 24, cell = Renderer::side + gap;
    Drawing sheet(gap + cell * (static_cast<uint32_t>(all.size()) + 1), caption + 3 * cell);
    sheet.text(gap, 5, "reference");
    sheet.paste(gap, caption, all[0].whole.reference);
    sheet.paste(gap, caption + cell, all[0].detail.reference);
    sheet.text(gap, caption + 2 * cell + cell / 2, "difference x 8");
    for (uint32_t x = gap; const Snapshot& s : all) {
        x += cell;
        sheet.number(static_cast<int>(x), 5, (std::to_string(s.step) + " steps: %.1f dB").c_str(), s.psnr);
        sheet.paste(x, caption, s.whole.network);
        sheet.paste(x, caption + cell, s.detail.network);
        sheet.paste(x, caption + 2 * cell, s.detail.difference);
    }
    return sheet;
}

/// The loss by steps, both on logarithmic axes.
inline Picture loss_curve(const std::vector<Finished>& frames) {
    constexpr int left = 70, top = 30, width = 640, height = 320;
    Drawing plot(left + width + 40, top + height + 40);
    const auto exponent = [](const Finished& f) { return std::log10(f.loss + 1e-12); };
    const auto [least, most] = std::ranges::minmax(frames, {}, exponent);
    const double low = std::floor(exponent(least)), high = std::max(std::ceil(exponent(most)), low + 1);
    const double last = std::log10(std::max(frames.back().steps, 10u));
    const auto x_of = [&](double e) { return static_cast<int>(left + width * e / last); };
    const auto y_of = [&](double e) { return static_cast<int>(top + height * (high - e) / (high - low)); };
    for (int e = static_cast<int>(low); e <= high; ++e) {
        plot.fill(left, y_of(e), width, 2, Drawing::grey);
        plot.number(6, y_of(e) - 6, "1e%.0f", e);
    }
    for (int e = 0; e <= last; ++e) {
        plot.fill(x_of(e), top, 2, height, Drawing::grey);
        plot.number(x_of(e) - 10, top + height + 12, "%.0f", std::pow(10, e));
    }
    plot.number(left, 6, "loss of a point, by steps; the last: %.1f dB", frames.back().psnr);
    for (const Finished& f : frames) plot.fill(x_of(std::log10(f.steps)), y_of(exponent(f)), 2, 2, Drawing::pale);
    double mean = exponent(frames[0]);  // over about the last tenth of them
    int x0 = x_of(std::log10(frames[0].steps)), y0 = y_of(mean);
    for (size_t i = 1; i < frames.size(); ++i) {
        mean += (exponent(frames[i]) - mean) / std::max(1.0, 0.1 * static_cast<double>(i));
        const int x1 = x_of(std::log10(frames[i].steps)), y1 = y_of(mean);
        for (int x = x0; x <= x1; ++x)
            plot.fill(x, y0 + (y1 - y0) * (x - x0) / std::max(x1 - x0, 1), 2, 2, Drawing::blue);
        x0 = x1;
        y0 = y1;
    }
    return plot;
}

struct Report {
    using Clock = std::chrono::steady_clock;
    std::vector<Snapshot> snapshots{};
    std::vector<Finished> curve{};
    std::map<std::string, double> milliseconds{};  // of all frames, by part
    unsigned frames = 0, frames_said = 0;
    Clock::time_point said = Clock::now();

    void take_snapshot(Renderer& r, uint32_t step) {
        snapshots.push_back(r.snapshot(step));
        if (!r.options.out.empty() && step != 0)
            save(r.screenshot(), r.options.out + "/frame_" + std::to_string(step) + ".png");
    }
    void note(const Finished& f, vk::Extent2D size, bool last) {
        ++frames;
        for (const Time& t : f.times) milliseconds[t.name] += t.milliseconds;
        if (f.trained) curve.push_back(f);
        const Clock::time_point now = Clock::now();
        if (!last && now - said < std::chrono::seconds(1)) return;
        const double frame = std::chrono::duration<double, std::milli>(now - said).count() / (frames - frames_said);
        std::printf("frame %.2f ms, step %u", frame, f.steps);
        if (!curve.empty()) std::printf(", PSNR %.2f dB", curve.back().psnr);
        std::printf(", %u pixels of %ux%u;", f.rows, size.width, size.height);
        for (const Time& t : f.times) std::printf(" %s %.3f ms", t.name.c_str(), t.milliseconds);
        std::printf("\n");
        std::fflush(stdout);
        said = now;
        frames_said = frames;
    }
    void finish(const std::string& out) const {
        if (!out.empty()) save(contact_sheet(snapshots), out + "/contact.png");
        if (!out.empty() && !curve.empty()) save(loss_curve(curve), out + "/loss.png");
        const Snapshot &first = snapshots.front(), &last = snapshots.back();
        std::printf("PSNR of the texture: %.2f dB before, %.2f dB after %u steps; %u frames, on average:", first.psnr,
                    last.psnr, last.step, frames);
        for (const auto& [part, sum] : milliseconds) std::printf(" %s %.3f ms", part.c_str(), sum / frames);
        std::printf("\n");
    }
};

}  // namespace renderer
