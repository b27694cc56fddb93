// SPDX-License-Identifier: MIT
// What shaders can do on the device at best, measured: multiply-adds alone, and copies (shaders/peak*.comp).
#pragma once
#include <map>
#include <optional>

#include "plan/device/device_caps.h"
#include "tools/vkgemm/measure/cases.h"
#include "tools/vkgemm/measure/roof.h"
#include "tools/vkgemm/trace/trace_pipeline.h"
#include "tools/vkgemm/trace/traced.h"
#include "vkgemm/host.hpp"

namespace vkgemm::tool {

/// The modules of shaders/peak*.comp, by the units that they drive, and `copy`. Empty where this build had no shader
/// compiler.
std::vector<TracedModule> peak_modules();

class Roofline {
   public:
    explicit Roofline(const host::Device& device) : device_(device) {}

    /// What bounds the case; units are measured when a case first wants them, in a fraction of a second. No limit where
    /// the case is empty or of another accuracy than its types', or where nothing could be measured, or not the matrix
    /// units that fit.
    Roof of(const Case& c);

    /// What was measured until now: operations a second by the name of the units (0: it failed), and bytes a second,
    /// read and written.
    const std::map<std::string, double>& peaks() const { return peaks_; }
    double copied() const { return copied_.value_or(0); }

   private:
    std::optional<double> peak(const Resolved& r);
    double measured(const std::string& units);
    Result<double> measure(const TracedModule& module, const std::string& units) const;
    Result<TracePipeline> pipeline_of(const TracedModule& module, const plan::Step& step, const host::Buffer& from,
                                      const host::Buffer& to) const;
    Result<double> measure_copies() const;

    const host::Device& device_;
    std::optional<plan::DeviceCaps> caps_;
    std::optional<double> copied_;
    std::map<std::string, double> peaks_;
};

}  // namespace vkgemm::tool
