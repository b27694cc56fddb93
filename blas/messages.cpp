// SPDX-License-Identifier: MIT
// What is printed.
#include <cstdio>

#include "blas/process.h"

namespace vkgemm::blas {
namespace {

std::string text_for_summary(const Rates& r) {
    return std::to_string(r.operations * 1e-9) + " GFLOP/s, " + std::to_string(r.up * 1e-9) + " GB/s up, " +
           std::to_string(r.down * 1e-9) + " GB/s down, " + std::to_string(r.latency * 1e6) + " us a call";
}

}  // namespace

void complain(const char* text) noexcept {
    std::fprintf(stderr, "vkgemm_blas: %s\n", text);  // in one piece, also from several threads
}

void log_call(Routine type, const char* routine, const char* how, int64_t m, int64_t n, int64_t k, bool on_device) {
    char line[120];
    std::snprintf(line, sizeof line, "%c%s%s %lldx%lldx%lld %s", routine_names[static_cast<size_t>(type)][0], routine,
                  how, static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k),
                  on_device ? "on the device" : "by the CPU BLAS");
    complain(line);
}

void log_spent(const Spent& s, double seconds) {
    char line[320];
    const auto ms = [](double x) { return x * 1e3; };
    const auto megabytes = [](uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; };
    const double other = seconds - s.make - s.pack - s.submit - s.wait - s.unpack;
    std::snprintf(line, sizeof line,
                  "%.3f ms: make %.3f, pack %.3f (%.1f MB), submit %.3f, wait %.3f, unpack %.3f (%.1f MB), other %.3f; "
                  "%llu products computed for %.3f ms of %.3f",
                  ms(seconds), ms(s.make), ms(s.pack), megabytes(s.uploaded), ms(s.submit), ms(s.wait), ms(s.unpack),
                  megabytes(s.downloaded), ms(other), static_cast<unsigned long long>(s.products), ms(s.computing),
                  ms(s.span));
    complain(line);
}

void print_summary() {
    Process& state = process();
    const std::unique_lock lock(state.text_mutex, std::try_to_lock);
    const uint64_t device = state.counts.device_calls, next = state.counts.next_calls,
                   failed = state.counts.failed_tiles;
    const auto name = [](const std::string& s) { return s.empty() ? std::string("none") : s; };
    complain(std::to_string(device + next) + " calls: " + std::to_string(device) + " on the device (" +
             name(state.device) + "), " + std::to_string(next) + " by the CPU BLAS (" + name(state.next_library) +
             "); " + std::to_string(failed) + " tiles fell back");
    const std::unique_lock engines(state.engine_mutex, std::try_to_lock);
    if (engines && state.engines.size() > 1) {
        std::string line;
        for (const Engine* e : state.engines)
            line +=
                (line.empty() ? "" : ", ") + std::to_string(e->products()) + " products of tiles on " + e->info().name;
        complain(line);
    }
    if (engines && !state.engines.empty()) {
        uint64_t up = 0, down = 0, from_int8 = 0;
        for (const Engine* e : state.engines) {
            from_int8 += e->from_int8();
            up += e->moved_d().up;
            down += e->moved_d().down;
        }
        complain("of C " + std::to_string(up) + " bytes were sent to the device, and " + std::to_string(down) +
                 " came back");
        if (from_int8 > 0)
            complain(std::to_string(from_int8) +
                     " products of f64 were computed from products of int8 (docs/blas.md; VKGEMM_BLAS_ACCURACY=exact "
                     "forbids it)");
    }
    if (const uint64_t read = state.counts.broadcasts; read > 0)
        complain(std::to_string(read) + " matrices of BLACS were read from the memory of other processes");
    for (const auto& [type, measured] : {std::pair{"f32", &state.measured_f32}, std::pair{"f64", &state.measured_f64}})
        if (measured->done)
            complain(std::string(type) + " of the device" + (measured->kept ? ", kept: " : ": ") +
                     text_for_summary(measured->rates));
    for (size_t i = 0; i < routine_count; ++i)
        if (const double rate = state.estimates.next_rate(static_cast<Routine>(i)); rate > 0)
            complain(std::string(routine_names[i]) + " of the CPU BLAS: " + std::to_string(rate * 1e-9) + " GFLOP/s");
}

}  // namespace vkgemm::blas
