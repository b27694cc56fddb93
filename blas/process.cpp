// SPDX-License-Identifier: MIT
#include "blas/process.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace vkgemm::blas {
namespace {

Process* create_process() {
    auto* p = new Process;
    std::vector<std::string> complaints;
    std::map<std::string, std::string> config;
    if (const char* file = std::getenv("VKGEMM_BLAS_CONFIG"); file && *file) {
        std::ifstream in(file);
        config = read_config(std::string(std::istreambuf_iterator<char>(in), {}), complaints);
        if (!in.is_open()) complaints.push_back(std::string("VKGEMM_BLAS_CONFIG=") + file + " cannot be read");
    }
    const auto variable = [&](const char* name) -> const char* {
        if (const char* value = std::getenv(name); value && *value) return value;
        const auto found = config.find(name);
        return found == config.end() ? nullptr : found->second.c_str();
    };
    p->settings = read_settings(variable, complaints);
    const char* const native = std::getenv("VKGEMM_NATIVE");
    p->settings.native = !native || std::string_view(native) != "0";
    for (const std::string& text : complaints) complain(text);
    if (p->settings.log != LogLevel::failures) std::atexit(print_summary);
    return p;
}

}  // namespace

Process& process() {
    static Process& the = *create_process();
    return the;
}

}  // namespace vkgemm::blas
