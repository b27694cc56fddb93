// SPDX-License-Identifier: MIT
// The Vulkan device that a test program runs on, and the program's main().
#pragma once
#include <functional>

#include "vkgemm/host.hpp"

namespace vkgemm::test {

/// Opens the device at the first call, under the validation layer with synchronisation validation unless
/// --no-validation was given. Ends the program with code 2 if there is no device or no layer.
const host::Device& device();
/// What a context on device() is made from.
VkgemmContextInfo context_info();
bool validating();
bool everything();                 // --all was given: run also the cases that are left out to save time
uint64_t seed_or(uint64_t usual);  // of random problems: that of --seed=N, if it was given

/// Runs `clean` before the device is closed; whoever keeps buffers needs it. The device must be closed before the
/// process ends, because then the driver's own statics are destroyed.
void before_closing(std::function<void()> clean);

void read_arguments(int count, char** arguments);  // --no-validation, --all, --seed=N

/// Closes the device. Returns `result`, or 1 if the validation layer reported anything.
int close_device(int result);

/// The main() of a test program: reads the arguments, runs doctest, closes the device. Returns the exit code.
/// With VKGEMM_TESTS_ABORT in the environment the first failure ends it.
int run_tests(int count, char** arguments);

}  // namespace vkgemm::test
