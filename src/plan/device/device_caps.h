// SPDX-License-Identifier: MIT
// What a device offers, as plain data: read once by src/vk/device.cpp, recorded as text from real machines in
// tests/devices/, written by hand in tests. Nothing that decides asks the driver anything.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/problem/types.h"

namespace vkgemm::plan {

#define FEATURE(id, ...) id,
#define FEATURE_EXTENSION(id, ...) id,
enum class Feature : uint8_t {
#include "plan/device/features.def"
    count
};
#undef FEATURE
#undef FEATURE_EXTENSION

using FeatureSet = uint64_t;
static_assert(static_cast<int>(Feature::count) <= 64);

constexpr FeatureSet bit(Feature f) { return FeatureSet{1} << static_cast<int>(f); }

namespace need {  // so that kernels.def reads "need::coopmat | need::float16"
#define FEATURE(id, ...) inline constexpr FeatureSet id = bit(Feature::id);
#define FEATURE_EXTENSION(id, ...) inline constexpr FeatureSet id = bit(Feature::id);
#include "plan/device/features.def"
#undef FEATURE
#undef FEATURE_EXTENSION
// What every kernel on the matrix units asks for, and each type besides.
inline constexpr FeatureSet matrix = coopmat | memory_model | subgroup_size_control | full_subgroups;
inline constexpr FeatureSet matrix_f16 = matrix | float16, matrix_bf16 = matrix | bf16 | bf16_coopmat,
                            matrix_i8 = matrix | int8;
}  // namespace need

std::string_view feature_name(Feature);  // the id of its row: "buffer_address"
std::string feature_names(FeatureSet);   // space-separated

enum class DeviceKind : uint8_t { other, integrated, discrete, virtual_gpu, cpu };  // the order of VkPhysicalDeviceType

/// One product that the matrix units do: a VkCooperativeMatrixPropertiesKHR at subgroup scope, saturation off.
struct MatrixShape {
    Type a, b, accumulate, result;
    uint32_t m, n, k;
    bool operator==(const MatrixShape&) const = default;
};

/// A kernel that a self-test found wrong on the device (disabled_kernels.h).
struct DisabledKernel {
    std::string kernel, why;
    bool operator==(const DisabledKernel&) const = default;
};

struct DeviceCaps {
    std::string name, driver;  // for people; of the name tuned rows match a part, nothing else is decided by them
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
    std::vector<MatrixShape> matrix_shapes;
    std::vector<DisabledKernel> disabled;
    bool is_physical = false;  // there is no device yet: features are what the physical device offers; not in the text

    /// For a sentence about a feature that is not there.
    const char* not_there() const {
        return is_physical ? "not offered by this physical device" : "not enabled on this device";
    }
};

/// The text form: "name = value" lines; what is at its default is written too, so that a file says all. Unknown names
/// and broken values are refused with their line.
std::string to_text(const DeviceCaps&);

}  // namespace vkgemm::plan
