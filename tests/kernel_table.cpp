// SPDX-License-Identifier: MIT
// Prints the table of families in docs/kernels.md, which is made from the rows of the kernels.
#include <cstdio>
#include <map>
#include <set>

#include "plan/kernels/kernels.h"

using namespace vkgemm::plan;

int main() {
    struct Count {
        std::set<std::string_view> modules;
        size_t rows = 0;
    };
    std::map<std::string_view, Count> families;
    for (const Kernel& k : kernels()) {
        Count& count = families[k.module.family.name];
        count.modules.insert(k.module.name);
        ++count.rows;
    }
    std::printf("| family | modules | rows |\n| --- | --- | --- |\n");
    for (const auto& [name, count] : families)
        std::printf("| `%s` | %zu | %zu |\n", name.data(), count.modules.size(), count.rows);
}
