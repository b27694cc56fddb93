// SPDX-License-Identifier: MIT
// Prints the table of docs/kernels.md, which is made from the rows of kernels.def.
#include <cstdio>

#include "plan/kernels/kernels.h"

using namespace vkgemm::plan;

int main() {
    std::printf(
        "| kernel | A·B+sum→D | tile | invocations | shared bytes | needs |\n| --- | --- | --- | --- | --- | --- |\n");
    for (const Kernel& k : kernels()) {
        const Module& m = k.module;
        const std::string needs = feature_names(k.needs);
        std::printf("| `%s` | %s·%s+%s→%s | %s | %u | %llu | %s |\n", k.name.data(),
                    m.is_mixed() ? "mixed" : info(m.a).name.data(), m.is_mixed() ? "mixed" : info(m.b).name.data(),
                    info(m.accumulate).name.data(), m.d == scaled ? "scaled" : info(m.d).name.data(),
                    to_text(k.tile).c_str(), k.tile.WG,
                    static_cast<unsigned long long>(m.family.shared_bytes(k.tile, m.element_bytes())),
                    needs.empty() ? "–" : needs.c_str());
    }
}
