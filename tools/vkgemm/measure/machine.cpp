// SPDX-License-Identifier: MIT
#include "measure/machine.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#ifdef _WIN32
#    include <windows.h>
#else
#    include <sys/resource.h>
#    include <unistd.h>
#endif

#include "vkgemm/text.hpp"

namespace vkgemm::tool {
namespace {

/// The number after `name` in lines "name 123"; nothing if there is no such line.
std::optional<uint64_t> number_after(std::string_view text, std::string_view name) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (!line.starts_with(name)) continue;
        line = trimmed(line.substr(name.size()));
        return readNumber<uint64_t>(line.substr(0, line.find(' ')));
    }
    return std::nullopt;
}

/// The number that is all of a text but its line end; nothing for "max".
std::optional<uint64_t> number_in(std::string_view text) {
    return readNumber<uint64_t>(trimmed(text.substr(0, text.find('\n'))));
}

uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

#ifndef _WIN32
std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The path of the process's control group, where `head` begins its line in /proc/self/cgroup; "" if there is none.
std::string group_path(const std::string& groups, const std::string& head) {
    const size_t at = groups.find(head + "/");
    if (at == std::string::npos) return "";
    const size_t begin = at + head.size();
    return groups.substr(begin, groups.find('\n', begin) - begin);
}

/// The process's control groups and those above them. In a container, those outside cannot be read.
std::vector<MemoryTexts::Group> control_groups() {
    std::vector<MemoryTexts::Group> all;
    const std::string own = text_of("/proc/self/cgroup");
    const auto add = [&](const std::string& root, std::string path, const char* max, const char* current) {
        while (!path.empty()) {
            const std::string folder = root + path + "/memory.";
            all.push_back({text_of(folder + max), text_of(folder + current), text_of(folder + "stat")});
            path.resize(path.size() > 1 ? std::max<size_t>(path.rfind('/'), 1) : 0);
        }
    };
    add("/sys/fs/cgroup", group_path(own, "0::"), "max", "current");
    add("/sys/fs/cgroup/memory", group_path(own, ":memory:"), "limit_in_bytes", "usage_in_bytes");
    return all;
}
#endif

}  // namespace

MemoryLeft memory_left(const MemoryTexts& texts) {
    MemoryLeft left;
    const auto limit = [&](uint64_t bytes, const char* by) {
        if (bytes < left.bytes) left = {bytes, by};
    };
    if (const auto kib = number_after(texts.meminfo, "MemAvailable:")) limit(*kib * 1024, "is free on this machine");
    for (const MemoryTexts::Group& group : texts.groups) {
        const auto most = number_in(group.max), used = number_in(group.current);
        if (!most || !used) continue;                                         // "max"
        const auto cache = number_after(group.stat, "total_inactive_file ");  // of version 1; it makes room
        const uint64_t room = cache ? *cache : number_after(group.stat, "inactive_file ").value_or(0);
        limit(less(*most, less(*used, room)), "is left in its control group");
    }
    if (texts.address_space != std::numeric_limits<uint64_t>::max()) {
        const auto pages = readNumber<uint64_t>(std::string_view(texts.statm).substr(0, texts.statm.find(' ')));
        limit(less(texts.address_space, pages.value_or(0) * texts.page_bytes),
              "is left of its address space (ulimit -v)");
    }
    return left;
}

MemoryLeft memory_left() {
#ifdef _WIN32
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    if (!GlobalMemoryStatusEx(&status)) return {};
    return {std::min<uint64_t>(status.ullAvailPageFile, status.ullAvailVirtual), "is free on this machine"};
#else
    MemoryTexts texts{
        .meminfo = text_of("/proc/meminfo"), .groups = control_groups(), .statm = text_of("/proc/self/statm")};
    texts.page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    rlimit most{};
    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY) texts.address_space = most.rlim_cur;
    return memory_left(texts);
#endif
}

std::optional<ProcessorTime> processor_time(std::string_view stat, double ticks) {
    if (!stat.starts_with("cpu ") || !(ticks > 0)) return std::nullopt;
    std::istringstream line{std::string(stat.substr(4, stat.find('\n') - 4))};
    ProcessorTime time;
    double value = 0;
    for (int column = 0; column < 8 && line >> value; ++column)  // user nice system idle iowait irq softirq steal
        (column == 3 || column == 4 ? time.idle : time.busy) += value / ticks;
    if (time.busy + time.idle <= 0) return std::nullopt;
    return time;
}

namespace {

std::optional<ProcessorTime> now_of_all() {
#ifdef _WIN32
    return std::nullopt;
#else
    return processor_time(text_of("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)));
#endif
}

double now_of_own() {
#ifdef _WIN32
    return 0;
#else
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
#endif
}

}  // namespace

OthersLoad::OthersLoad() : all_(now_of_all()), own_(now_of_own()) {}

double OthersLoad::share() const {
    const auto now = now_of_all();
    if (!all_ || !now) return -1;
    const double busy = now->busy - all_->busy, whole = busy + now->idle - all_->idle;
    if (!(whole > 0.2)) return -1;  // a few ticks say nothing
    return std::clamp((busy - (now_of_own() - own_)) / whole, 0.0, 1.0);
}

}  // namespace vkgemm::tool
