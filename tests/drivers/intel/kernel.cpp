// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <drm/drm.h>
#include <drm/xe_drm.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <mutex>

#include "queries.h"

namespace vkgemm::test::intel {
namespace {

constexpr Gpu gpus[] = {
#define INTEL(name, device, revision, major, minor, cores, of_slice, engines, wide, gib) \
    {name, device, revision, major, minor, cores, of_slice, engines, wide != 0, gib},
#include "devices.def"
#undef INTEL
};

std::mutex guard;
uint32_t last_id = 0;                  // of buffers, address spaces, queues and semaphores
uint64_t next_offset = 1 << 20;        // in the file, for the next buffer
std::map<uint32_t, uint64_t> offsets;  // of buffers
std::map<uint32_t, uint64_t> reached;  // the value of each semaphore; a binary one has 0 or 1

template <class T>
T* array_at(uint64_t address) {
    return reinterpret_cast<T*>(address);
}

// Two calls: the first one asks for the lengths.
void put_text(char* to, size_t& length, const char* text) {
    if (to) memcpy(to, text, length < strlen(text) ? length : strlen(text));
    length = strlen(text);
}

int capability(drm_get_cap& cap) {
    if (cap.capability != DRM_CAP_SYNCOBJ && cap.capability != DRM_CAP_SYNCOBJ_TIMELINE) return EINVAL;
    cap.value = 1;
    return 0;
}

int create_buffer(drm_xe_gem_create& create) {
    create.handle = ++last_id;
    offsets[create.handle] = next_offset;
    next_offset += (create.size + 65535) / 65536 * 65536;
    return 0;
}

int offset_of(drm_xe_gem_mmap_offset& map) {
    const auto at = offsets.find(map.handle);
    if (at == offsets.end()) return ENOENT;
    map.offset = at->second;
    return 0;
}

void signal(uint32_t count, uint64_t syncs) {
    for (uint32_t i = 0; i < count; ++i) {
        const drm_xe_sync& sync = array_at<drm_xe_sync>(syncs)[i];
        if (!(sync.flags & DRM_XE_SYNC_FLAG_SIGNAL)) continue;
        if (sync.type == DRM_XE_SYNC_TYPE_USER_FENCE)
            *array_at<uint64_t>(sync.addr) = sync.timeline_value;
        else
            reached[sync.handle] = sync.type == DRM_XE_SYNC_TYPE_SYNCOBJ ? 1 : sync.timeline_value;
    }
}

int answer_semaphore(unsigned long request, void* data) {
    switch (request) {
        case DRM_IOCTL_SYNCOBJ_CREATE: {
            auto& create = *static_cast<drm_syncobj_create*>(data);
            create.handle = ++last_id;
            reached[create.handle] = create.flags & DRM_SYNCOBJ_CREATE_SIGNALED ? 1 : 0;
            return 0;
        }
        case DRM_IOCTL_SYNCOBJ_DESTROY:
            reached.erase(static_cast<drm_syncobj_destroy*>(data)->handle);
            return 0;
        case DRM_IOCTL_SYNCOBJ_RESET:
        case DRM_IOCTL_SYNCOBJ_SIGNAL: {
            const auto& all = *static_cast<drm_syncobj_array*>(data);
            for (uint32_t i = 0; i < all.count_handles; ++i)
                reached[array_at<uint32_t>(all.handles)[i]] = request == DRM_IOCTL_SYNCOBJ_SIGNAL ? 1 : 0;
            return 0;
        }
        case DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL:
        case DRM_IOCTL_SYNCOBJ_QUERY: {
            const auto& all = *static_cast<drm_syncobj_timeline_array*>(data);
            for (uint32_t i = 0; i < all.count_handles; ++i) {
                uint64_t &value = reached[array_at<uint32_t>(all.handles)[i]],
                         &point = array_at<uint64_t>(all.points)[i];
                if (request == DRM_IOCTL_SYNCOBJ_QUERY)
                    point = value;
                else
                    value = point;
            }
            return 0;
        }
        case DRM_IOCTL_SYNCOBJ_TRANSFER: {
            const auto& copy = *static_cast<drm_syncobj_transfer*>(data);
            reached[copy.dst_handle] = copy.dst_point ? copy.dst_point : reached[copy.src_handle];
            return 0;
        }
        case DRM_IOCTL_SYNCOBJ_WAIT:  // all that was submitted is done
        case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT:
            return 0;
        default:
            return ENOTTY;
    }
}

}  // namespace

const Gpu& chosen_gpu() {
    const char* wanted = getenv("VKGEMM_INTEL_GPU");
    for (const Gpu& gpu : gpus)
        if (wanted && strcmp(gpu.name, wanted) == 0) return gpu;
    fprintf(stderr, "VKGEMM_INTEL_GPU names no GPU of tests/drivers/intel/devices.def: %s\n", wanted ? wanted : "");
    exit(1);
}

int answer(unsigned long request, void* data) {
    const std::lock_guard lock(guard);
    switch (request) {
        case DRM_IOCTL_VERSION: {
            auto& version = *static_cast<drm_version*>(data);
            version.version_major = 1;
            put_text(version.name, version.name_len, "xe");
            put_text(version.date, version.date_len, "0");
            put_text(version.desc, version.desc_len, "imitation of xe");
            return 0;
        }
        case DRM_IOCTL_GET_CAP:
            return capability(*static_cast<drm_get_cap*>(data));
        case DRM_IOCTL_GEM_CLOSE:
            offsets.erase(static_cast<drm_gem_close*>(data)->handle);
            return 0;
        case DRM_IOCTL_XE_DEVICE_QUERY:
            return answer_query(*static_cast<drm_xe_device_query*>(data));
        case DRM_IOCTL_XE_GEM_CREATE:
            return create_buffer(*static_cast<drm_xe_gem_create*>(data));
        case DRM_IOCTL_XE_GEM_MMAP_OFFSET:
            return offset_of(*static_cast<drm_xe_gem_mmap_offset*>(data));
        case DRM_IOCTL_XE_VM_CREATE:
            static_cast<drm_xe_vm_create*>(data)->vm_id = ++last_id;
            return 0;
        case DRM_IOCTL_XE_VM_BIND: {
            const auto& bind = *static_cast<drm_xe_vm_bind*>(data);
            signal(bind.num_syncs, bind.syncs);
            return 0;
        }
        case DRM_IOCTL_XE_EXEC_QUEUE_CREATE:
            static_cast<drm_xe_exec_queue_create*>(data)->exec_queue_id = ++last_id;
            return 0;
        case DRM_IOCTL_XE_EXEC_QUEUE_GET_PROPERTY:
            static_cast<drm_xe_exec_queue_get_property*>(data)->value = 0;
            return 0;
        case DRM_IOCTL_XE_EXEC: {
            const auto& exec = *static_cast<drm_xe_exec*>(data);
            signal(exec.num_syncs, exec.syncs);
            return 0;
        }
        case DRM_IOCTL_XE_VM_DESTROY:
        case DRM_IOCTL_XE_EXEC_QUEUE_DESTROY:
        case DRM_IOCTL_XE_WAIT_USER_FENCE:
            return 0;
        default:
            return answer_semaphore(request, data);
    }
}

}  // namespace vkgemm::test::intel
