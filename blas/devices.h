// SPDX-License-Identifier: MIT
// Which devices of a machine compute. Pure.
#pragma once
#include <vkgemm/host.hpp>

#include "blas/settings.h"

namespace vkgemm::blas {

/// The indices that Settings::devices means, in its order; at least one. "all": the devices of the best one's kind.
/// "rank": one of those, by turns for the processes of MPI on this machine. A device that is named twice is used
/// twice, as if it were two.
Result<std::vector<uint32_t>> choose_devices(std::span<const host::DeviceInfo> devices, const Settings& s);

}  // namespace vkgemm::blas
