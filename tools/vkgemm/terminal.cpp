// SPDX-License-Identifier: MIT
#include "tools/vkgemm/terminal.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#ifdef _WIN32
#    include <io.h>
#else
#    include <unistd.h>
#endif

#include "tools/vkgemm/text.h"

namespace vkgemm::tool {
namespace {

bool is_terminal(FILE* file) {
#ifdef _WIN32
    return _isatty(_fileno(file)) != 0;
#else
    return isatty(fileno(file)) != 0;
#endif
}

volatile std::sig_atomic_t stop = 0;
bool progress_stands = false;  // on the last line of standard error

void clear_line() {
    if (progress_stands) std::fputs("\r\x1b[K", stderr);
    progress_stands = false;
}

extern "C" void on_interrupt(int signal) {
    stop = 1;
    std::signal(signal, SIG_DFL);
}

}  // namespace

bool wants_color(ColorMode mode) {
    if (mode != ColorMode::automatic) return mode == ColorMode::always;
    return is_terminal(stdout) && !std::getenv("NO_COLOR");
}

bool stderr_is_terminal() { return is_terminal(stderr); }

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void warn(std::string_view line) {
    clear_line();
    std::fputs((std::string(line) + "\n").c_str(), stderr);
    std::fflush(stderr);
}

void watch_interrupt() { std::signal(SIGINT, on_interrupt); }
bool interrupted() { return stop != 0; }

Progress::Progress(size_t steps, bool quiet) : steps_(steps), shown_(!quiet && stderr_is_terminal()) {}

void Progress::begin(std::string_view what) {
    if (!shown_) return;
    clear();
    std::string line = "[" + std::to_string(done_ + 1) + "/" + std::to_string(steps_) + "] " + std::string(what);
    if (done_ > 0) {
        const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        const double left = passed / static_cast<double>(done_) * static_cast<double>(steps_ - done_);
        line += ", about " + std::to_string(static_cast<int>(left + 0.5)) + " s left";
    }
    show(line);
    ++done_;
}

void Progress::at(size_t step, double seconds_left, std::string_view what) {
    if (!shown_) return;
    clear();
    show("[" + std::to_string(step) + "/" + std::to_string(steps_) + ", about " +
         std::to_string(static_cast<int>(seconds_left + 0.5)) + " s left] " + std::string(what));
}

void Progress::show(const std::string& line) {
    std::fputs(line.substr(0, page_width - 1).c_str(), stderr);
    std::fflush(stderr);
    progress_stands = true;
}

void Progress::clear() {
    clear_line();
    std::fflush(stderr);
}

}  // namespace vkgemm::tool
