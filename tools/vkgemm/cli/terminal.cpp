// SPDX-License-Identifier: MIT
#include "cli/terminal.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef _WIN32
#    include <io.h>
#else
#    include <fcntl.h>
#    include <sys/ioctl.h>
#    include <unistd.h>
#endif

#include "cli/text.h"

namespace vkgemm::tool {
namespace {

std::FILE* output = stdout;
std::FILE* errors = stderr;

bool is_terminal(std::FILE* file) {
#ifdef _WIN32
    return _isatty(_fileno(file)) != 0;
#else
    return fileno(file) >= 0 && isatty(fileno(file)) != 0;
#endif
}

/// Of standard error's terminal; page_width where it does not tell.
size_t terminal_columns() {
#ifndef _WIN32
    winsize size{};
    if (ioctl(fileno(errors), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#endif
    return page_width;
}

/// A terminal that only prints.
bool is_dumb() {
    const char* const kind = std::getenv("TERM");
    return kind && std::string_view(kind) == "dumb";
}

volatile std::sig_atomic_t stop = 0;
int stdout_error = 0;                            // errno of the first write that failed
volatile std::sig_atomic_t progress_stands = 0;  // on the last line of standard error
#ifndef _WIN32
volatile std::sig_atomic_t errors_number = STDERR_FILENO;  // the file descriptor of `errors`
#endif

void clear_line() {
    if (progress_stands) std::fputs("\r\x1b[K", errors);
    progress_stands = 0;
}

constexpr std::string_view stops_soon =
    "vkgemm: interrupted; it ends after this step, and keeps its results. Ctrl-C again ends it at once\n";

extern "C" void on_interrupt(int signal) {
    const int of_interrupted = errno;
    stop = 1;
#ifndef _WIN32
    // Only what a signal handler may call. A line of progress is left where it is.
    if (signal == SIGINT) {
        if (progress_stands) static_cast<void>(!write(errors_number, "\n", 1));
        static_cast<void>(!write(errors_number, stops_soon.data(), stops_soon.size()));
    }
    progress_stands = 0;
#endif
    std::signal(signal, SIG_DFL);
    errno = of_interrupted;
}

}  // namespace

void hold_streams() {
#ifndef _WIN32
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(stream, F_GETFD) == -1)  // open() takes the lowest number, so this one
            static_cast<void>(open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR));
#endif
}

void set_streams(std::FILE* out, std::FILE* err) {
    output = out;
    errors = err;
    std::clearerr(output);
    stdout_error = 0;
    progress_stands = 0;
#ifndef _WIN32
    errors_number = fileno(errors);
#endif
}

bool wants_color(ColorMode mode) {
    if (mode != ColorMode::automatic) return mode == ColorMode::always;
    return is_terminal(output) && !std::getenv("NO_COLOR") && !is_dumb();
}

bool stderr_is_terminal() { return is_terminal(errors); }

void print(std::string_view text) {
    errno = 0;
    const bool failed = std::fwrite(text.data(), 1, text.size(), output) != text.size() || std::fflush(output) != 0;
    if (failed && stdout_error == 0) stdout_error = errno;
}
bool output_failed() { return std::ferror(output) != 0; }
bool reader_left() { return stdout_error == EPIPE; }
std::string output_failure() { return stdout_error ? std::strerror(stdout_error) : "it does not take more"; }

void warn(std::string_view text) {
    clear_line();
    std::string shown(text);  // which may quote a binary file
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = '?';
    std::fputs(fitted(shown).c_str(), errors);
    std::fflush(errors);
}

void watch_signals() {
    stop = 0;
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
#ifndef _WIN32
    if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
    std::signal(SIGPIPE, SIG_IGN);
#endif
}
bool interrupted() { return stop != 0; }

Progress::Progress(size_t steps, bool quiet, double log_seconds)
    : steps_(steps),
      shown_(!quiet && stderr_is_terminal() && !is_dumb()),
      log_seconds_(quiet || shown_ ? 0 : log_seconds),
      next_log_(log_seconds_) {}

double Progress::passed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::begin(std::string_view what) {
    const size_t done = done_++;
    at(done_, done ? passed() / static_cast<double>(done) * static_cast<double>(steps_ - done) : -1, what);
}

void Progress::at(size_t step, double seconds_left, std::string_view what) {
    step_ = step;
    what_ = what;
    left_ = seconds_left;
    began_ = passed();
    phase("");
}

void Progress::phase(const std::string& text) {
    if (step_ == 0) return;
    const double left = left_ < 0 ? -1 : std::max(0.0, left_ - (passed() - began_));
    const std::string what = what_ + (text.empty() ? "" : ": " + text);
    if (!shown_) return log(progress_line(step_, steps_, left, what, page_width - 8));
    clear();
    show(progress_line(step_, steps_, left, what, terminal_columns()));
}

void Progress::log(const std::string& text) {
    if (!(log_seconds_ > 0) || passed() < next_log_) return;
    next_log_ = passed() + log_seconds_;
    warn("vkgemm: " + text);
}

void Progress::show(const std::string& line) {
    std::fputs(line.c_str(), errors);
    std::fflush(errors);
    progress_stands = 1;
}

void Progress::clear() {
    clear_line();
    std::fflush(errors);
}

}  // namespace vkgemm::tool
