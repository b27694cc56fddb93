// SPDX-License-Identifier: MIT
// What one device can run, found once: everything about the table of kernels that no problem changes.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "plan/choice/cost.h"

namespace vkgemm::plan {

/// The reason why `kernel` with `tile` cannot run on this device, whatever the problem.
std::optional<Status> unfit_device(const Kernel&, const Tile&, const DeviceCaps&, Wording = Wording::in_words);
/// Whether there is none. Takes far less time, because nothing is put into words.
bool fits_device(const Kernel&, const Tile&, const DeviceCaps&);

/// The reason why no kernel in machine code is used on this device, if there is one.
std::optional<Status> why_not_native(const DeviceCaps&);

/// Immutable, so that many threads may choose by it. Making one judges every kernel; make one for a device and keep it.
/// The constructor is implicit for programs that ask once. The capabilities must outlive it.
class DeviceKernels {
   public:
    DeviceKernels(const DeviceCaps&);

    const DeviceCaps& caps() const { return *caps_; }

    struct Product {
        uint32_t types;  // one number for those of the kernel's module
        const Kernel* kernel;
        bool fits;  // fits_device() with its own tile
        KernelCost cost;
    };
    /// The products that may have the problem's types (Module::has_types_of says), in the order of the table; also
    /// those that do not fit the device.
    std::span<const Product> products(const Problem&) const;
    /// Those that fit, in the order of the table.
    std::span<const Kernel* const> packers() const { return packers_; }
    struct Reducer {
        const Kernel* kernel = nullptr;  // null: there is none
        double cost = INFINITY;
    };
    /// The fastest second pass for these types.
    Reducer find_reducer(const Problem&, uint32_t slices) const;
    const Kernel* lister() const { return lister_; }      // null: it does not fit the device, or is disabled
    const Kernel* splitter() const { return splitter_; }  // null: the library was built without products of int8
    const Kernel* joiner() const { return joiner_; }      // likewise
    const Kernel* finisher() const { return finisher_; }  // likewise

   private:
    void add_helper(const Kernel&);

    const DeviceCaps* caps_;
    std::vector<Product> products_;  // sorted by types
    std::vector<const Kernel*> packers_, reducers_;
    const Kernel* lister_ = nullptr;
    const Kernel* splitter_ = nullptr;
    const Kernel* joiner_ = nullptr;
    const Kernel* finisher_ = nullptr;
};

/// If the device's matrix units multiply the problem's types in shapes of which no kernel is that fits, a sentence that
/// names these shapes and the remedy. Otherwise "".
std::string unused_matrix_units(const DeviceKernels&, const Problem&);

}  // namespace vkgemm::plan
