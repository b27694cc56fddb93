// SPDX-License-Identifier: MIT
// Submitting, waiting, timing.
#include <algorithm>
#include <cstdio>

#include "host/call_watch.h"
#include "host/state.h"

namespace vkgemm::host {
namespace {

using detail::CallWatch;
using detail::DeviceState;
using detail::failed;

/// The caller's traps and flags are in force while this exists.
class Released {
   public:
    explicit Released(HoldFloatExceptions& held) : held_(held) { held_.release(); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;
    ~Released() { held_.hold(); }

   private:
    HoldFloatExceptions& held_;
};

/// `record`, which is the caller's code, with the caller's traps and flags.
template <class... Arguments>
std::function<Status(Arguments...)> as_caller(HoldFloatExceptions& held,
                                              const std::function<Status(Arguments...)>& record) {
    return [&](Arguments... arguments) {
        const Released released(held);
        return record(arguments...);
    };
}

/// One submission. Its objects are destroyed with it, except those that the device still uses.
class Submission {
   public:
    explicit Submission(DeviceState& device) : device_(device) {}
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;
    ~Submission() {
        for (const detail::SubmissionObjects& objects : owned_) device_.destroy(objects);
    }

    VkCommandBuffer commands() const { return commands_; }
    VkQueryPool queries() const { return objects_.queries; }
    /// `timeout`: for earlier submissions that did not end in time.
    Status begin(uint32_t query_count, std::chrono::nanoseconds timeout);
    Status end_and_wait(std::chrono::nanoseconds timeout);

