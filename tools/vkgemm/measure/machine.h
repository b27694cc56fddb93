// SPDX-License-Identifier: MIT
// What this machine can still give to the process: memory, and processors that nobody else uses.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vkgemm::tool {

/// Memory that a process may still take, and what limits it. Nothing is known: UINT64_MAX.
struct MemoryLeft {
    uint64_t bytes = std::numeric_limits<uint64_t>::max();
    std::string by;  // "the machine has so much left"
};

/// What memory_left() decides by; a text is "" if the system has none.
struct MemoryTexts {
    std::string meminfo;  // /proc/meminfo
    struct Group {
        std::string max, current, stat;  // of a control group: its limit, its use, memory.stat
    };
    std::vector<Group> groups{};  // the process's own and those above it
    std::string statm{};          // /proc/self/statm
    uint64_t page_bytes = 4096;
    uint64_t address_space = std::numeric_limits<uint64_t>::max();  // RLIMIT_AS
};
MemoryLeft memory_left(const MemoryTexts& texts);  // pure
MemoryLeft memory_left();

/// Seconds that all processors of the machine were at work and idle, of /proc/stat with `ticks` a second.
struct ProcessorTime {
    double busy = 0, idle = 0;
};
std::optional<ProcessorTime> processor_time(std::string_view stat, double ticks);  // pure

/// Measures how much of the processors other processes use.
class OthersLoad {
   public:
    OthersLoad();
    /// The share of all processors that others used since this object was made: 0.5 for half of them. Below 0: unknown.
    double share() const;

   private:
    std::optional<ProcessorTime> all_;
    double own_ = 0;
};

}  // namespace vkgemm::tool
