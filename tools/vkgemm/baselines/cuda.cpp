// SPDX-License-Identifier: MIT
#include "baselines/cuda.h"

#include <algorithm>
#include <cmath>

#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {
namespace {

constexpr int to_device = 1, to_host = 2, on_device = 3;  // directions of cudaMemcpy
constexpr size_t scratch_bytes = size_t{256} << 20;
constexpr size_t copy_alignment = 1024;

Status no(std::string text) { return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, std::move(text)}; }

using Uuid = std::array<uint8_t, VK_UUID_SIZE>;

std::string uuid_text(const Uuid& uuid) {
    std::string text;
    for (const uint8_t byte : uuid) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

/// What the Vulkan device calls itself; CUDA uses the same number for the same hardware.
Uuid vulkan_uuid(const host::Device& device) {
    VkPhysicalDeviceIDProperties id{};
    id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &id;
    const auto get = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
        device.getInstanceProcAddr()(device.instance(), "vkGetPhysicalDeviceProperties2"));
    if (get) get(device.physicalDevice(), &properties);
    Uuid uuid{};
    std::ranges::copy(id.deviceUUID, uuid.begin());
    return uuid;
}

/// The driver's part: which of CUDA's devices has this number. The runtime counts devices in the same order.
Result<int> find_device(const Uuid& wanted) {
    static const std::string names[] = {"libcuda.so.1", "nvcuda.dll"};
    const std::vector<std::string> folders = baseline_folders();
    const Library driver = Library::open(names, folders);
    int (*init)(unsigned flags) = nullptr;
    int (*get_count)(int* count) = nullptr;
    int (*get)(int* device, int ordinal) = nullptr;
    int (*get_uuid)(void* uuid, int device) = nullptr;
    if (!driver || !driver.find(init, "cuInit") || !driver.find(get_count, "cuDeviceGetCount") ||
        !driver.find(get, "cuDeviceGet") ||
        !(driver.find(get_uuid, "cuDeviceGetUuid_v2") || driver.find(get_uuid, "cuDeviceGetUuid")))
        return no("there is no NVIDIA driver with CUDA (libcuda.so.1, nvcuda.dll)");
    int count = 0;
    if (const int error = init(0); error != 0 || get_count(&count) != 0)
        return no("CUDA's driver finds no device (cuInit: " + std::to_string(error) + ")");
    for (int i = 0; i < count; ++i) {
        int handle = 0;
        Uuid uuid{};
        if (get(&handle, i) == 0 && get_uuid(uuid.data(), handle) == 0 && uuid == wanted) return i;
    }
    return no("none of CUDA's " + std::to_string(count) + " devices is the one that Vulkan uses (UUID " +
              uuid_text(wanted) + ")");
}

Library open_runtime() {
    static const std::string names[] = {"libcudart.so.14",   "libcudart.so.13", "libcudart.so.12",
                                        "libcudart.so.11.0", "libcudart.so",    "cudart64_14.dll",
                                        "cudart64_13.dll",   "cudart64_12.dll", "cudart64_110.dll"};
    return Library::open(names, baseline_folders());
}

/// The name of the first function that is missing; null: all are there.
const char* bind(const Library& library, CudaCalls& call) {
    const char* missing = nullptr;
    const auto want = [&](auto& function, const char* name) {
        if (!library.find(function, name) && !missing) missing = name;
    };
    want(call.SetDevice, "cudaSetDevice");
    want(call.RuntimeGetVersion, "cudaRuntimeGetVersion");
    want(call.GetErrorString, "cudaGetErrorString");
    want(call.Malloc, "cudaMalloc");
    want(call.Free, "cudaFree");
    want(call.Memcpy, "cudaMemcpy");
    want(call.MemsetAsync, "cudaMemsetAsync");
    want(call.EventCreate, "cudaEventCreate");
    want(call.EventDestroy, "cudaEventDestroy");
    want(call.EventRecord, "cudaEventRecord");
    want(call.EventSynchronize, "cudaEventSynchronize");
    want(call.EventElapsedTime, "cudaEventElapsedTime");
    return missing;
}

}  // namespace

Result<std::shared_ptr<Cuda>> Cuda::open(const host::Device& device) {
    const Library runtime = open_runtime();
    if (!runtime)
        return no(
            "the CUDA runtime (libcudart.so.13, cudart64_13.dll, ...) is not installed; VKGEMM_BASELINE_PATH can name "
            "its folder");
    const std::shared_ptr<Cuda> cuda(new Cuda);
    if (const char* missing = bind(runtime, cuda->call)) return no(std::string("the CUDA runtime lacks ") + missing);
    const Result<int> ordinal = find_device(vulkan_uuid(device));
    if (!ordinal) return ordinal.status();
    if (const int error = cuda->call.SetDevice(*ordinal)) return cuda->failed(error, "cudaSetDevice");
    return cuda;
}

