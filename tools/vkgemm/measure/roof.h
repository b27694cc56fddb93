// SPDX-License-Identifier: MIT
// The roofline: whether arithmetic or the memory of its operands limits a product on a device. Pure.
#pragma once
#include <optional>
#include <string>

namespace vkgemm::tool {

struct Roof {
    double intensity = 0;     // operations for each byte that must at least be moved
    double limit = 0;         // operations a second; 0: not known
    bool by_memory = false;   // else by arithmetic
    bool of_shaders = false;  // arithmetic of units that native kernels may exceed: no shader reaches the matrix units
};

/// The best rate of a device for a product that may run on its plain units or on its matrix units. `matrix` is nullopt
/// if no matrix units fit the product. It is 0 if they fit and were not measured; then the result is nullopt, because
/// they may be faster than the plain units. A `plain` that was not measured is 0, too.
std::optional<double> peak_of(double plain, std::optional<double> matrix);

/// Of a product of `flops` operations on `bytes` bytes, on a device that does `peak` operations and moves `copied`
/// bytes a second. 0: not known.
Roof roof_of(double flops, double bytes, double peak, double copied);

/// "10.67 FLOP/B: measured roof 48.00 GFLOP/s, by copy bandwidth; reached 12 %". "" where no limit is known. `native`:
/// machine code reached it, which a roof of shaders does not bound.
std::string roof_text(const Roof& roof, double reached, bool integer, bool native);

}  // namespace vkgemm::tool
