// SPDX-License-Identifier: MIT
// Numbers with units, tables that align and fit. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vkgemm/text.hpp"

namespace vkgemm::tool {

inline constexpr size_t page_width = 100;  // columns

std::string seconds_text(double seconds);                // "1.234 ms": four digits, ns to s
std::string rate_text(double per_second, bool integer);  // "12.34 GFLOP/s"; GOP/s for integers
/// A common unit for rates up to `most`.
struct RateUnit {
    double size;
    std::string name;  // "TFLOP/s", or "TFLOP/s or TOP/s" where both kinds of number are there
};
RateUnit rate_unit(double most, bool floats, bool integers);
std::string bytes_text(uint64_t bytes);  // "48 KiB"

std::string csv_quoted(const std::string& text);
std::string csv_word(const std::string& text);  // in quotes where it must be

/// "; did you mean 'WORD'?", or "" if no known word is near.
template <class Range>
std::string suggestion(std::string_view word, const Range& known) {
    const std::string_view nearest = nearestWord(word, known);
    return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

/// The words with `between` between them.
std::string joined(const std::vector<std::string>& words, std::string_view between = " ");

/// Columns that `text` takes on a terminal: UTF-8 code points.
size_t columns(std::string_view text);

/// `text` broken at spaces into lines of `indent` spaces and at most page_width columns; lines after the first are set
/// in by `hang` more. Words that are too long stand alone.
std::string wrapped(std::string_view text, size_t indent, size_t hang = 0);

/// Lines of a message, each ended: those wider than the page are wrapped where they stand, the others are left alone.
std::string fitted(std::string_view lines);

/// Reasons that are separated by "; " as a list, one per line; unchanged if there is only one.
std::string listed(std::string_view reasons);

/// "[3/14, about 2 min left] what", cut to fewer than `width` columns. Negative seconds are left out.
std::string progress_line(size_t step, size_t steps, double seconds_left, std::string_view what, size_t width);

enum class Style { plain, head, good, bad, dim };

/// `text` with the style's escape codes, if `colour`.
std::string styled(std::string_view text, Style style, bool colour);

struct Cell {
    std::string text;
    Style style = Style::plain;
    Cell(std::string t = {}, Style s = Style::plain) : text(std::move(t)), style(s) {}
    Cell(const char* t, Style s = Style::plain) : text(t), style(s) {}
};

class Table {
   public:
    struct Column {
        std::string title;
        bool right = false;  // numbers align right
        size_t width = 0;    // at least
    };
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void add(std::vector<Cell> cells);
    /// A line of its own below the last row, indented and wrapped.
    void note(std::string text);
    std::string header(bool colour) const;
    std::string body(bool colour) const;

   private:
    struct Row {
        std::vector<Cell> cells;
        std::vector<std::string> notes;
    };
    std::string line(const std::vector<Cell>& cells, bool colour) const;
    size_t width(size_t column) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

}  // namespace vkgemm::tool