   private:
    DeviceState& device_;
    std::list<detail::SubmissionObjects> owned_{1};  // moves to DeviceState::late without an allocation
    detail::SubmissionObjects& objects_ = owned_.front();
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

Status too_late(std::chrono::nanoseconds timeout) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g s", std::chrono::duration<double>(timeout).count());
    return {VKGEMM_ERROR_DEVICE_LOST, VK_TIMEOUT,
            std::string("the device did not finish within ") + seconds +
                " and still works; the next submission waits for it first"};
}

Status Submission::begin(uint32_t query_count, std::chrono::nanoseconds timeout) {
    if (Status s = device_.finish_late(timeout); !s) return s;
    const VolkDeviceTable& vk = device_.vk;
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    pool.queueFamilyIndex = device_.family;
    if (const VkResult r = vk.vkCreateCommandPool(device_.handle, &pool, nullptr, &objects_.pool); r != VK_SUCCESS)
        return failed(r, "vkCreateCommandPool");
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = objects_.pool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    if (const VkResult r = vk.vkAllocateCommandBuffers(device_.handle, &allocate, &commands_); r != VK_SUCCESS)
        return failed(r, "vkAllocateCommandBuffers");
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    if (const VkResult r = vk.vkCreateFence(device_.handle, &fence, nullptr, &objects_.fence); r != VK_SUCCESS)
        return failed(r, "vkCreateFence");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    if (const VkResult r = vk.vkBeginCommandBuffer(commands_, &begin); r != VK_SUCCESS)
        return failed(r, "vkBeginCommandBuffer");
    if (query_count == 0) return {};
    VkQueryPoolCreateInfo queries{};
    queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = query_count;
    if (const VkResult r = vk.vkCreateQueryPool(device_.handle, &queries, nullptr, &objects_.queries); r != VK_SUCCESS)
        return failed(r, "vkCreateQueryPool");
    vk.vkCmdResetQueryPool(commands_, objects_.queries, 0, query_count);
    return {};
}

Status Submission::end_and_wait(std::chrono::nanoseconds timeout) {
    const VolkDeviceTable& vk = device_.vk;
    VkMemoryBarrier to_host{};
    to_host.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    to_host.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vk.vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host,
                            0, nullptr, 0, nullptr);
    if (const VkResult r = vk.vkEndCommandBuffer(commands_); r != VK_SUCCESS) return failed(r, "vkEndCommandBuffer");
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands_;
    {
        const std::lock_guard lock(device_.queue_mutex);
        if (const VkResult r = vk.vkQueueSubmit(device_.queue, 1, &submit, objects_.fence); r != VK_SUCCESS)
            return failed(r, "vkQueueSubmit");
    }
    const VkResult waited =
        vk.vkWaitForFences(device_.handle, 1, &objects_.fence, VK_TRUE, static_cast<uint64_t>(timeout.count()));
    if (waited == VK_SUCCESS) return {};
    if (waited != VK_ERROR_DEVICE_LOST) {  // the device may still work
        const std::lock_guard lock(device_.late_mutex);
        device_.late.splice(device_.late.end(), owned_);
    }
    return waited == VK_TIMEOUT ? too_late(timeout) : failed(waited, "vkWaitForFences");
}

void full_barrier(const VolkDeviceTable& vk, VkCommandBuffer commands) {
    VkMemoryBarrier all{};
    all.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    all.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    all.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                            &all, 0, nullptr, 0, nullptr);
}

Status run_once(DeviceState& device, const Record& record, std::chrono::nanoseconds timeout) {
    Submission submission(device);
    if (Status s = submission.begin(0, timeout); !s) return s;
    CallWatch watch(device);
    if (Status s = record(submission.commands()); !s) return s;
    watch.recorded_all();
    if (Status s = submission.end_and_wait(timeout); !s) return s;
    watch.finished();
    return {};
}

Result<Times> time_on_host(DeviceState& device, uint32_t runs, const RecordRun& record,
                           std::chrono::nanoseconds timeout) {
    Times times{.clock = Clock::host};
    for (uint32_t run = 0; run < runs; ++run) {
        Submission submission(device);
        if (Status s = submission.begin(0, timeout); !s) return s;
        if (Status s = record(submission.commands(), run); !s) return s;
        const auto start = std::chrono::steady_clock::now();
        if (Status s = submission.end_and_wait(timeout); !s) return s;
        times.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return times;
}

uint64_t timestamp_mask(const DeviceState& device) {
    return device.timestamp_bits >= 64 ? UINT64_MAX : (uint64_t{1} << device.timestamp_bits) - 1;
}

Result<Times> time_on_device(DeviceState& device, uint32_t runs, const RecordRun& record,
                             std::chrono::nanoseconds timeout) {
    Submission submission(device);
    if (Status s = submission.begin(2 * runs, timeout); !s) return s;
    const VolkDeviceTable& vk = device.vk;
    for (uint32_t run = 0; run < runs; ++run) {
        full_barrier(vk, submission.commands());
        vk.vkCmdWriteTimestamp(submission.commands(), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, submission.queries(),
                               2 * run);
        if (Status s = record(submission.commands(), run); !s) return s;
        vk.vkCmdWriteTimestamp(submission.commands(), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, submission.queries(),
                               2 * run + 1);
    }
    if (Status s = submission.end_and_wait(timeout); !s) return s;
    std::vector<uint64_t> ticks(size_t{2} * runs);
    const VkResult got =
        vk.vkGetQueryPoolResults(device.handle, submission.queries(), 0, 2 * runs, ticks.size() * sizeof ticks[0],
                                 ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (got != VK_SUCCESS) return failed(got, "vkGetQueryPoolResults");
    const uint64_t mask = timestamp_mask(device);
    Times times{.clock = Clock::device};
    for (uint32_t run = 0; run < runs; ++run) {
        const uint64_t* at = &ticks[size_t{2} * run];
        const uint64_t passed = (at[1] - at[0]) & mask;  // right also where the counter wrapped around
        times.seconds.push_back(static_cast<double>(passed) * device.seconds_per_tick);
    }
    return times;
}

// The device's clock where it has one; else the host's, which also sees the submission.
Result<double> time_together(DeviceState& device, uint32_t runs, const RecordRun& record, bool ticks,
                             std::chrono::nanoseconds timeout) {
    Submission submission(device);
    if (Status s = submission.begin(ticks ? 2 : 0, timeout); !s) return s;
    const VolkDeviceTable& vk = device.vk;
    const auto mark = [&](uint32_t query) {
        full_barrier(vk, submission.commands());
        if (ticks)
            vk.vkCmdWriteTimestamp(submission.commands(), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, submission.queries(),
                                   query);
    };
    mark(0);
    for (uint32_t run = 0; run < runs; ++run)
        if (Status s = record(submission.commands(), run); !s) return s;
    mark(1);
    const auto start = std::chrono::steady_clock::now();
    if (Status s = submission.end_and_wait(timeout); !s) return s;
    if (!ticks) return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    uint64_t at[2] = {};
    const VkResult got = vk.vkGetQueryPoolResults(device.handle, submission.queries(), 0, 2, sizeof at, at,
                                                  sizeof at[0], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (got != VK_SUCCESS) return failed(got, "vkGetQueryPoolResults");
    return static_cast<double>((at[1] - at[0]) & timestamp_mask(device)) * device.seconds_per_tick;
}

}  // namespace

void detail::DeviceState::destroy(const detail::SubmissionObjects& objects) const {
    if (objects.queries) vk.vkDestroyQueryPool(handle, objects.queries, nullptr);
    if (objects.fence) vk.vkDestroyFence(handle, objects.fence, nullptr);
    if (objects.pool) vk.vkDestroyCommandPool(handle, objects.pool, nullptr);
}

bool detail::DeviceState::has_late() {
    const std::lock_guard lock(late_mutex);
    return !late.empty();
}

Status detail::DeviceState::finish_late(std::chrono::nanoseconds timeout) {
    const std::lock_guard lock(late_mutex);
    for (; !late.empty(); late.pop_back()) {
        const VkResult waited =
            vk.vkWaitForFences(handle, 1, &late.back().fence, VK_TRUE, static_cast<uint64_t>(timeout.count()));
        if (waited == VK_TIMEOUT) return too_late(timeout);
        if (waited != VK_SUCCESS) return failed(waited, "vkWaitForFences");
        destroy(late.back());
    }
    return {};
}

Status detail::submit_and_wait(DeviceState& device, const Record& record, std::chrono::nanoseconds timeout) {
    return run_once(device, record, timeout);
}

Status Device::submit(const Record& record, std::chrono::nanoseconds timeout) const {
    HoldFloatExceptions held;
    return run_once(*state_, as_caller(held, record), timeout);
}

Result<Times> Device::time(uint32_t runs, const RecordRun& record, std::chrono::nanoseconds timeout) const {
    if (runs == 0) return Times{};
    constexpr uint32_t most = UINT32_MAX / 2;  // two timestamps each
    if (runs > most)
        return Status{
            VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
            std::to_string(runs) + " runs cannot be timed in one submission; the limit is " + std::to_string(most)};
    HoldFloatExceptions held;
    const RecordRun own = as_caller(held, record);
    const bool ticks = state_->timestamp_bits > 0 && state_->seconds_per_tick > 0;
    return ticks ? time_on_device(*state_, runs, own, timeout) : time_on_host(*state_, runs, own, timeout);
}

Result<double> Device::timeTogether(uint32_t runs, const RecordRun& record, std::chrono::nanoseconds timeout) const {
    if (runs == 0) return 0.0;
    HoldFloatExceptions held;
    const bool ticks = state_->timestamp_bits > 0 && state_->seconds_per_tick > 0;
    return time_together(*state_, runs, as_caller(held, record), ticks, timeout);
}

}  // namespace vkgemm::host
