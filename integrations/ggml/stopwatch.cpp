// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/stopwatch.h"

namespace vkgemm::ggml {

Stopwatch::Stopwatch(const VkgemmContextInfo& info) : device_(info.device) {
    const auto of_instance = [&](const char* name) { return info.getInstanceProcAddr(info.instance, name); };
    const auto find = reinterpret_cast<PFN_vkGetDeviceProcAddr>(of_instance("vkGetDeviceProcAddr"));
    const auto getProperties =
        reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(of_instance("vkGetPhysicalDeviceProperties"));
    if (!find || !getProperties) return;
    bool found = true;
    const auto get = [&]<class Function>(Function& to, const char* name) {
        to = reinterpret_cast<Function>(find(info.device, name));
        found = found && to;
    };
    PFN_vkCreateQueryPool createQueryPool = nullptr;
    get(createQueryPool, "vkCreateQueryPool");
    get(destroy_query_pool_, "vkDestroyQueryPool");
    get(create_event_, "vkCreateEvent");
    get(destroy_event_, "vkDestroyEvent");
    get(reset_event_, "vkResetEvent");
    get(get_event_status_, "vkGetEventStatus");
    get(get_query_pool_results_, "vkGetQueryPoolResults");
    get(cmd_reset_query_pool_, "vkCmdResetQueryPool");
    get(cmd_write_timestamp_, "vkCmdWriteTimestamp");
    get(cmd_set_event_, "vkCmdSetEvent");
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
        if (event) destroy_event_(device_, event, nullptr);
    if (pool_) destroy_query_pool_(device_, pool_, nullptr);
}

int32_t Stopwatch::take() {
    for (uint32_t i = 0; works_ && i < count; ++i) {
        if (is_taken_[i]) continue;
        const VkEventCreateInfo event = {VK_STRUCTURE_TYPE_EVENT_CREATE_INFO, nullptr, 0};
        const bool is_ready = events_[i] ? reset_event_(device_, events_[i]) == VK_SUCCESS
                                         : create_event_(device_, &event, nullptr, &events_[i]) == VK_SUCCESS;
        if (!is_ready) return -1;
        is_taken_[i] = true;
        return static_cast<int32_t>(i);
    }
    return -1;
}

void Stopwatch::stamp(VkCommandBuffer commands, int32_t timer, bool is_end) const {
    const uint32_t first = 2 * static_cast<uint32_t>(timer);
    if (!is_end) cmd_reset_query_pool_(commands, pool_, first, 2);
    cmd_write_timestamp_(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, first + (is_end ? 1 : 0));
    if (is_end) cmd_set_event_(commands, events_[static_cast<size_t>(timer)], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
}

std::optional<double> Stopwatch::read(int32_t timer) {
    const auto i = static_cast<size_t>(timer);
    if (get_event_status_(device_, events_[i]) != VK_EVENT_SET) return std::nullopt;
    std::array<uint64_t, 2> ticks{};
    const VkResult got = get_query_pool_results_(device_, pool_, 2 * static_cast<uint32_t>(timer), 2, sizeof ticks,
                                                 ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
    if (got != VK_SUCCESS) return std::nullopt;
    is_taken_[i] = false;
    return double(ticks[1] - ticks[0]) * microseconds_;
}

}  // namespace vkgemm::ggml
