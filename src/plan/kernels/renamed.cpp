// SPDX-License-Identifier: MIT
#include "plan/kernels/renamed.h"

#include "plan/base/concat.h"
#include "plan/kernels/kernels.h"

namespace vkgemm::plan {
namespace {

struct Change {
    std::string_view old, present;
};

// The first that fits is taken.
constexpr Change prefixes[] = {
    {"weave_thirds_", "pack_fragments_bf16x3_"},
    {"weave_halves_", "pack_fragments_f16x2_"},
    {"weave_", "pack_fragments_"},
    {"woven_", "coopmat_packed_"},
    {"thirds_", "bf16x3_"},
    {"halves_", "f16x2_"},
    {"panel_", "cpu_"},
};

// The last part of a name, in the families whose present names begin so.
struct EndChange {
    std::string_view family;
    Change end;
};
constexpr EndChange ends[] = {
    {"tiled_", {"_oblong16", "_8x8x32"}}, {"tiled_", {"_oblong32", "_16x16x64"}}, {"gemv_", {"_8", "_depth8"}},
    {"gemv_", {"_4", "_depth4"}},         {"coopmat_", {"_8", "_mma8"}},          {"pack_fragments_", {"_8", "_mma8"}},
    {"f16x2_", {"_8", "_mma8"}},
};

}  // namespace

std::optional<std::string> renamed_kernel(std::string_view old) {
    if (find_kernel(old)) return std::nullopt;
    std::string name(old);
    for (const Change& c : prefixes)
        if (name.starts_with(c.old)) {
            name.replace(0, c.old.size(), c.present);
            break;
        }
    for (const EndChange& c : ends)
        if (name.starts_with(c.family) && name.ends_with(c.end.old)) {
            name.replace(name.size() - c.end.old.size(), c.end.old.size(), c.end.present);
            break;
        }
    if (!find_kernel(name)) return std::nullopt;
    return name;
}

std::string renamed_text(std::string_view old, std::string_view present) {
    return concat({"the kernel ", old, " is called ", present,
                   " since vkgemm 0.2; the next version will not understand the old name"});
}

}  // namespace vkgemm::plan
