// SPDX-License-Identifier: MIT
// The man page and the completions in tools/pages, which are made from the options: cmake --build build --target docs.
#include <doctest/doctest.h>

#include "cli/program.h"

using namespace vkgemm::test;

TEST_SUITE_BEGIN("generate");

TEST_CASE("generate: the pages in the tree are what the program writes") {
    const Folder folder("generate");
    const std::string pages = VKGEMM_SOURCE_DIR "/tools/pages/";
    const std::pair<std::string, std::string> files[] = {
        {"man", "vkgemm.1"}, {"bash", "vkgemm.bash"}, {"zsh", "_vkgemm"}, {"fish", "vkgemm.fish"}};
    for (const auto& page : files) {
        const std::string what = page.first, file = page.second;
        const std::string kept = read(pages + file);
        CHECK_MESSAGE(!kept.empty(), file);
        const bool fresh = run(0, "generate " + what).out == kept;
        CHECK_MESSAGE(fresh, file, " is stale: run cmake --build build --target docs");
    }
}

TEST_CASE("generate: what bash offers for the last word") {
    const Folder folder("generate_bash");
    if (std::system("command -v bash >bash.txt") != 0) {
        MESSAGE("bash is not installed");
        return;
    }
    write("vkgemm.fish", "");
    const struct {
        const char *words, *offered;
    } cases[] = {
        {"be", "bench"},
        {"bench --la", "--layout"},
        {"bench --layout n", "nn nt"},
        {"bench --color n", "never"},
        {"bench --kernel naive_f3", "naive_f32_8x8"},
        {"bench --suite cl", "classic"},
        {"bench --suite = cl", "classic"},
        {"bench --vs =", "cublas openblas"},
        {"bench --vs cublas,o", "cublas,openblas"},
        {"check --kernel = au", "auto"},
        {"bench --json vkgemm.f", "vkgemm.fish"},
        {"bench --shape 6", ""},
        {"bench --tile BM =", ""},
        {"bench 8x8x8 layout = n", ""},
        {"replay vkgemm.f", "vkgemm.fish"},
        {"help ben", "bench"},
    };
    std::string script = "source " VKGEMM_SOURCE_DIR "/tools/pages/vkgemm.bash\nvkgemm() { '" VKGEMM_TESTS_TOOL
                         "' \"$@\"; }\n";  // the completion asks it for the names of kernels
    for (const auto& c : cases)
        script += std::string("COMP_WORDS=(vkgemm ") + c.words +
                  ") COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=(); _vkgemm; echo \"${COMPREPLY[*]}\"\n";
    write("complete.sh", script);
    const Run r = run_shell("bash complete.sh");
    CHECK_MESSAGE(r.err.empty(), r.err);
    std::string wanted;
    for (const auto& c : cases) wanted += std::string(c.offered) + "\n";
    CHECK(r.out == wanted);
}

TEST_SUITE_END();
