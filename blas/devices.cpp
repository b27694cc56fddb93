// SPDX-License-Identifier: MIT
#include "blas/devices.h"

namespace vkgemm::blas {

Result<std::vector<uint32_t>> choose_devices(std::span<const host::DeviceInfo> devices, const Settings& s) {
    const auto best = host::chooseDevice(devices, "");
    if (!best) return best.status();
    std::vector<uint32_t> chosen, alike;
    for (const host::DeviceInfo& d : devices)
        if (d.unfit.empty() && d.kind == devices[*best].kind) alike.push_back(d.index);
    if (s.devices.empty()) chosen.push_back(*best);
    for (const std::string& word : s.devices) {
        if (word == "all") {
            chosen.insert(chosen.end(), alike.begin(), alike.end());
        } else if (word == "rank") {
            chosen.push_back(alike[s.local_rank % alike.size()]);
        } else {
            const auto found = host::chooseDevice(devices, word);
            if (!found) return found.status();
            chosen.push_back(*found);
        }
    }
    return chosen;
}

}  // namespace vkgemm::blas
