// SPDX-License-Identifier: MIT
// The most that shaders reach on the device, measured: multiply-adds alone, and copies (measure/shaders/).
#pragma once
#include <map>
#include <optional>

#include "measure/cases.h"
#include "measure/compute_pipeline.h"
#include "measure/roof.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// A module of measure/shaders/, by the units that it drives, or "copy".
struct PeakModule {
    std::string_view name;
    std::span<const uint32_t> code;
};
/// Empty if this build had no shader compiler.
std::vector<PeakModule> peak_modules();

class Roofline {
   public:
    explicit Roofline(const host::Device& device) : device_(device) {}

    /// The bound of the case. Units are measured when a case first needs them, in a fraction of a second. There is no
    /// limit if the case is empty or asks for another accuracy, if its units could not be measured, or if interrupted()
    /// before they were.
    Roof of(const Case& c);

    /// The measurements so far: operations a second by the name of the units (0: it failed), and bytes a second,
    /// read and written.
    const std::map<std::string, double>& peaks() const { return peaks_; }
    double copied() const { return copied_.value_or(0); }

   private:
    struct Peak {
        std::optional<double> flops;  // a second
        bool of_matrix_units = false;
    };
    Peak peak(const Resolved& r);
    double measured(const std::string& units);
    Result<double> measure(const PeakModule& module, const std::string& units) const;
    Result<ComputePipeline> pipeline_of(PipelineInfo info, const host::Buffer& from, const host::Buffer& to) const;
    Result<double> measure_copies() const;

    const host::Device& device_;
    std::optional<DeviceCaps> caps_;
    std::optional<double> copied_;
    std::map<std::string, double> peaks_;
    bool cut_short_ = false;  // the last peak was not measured, because interrupted()
};

}  // namespace vkgemm::tool
