// SPDX-License-Identifier: MIT
// The roofline: what bounds a product on a device, its arithmetic or the memory that its operands lie in. Pure.
#pragma once
#include <optional>
#include <string>

namespace vkgemm::tool {

struct Roof {
    double intensity = 0;    // operations for each byte that must at least be moved
    double limit = 0;        // operations a second; 0: not known
    bool by_memory = false;  // else by arithmetic
};

/// What a device does at best, where a product may run on its plain units or on matrix units that fit it (nullopt: it
/// has none). 0: not measured. If that is so of matrix units nothing is known: the plain ones' rate is no bound then.
std::optional<double> peak_of(double plain, std::optional<double> matrix);

/// Of a product of `flops` operations on `bytes` bytes, on a device that does `peak` operations and moves `copied`
/// bytes a second. 0: not known.
Roof roof_of(double flops, double bytes, double peak, double copied);

/// "10.67 FLOP/B: at most 48.00 GFLOP/s, by copy bandwidth; reached 12 %". "" where no limit is known.
std::string roof_text(const Roof& roof, double reached, bool integer);

}  // namespace vkgemm::tool
