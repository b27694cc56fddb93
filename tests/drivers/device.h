// SPDX-License-Identifier: MIT
// A device that tells what its compiler made of a pipeline: the helper's device with pipelineExecutableInfo besides.
#pragma once
#include "plan/facts.h"
#include "vkgemm/host.hpp"

namespace vkgemm::test {

/// One number that a driver tells of a compiled pipeline, in its own words, and one text.
struct Statistic {
    std::string name;
    double value;
};
struct Representation {
    std::string name, text;
};
/// What the driver tells of one pipeline, all its executables together.
struct Told {
    std::vector<Statistic> statistics;
    std::vector<Representation> representations;
};

class CompilingDevice {
   public:
    CompilingDevice();  // ends the program where there is no device, or none that tells
    CompilingDevice(const CompilingDevice&) = delete;
    CompilingDevice& operator=(const CompilingDevice&) = delete;
    ~CompilingDevice();

    const Context& context() const { return context_; }
    const plan::DeviceFacts& facts() const { return facts_; }
    Told told(VkPipeline) const;

   private:
    template <class Function>
    Function find(const char* name) const;
    void read(const VkPipelineExecutableInfoKHR&, Told&) const;

    host::Device parent_;
    VkDevice device_ = VK_NULL_HANDLE;
    std::vector<std::byte> feature_memory_;
    Context context_;
    plan::DeviceFacts facts_;
};

}  // namespace vkgemm::test
