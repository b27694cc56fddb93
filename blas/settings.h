// SPDX-License-Identifier: MIT
// The environment variables VKGEMM_BLAS and VKGEMM_BLAS_*, as docs/blas.md describes them. Pure.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include <vkgemm/vkgemm.hpp>

#include "blas/accuracy.h"
#include "blas/level3.h"

namespace vkgemm::blas {

enum class Mode { automatic, never, always };
enum class LogLevel { failures, summary, calls };

struct Settings {
    Mode mode = Mode::automatic;
    bool native = true;           // VKGEMM_NATIVE is not 0
    std::optional<double> min{};  // VKGEMM_BLAS_MIN
    std::string next_library{};   // VKGEMM_BLAS_CPU: a file; "": search
    /// VKGEMM_BLAS_DEVICE: "rank", "all", or as host::chooseDevice reads it; empty: the best one. Several share the
    /// tiles of C.
    std::vector<std::string> devices{};
    uint32_t local_rank = 0;  // of this process among those of MPI on this machine, for "rank"
    bool tile_given = false;
    int64_t tile = 2048;  // VKGEMM_BLAS_TILE: rows, columns and depth of a tile, in real numbers
    int64_t depth = 0;    // VKGEMM_BLAS_DEPTH: of a product of tiles; 0: as TILE
    int64_t panel = 128;  // VKGEMM_BLAS_PANEL: columns that the CPU factors at once in getrf; a multiple of 4
    std::optional<int> pblas_depth;  // VKGEMM_BLAS_PBLAS: of the products that ScaLAPACK's PBLAS asks for
    bool direct_broadcast = false;   // VKGEMM_BLAS_BROADCAST: receivers read BLACS's matrices from the sender's memory
    double memory_share = 0.25;      // VKGEMM_BLAS_MEMORY: of the device's memory, for operands
    uint64_t budget = UINT64_MAX;    // VKGEMM_BLAS_BUDGET: the most bytes for operands on each device
    Accuracies accuracies{};         // VKGEMM_BLAS_ACCURACY
    bool ilp64 = false;              // VKGEMM_BLAS_ILP64: plain names take 64-bit integers
    bool reopens = false;            // VKGEMM_BLAS_FORK: a forked child opens the device again
    std::string cache{};             // VKGEMM_BLAS_CACHE: the folder for what is kept between processes; "": nothing is
    LogLevel log = LogLevel::failures;
    std::array<bool, routine_count> disabled{};  // VKGEMM_BLAS_DISABLE
    std::array<bool, routine_count> disabled_lu{};
    std::array<std::array<bool, kind_count>, routine_count> disabled_level3{};
};

using GetVariable = std::function<const char*(const char* name)>;  // null if it is not set

/// The text of the file that VKGEMM_BLAS_CONFIG names: lines NAME=value, empty ones, and comments from # on.
/// `complaints` gets a line about each that is something else, or names something that is not a setting.
std::map<std::string, std::string> read_config(const std::string& text, std::vector<std::string>& complaints);

/// A value that cannot be read counts as not set; `complaints` gets a line about it.
Settings read_settings(const GetVariable& get, std::vector<std::string>& complaints);

}  // namespace vkgemm::blas
