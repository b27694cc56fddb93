// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/stopwatch.h"

namespace vkgemm::ggml {

Stopwatch::Stopwatch(const VkgemmContextInfo& info) : device_(info.device) {
    const auto ofInstance = [&](const char* name) { return info.getInstanceProcAddr(info.instance, name); };
    const auto find = reinterpret_cast<PFN_vkGetDeviceProcAddr>(ofInstance("vkGetDeviceProcAddr"));
    const auto getProperties =
        reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(ofInstance("vkGetPhysicalDeviceProperties"));
    if (!find || !getProperties) return;
    bool found = true;
    const auto get = [&]<class Function>(Function& to, const char* name) {
        to = reinterpret_cast<Function>(find(info.device, name));
        found = found && to;
    };
    PFN_vkCreateQueryPool createQueryPool = nullptr;
    get(createQueryPool, "vkCreateQueryPool");
    get(destroyQueryPool_, "vkDestroyQueryPool");
    get(createEvent_, "vkCreateEvent");
    get(destroyEvent_, "vkDestroyEvent");
    get(resetEvent_, "vkResetEvent");
    get(getEventStatus_, "vkGetEventStatus");
    get(getQueryPoolResults_, "vkGetQueryPoolResults");
    get(cmdResetQueryPool_, "vkCmdResetQueryPool");
    get(cmdWriteTimestamp_, "vkCmdWriteTimestamp");
    get(cmdSetEvent_, "vkCmdSetEvent");
    VkPhysicalDeviceProperties properties{};
    getProperties(info.physicalDevice, &properties);
    if (!found || !properties.limits.timestampComputeAndGraphics) return;
    microseconds_ = double(properties.limits.timestampPeriod) * 1e-3;
    const VkQueryPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = 0,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 2 * count,
                                        .pipelineStatistics = 0};
    works_ = createQueryPool(device_, &pool, nullptr, &pool_) == VK_SUCCESS;
}

Stopwatch::~Stopwatch() {
    for (VkEvent event : events_)
        if (event) destroyEvent_(device_, event, nullptr);
    if (pool_) destroyQueryPool_(device_, pool_, nullptr);
}

int32_t Stopwatch::take() {
    for (uint32_t i = 0; works_ && i < count; ++i) {
        if (isTaken_[i]) continue;
        const VkEventCreateInfo event = {VK_STRUCTURE_TYPE_EVENT_CREATE_INFO, nullptr, 0};
        const bool isReady = events_[i] ? resetEvent_(device_, events_[i]) == VK_SUCCESS
                                        : createEvent_(device_, &event, nullptr, &events_[i]) == VK_SUCCESS;
        if (!isReady) return -1;
        isTaken_[i] = true;
        return static_cast<int32_t>(i);
    }
    return -1;
}

void Stopwatch::stamp(VkCommandBuffer commands, int32_t timer, bool isEnd) const {
    const uint32_t first = 2 * static_cast<uint32_t>(timer);
    if (!isEnd) cmdResetQueryPool_(commands, pool_, first, 2);
    cmdWriteTimestamp_(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, first + (isEnd ? 1 : 0));
    if (isEnd) cmdSetEvent_(commands, events_[static_cast<size_t>(timer)], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
}

std::optional<double> Stopwatch::read(int32_t timer) {
    const auto i = static_cast<size_t>(timer);
    if (getEventStatus_(device_, events_[i]) != VK_EVENT_SET) return std::nullopt;
    std::array<uint64_t, 2> ticks{};
    const VkResult got = getQueryPoolResults_(device_, pool_, 2 * static_cast<uint32_t>(timer), 2, sizeof ticks,
                                              ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
    if (got != VK_SUCCESS) return std::nullopt;
    isTaken_[i] = false;
    return double(ticks[1] - ticks[0]) * microseconds_;
}

}  // namespace vkgemm::ggml
