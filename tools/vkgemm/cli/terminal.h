// SPDX-License-Identifier: MIT
// The terminal, and the wish to stop.
#pragma once
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace vkgemm::tool {

enum class ColorMode { automatic, always, never };

/// Opens the standard streams that the caller closed, so that none of them becomes the next file that is opened. Call
/// it first. Writing to a standard output that was closed fails, as on a full disk.
void hold_streams();

/// Sends what print() and warn() write to these files, which the caller keeps open, and forgets earlier failures.
void set_streams(std::FILE* out, std::FILE* err);

/// Whether to use colours on standard output. automatic: if it is a terminal that is not dumb, and NO_COLOR is not set.
bool wants_color(ColorMode mode);
bool stderr_is_terminal();

void print(std::string_view text);  // to standard output, at once
bool output_failed();               // standard output did not take all that was printed
bool reader_left();                 // because the reader closed its end, as head(1) does
std::string output_failure();       // the system's reason: "No space left on device"
void warn(std::string_view text);   // to standard error, wrapped; replaces the progress line if one is shown

/// From here on, the first Ctrl-C or hang-up only makes interrupted() true; the second ends the program. A closed pipe
/// on standard output ends nothing, so that output files are still written.
void watch_signals();
bool interrupted();

/// One line of progress on standard error, with the time left as soon as it is known. If standard error is no terminal,
/// nothing is written, or a line every `log_seconds`, if that is above 0.
class Progress {
   public:
    Progress(size_t steps, bool quiet, double log_seconds = 0);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }
    void begin(std::string_view what);  // the next step
    /// A step by its number, from 1, for a caller who can tell the time left better; below 0: nobody can yet.
    void at(size_t step, double seconds_left, std::string_view what);
    void phase(const std::string& text);  // what of the step is done now
    void clear();                         // before something else is printed

   private:
    double passed() const;
    void show(const std::string& line);
    void log(const std::string& text);
    size_t steps_, done_ = 0;
    bool shown_;
    double log_seconds_, next_log_;
    size_t step_ = 0;   // the one that is shown
    std::string what_;  // it is
    double left_ = -1;  // seconds, when it began
    double began_ = 0;  // seconds since start_
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace vkgemm::tool
