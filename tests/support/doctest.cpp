// SPDX-License-Identifier: MIT
// The part of doctest that is not a template, compiled once for all test programs.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
