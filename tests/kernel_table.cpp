// SPDX-License-Identifier: MIT
// Prints the table of docs/kernels.md: the folders of the families, each with the title of its page. It has no count of
// rows, so that a new tile does not change it.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "plan/kernels/kernels.h"
#include "shaders/chain/family.h"

using namespace vkgemm::plan;

namespace {

/// What the rows of a folder are.
struct Folder {
    std::map<std::string_view, std::set<std::string_view>> families;  // and the variants of each
    size_t rows = 0;

    /// "`gemv` (mixed), `naive`"
    std::string families_text() const {
        std::string out;
        for (const auto& [family, variants] : families) {
            out += (out.empty() ? "`" : ", `") + std::string(family) + "`";
            std::string list;
            for (const std::string_view v : variants) list += (list.empty() ? "" : ", ") + std::string(v);
            if (!list.empty()) out += " (" + list + ")";
        }
        return out;
    }
};

Folder folder_of(const std::set<std::string>& families) {
    Folder folder;
    for (const Kernel& k : kernels()) {
        const Family& family = k.module.family;
        if (!families.contains(std::string(family.name))) continue;
        auto& variants = folder.families[family.name];
        if (!family.variant.empty()) variants.insert(family.variant);
        ++folder.rows;
    }
    return folder;
}

/// The modules of chains, which are no rows: "chain_f16_converted" is a variant of "chain".
Folder folder_of_chains() {
    Folder folder;
    for (const ChainModule& m : chain_modules) {
        const std::string type = "_" + std::string(info(m.type).name);
        const size_t at = m.name.find(type);
        const std::string_view rest = m.name.substr(at + type.size());
        auto& variants = folder.families[m.name.substr(0, at)];
        if (!rest.empty()) variants.insert(rest.substr(1));
    }
    return folder;
}

/// The first heading of the folder's page.
std::string title_of(const std::string& folder) {
    std::ifstream page(VKGEMM_SOURCE "/" + folder + "/README.md");
    std::string line;
    if (!std::getline(page, line) || !line.starts_with("# ")) {
        std::fprintf(stderr, "%s has no README.md that begins with a heading\n", folder.c_str());
        std::exit(1);
    }
    return line.substr(2);
}

void print_row(const std::string& folder, const Folder& what) {
    std::printf("| [%s](../%s/README.md) | %s |\n", title_of(folder).c_str(), folder.c_str(),
                what.families_text().c_str());
}

}  // namespace

int main() {
    size_t rows = 0;
    std::printf("| page | families |\n| --- | --- |\n");
    std::istringstream folders(VKGEMM_FAMILIES_OF_FOLDERS);  // "folder family family\n..."
    for (std::string line; std::getline(folders, line);) {
        std::istringstream words(line);
        std::string name, family;
        words >> name;
        std::set<std::string> families;
        while (words >> family) families.insert(family);
        const Folder folder = folder_of(families);
        print_row(name, folder);
        rows += folder.rows;
    }
    print_row("shaders/chain", folder_of_chains());
    if (rows != kernels().size()) {
        std::fprintf(stderr, "%zu of %zu rows are in no folder\n", kernels().size() - rows, kernels().size());
        return 1;
    }
}
