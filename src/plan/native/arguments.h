// SPDX-License-Identifier: MIT
// The parameter of a native kernel, from a step of a plan.
#pragma once
#include <string>

#include "native/native_args.h"
#include "plan/steps/steps.h"

namespace vkgemm::plan {

/// `args` are the step's, with the operands' addresses, alpha and beta. The addresses of A and B, their pitches and (in
/// a batch) their strides must be multiples of 16 bytes; m, n and batch must not be 0.
native::NativeArgs native_arguments(const Step&, const abi::GemmArgs& args);

/// The function of its kernel's module that a step launches: "wgmma_f16_128x256x64_nt", where n is row-major; of a
/// packer "_n", where neighbours differ in k.
std::string entry_point(const Step&);

/// Units of work, of which a persistent block takes one after another.
inline uint64_t work_of(const native::NativeArgs& x) {
    return uint64_t{x.tiles_m} * x.tiles_n * x.args.batch * x.slices;
}

}  // namespace vkgemm::plan
