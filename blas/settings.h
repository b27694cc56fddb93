// SPDX-License-Identifier: MIT
// The environment variables VKGEMM_BLAS and VKGEMM_BLAS_*, as docs/blas.md describes them. Pure.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blas/level3.h"

namespace vkgemm::blas {

enum class Mode { automatic, never, always };
enum class LogLevel { failures, summary, calls };

struct Settings {
    Mode mode = Mode::automatic;
    std::optional<double> min{};  // VKGEMM_BLAS_MIN
    std::string next_library{};   // VKGEMM_BLAS_CPU: a file; "": search
    std::string device{};         // VKGEMM_BLAS_DEVICE, as host::chooseDevice reads it
    int64_t tile = 2048;          // VKGEMM_BLAS_TILE: rows, columns and depth of a tile, in real numbers
    double memory_share = 0.25;   // VKGEMM_BLAS_MEMORY: of the device's memory, for operands
    std::string cache{};          // VKGEMM_BLAS_CACHE: the folder for what is kept between processes; "": nothing is
    LogLevel log = LogLevel::failures;
    std::array<bool, routine_count> disabled{};  // VKGEMM_BLAS_DISABLE
    std::array<std::array<bool, kind_count>, routine_count> disabled_level3{};
};

using GetVariable = std::function<const char*(const char* name)>;  // null if it is not set

/// A value that cannot be read counts as not set; `complaints` gets a line about it.
Settings read_settings(const GetVariable& get, std::vector<std::string>& complaints);

}  // namespace vkgemm::blas
