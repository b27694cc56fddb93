// SPDX-License-Identifier: MIT
// What of doctest is no template, compiled once for all programs.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
