// SPDX-License-Identifier: MIT
#include "support/device.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/environment.h"

namespace vkgemm::test {
namespace {

bool validate = true, all = false;
uint64_t seed = 0;  // of --seed=N; 0: it was not given
std::optional<host::Device> the_device;
std::vector<std::function<void()>> cleaners;
std::mutex adds_cleaner;
std::vector<std::string> layer_messages;  // leaks are reported while the device is closed

host::Device open_device() {
    auto made = host::Device::open({.validation = validate ? host::Validation::required : host::Validation::off,
                                    .onMessage = [](const host::Message& m) { layer_messages.push_back(m.text); }});
    if (!made) {
        std::fprintf(stderr, "no device to test on: %s\n", made.status().text.c_str());
        std::exit(2);
    }
    std::printf("device: %s, %s\n", made->info().name.c_str(), validate ? "under validation" : "without validation");
    return *std::move(made);
}

}  // namespace

const host::Device& device() {
    if (!the_device) the_device = open_device();
    return *the_device;
}

VkgemmContextInfo context_info() {
    const host::Device& d = device();
    VkgemmContextInfo info{};
    info.structSize = sizeof info;
    info.instance = d.instance();
    info.physicalDevice = d.physicalDevice();
    info.device = d.handle();
    info.apiVersion = d.apiVersion();
    info.getInstanceProcAddr = d.getInstanceProcAddr();
    info.enabledFeatures = &d.enabledFeatures();
    info.enabledExtensions = d.enabledExtensions().data();
    info.enabledExtensionCount = static_cast<uint32_t>(d.enabledExtensions().size());
    info.queueFlags = d.queueFlags();
    return info;
}

void before_closing(std::function<void()> clean) {
    const std::lock_guard lock(adds_cleaner);
    cleaners.push_back(std::move(clean));
}

bool validating() { return validate; }
bool everything() { return all; }
uint64_t seed_or(uint64_t usual) { return seed ? seed : usual; }

void read_arguments(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        if (std::string_view(arguments[i]) == "--no-validation") validate = false;
        if (std::string_view(arguments[i]) == "--all") all = true;
        if (std::string_view(arguments[i]).starts_with("--seed=")) seed = std::strtoull(arguments[i] + 7, nullptr, 10);
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 4096);  // so that progress is seen in a pipe, too
}

int close_device(int result) {
    if (!the_device) return result;
    for (const auto& clean : cleaners) clean();
    the_device.reset();
    if (layer_messages.empty()) return result;
    std::fprintf(stderr, "the validation layer had %zu messages, the first: %s\n", layer_messages.size(),
                 layer_messages[0].c_str());
    return 1;
}

int run_tests(int count, char** arguments) {
    read_arguments(count, arguments);
    doctest::Context context(count, arguments);
    take_environment(context);
    return close_device(context.run());
}

}  // namespace vkgemm::test
