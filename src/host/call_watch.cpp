// SPDX-License-Identifier: MIT
#include "host/call_watch.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "host/state.h"
#include "vkgemm/operands.hpp"
#include "vkgemm/text.hpp"

namespace vkgemm::host::detail {
namespace {

namespace fs = std::filesystem;

thread_local CallWatch* watching = nullptr;

/// A name that no other run of a program uses.
std::string new_name(const std::string& kernel) {
    static const uint32_t process = std::random_device{}();
    static std::atomic<uint32_t> count = 0;
    char text[32];
    std::snprintf(text, sizeof text, "-%08x-%04u.vkgemm", process, ++count);
    return kernel + text;
}

}  // namespace

CallWatch::CallWatch(DeviceState& device) : device_(device), outer_(watching) { watching = this; }
CallWatch::~CallWatch() { watching = outer_; }

void CallWatch::log_warning(const std::string& text) const {
    if (device_.log) device_.log(device_.log_user, VKGEMM_SEVERITY_WARNING, ("VKGEMM_CAPTURE: " + text).c_str());
}

void CallWatch::recorded(void* device, const char* problem, VkgemmPlan plan, const VkgemmRun* run) {
    CallWatch* const watch = watching;
    if (!watch || &watch->device_ != device) return;  // recorded for a queue of the program's own, or to be timed
    ++watch->calls_;
    watch->run_ = {};  // the caller's struct may have the size of another version
    std::memcpy(&watch->run_, run, std::min<size_t>(run->structSize, sizeof watch->run_));
    watch->info_ = {};
    watch->info_.structSize = sizeof watch->info_;
    if (vkgemmGetPlanInfo(plan, &watch->info_) < 0) return;
    if (watch->run_.flags &
        (VKGEMM_RECORD_SIZES | VKGEMM_RECORD_STRIDES)) {  // as a plan for these sizes alone would be
        const auto parsed = parseProblem(problem);
        if (!parsed) return;
        auto own = watch->device_.context.createPlan(
            parsed->problem, {.operandAlignment = watch->info_.operandAlignment,
                              .flags = VKGEMM_PLAN_DRY,
                              .workspaceLimit = watch->info_.requiredBytes[VKGEMM_SLOT_WORKSPACE]});
        if (!own) return;
        watch->sized_plan_ = *std::move(own);
        watch->info_ = watch->sized_plan_.info();
    }
    Capture c{.version = versionText(vkgemmVersion()),
              .device = watch->device_.info.name,
              .driver = watch->device_.info.driver,
              .problem = problem};
    c.kernel = watch->info_.kernel;
    c.tile = watch->info_.tile;
    c.alignment = std::max<uint32_t>(1, static_cast<uint32_t>(watch->info_.operandAlignment));
    c.workspace = watch->info_.requiredBytes[VKGEMM_SLOT_WORKSPACE];
    c.resultBytes = watch->info_.requiredBytes[VKGEMM_SLOT_D];
    watch->capture_ = std::move(c);
}

Status CallWatch::read(VkgemmSlot slot, uint64_t bytes, std::vector<std::byte>& out) const {
    const VkgemmOperand& o = operandOf(run_, slot);
    if (!o.buffer)
        return {VKGEMM_ERROR_OPERAND, VK_SUCCESS,
                std::string("operand ") + slot_name(slot) + " is an address without a buffer"};
    out.resize(bytes);
    return device_.download(o.buffer, o.offset, out);
}

void CallWatch::recorded_all() {
    if (!capture_) return;
    if (calls_ > 1) {
        log_warning(std::to_string(calls_) + " calls in one submission are not captured; one is");
        return capture_.reset();
    }
    if (capture_->resultBytes == 0) return capture_.reset();  // an empty product
    for (uint32_t i = 0; i < VKGEMM_SLOT_COUNT; ++i) {
        const auto slot = static_cast<VkgemmSlot>(i);
        if (info_.requiredBytes[i] == 0 || !is_captured(slot)) continue;
        capture_->operands.push_back({slot, {}});
        if (Status s = read(slot, info_.requiredBytes[i], capture_->operands.back().bytes); !s) {
            log_warning(s.text);
            return capture_.reset();
        }
    }
}

void CallWatch::finished() {
    if (!capture_) return;
    std::vector<std::byte> result;
    Status s = read(VKGEMM_SLOT_D, capture_->resultBytes, result);
    capture_->resultChecksum = checksum(result);
    if (s) s = write();
    if (!s) log_warning(s.text);
}

Status CallWatch::write() const {
    const fs::path folder = device_.capture_folder, name = new_name(capture_->kernel);
    const fs::path partial = folder / (name.string() + ".partial");
    const auto failed = [&] {
        return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "cannot write " + (folder / name).string()};
    };
    std::error_code why;
    fs::create_directories(folder, why);
    const fs::path whole = folder / name;
    const std::string text = to_text(*capture_);
    const auto is_written = [&] {
        std::ofstream file(partial, std::ios::binary | std::ios::trunc);
        file.write(text.data(), static_cast<std::streamsize>(text.size()));
        file.close();
        return bool(file);
    };
    try {
        if (is_written()) {
            fs::rename(partial, whole, why);
            if (!why) return {};
        }
    } catch (...) {  // no memory
        fs::remove(partial, why);
        throw;
    }
    fs::remove(partial, why);
    return failed();
}

}  // namespace vkgemm::host::detail
