// SPDX-License-Identifier: MIT
// The rule that decides whether a kernel can compute a problem. There is one list of checks, for the choice, which only
// wants to know, and for reports, which give the reason in words.
#pragma once
#include "plan/choice/device_kernels.h"
#include "plan/choice/reach.h"

namespace vkgemm::plan {

/// A problem, normalised, for which kernels are judged. What does not depend on the kernel is found once. It refers to
/// its arguments.
class KernelRule {
   public:
    KernelRule(const DeviceCaps&, const Problem&, const Request&, Binding);

    /// The reason why the kernel with this tile cannot run the problem, if there is one.
    std::optional<Status> unfit(const Kernel& k, const Tile& t) const { return check(k, t, Wording::in_words, false); }
    /// Whether there is none, where `fits` is what fits_device() says. Nothing is put into words, which saves most of
    /// the time.
    bool serves(const Kernel& k, const Tile& t, bool fits) const {
        return fits && !check(k, t, Wording::code_alone, true);
    }

    bool is_too_large() const { return too_large_.has_value(); }

   private:
    std::optional<Status> check(const Kernel&, const Tile&, Wording, bool fits_device) const;

    const DeviceCaps& dev_;
    const Problem& p_;
    const Request& request_;
    Binding binding_;
    std::optional<Status> too_large_;
};

/// The same for whoever requests nothing in particular.
std::optional<Status> unfit(const Kernel&, const Tile&, const DeviceCaps&, const Problem&, Binding);

/// What the products of a module multiply, for texts: "f16*f16+f32->f16".
std::string types_of(const Module&);

}  // namespace vkgemm::plan
