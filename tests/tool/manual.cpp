// SPDX-License-Identifier: MIT
// Help, man page and completions from one table.
#include "tools/vkgemm/cli/manual.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tools/vkgemm/cli/text.h"

using namespace vkgemm::tool;

namespace {

const ManualOption color = {{"--color"}, "auto|always|never", "colours; 'auto' on a terminal", true};
const Manual manual = {
    {"vkgemm", "A program.", {}, {color}},
    {{"bench",
      "time it (at length)",
      {{{}, "PROBLEM ...", "what to compute, and this goes on for so long that it does not fit a line of the page"}},
      {{{"-k", "--kernel"}, "NAME|all", "which: [one]"},
       {{"--json"}, "FILE|-", ".where to"},
       {{"--vs"}, "cublas,openblas", "beside"},
       color}},
     {"explain", "say why", {{{}, "PROBLEM", "what", false, true}}, {color}}}};

bool has(const std::string& text, std::string_view part) {
    INFO("in:\n", text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("help names everything once and fits the page") {
    const std::string all = help_text(manual), one = help_text(manual.commands[0]);
    for (const std::string* text : {&all, &one}) {
        std::string_view rest = *text;
        while (!rest.empty()) {
            const size_t end = rest.find('\n');
            CHECK(columns(rest.substr(0, end)) <= page_width);
            CHECK(!rest.substr(0, end).ends_with(' '));
            rest.remove_prefix(end + 1);
        }
    }
    CHECK(has(all, "  bench                     time it (at length)\n"));
    CHECK(has(all, "  --color auto|always|never\n"));
    CHECK(has(one, "usage: vkgemm bench [options] [PROBLEM ...]\n"));
    CHECK(has(one, "  -k, --kernel NAME|all     which: [one]\n"));
    CHECK(has(help_text(manual.commands[1]), "usage: vkgemm explain [options] PROBLEM\n"));
}

TEST_CASE("the man page is roff: hyphens, quotes and leading dots are escaped") {
    const std::string page = man_page(manual, "1.2.3");
    CHECK(page.starts_with(".\\\""));
    CHECK(has(page, "\"vkgemm 1.2.3\""));
    CHECK(has(page, ".TP\n.B \\-\\-json FILE|\\-\n\\&.where to\n"));
    CHECK(has(page, "colours; \\(aqauto\\(aq on a terminal"));
    CHECK(has(page, ".SH EXIT STATUS"));
}

TEST_CASE("the man page names every variable of ours that the sources read") {
    const std::string page = man_page(manual, "1.2.3");
    const std::regex read(R"re(getenv\("(VKGEMM_\w+)"\))re");
    size_t found = 0;
    for (const char* folder : {"src", "tools"})
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(std::string(VKGEMM_SOURCE_DIR "/") + folder)) {
            if (entry.path().extension() != ".cpp") continue;
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);)
                if (std::smatch what; std::regex_search(line, what, read)) {
                    CHECK_MESSAGE(has(page, ".TP\n.B " + what[1].str() + "\n"), what[1].str());
                    ++found;
                }
        }
    CHECK(found >= 4);
}

TEST_CASE("completions offer words, files, and what the program is asked for") {
    const std::string bash = bash_completion(manual), zsh = zsh_completion(manual), fish = fish_completion(manual);
    CHECK(has(bash, "*:--color) words=\"auto always never\" ;;"));
    CHECK(has(bash, "bench:--json) files=1 ;;"));
    CHECK(has(bash, "bench:-k) words=\"all $(vkgemm generate kernels 2>/dev/null)\" ;;"));
    CHECK(has(bash, "'') words=\"bench explain --color\" ;;"));
    CHECK(has(zsh, "'bench:time it'"));
    CHECK(has(zsh, "'--kernel=[which\\: \\[one\\]]:NAME|all:{compadd -- all $(vkgemm generate kernels 2>/dev/null)}'"));
    CHECK(has(zsh, "'--json=[.where to]:FILE|-:_files'"));
    CHECK(has(fish,
              "-s k -l kernel -x -a 'all (type -q vkgemm; and vkgemm generate kernels 2>/dev/null)' -d 'which: "
              "[one]'"));
    CHECK(has(fish, "-l json -r -F"));
    CHECK(has(bash, "bench:--vs) words=\"cublas openblas\" lead=${current%\"${current##*,}\"} ;;"));
    CHECK(has(zsh, "'--vs=[beside]:cublas,openblas:{_values -s , cublas,openblas cublas openblas}'"));
    CHECK(has(fish, "-l vs -x -a '(__fish_append , cublas openblas)'"));
}
