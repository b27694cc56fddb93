// SPDX-License-Identifier: MIT
// test_tool_device [--no-validation] [doctest's own arguments]
#include "support/device.h"

int main(int count, char** arguments) { return vkgemm::test::run_tests(count, arguments); }
