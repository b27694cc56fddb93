// SPDX-License-Identifier: MIT
#include "drivers/device.h"

#include <cstdio>
#include <cstdlib>

#include "plan/text.h"

namespace vkgemm::test {
namespace {

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(2);
}
template <class T>
T value(Result<T> result) {
    if (!result) give_up(result.status().text);
    return *std::move(result);
}
void check(VkResult r, const char* call) {
    if (r < VK_SUCCESS) give_up(std::string(call) + " failed with VkResult " + std::to_string(r));
}

template <class T>
T typed(VkStructureType type) {
    T out{};
    out.sType = type;
    return out;
}

double number_of(const VkPipelineExecutableStatisticKHR& s) {
    switch (s.format) {
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
            return s.value.b32;
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
            return static_cast<double>(s.value.i64);
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
            return static_cast<double>(s.value.u64);
        default:
            return s.value.f64;
    }
}

// The structs of one of the extension's calls, which is first asked for their count.
template <class T, class Call, class Which>
std::vector<T> all_of(VkStructureType type, const char* name, VkDevice device, Call call, const Which& which) {
    uint32_t count = 0;
    check(call(device, &which, &count, nullptr), name);
    std::vector<T> out(count, typed<T>(type));
    check(call(device, &which, &count, out.data()), name);
    return out;
}

// Matrix units of bytes want it, but it is asked for only where some row fits them: on for all, so that one can try
// tiles.
uint64_t int8_where_offered(const host::Device& d) {
    auto bytes = typed<VkPhysicalDeviceShaderFloat16Int8Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
    auto all = typed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    all.pNext = &bytes;
    const auto ask = d.getInstanceProcAddr()(d.instance(), "vkGetPhysicalDeviceFeatures2");
    if (VK_API_VERSION_MINOR(d.apiVersion()) < 2 || !ask) return 0;
    reinterpret_cast<PFN_vkGetPhysicalDeviceFeatures2>(ask)(d.physicalDevice(), &all);
    return bytes.shaderInt8 ? plan::need::int8 : 0;
}

}  // namespace

template <class Function>
Function CompilingDevice::find(const char* name) const {
    const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        parent_.getInstanceProcAddr()(parent_.instance(), "vkGetDeviceProcAddr"));
    return reinterpret_cast<Function>(get(device_, name));
}

CompilingDevice::CompilingDevice() : parent_(value(host::Device::open())) {
    const Needs needs = value(queryNeeds({.instance = parent_.instance(),
                                          .physicalDevice = parent_.physicalDevice(),
                                          .apiVersion = parent_.apiVersion(),
                                          .getInstanceProcAddr = parent_.getInstanceProcAddr()}));
    auto features = typed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    const uint64_t wanted =
        needs.requiredFeatures | needs.optionalFeatures | plan::need::executable_info | int8_where_offered(parent_);
    if (const Status s = mergeFeatures(wanted, parent_.apiVersion(), features, feature_memory_); !s) give_up(s.text);
    std::vector<const char*> extensions = needs.requiredExtensions;
    extensions.insert(extensions.end(), needs.optionalExtensions.begin(), needs.optionalExtensions.end());
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);

    const float priority = 1;
    auto queue = typed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueFamilyIndex = parent_.queueFamily(), queue.queueCount = 1, queue.pQueuePriorities = &priority;
    auto info = typed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &features, info.queueCreateInfoCount = 1, info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const auto create =
        reinterpret_cast<PFN_vkCreateDevice>(parent_.getInstanceProcAddr()(parent_.instance(), "vkCreateDevice"));
    check(create(parent_.physicalDevice(), &info, nullptr, &device_), "vkCreateDevice with pipelineExecutableInfo");

    context_ = value(Context::create({.instance = parent_.instance(),
                                      .physicalDevice = parent_.physicalDevice(),
                                      .device = device_,
                                      .apiVersion = parent_.apiVersion(),
                                      .getInstanceProcAddr = parent_.getInstanceProcAddr(),
                                      .enabledFeatures = &features,
                                      .enabledExtensions = extensions}));
    const auto facts = plan::parse_facts(value(context_.describeDevice()));
    if (!facts) give_up(facts.refusal().why);
    facts_ = *facts;
}

CompilingDevice::~CompilingDevice() {
    context_ = {};
    find<PFN_vkDestroyDevice>("vkDestroyDevice")(device_, nullptr);
}

void CompilingDevice::read(const VkPipelineExecutableInfoKHR& which, Told& told) const {
    const char* const first = "vkGetPipelineExecutableStatisticsKHR";
    const char* const second = "vkGetPipelineExecutableInternalRepresentationsKHR";
    for (const auto& s :
         all_of<VkPipelineExecutableStatisticKHR>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR, first, device_,
                                                  find<PFN_vkGetPipelineExecutableStatisticsKHR>(first), which))
        told.statistics.push_back({s.name, number_of(s)});

    const auto call = find<PFN_vkGetPipelineExecutableInternalRepresentationsKHR>(second);
    auto texts = all_of<VkPipelineExecutableInternalRepresentationKHR>(
        VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR, second, device_, call, which);
    std::vector<std::string> space;
    for (const auto& t : texts) space.emplace_back(t.dataSize, '\0');
    for (size_t i = 0; i < texts.size(); ++i) texts[i].pData = space[i].data();
    uint32_t count = static_cast<uint32_t>(texts.size());
    check(call(device_, &which, &count, texts.data()), second);
    for (size_t i = 0; i < texts.size(); ++i)
        if (texts[i].isText) told.representations.push_back({texts[i].name, space[i].c_str()});
}

Told CompilingDevice::told(VkPipeline pipeline) const {
    const char* const call = "vkGetPipelineExecutablePropertiesKHR";
    auto which = typed<VkPipelineInfoKHR>(VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR);
    which.pipeline = pipeline;
    const auto executables =
        all_of<VkPipelineExecutablePropertiesKHR>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR, call, device_,
                                                  find<PFN_vkGetPipelineExecutablePropertiesKHR>(call), which);
    Told told;
    for (uint32_t i = 0; i < executables.size(); ++i) {
        auto info = typed<VkPipelineExecutableInfoKHR>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR);
        info.pipeline = pipeline, info.executableIndex = i;
        read(info, told);
    }
    return told;
}

}  // namespace vkgemm::test
