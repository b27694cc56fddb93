// SPDX-License-Identifier: MIT
#pragma once

/// A function of the library's interface: the only symbols that are visible outside.
#define EXPORT extern "C" __attribute__((visibility("default")))
