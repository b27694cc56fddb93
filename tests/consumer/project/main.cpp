// SPDX-License-Identifier: MIT
// Uses the C++ API as far as it goes without a device. Code 0 when all is well.
#include <cstdio>
#include <vkgemm/vkgemm.hpp>

int main() {
    if (vkgemmVersion() != VKGEMM_VERSION) {
        std::puts("the header is of another version than the library");
        return 1;
    }
    unsigned built = 0;
    for (const VkgemmKernelInfo& kernel : vkgemm::kernels()) built += kernel.built;
    if (built == 0) {
        std::puts("no kernel was built");
        return 1;
    }
    const auto line = vkgemm::parseProblem("f32*f32+f32->f32 64x128x256 batch=4");
    if (!line) {
        std::puts(line.status().text.c_str());
        return 1;
    }
    if (vkgemm::parseProblem("64x128")) {
        std::puts("half a problem was accepted");
        return 1;
    }
    std::printf("vkgemm %d.%d, %u kernels\n", VKGEMM_VERSION_MAJOR, VKGEMM_VERSION_MINOR, built);
}
