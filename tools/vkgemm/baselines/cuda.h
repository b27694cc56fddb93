// SPDX-License-Identifier: MIT
// The part of the CUDA runtime that a comparison needs, opened at run time: the device that Vulkan uses, memory on it,
// and the time between events.
#pragma once
#include <memory>

#include "baselines/shared_library.h"
#include "measure/measure.h"

namespace vkgemm::tool {

/// The functions, as NVIDIA documents them; opaque types are void*. The version is in a library's file name,
/// not in these, which have been the same since CUDA 11.
struct CudaCalls {
    int (*SetDevice)(int device);
    int (*RuntimeGetVersion)(int* version);
    const char* (*GetErrorString)(int error);
    int (*Malloc)(void** pointer, size_t bytes);
    int (*Free)(void* pointer);
    int (*Memcpy)(void* to, const void* from, size_t bytes, int direction);
    int (*MemsetAsync)(void* pointer, int value, size_t bytes, void* stream);
    int (*EventCreate)(void** event);
    int (*EventDestroy)(void* event);
    int (*EventRecord)(void* event, void* stream);
    int (*EventSynchronize)(void* event);
    int (*EventElapsedTime)(float* milliseconds, void* begin, void* end);
};

class Cuda {
   public:
    /// The CUDA device that is the same piece of hardware as `device`. Fails with one sentence.
    static Result<std::shared_ptr<Cuda>> open(const host::Device& device);
    ~Cuda();
    Cuda(const Cuda&) = delete;
    Cuda& operator=(const Cuda&) = delete;

    std::string version() const;  // "13.0", of the runtime
    Status failed(int error, const char* what) const;

    /// Calls `launch(i)` `runs` times; returns the seconds that each took on the stream.
    Result<std::vector<double>> time(size_t runs, const std::function<Status(size_t run)>& launch);

    /// The same, the seconds of all together.
    Result<double> time_together(size_t runs, const std::function<Status(size_t run)>& launch);

    CudaCalls call{};

   private:
    Cuda() = default;
    Status stall(size_t runs);
    Status make_events(size_t count);

    std::vector<void*> events_;
    void* scratch_ = nullptr;  // what stall() keeps the device busy with
    double seconds_ = 0;       // of the fastest run in the last round; 0: no round yet
};

/// Memory on the CUDA device: copies of one operand, each aligned as cudaMalloc does at least.
class CudaCopies {
   public:
    CudaCopies() = default;
    ~CudaCopies() { reset(); }
    CudaCopies(const CudaCopies&) = delete;
    CudaCopies& operator=(const CudaCopies&) = delete;

    Status load(std::shared_ptr<Cuda> cuda, const std::vector<std::byte>& bytes, size_t copies);
    void reset();
    std::byte* copy(size_t i) const { return data_ + i * stride_; }
    Status read(std::vector<std::byte>& bytes) const;  // the first copy

   private:
    std::shared_ptr<Cuda> cuda_;
    std::byte* data_ = nullptr;
    size_t size_ = 0, stride_ = 0;
};

}  // namespace vkgemm::tool
