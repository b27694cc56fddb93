// SPDX-License-Identifier: MIT
// The terminal, and the wish to stop.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

namespace vkgemm::tool {

enum class ColorMode { automatic, always, never };

/// Call it first: a standard stream that is closed must not become the next file that is opened. What is written to a
/// standard output that was closed is refused, as on a full disk.
void hold_streams();

/// Are colours wanted on standard output? automatic: when it is a terminal, no dumb one, and NO_COLOR is not
/// set.
bool wants_color(ColorMode mode);
bool stderr_is_terminal();

void print(std::string_view text);  // to standard output, at once
bool reader_left();                 // of standard output, as head(1) does: it has what it wanted
void warn(std::string_view text);   // to standard error, fitted, in place of the progress line where one is shown

/// From here on the first Ctrl-C, or a terminal that goes away, only sets a flag; the second ends the program as usual.
/// A reader of standard output that goes away ends nothing: what files are to hold goes on.
void watch_signals();
bool interrupted();

/// One line on standard error about what goes on, with the time left once that can be told; on terminals only.
class Progress {
   public:
    Progress(size_t steps, bool quiet);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }
    void begin(std::string_view what);  // the next step
    /// A step by its number, from 1, for a caller who can tell the time left better; below 0: nobody can yet.
    void at(size_t step, double seconds_left, std::string_view what);
    void clear();  // before something else is printed

   private:
    void show(const std::string& line);
    size_t steps_, done_ = 0;
    bool shown_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace vkgemm::tool
