// SPDX-License-Identifier: MIT
// The device that a test program runs on, and its main().
#pragma once
#include <functional>

#include "vkgemm/host.hpp"

namespace vkgemm::test {

/// Opened at first use, under the validation layer with synchronisation validation unless --no-validation was given.
/// Ends the program where there is no device, or no layer.
const host::Device& device();
bool validating();
bool everything();  // --all was given: no case is left out to save time

/// Runs `clean` before the device is closed: for those who keep buffers. The device must not live to the end of the
/// process, when the driver's own statics are gone already.
void before_closing(std::function<void()> clean);

void read_arguments(int count, char** arguments);  // --no-validation, --all

/// Closes the device. `result`, or failure where the layer had anything to say.
int close_device(int result);

/// The main() of a test program: doctest between the two.
int run_tests(int count, char** arguments);

}  // namespace vkgemm::test
