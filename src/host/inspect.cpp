// SPDX-License-Identifier: MIT
// What a driver made of a pipeline: VK_KHR_pipeline_executable_properties.
#include <charconv>

#include "host/state.h"

namespace vkgemm::host {
namespace detail {
namespace {

template <class T>
T typed(VkStructureType type) {
    T out{};
    out.sType = type;
    return out;
}

/// The bit of a feature set that has this name; 0: none.
uint64_t feature_bit(std::string_view wanted) {
    for (uint32_t bit = 0; bit < 64; ++bit)
        if (const char* name = vkgemmFeatureName(bit); name && name == wanted) return uint64_t{1} << bit;
    return 0;
}

PipelineReport::Statistic statistic(const VkPipelineExecutableStatisticKHR& s) {
    switch (s.format) {
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
            return {s.name, static_cast<double>(s.value.b32), std::to_string(s.value.b32)};
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
            return {s.name, static_cast<double>(s.value.i64), std::to_string(s.value.i64)};
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
            return {s.name, static_cast<double>(s.value.u64), std::to_string(s.value.u64)};
        default: {
            char text[32];
            char* const end = std::to_chars(text, text + sizeof text, s.value.f64).ptr;
            return {s.name, s.value.f64, std::string(text, end)};
        }
    }
}

/// The structs of one of the extension's calls, which is first asked for their count.
template <class T, class Call, class Which>
VkResult all_of(std::vector<T>& out, VkStructureType type, VkDevice device, Call call, const Which& which) {
    uint32_t count = 0;
    if (const VkResult r = call(device, &which, &count, nullptr); r < VK_SUCCESS) return r;
    out.assign(count, typed<T>(type));
    const VkResult r = call(device, &which, &count, out.data());
    out.resize(count);
    return r;
}

Status read(const DeviceState& d, const VkPipelineExecutableInfoKHR& which, PipelineReport& report) {
    std::vector<VkPipelineExecutableStatisticKHR> statistics;
    if (const VkResult r = all_of(statistics, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR, d.handle,
                                  d.vk.vkGetPipelineExecutableStatisticsKHR, which);
        r < VK_SUCCESS)
        return failed(r, "vkGetPipelineExecutableStatisticsKHR");
    for (const auto& s : statistics) report.statistics.push_back(statistic(s));

    const auto call = d.vk.vkGetPipelineExecutableInternalRepresentationsKHR;
    std::vector<VkPipelineExecutableInternalRepresentationKHR> texts;
    VkResult r =
        all_of(texts, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR, d.handle, call, which);
    std::vector<std::string> space;
    for (const auto& t : texts) space.emplace_back(t.dataSize, '\0');
    for (size_t i = 0; i < texts.size(); ++i) texts[i].pData = space[i].data();
    uint32_t count = static_cast<uint32_t>(texts.size());
    if (r >= VK_SUCCESS && count) r = call(d.handle, &which, &count, texts.data());
    if (r < VK_SUCCESS) return failed(r, "vkGetPipelineExecutableInternalRepresentationsKHR");
    for (size_t i = 0; i < count; ++i)
        if (texts[i].isText) report.texts.push_back({texts[i].name, space[i].substr(0, space[i].find('\0'))});
    return {};
}

}  // namespace

Result<uint64_t> features_for_inspecting(const InstanceState& instance, VkPhysicalDevice device, uint32_t version,
                                         std::vector<const char*>& extensions) {
    auto info = typed<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);
    auto bytes = typed<VkPhysicalDeviceShaderFloat16Int8Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
    auto all = typed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    const auto executables = has_extension(instance, device, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    if (!executables) return executables.status();
    if (*executables) all.pNext = &info;
    if (version >= VK_API_VERSION_1_2) {
        bytes.pNext = all.pNext;
        all.pNext = &bytes;
    }
    instance.vk.vkGetPhysicalDeviceFeatures2(device, &all);
    uint64_t features = bytes.shaderInt8 ? feature_bit("shaderInt8") : 0;
    if (info.pipelineExecutableInfo) {
        features |= feature_bit("pipelineExecutableInfo");
        extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    }
    return features;
}

}  // namespace detail

Result<PipelineReport> Device::inspect(VkPipeline pipeline) const {
    const HoldFloatExceptions held;
    using detail::typed;
    const detail::DeviceState& d = *state_;
    if (!d.inspects)
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
                      d.info.name + " reports no pipeline statistics: VK_KHR_pipeline_executable_properties is not " +
                          "there, or the device was not opened with DeviceOptions::inspect"};
    auto which = typed<VkPipelineInfoKHR>(VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR);
    which.pipeline = pipeline;
    std::vector<VkPipelineExecutablePropertiesKHR> executables;
    if (const VkResult r = detail::all_of(executables, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR, d.handle,
                                          d.vk.vkGetPipelineExecutablePropertiesKHR, which);
        r < VK_SUCCESS)
        return detail::failed(r, "vkGetPipelineExecutablePropertiesKHR");
    PipelineReport report;
    for (uint32_t i = 0; i < executables.size(); ++i) {
        auto info = typed<VkPipelineExecutableInfoKHR>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR);
        info.pipeline = pipeline;
        info.executableIndex = i;
        if (Status s = detail::read(d, info, report); !s) return s;
    }
    return report;
}

}  // namespace vkgemm::host
