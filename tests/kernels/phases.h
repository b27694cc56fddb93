// SPDX-License-Identifier: MIT
// Where the time of random problems goes.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace vkgemm::test {

enum class Phase : uint8_t { other, draw, plan, compile, fill, upload, record, wait, reference, compare };
inline constexpr std::array<const char*, 10> phase_names = {"other",  "draw",   "plan", "compile",   "fill",
                                                            "upload", "record", "wait", "reference", "compare"};
using PhaseSeconds = std::array<double, phase_names.size()>;

/// While one of them exists, the time of its thread counts for its phase; within another one, for the inner one alone.
class Timed {
   public:
    explicit Timed(Phase phase) : before_(own().phase) { turn_to(phase); }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    ~Timed() { turn_to(before_); }

    /// Of this thread since it called this function or made the first of them.
    static PhaseSeconds take() {
        turn_to(own().phase);
        return std::exchange(own().seconds, {});
    }

   private:
    using Clock = std::chrono::steady_clock;
    struct Own {
        Phase phase = Phase::other;
        Clock::time_point since = Clock::now();
        PhaseSeconds seconds{};
    };
    static Own& own() {
        static thread_local Own o;
        return o;
    }
    static void turn_to(Phase phase) {
        Own& o = own();
        const Clock::time_point now = Clock::now();
        o.seconds[static_cast<size_t>(o.phase)] += std::chrono::duration<double>(now - o.since).count();
        o.since = now;
        o.phase = phase;
    }

    Phase before_;
};

}  // namespace vkgemm::test
