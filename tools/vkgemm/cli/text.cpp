// SPDX-License-Identifier: MIT
#include "cli/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace vkgemm::tool {
namespace {

/// Four significant digits, never an exponent for what is shown with a unit.
std::string four_digits(double value) {
    const int decimals = value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

struct NamedUnit {
    double size;
    const char* name;
};

template <size_t N>
std::string with_unit(double value, const std::array<NamedUnit, N>& units) {  // biggest first
    const NamedUnit* unit = &units.back();
    for (const NamedUnit& u : units)
        if (value >= u.size * 0.99995) {
            unit = &u;
            break;
        }
    return four_digits(value / unit->size) + " " + unit->name;
}

const char* code(Style style) {
    switch (style) {
        case Style::head:
            return "\x1b[1m";
        case Style::good:
            return "\x1b[32m";
        case Style::bad:
            return "\x1b[31m";
        case Style::dim:
            return "\x1b[2m";
        case Style::plain:
            break;
    }
    return "";
}

}  // namespace

std::string seconds_text(double seconds) {
    static constexpr std::array<NamedUnit, 4> units = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
    return with_unit(seconds, units);
}

std::string rate_text(double per_second, bool integer) {
    static constexpr std::array<NamedUnit, 3> flops = {{{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}}};
    static constexpr std::array<NamedUnit, 3> ops = {{{1e12, "TOP/s"}, {1e9, "GOP/s"}, {1e6, "MOP/s"}}};
    return with_unit(per_second, integer ? ops : flops);
}

RateUnit rate_unit(double most, bool floats, bool integers) {
    const bool tera = most >= 1e12, giga = most >= 1e9;
    const std::string prefix = tera ? "T" : giga ? "G" : "M";
    const std::string name =
        (floats ? prefix + "FLOP/s" : "") + (floats && integers ? " or " : "") + (integers ? prefix + "OP/s" : "");
    return {tera ? 1e12 : giga ? 1e9 : 1e6, name};
}

std::string csv_quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string csv_word(const std::string& text) {
    return text.find_first_of(",\"\r\n") == std::string::npos ? text : csv_quoted(text);
}

std::string bytes_text(uint64_t bytes) {
    static constexpr std::array<const char*, 5> names = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < names.size()) {
        value /= 1024;
        ++unit;
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.*f %s", value == std::floor(value) ? 0 : 1, value, names[unit]);
    return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
    return out;
}

size_t columns(std::string_view text) {
    return static_cast<size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string progress_line(size_t step, size_t steps, double seconds_left, std::string_view what, size_t width) {
    std::string line = "[" + std::to_string(step) + "/" + std::to_string(steps);
    if (seconds_left >= 0) {
        const double minutes = seconds_left / 60;
        const bool long_way = minutes >= 1.5;
        line += ", about " + std::to_string(std::lround(long_way ? minutes : seconds_left)) +
                (long_way ? " min left" : " s left");
    }
    line += "] " + std::string(what);
    size_t end = 0;
    for (size_t seen = 0; end < line.size(); ++end) {
        seen += (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;  // of a character its first byte
        if (seen >= width) break;
    }
    return line.substr(0, end);
}

std::string wrapped(std::string_view text, size_t indent, size_t hang) {
    std::string all, line;
    const auto margin = [&] { return indent + (all.empty() ? 0 : hang); };
    const auto flush = [&] {
        if (!line.empty()) all += std::string(margin(), ' ') + line + "\n";
        line.clear();
    };
    while (!text.empty()) {
        const size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!line.empty() && margin() + columns(line) + 1 + columns(word) > page_width) flush();
        if (!word.empty()) line += (line.empty() ? "" : " ") + std::string(word);
    }
    flush();
    return all;
}

std::string fitted(std::string_view lines) {
    constexpr size_t hang = 4;
    std::string all;
    while (!lines.empty()) {
        const size_t end = std::min(lines.find('\n'), lines.size());
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(std::min(end + 1, lines.size()));
        const size_t indent = std::min(line.find_first_not_of(' '), line.size());
        all += columns(line) > page_width ? wrapped(line, indent, hang) : std::string(line) + "\n";
    }
    return all;
}

std::string listed(std::string_view reasons) {
    if (reasons.find("; ") == std::string_view::npos) return std::string(reasons);
    const size_t colon = reasons.find(": ");
    std::string out(colon == std::string_view::npos ? "" : reasons.substr(0, colon + 1));
    if (colon != std::string_view::npos) reasons.remove_prefix(colon + 2);
    while (!reasons.empty()) {
        const size_t end = std::min(reasons.find("; "), reasons.size());
        out += (out.empty() ? "" : "\n") + std::string("    ") + std::string(reasons.substr(0, end));
        reasons.remove_prefix(std::min(end + 2, reasons.size()));
    }
    return out;
}

std::string styled(std::string_view text, Style style, bool colour) {
    if (!colour || style == Style::plain) return std::string(text);
    return code(style) + std::string(text) + "\x1b[0m";
}

void Table::add(std::vector<Cell> cells) {
    cells.resize(columns_.size());
    rows_.push_back({std::move(cells), {}});
}

void Table::note(std::string text) {
    if (rows_.empty()) rows_.emplace_back();
    rows_.back().notes.push_back(std::move(text));
}

size_t Table::width(size_t column) const {
    size_t widest = std::max(columns_[column].width, columns(columns_[column].title));
    for (const Row& row : rows_)
        if (!row.cells.empty()) widest = std::max(widest, columns(row.cells[column].text));
    return widest;
}

std::string Table::line(const std::vector<Cell>& cells, bool colour) const {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
        const std::string pad(width(i) - columns(cells[i].text), ' ');
        const std::string cell = styled(cells[i].text, cells[i].style, colour);
        text += (i ? "  " : "") + (columns_[i].right ? pad + cell : cell + (i + 1 < cells.size() ? pad : ""));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

std::string Table::header(bool colour) const {
    std::vector<Cell> titles;
    for (const Column& c : columns_) titles.emplace_back(c.title, Style::head);
    return line(titles, colour);
}

std::string Table::body(bool colour) const {
    std::string text;
    for (const Row& row : rows_) {
        if (!row.cells.empty()) text += line(row.cells, colour);
        for (const std::string& note : row.notes) text += wrapped(note, 6);
    }
    return text;
}

}  // namespace vkgemm::tool
