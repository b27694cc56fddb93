// SPDX-License-Identifier: MIT
#include "blas/process.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>

namespace vkgemm::blas {
namespace {

constexpr const char* config_variable = "VKGEMM_BLAS_CONFIG";

bool is_set(const char* value) { return value && *value; }

Settings read_all() {
    std::vector<std::string> complaints;
    std::map<std::string, std::string> config;
    if (const char* file = std::getenv(config_variable); is_set(file)) {
        std::ifstream in(file);
        config = read_config(std::string(std::istreambuf_iterator<char>(in), {}), complaints);
        if (!in.is_open()) complaints.push_back(std::string("VKGEMM_BLAS_CONFIG=") + file + " cannot be read");
    }
    const auto variable = [&](const char* name) -> const char* {
        if (const char* value = std::getenv(name); is_set(value)) return value;
        const auto found = config.find(name);
        return found == config.end() ? nullptr : found->second.c_str();
    };
    Settings read = read_settings(variable, complaints);
    const char* const native = std::getenv("VKGEMM_NATIVE");
    read.native = !native || std::string_view(native) != "0";
    for (const std::string& text : complaints) complain(text);
    return read;
}

/// Without memory for the settings: the CPU BLAS computes everything, with integers of the width that was set.
Settings least_settings() noexcept {
    if (is_set(std::getenv(config_variable))) {  // it may state the width
        complain("no memory to read the file of VKGEMM_BLAS_CONFIG");
        std::abort();
    }
    complain("no memory to read the settings; the CPU BLAS computes everything");
    Settings least;
    least.mode = Mode::never;
    const char* const wide = std::getenv("VKGEMM_BLAS_ILP64");
    least.ilp64 = wide && std::string_view(wide) == "1";
    return least;
}

Process* create_process() noexcept {
    alignas(Process) static std::byte memory[sizeof(Process)];
    auto* const p = new (memory) Process;
    try {
        p->settings = read_all();
        p->next_file = p->settings.next_library.c_str();
    } catch (...) {
        p->settings = least_settings();
        if (const char* file = std::getenv("VKGEMM_BLAS_CPU")) p->next_file = file;
    }
    if (p->settings.log != LogLevel::failures) std::atexit(print_summary);
    return p;
}

}  // namespace

Process& process() {
    static Process& the = *create_process();
    return the;
}

}  // namespace vkgemm::blas
