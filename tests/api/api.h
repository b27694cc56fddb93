// SPDX-License-Identifier: MIT
// Short ways to the C functions, for tests that look at their answers.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "support/device.h"
#include "support/owned.h"
#include "support/string_util.h"
#include "support/used_operands.h"
#include "vkgemm/vkgemm.h"

namespace vkgemm::test {

/// "" removes the variable.
inline void set_environment(const char* name, const char* value) {
#ifdef _WIN32
    _putenv_s(name, value);
#else
    if (*value)
        setenv(name, value, 1);
    else
        unsetenv(name);
#endif
}

/// A code and the sentence that came with it.
struct Said {
    VkgemmResult code;
    std::string text;
};

/// Calls with a VkgemmError full of rubbish, so that what is not written shows.
template <class Call>
Said said(Call&& call) {
    VkgemmError error;
    error.vkResult = VK_ERROR_UNKNOWN;
    for (char& c : error.text) c = 'x';
    error.text[sizeof error.text - 1] = '\0';
    const VkgemmResult code = call(&error);
    if (code == VKGEMM_SUCCESS) CHECK(error.text[0] == '\0');
    CHECK(error.text[0] != 'x');
    return {code, error.text};
}

/// Checks the code, and that the sentence names each of `words`.
inline void expect(const Said& got, VkgemmResult code, const std::vector<std::string>& words) {
    CHECK_MESSAGE(got.code == code, "got ", std::string(vkgemmResultName(got.code)), ", not ",
                  std::string(vkgemmResultName(code)), ": ", got.text);
    for (const std::string& word : words)
        CHECK_MESSAGE(got.text.find(word) != std::string::npos, "'", word, "' is not in: ", got.text);
}

inline VkgemmProblem problem(const std::string& line) {
    VkgemmProblem p{};
    p.structSize = sizeof p;
    VkgemmError error{};
    const VkgemmResult code = vkgemmParseProblem(line.c_str(), &p, nullptr, nullptr, &error);
    REQUIRE_MESSAGE(code == VKGEMM_SUCCESS, line, ": ", std::string(error.text));
    return p;
}

inline VkgemmPlanOptions options() {
    VkgemmPlanOptions o{};
    o.structSize = sizeof o;
    return o;
}

/// An operand in a buffer; size 0: up to the buffer's end.
inline VkgemmOperand at(const host::Buffer& buffer, VkDeviceSize offset = 0, VkDeviceSize size = 0) {
    return {.buffer = buffer.handle(), .offset = offset, .size = size, .address = 0};
}

inline VkgemmOperand at_address(VkDeviceAddress address, VkDeviceSize size = 0) {
    return {.buffer = VK_NULL_HANDLE, .offset = 0, .size = size, .address = address};
}

inline VkgemmContext context() { return device().context().handle(); }

inline Said make_plan(OwnedPlan& plan, const VkgemmProblem& p, const VkgemmPlanOptions& o = options(),
                      VkgemmContext in = context()) {
    return said([&](VkgemmError* e) { return vkgemmCreatePlan(in, &p, &o, &plan.handle, e); });
}

inline VkgemmNeedsInfo needs_info(std::span<const VkgemmProblem> problems = {}) {
    const host::Device& d = device();
    VkgemmNeedsInfo i{};
    i.structSize = sizeof i;
    i.instance = d.instance();
    i.physicalDevice = d.physicalDevice();
    i.apiVersion = d.apiVersion();
    i.getInstanceProcAddr = d.getInstanceProcAddr();
    i.problems = problems.data();
    i.problemCount = static_cast<uint32_t>(problems.size());
    return i;
}

/// What a context logs; `add` is a VkgemmContextInfo::log whose logUser is a Log.
struct Log {
    std::vector<std::string> lines;
    std::vector<VkgemmSeverity> severities;  // of the lines
    static void add(void* user, VkgemmSeverity severity, const char* text) {
        static_cast<Log*>(user)->lines.push_back(text);
        static_cast<Log*>(user)->severities.push_back(severity);
    }
};

/// A plan that must succeed.
inline void plan_for(OwnedPlan& plan, const std::string& line, const VkgemmPlanOptions& o = options(),
                     VkgemmContext in = context()) {
    const Said got = make_plan(plan, problem(line), o, in);
    REQUIRE_MESSAGE(got.code == VKGEMM_SUCCESS, line, ": ", got.text);
}

/// Whether the device has the elements of the problem's types in memory. SwiftShader has none of 8 and 16
/// bits.
inline bool stores_types_of(std::string_view line) {
    const auto lacks = [&](const char* feature, const char* type) {
        return device().info().uses.find(feature) == std::string::npos && line.find(type) != std::string_view::npos;
    };
    return !lacks("storageBuffer16BitAccess", "f16") && !lacks("storageBuffer8BitAccess", "i8");
}

inline VkgemmPlanInfo info_of(VkgemmPlan plan) {
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetPlanInfo(plan, &info) == VKGEMM_SUCCESS);
    return info;
}

/// The driver's own function, for a mock that stands before it.
template <class Function>
Function device_command(const char* name) {
    const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device().getInstanceProcAddr()(device().instance(), "vkGetDeviceProcAddr"));
    return reinterpret_cast<Function>(get(device().handle(), name));
}

inline host::Buffer buffer(VkDeviceSize bytes) {
    auto made = device().createBuffer(bytes, host::Memory::host);
    REQUIRE_MESSAGE(bool(made), made.status().text);
    return *made;
}

}  // namespace vkgemm::test
