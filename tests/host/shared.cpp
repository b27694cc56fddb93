// SPDX-License-Identifier: MIT
// vkgemm::host inside a shared object. That it links is the test: all of the library must be position-independent.
#include <vkgemm/host.hpp>

extern "C" {
#ifndef _WIN32
__attribute__((visibility("default")))
#endif
int opens_a_device();
int opens_a_device() { return vkgemm::host::Device::open() ? 0 : 1; }
}
