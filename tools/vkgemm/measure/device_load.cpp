// SPDX-License-Identifier: MIT
#include "measure/device_load.h"

#include "measure/stats.h"

namespace vkgemm::tool {
namespace {

constexpr double most_load = 0.001;           // seconds of a run; the smallest product may take longer
constexpr double submitted_seconds = 0.0005;  // of work: others that use the device meanwhile wait for so much of it

}  // namespace

std::optional<DeviceLoad> DeviceLoad::make(const host::Device& device, OperandPool& pool) {
    if (device.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU) return std::nullopt;
    std::optional<DeviceLoad> load;
    for (const char* text :
         {"f32*f32+f32->f32 2048x2048x2048", "f32*f32+f32->f32 1024x1024x1024", "f32*f32+f32->f32 512x512x512"}) {
        const auto c = parse_case(text);
        if (!c) break;
        auto plan = device.context().createPlan(c->problem, {});
        if (!plan) break;
        auto operands = pool.operands(*c, false, 0);
        if (!operands) break;
        load = DeviceLoad(*std::move(plan), *std::move(operands));
        const auto record = [&](VkCommandBuffer commands, uint32_t run) { return load->record(commands, run); };
        const auto times = device.time(4, record, std::chrono::seconds(60));
        if (!times) return std::nullopt;
        load->seconds_ = summarise(times->seconds).median;
        if (load->seconds_ <= most_load) break;
    }
    return load;
}

uint32_t DeviceLoad::runs_in(double seconds) const {
    return static_cast<uint32_t>(tool::runs_in(seconds, seconds_, 1, 64));
}

void BusyDevice::work() {
    if (!load_ || working_) return;
    working_.emplace(device_, load_->runs_in(submitted_seconds),
                     [this](VkCommandBuffer commands, uint32_t run) { return load_->record(commands, run); });
}

}  // namespace vkgemm::tool
