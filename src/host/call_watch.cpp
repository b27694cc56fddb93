// SPDX-License-Identifier: MIT
#include "host/call_watch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "host/state.h"

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
    if (!plan) watch->is_chain_ = true;
    if (!*problem) return;  // nor has a pack a text
    watch->plan_ = plan;
    watch->run_ = {};  // the library may be of another version
    const size_t size = std::min<size_t>(run->structSize, sizeof watch->run_);
    std::memcpy(&watch->run_, run, size);
    watch->run_.structSize = static_cast<uint32_t>(size);
}

void CallWatch::recorded_all() {
    if (!plan_ && !is_chain_) return;
    if (const Status s = read_operands(); !s) {
        log_warning(s.text);
        plan_ = nullptr;
    }
}

Status CallWatch::read_operands() {
    if (calls_ > 1)
        return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                std::to_string(calls_) +
                    " runs in one submission are not captured; one is. A pack is a run, and so is "
                    "each product of a chain"};
    if (is_chain_)
        return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                "a chain that is one dispatch is not captured; submit its products one by one"};
    VkgemmError error{};
    size_t size = 0;  // of a run that has no description, nothing is read
    if (const VkgemmResult code = vkgemmDescribeRun(plan_, &run_, nullptr, nullptr, &size, &error); code < 0)
        return {code, VK_SUCCESS, error.text};
    VkgemmRunAccess accesses[VKGEMM_SLOT_COUNT];
    uint32_t count = VKGEMM_SLOT_COUNT;
    if (const VkgemmResult code = vkgemmGetRunAccesses(plan_, &run_, &count, accesses, &error); code < 0)
        return {code, VK_SUCCESS, error.text};
    for (const VkgemmRunAccess& x : std::span(accesses).first(count)) {
        if (!is_captured(x.slot)) continue;
        operands_.push_back({x.slot, std::vector<std::byte>(x.size)});
        if (Status s = read(x, operands_.back().bytes); !s) return s;
        if (x.slot == VKGEMM_SLOT_D) d_ = x;
    }
    return {};
}

Status CallWatch::read(const VkgemmRunAccess& x, std::span<std::byte> out) const {
    if (!x.buffer)
        return {VKGEMM_ERROR_OPERAND, VK_SUCCESS,
                std::string("operand ") + slot_name(x.slot) + " is an address without a buffer"};
    return device_.download(x.buffer, x.offset, out);
}

void CallWatch::finished() {
    if (!plan_) return;
    std::vector<std::byte> result(d_.size);
    Status s = read(d_, result);
    std::string text;
    if (s) s = describe(result, text);
    if (s) s = write(text);
    if (!s) log_warning(s.text);
}

Status CallWatch::describe(std::span<const std::byte> result, std::string& out) const {
    std::vector<VkgemmOperandData> all;
    for (const CapturedOperand& o : operands_)
        all.push_back({.slot = o.slot, .reserved = 0, .data = o.bytes.data(), .size = o.bytes.size()});
    const VkgemmRunData data = {.structSize = sizeof data,
                                .operandCount = static_cast<uint32_t>(all.size()),
                                .operands = all.data(),
                                .result = result.data()};
    VkgemmError error{};
    auto text = convert::text(
        [&](char* s, size_t* size) { return vkgemmDescribeRun(plan_, &run_, &data, s, size, &error); }, error);
    if (!text) return text.status();
    out = *std::move(text);
    for (const CapturedOperand& o : operands_)
        out.append(reinterpret_cast<const char*>(o.bytes.data()), o.bytes.size());
    return {};
}

Status CallWatch::write(const std::string& text) const {
    constexpr std::string_view word = "\nkernel ";
    const size_t kernel = text.find(word) + word.size();
    const fs::path folder = device_.capture_folder,
                   name = new_name(text.substr(kernel, text.find('\n', kernel) - kernel));
    const fs::path partial = folder / (name.string() + ".partial");
    const fs::path whole = folder / name;
    std::error_code why, ignored;
    fs::create_directories(folder, ignored);
    const auto is_written = [&] {
        errno = 0;
        std::ofstream file(partial, std::ios::binary | std::ios::trunc);
        file.write(text.data(), static_cast<std::streamsize>(text.size()));
        file.close();
        if (!file) why = {errno ? errno : EIO, std::generic_category()};
        return bool(file);
    };
    try {
        if (is_written()) {
            fs::rename(partial, whole, why);
            if (!why) return {};
        }
    } catch (...) {  // no memory
        fs::remove(partial, ignored);
        throw;
    }
    fs::remove(partial, ignored);
    return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, "cannot write " + whole.string() + ": " + why.message()};
}

}  // namespace vkgemm::host::detail
