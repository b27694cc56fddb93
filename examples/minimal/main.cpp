// SPDX-License-Identifier: MIT
// The shortest program: opens a device with vkgemm::host, uploads two matrices, multiplies, and downloads the result.
#include <cstdio>
#include <vector>
#include <vkgemm/host.hpp>

namespace host = vkgemm::host;

/// Returns the row sums of A, computed as A times a column of ones.
vkgemm::Result<std::vector<float>> row_sums(const host::Device& device, const std::vector<float>& a, uint64_t rows,
                                            uint64_t cols) {
    const auto plan = device.context().createPlan({.m = rows, .n = 1, .k = cols});
    if (!plan) return plan.status();
    std::vector<float> ones(cols, 1.0f), sums(rows);
    auto on_a = device.createBuffer(a.size() * sizeof(float)), on_ones = device.createBuffer(cols * sizeof(float));
    auto on_sums = device.createBuffer(rows * sizeof(float));
    for (const auto* buffer : {&on_a, &on_ones, &on_sums})
        if (!*buffer) return buffer->status();

    if (auto s = device.upload(*on_a, a); !s) return s;
    if (auto s = device.upload(*on_ones, ones); !s) return s;
    const vkgemm::Run run{.a = on_a->operand(), .b = on_ones->operand(), .d = on_sums->operand()};
    if (auto s = device.submit([&](VkCommandBuffer commands) { return plan->record(commands, run); }); !s) return s;
    if (auto s = device.download(*on_sums, sums); !s) return s;
    return sums;
}

int main() {
    const auto device = host::Device::open();
    if (!device) {
        std::fprintf(stderr, "%s\n", device.status().text.c_str());
        return 1;
    }
    const auto sums = row_sums(*device, {1, 2, 3, 4, 5, 6}, 2, 3);
    if (!sums) {
        std::fprintf(stderr, "%s\n", sums.status().text.c_str());
        return 1;
    }
    std::printf("%s: row sums %g and %g\n", device->info().name.c_str(), static_cast<double>((*sums)[0]),
                static_cast<double>((*sums)[1]));
    return (*sums)[0] == 6 && (*sums)[1] == 15 ? 0 : 1;
}
