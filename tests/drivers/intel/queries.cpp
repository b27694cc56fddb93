// SPDX-License-Identifier: MIT
// What DRM_IOCTL_XE_DEVICE_QUERY answers.
#include "queries.h"

#include <drm/xe_drm.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include <utility>
#include <vector>

#include "kernel.h"

namespace vkgemm::test::intel {
namespace {

constexpr uint64_t gib = uint64_t{1} << 30;
constexpr uint64_t host_memory = 16 * gib;
constexpr uint32_t clock_hz = 19'200'000;

using Bytes = std::vector<char>;

template <class T>
void append(Bytes& out, const T& value) {
    const char* at = reinterpret_cast<const char*>(&value);
    out.insert(out.end(), at, at + sizeof value);
}

// The header of a list of the uapi: a count and padding.
Bytes list_of(uint32_t count) {
    Bytes out;
    append(out, uint64_t{count});
    return out;
}

Bytes engines() {
    Bytes out = list_of(3);
    for (const uint16_t kind : {DRM_XE_ENGINE_CLASS_RENDER, DRM_XE_ENGINE_CLASS_COPY, DRM_XE_ENGINE_CLASS_COMPUTE}) {
        drm_xe_engine engine{};
        engine.instance.engine_class = kind;
        append(out, engine);
    }
    return out;
}

Bytes memory(const Gpu& gpu) {
    Bytes out = list_of(gpu.memory_gib ? 2 : 1);
    drm_xe_mem_region host{};
    host.mem_class = DRM_XE_MEM_REGION_CLASS_SYSMEM;
    host.min_page_size = 4096;
    host.total_size = host_memory;
    append(out, host);
    if (!gpu.memory_gib) return out;
    drm_xe_mem_region own{};
    own.mem_class = DRM_XE_MEM_REGION_CLASS_VRAM;
    own.instance = 1;
    own.min_page_size = 65536;
    own.total_size = own.cpu_visible_size = gpu.memory_gib * gib;
    append(out, own);
    return out;
}

Bytes config(const Gpu& gpu) {
    constexpr uint32_t count = DRM_XE_QUERY_CONFIG_MAX_EXEC_QUEUE_PRIORITY + 1;
    uint64_t info[count] = {};
    info[DRM_XE_QUERY_CONFIG_REV_AND_DEVICE_ID] = uint32_t{gpu.revision} << 16 | gpu.pci_device;
    info[DRM_XE_QUERY_CONFIG_FLAGS] = gpu.memory_gib ? DRM_XE_QUERY_CONFIG_FLAG_HAS_VRAM : 0;
    info[DRM_XE_QUERY_CONFIG_MIN_ALIGNMENT] = gpu.memory_gib ? 65536 : 4096;
    info[DRM_XE_QUERY_CONFIG_VA_BITS] = 48;
    info[DRM_XE_QUERY_CONFIG_MAX_EXEC_QUEUE_PRIORITY] = 1;
    Bytes out = list_of(count);
    append(out, info);
    return out;
}

Bytes graphics_parts(const Gpu& gpu) {
    drm_xe_gt part{};
    part.type = DRM_XE_QUERY_GT_TYPE_MAIN;
    part.reference_clock = clock_hz;
    part.near_mem_regions = 1u << (gpu.memory_gib ? 1 : 0);
    part.far_mem_regions = gpu.memory_gib ? 1 : 0;
    part.ip_ver_major = gpu.ip_major;
    part.ip_ver_minor = gpu.ip_minor;
    part.ip_ver_rev = gpu.revision;
    Bytes out = list_of(1);
    append(out, part);
    return out;
}

void append_mask(Bytes& out, uint16_t type, unsigned bits) {
    drm_xe_query_topology_mask head{};
    head.type = type;
    head.num_bytes = sizeof(uint64_t);
    append(out, head);
    append(out, (uint64_t{1} << bits) - 1);
}

Bytes topology(const Gpu& gpu) {
    Bytes out;
    append_mask(out, DRM_XE_TOPO_DSS_GEOMETRY, gpu.cores);
    append_mask(out, DRM_XE_TOPO_DSS_COMPUTE, gpu.cores);
    append_mask(out, gpu.wide ? DRM_XE_TOPO_SIMD16_EU_PER_DSS : DRM_XE_TOPO_EU_PER_DSS, gpu.engines);
    return out;
}

// A table of the firmware's: key, number of values, values. The keys are the attributes of Intel's "HWConfig" tables.
Bytes firmware_table(const Gpu& gpu) {
    enum Key : uint32_t { slices = 1, cores = 2, engines_of_core = 3, threads_of_engine = 15 };
    Bytes out;
    for (const auto& [key, value] : {std::pair{slices, gpu.cores / gpu.cores_of_slice}, std::pair{cores, gpu.cores},
                                     std::pair{engines_of_core, gpu.engines}, std::pair{threads_of_engine, 8u}})
        for (const uint32_t word : {uint32_t{key}, 1u, uint32_t{value}}) append(out, word);
    return out;
}

Bytes cycles(const void* asked) {
    drm_xe_query_engine_cycles out{};
    if (asked) memcpy(&out, asked, sizeof out);
    timespec now{};
    clock_gettime(out.clockid, &now);
    out.cpu_timestamp = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    out.engine_cycles = static_cast<uint64_t>(static_cast<double>(out.cpu_timestamp) * (clock_hz / 1e9));
    out.width = 36;
    Bytes bytes;
    append(bytes, out);
    return bytes;
}

Bytes firmware(const void* asked) {
    drm_xe_query_uc_fw_version out{};
    if (asked) memcpy(&out, asked, sizeof out);
    out.major_ver = 70;
    out.minor_ver = 44;
    Bytes bytes;
    append(bytes, out);
    return bytes;
}

Bytes result_of(uint32_t query, const void* asked) {
    const Gpu& gpu = chosen_gpu();
    switch (query) {
        case DRM_XE_DEVICE_QUERY_ENGINES:
            return engines();
        case DRM_XE_DEVICE_QUERY_MEM_REGIONS:
            return memory(gpu);
        case DRM_XE_DEVICE_QUERY_CONFIG:
            return config(gpu);
        case DRM_XE_DEVICE_QUERY_GT_LIST:
            return graphics_parts(gpu);
        case DRM_XE_DEVICE_QUERY_HWCONFIG:
            return firmware_table(gpu);
        case DRM_XE_DEVICE_QUERY_GT_TOPOLOGY:
            return topology(gpu);
        case DRM_XE_DEVICE_QUERY_ENGINE_CYCLES:
            return cycles(asked);
        case DRM_XE_DEVICE_QUERY_UC_FW_VERSION:
            return firmware(asked);
        default:
            return {};
    }
}

}  // namespace

int answer_query(drm_xe_device_query& query) {
    const void* asked = reinterpret_cast<const void*>(query.data);
    const Bytes result = result_of(query.query, query.size ? asked : nullptr);
    if (result.empty()) return ENODEV;
    if (query.size == 0) {  // a first call asks for the size alone
        query.size = static_cast<uint32_t>(result.size());
        return 0;
    }
    if (query.size < result.size()) return EINVAL;
    memcpy(reinterpret_cast<void*>(query.data), result.data(), result.size());
    return 0;
}

}  // namespace vkgemm::test::intel
