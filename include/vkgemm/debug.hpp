// SPDX-License-Identifier: MIT
//
// debug.h for C++20: missing barriers, and runs as files. Included by vkgemm.hpp.
#ifndef VKGEMM_DEBUG_HPP
#define VKGEMM_DEBUG_HPP

#include <vkgemm/vkgemm.hpp>

namespace vkgemm {

/// VkgemmCommand: a run if `plan` is set, work of yours (`accesses`), or a barrier.
struct Command {
    const char* name = nullptr;
    const Plan* plan = nullptr;
    Run run{};
    std::span<const VkgemmRunAccess> accesses{};
    const VkDependencyInfo* barrier = nullptr;
};

namespace convert {

/// Commands of the C API, with the runs that they point to.
class Commands {
   public:
    explicit Commands(std::span<const Command> all) : runs_(all.size()) {
        for (size_t i = 0; i < all.size(); ++i) {
            const Command& x = all[i];
            runs_[i] = toC(x.run);
            commands_.push_back({.structSize = sizeof(VkgemmCommand),
                                 .accessCount = static_cast<uint32_t>(x.accesses.size()),
                                 .pNext = nullptr,
                                 .name = x.name,
                                 .plan = x.plan ? x.plan->handle() : nullptr,
                                 .run = x.plan ? &runs_[i] : nullptr,
                                 .accesses = x.accesses.data(),
                                 .barrier = x.barrier});
        }
    }
    const VkgemmCommand* data() const { return commands_.data(); }
    uint32_t size() const { return static_cast<uint32_t>(commands_.size()); }

   private:
    std::vector<VkgemmRun> runs_;
    std::vector<VkgemmCommand> commands_;
};

}  // namespace convert

/// vkgemmFindHazards; no element: no barrier is missing.
inline Result<std::vector<VkgemmHazard>> findHazards(std::span<const Command> commands) {
    const convert::Commands c(commands);
    std::vector<VkgemmHazard> all;
    uint32_t count = 0;
    VkgemmError error{};
    VkgemmResult code = vkgemmFindHazards(c.data(), c.size(), &count, nullptr, &error);
    if (code >= 0 && count > 0) {
        all.resize(count);
        code = vkgemmFindHazards(c.data(), c.size(), &count, all.data(), &error);
    }
    if (code < 0) return convert::toStatus(code, error);
    return all;
}

/// vkgemmBarrierBetween: one barrier for all memory.
inline Result<VkMemoryBarrier2> barrierBetween(std::span<const Command> before, std::span<const Command> after) {
    const convert::Commands first(before), second(after);
    VkMemoryBarrier2 barrier{};
    VkgemmError error{};
    const VkgemmResult code = vkgemmBarrierBetween(first.data(), first.size(), second.data(), second.size(), &barrier,
                                                   nullptr, nullptr, &error);
    if (code < 0) return convert::toStatus(code, error);
    return barrier;
}

/// vkgemmBarrierBetween: one barrier for each range of a buffer.
inline Result<std::vector<VkBufferMemoryBarrier2>> bufferBarriersBetween(std::span<const Command> before,
                                                                         std::span<const Command> after) {
    const convert::Commands first(before), second(after);
    std::vector<VkBufferMemoryBarrier2> all;
    uint32_t count = 0;
    VkgemmError error{};
    const auto ask = [&](VkBufferMemoryBarrier2* barriers) {
        return vkgemmBarrierBetween(first.data(), first.size(), second.data(), second.size(), nullptr, &count, barriers,
                                    &error);
    };
    VkgemmResult code = ask(nullptr);
    if (code >= 0 && count > 0) {
        all.resize(count);
        code = ask(all.data());
    }
    if (code < 0) return convert::toStatus(code, error);
    return all;
}

/// vkgemmDescribeRun; `data` may be null.
inline Result<std::string> describeRun(const Plan& plan, const Run& run, const VkgemmRunData* data = nullptr) {
    const VkgemmRun c = convert::toC(run);
    VkgemmError error{};
    return convert::text(
        [&](char* s, size_t* size) { return vkgemmDescribeRun(plan.handle(), &c, data, s, size, &error); }, error);
}

}  // namespace vkgemm
#endif
