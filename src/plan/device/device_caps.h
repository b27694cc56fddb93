// SPDX-License-Identifier: MIT
// Device capabilities as plain data. src/vk/device.cpp reads them from the driver once; tests/devices/ holds those of
// real machines as text. Choices depend on them alone.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/base/result.h"
#include "plan/device/cost_weights.h"
#include "plan/problem/types.h"

namespace vkgemm::plan {

#define FEATURE(id, ...) id,
#define FEATURE_EXTENSION(id, ...) id,
#if defined(__GNUC__)  // g++ 12 takes a scoped enumerator for one that hides the type of the same name
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wshadow"
#endif
enum class Feature : uint8_t {
#include "plan/device/features.def"
    count
};
#if defined(__GNUC__)
#    pragma GCC diagnostic pop
#endif
#undef FEATURE
#undef FEATURE_EXTENSION

using FeatureSet = uint64_t;
static_assert(static_cast<int>(Feature::count) <= 64);

constexpr FeatureSet bit(Feature f) { return FeatureSet{1} << static_cast<int>(f); }

namespace need {  // so that rows read "need::coopmat | need::float16"
#define FEATURE(id, ...) inline constexpr FeatureSet id = bit(Feature::id);
#define FEATURE_EXTENSION(id, ...) inline constexpr FeatureSet id = bit(Feature::id);
#include "plan/device/features.def"
#undef FEATURE
#undef FEATURE_EXTENSION
// What every kernel on the matrix units needs, and what each type adds.
inline constexpr FeatureSet matrix = coopmat | memory_model | subgroup_size_control | full_subgroups;
inline constexpr FeatureSet matrix_f16 = matrix | float16, matrix_bf16 = matrix | bf16 | bf16_coopmat,
                            matrix_i8 = matrix | int8;
}  // namespace need

/// Whether modules may have no atomic of device scope: with the Vulkan memory model it is a feature of its own.
constexpr bool lacks_device_scope(FeatureSet enabled) {
    return (enabled & need::memory_model) && !(enabled & need::memory_model_device);
}

std::string feature_names(FeatureSet);  // the ids of their rows, space-separated: "float64 push_descriptor"

enum class DeviceKind : uint8_t { other, integrated, discrete, virtual_gpu, cpu };  // the order of VkPhysicalDeviceType

/// One product that the matrix units do: a VkCooperativeMatrixPropertiesKHR at subgroup scope, saturation off.
struct MatrixShape {
    Type a, b, accumulate, result;
    uint32_t m, n, k;
    bool operator==(const MatrixShape&) const = default;
};

/// Whether kernels in machine code may be used, which drivers launch by an extension that nobody documents.
enum class NativeUse : uint32_t {
    unverified,  // no: the driver is not in the table of verified ones
    verified,    // yes: it is
    any_driver,  // yes: the caller asked for them on any driver
    off,         // no: the caller or the environment switched them off
};
/// What the Vulkan numbers of a queue family's flags mean here.
inline constexpr uint32_t queue_graphics = 1, queue_compute = 2;

/// A kernel that a self-test found wrong on the device (disabled_kernels.h).
struct DisabledKernel {
    std::string kernel, why;
    bool operator==(const DisabledKernel&) const = default;
};

struct DeviceCaps {
    std::string name, driver;  // tuned rows and terms of tiles match a part of the name; no other choice does
    uint32_t vendor = 0, device = 0, driver_version = 0, api_version = 0;
    DeviceKind kind = DeviceKind::other;
    FeatureSet features = 0;  // enabled, not merely there
    uint32_t shared_bytes = 16384;
    uint32_t max_invocations = 128;
    uint32_t max_groups_x = 65535, max_groups_y = 65535;
    uint32_t max_push_constant_bytes = 128;
    uint32_t max_storage_buffers = 4;       // per stage
    uint64_t max_storage_range = 1u << 27;  // bytes that one descriptor can span
    uint32_t offset_alignment = 256;        // of a storage buffer descriptor, bytes
    uint32_t subgroup_size = 0;             // the default one; 0: not known
    uint32_t subgroup_min = 0, subgroup_max = 0;
    uint32_t subgroup_required = 1;  // 0: a compute pipeline may not ask for a size (it gets subgroup_size)
    uint32_t max_subgroups = 0;      // per work group, where a size is asked for; 0: not known
    uint32_t compute_units = 0;      // multiprocessors; 0: not known
    uint32_t queue_flags = 0;        // VkQueueFlags of the family that recordings are submitted to; 0: not known
    uint32_t native_code = 0;        // the architecture whose machine code the device loads, 90 for sm_90a; 0: none
    uint32_t native_use = 0;         // NativeUse
    std::vector<MatrixShape> matrix_shapes;
    std::vector<DisabledKernel> disabled;
    std::vector<FamilyWeights> fitted;  // of the cost model; a family that is not there has none; not in the text
    uint64_t max_span = INT32_MAX;  // elements that one dispatch reaches of an operand; tests lower it; not in the text
    bool is_physical = false;  // there is no device yet: features are what the physical device offers; not in the text

    /// For a sentence about a feature that is not there.
    const char* not_there() const {
        return is_physical ? "not offered by the physical device" : "not enabled on the device";
    }
};

/// "name = value" lines. Defaults are written too, so that a file is complete by itself.
std::string to_text(const DeviceCaps&);

/// Reads such lines; '#' begins a comment. Refuses unknown names and unreadable values, with the number of the line.
Result<DeviceCaps> parse_device_caps(std::string_view text);

}  // namespace vkgemm::plan
