// SPDX-License-Identifier: MIT
// The family of e4m3 and e5m2 on Hopper's warp-group matrix units, in machine code (native/).
#pragma once
#include "native/family.h"

namespace vkgemm::plan::family::wgmma {

// Of the accuracy of narrow, because the units keep fewer binary digits of a sum than f32 does (docs/accuracy.md).
constexpr Family make_fp8() {
    Family f = unfitted(plain);
    f.variant = "fp8";
    f.accuracy = VKGEMM_ACCURACY_NARROW;
    f.takes_fp8 = true;
    f.takes_converted = false;
    return f;
}
inline constexpr Family fp8 = make_fp8();

}  // namespace vkgemm::plan::family::wgmma