Cuda::~Cuda() {
    for (void* event : events_) call.EventDestroy(event);
    if (scratch_) call.Free(scratch_);
}

std::string Cuda::version() const {
    int version = 0;
    call.RuntimeGetVersion(&version);
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status Cuda::failed(int error, const char* what) const {
    return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
            std::string(what) + ": " + call.GetErrorString(error) + " (" + std::to_string(error) + ")"};
}

Status Cuda::make_events(size_t count) {
    while (events_.size() < count) {
        void* event = nullptr;
        if (const int error = call.EventCreate(&event)) return failed(error, "cudaEventCreate");
        events_.push_back(event);
    }
    return {};
}

/// Where runs are shorter than their launch, the device would wait for the host between them, which Vulkan's recorded
/// command buffers never do. So it first gets other work, which lasts until all runs are in its queue.
Status Cuda::stall(size_t runs) {
    constexpr double launch = 10e-6, fill = 50e-6;  // seconds; of a fill of the scratch memory, on the fastest devices
    if (seconds_ == 0 || seconds_ > 10 * launch) return {};
    if (!scratch_)
        if (const int error = call.Malloc(&scratch_, scratch_bytes)) return failed(error, "cudaMalloc");
    for (size_t i = 0; static_cast<double>(i) * fill < launch * static_cast<double>(runs); ++i)
        if (const int error = call.MemsetAsync(scratch_, 0, scratch_bytes, nullptr))
            return failed(error, "cudaMemsetAsync");
    return {};
}

Result<std::vector<double>> Cuda::time(size_t runs, const std::function<Status(size_t run)>& launch) {
    if (Status s = make_events(2 * runs); !s) return s;
    if (Status s = stall(runs); !s) return s;
    for (size_t i = 0; i < runs; ++i) {
        if (const int error = call.EventRecord(events_[2 * i], nullptr)) return failed(error, "cudaEventRecord");
        if (Status s = launch(i); !s) return s;
        if (const int error = call.EventRecord(events_[2 * i + 1], nullptr)) return failed(error, "cudaEventRecord");
    }
    if (const int error = call.EventSynchronize(events_[2 * runs - 1])) return failed(error, "cudaEventSynchronize");
    std::vector<double> seconds;
    for (size_t i = 0; i < runs; ++i) {
        float milliseconds = 0;
        if (const int error = call.EventElapsedTime(&milliseconds, events_[2 * i], events_[2 * i + 1]))
            return failed(error, "cudaEventElapsedTime");
        seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
    }
    seconds_ = std::ranges::min(seconds);
    return seconds;
}

Result<double> Cuda::time_together(size_t runs, const std::function<Status(size_t run)>& launch) {
    if (Status s = make_events(2); !s) return s;
    if (Status s = stall(runs); !s) return s;
    if (const int error = call.EventRecord(events_[0], nullptr)) return failed(error, "cudaEventRecord");
    for (size_t i = 0; i < runs; ++i)
        if (Status s = launch(i); !s) return s;
    if (const int error = call.EventRecord(events_[1], nullptr)) return failed(error, "cudaEventRecord");
    if (const int error = call.EventSynchronize(events_[1])) return failed(error, "cudaEventSynchronize");
    float milliseconds = 0;
    if (const int error = call.EventElapsedTime(&milliseconds, events_[0], events_[1]))
        return failed(error, "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
}

Status CudaCopies::load(std::shared_ptr<Cuda> cuda, const std::vector<std::byte>& bytes, size_t copies) {
    reset();
    cuda_ = std::move(cuda);
    if (bytes.empty()) return {};
    size_ = bytes.size();
    stride_ = roundUp(size_, copy_alignment);
    void* memory = nullptr;
    if (const int error = cuda_->call.Malloc(&memory, stride_ * copies)) return cuda_->failed(error, "cudaMalloc");
    data_ = static_cast<std::byte*>(memory);
    for (size_t i = 0; i < copies; ++i) {
        const void* from = i == 0 ? bytes.data() : data_;
        if (const int error = cuda_->call.Memcpy(copy(i), from, size_, i == 0 ? to_device : on_device))
            return cuda_->failed(error, "cudaMemcpy");
    }
    return {};
}

void CudaCopies::reset() {
    if (data_) cuda_->call.Free(data_);
    data_ = nullptr;
    size_ = 0;
}

Status CudaCopies::read(std::vector<std::byte>& bytes) const {
    bytes.resize(size_);
    if (const int error = cuda_->call.Memcpy(bytes.data(), data_, size_, to_host))
        return cuda_->failed(error, "cudaMemcpy");
    return {};
}

}  // namespace vkgemm::tool
