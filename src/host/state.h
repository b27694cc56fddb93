// SPDX-License-Identifier: MIT
// What stands behind the handles of vkgemm/host.hpp. Vulkan is called through tables of each instance and device; the
// only global is volk's pointer into the loader.
#pragma once
#include <volk.h>

#include <chrono>
#include <list>
#include <mutex>

#include "vkgemm/float_exceptions.hpp"
#include "vkgemm/host.hpp"

namespace vkgemm::host::detail {

inline constexpr char validation_layer[] = "VK_LAYER_KHRONOS_validation";

/// Opens the loader, once in a process. Null when there is none.
PFN_vkGetInstanceProcAddr open_loader();

/// A Status for a Vulkan call that failed: "<what>: VK_ERROR_...".
Status failed(VkResult result, std::string_view what);
const char* result_name(VkResult result);

/// The messages of one instance. The layer calls in from any thread.
struct MessageLog {
    mutable std::mutex mutex;
    std::vector<Message> messages;
    std::function<void(const Message&)> on_message;
};

struct InstanceState {
    VolkInstanceTable vk{};
    VkInstance handle = VK_NULL_HANDLE;
    uint32_t api_version = VK_API_VERSION_1_1;
    bool validated = false;
    MessageLog log;
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;

    InstanceState() = default;
    InstanceState(const InstanceState&) = delete;
    InstanceState& operator=(const InstanceState&) = delete;
    ~InstanceState();
};

Result<std::shared_ptr<InstanceState>> create_instance(Validation validation,
                                                       std::function<void(const Message&)> on_message);
Result<std::vector<VkPhysicalDevice>> physical_devices(const InstanceState& instance);
DeviceInfo describe(const InstanceState& instance, VkPhysicalDevice device, uint32_t index);
/// The version that is used of a device of this instance.
uint32_t usable_version(const InstanceState& instance, uint32_t device_version);
/// A family with compute, one without graphics where there is a choice; UINT32_MAX: none.
uint32_t compute_family(const InstanceState& instance, VkPhysicalDevice device, uint32_t* timestamp_bits,
                        VkQueueFlags* flags = nullptr);
/// A family with transfer and neither compute nor graphics; UINT32_MAX: none. `queues`: how many queues it has.
uint32_t transfer_family(const InstanceState& instance, VkPhysicalDevice device, uint32_t& queues);
/// Fails if the device's extensions cannot be listed.
Result<bool> has_extension(const InstanceState& instance, VkPhysicalDevice device, std::string_view name);
/// For DeviceOptions::inspect: the bits of what the device offers, as vkgemmFeatureName counts them; `extensions` gets
/// what they want.
Result<uint64_t> features_for_inspecting(const InstanceState& instance, VkPhysicalDevice device, uint32_t version,
                                         std::vector<const char*>& extensions);

/// A buffer bound to memory of its own.
struct Allocation {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::span<std::byte> mapped{};  // Memory::host only
};

/// What one submission uses, to be destroyed when it has ended.
struct SubmissionObjects {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    VkQueryPool queries = VK_NULL_HANDLE;
};

struct DeviceState {
    std::shared_ptr<InstanceState> instance;
    DeviceInfo info;
    VolkDeviceTable vk{};
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice handle = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0, api_version = 0;
    VkQueueFlags family_flags = 0;
    uint32_t transfer_family = 0;
    std::vector<VkQueue> transfer_queues;
    VkPhysicalDeviceFeatures2 features{};
    std::vector<std::byte> feature_memory;  // what `features` is chained to
    std::vector<const char*> extensions;
    VkPhysicalDeviceMemoryProperties memory{};
    double seconds_per_tick = 0;
    uint32_t timestamp_bits = 0;
    bool addresses = false, inspects = false, has_budget = false;
    std::string capture_folder;  // of VKGEMM_CAPTURE; "": nothing is captured
    VkgemmLogFn log = nullptr;   // the context's
    void* log_user = nullptr;
    VkPipelineCache pipeline_cache = VK_NULL_HANDLE;  // null: none
    Context context;

    std::mutex queue_mutex;
    std::mutex late_mutex;              // of late; taken before queue_mutex
    std::list<SubmissionObjects> late;  // of submissions whose end nobody has seen; the device may work on them

    std::mutex staging_mutex;
    Allocation staging;

    DeviceState() = default;
    DeviceState(const DeviceState&) = delete;
    DeviceState& operator=(const DeviceState&) = delete;
    ~DeviceState();

    /// Whole, or not at all: what fails leaves `out` as it was.
    Status allocate(VkDeviceSize bytes, Memory where, VkBufferUsageFlags usage, Allocation& out) const;
    void release(const Allocation& a) const;
    void destroy(const SubmissionObjects& objects) const;
    bool has_late();
    /// Waits for late submissions and destroys their objects; DEVICE_LOST if one does not end within `timeout`.
    Status finish_late(std::chrono::nanoseconds timeout);
    /// As Device::download, of any buffer that may be copied from.
    Status download(VkBuffer buffer, VkDeviceSize offset, std::span<std::byte> data);
    /// Makes `staging` if it is not there. Under staging_mutex.
    Status prepare_staging();

   private:
    Status try_allocate(VkDeviceSize bytes, Memory where, VkBufferUsageFlags usage, Allocation& out) const;
};

/// Device::submit
Status submit_and_wait(DeviceState& device, const Record& record,
                       std::chrono::nanoseconds timeout = std::chrono::seconds(60));

struct BufferState {
    std::shared_ptr<DeviceState> device;
    Allocation own;
    VkDeviceSize size = 0;
    VkDeviceAddress address = 0;

    BufferState() = default;
    BufferState(const BufferState&) = delete;
    BufferState& operator=(const BufferState&) = delete;
    ~BufferState();
};

}  // namespace vkgemm::host::detail
