// SPDX-License-Identifier: MIT
// Runs the commands that docs/tool.md shows: every block that is fenced as console and begins with "$ COMMAND", one
// after the other in a folder that has docs/results/example.json at first. Times, rates and the numbers beside them may
// differ; so may the width of columns, where lines are broken, the device's name and version, and how many kernels
// there are. With the environment variable VKGEMM_TESTS_WRITE set, stale blocks are written anew: cmake --build build
// --target docs.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "cli/program.h"

using namespace vkgemm::test;

namespace {

const std::string page_path = VKGEMM_SOURCE_DIR "/docs/tool.md", fence = "```console\n$ ";

/// What of a text must be the same in every run.
std::string lasting(std::string text) {
    const std::string number = "[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?", unit = "(ns|us|ms|s|[MGT]FLOP/s|[MGT]OP/s)";
    const std::pair<std::string, std::string> rules[] = {
        {"\n +", " "},  // broken lines are one, and so are the rows of a table
        {"llvmpipe[^\n]*\\](, Vulkan [0-9.]+)?", "llvmpipe"},
        {"llvmpipe \\([^)]*\\) +CPU +lavapipe[^\n]* yes", "llvmpipe"},
        {" \\([0-9]+\\)", ""},  // how many kernels there are of other types
        {number + " GiB memory", "memory"},
        {number + " " + unit, "#"},
    };
    for (const auto& [from, to] : rules) text = std::regex_replace(text, std::regex(from), to);
    std::string all;
    const std::regex beside_a_time(" " + number + "( %|x)?"), blanks(" +"), several("( #)+");
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        if (contains(line, " #")) line = std::regex_replace(line, beside_a_time, " #");
        line = std::regex_replace(line, blanks, " ");
        all += std::regex_replace(line, several, " #") + "\n";
        at = end + 1;
    }
    return all;
}

/// What the command prints. Only those that need a shell get one.
std::string output_of(const std::string& command) {
    bool quoted = false, plain = command.starts_with("vkgemm ");
    for (const char c : command) {
        if (c == '\'') quoted = !quoted;
        if (!quoted && (c == '|' || c == '*' || c == '$' || c == '>')) plain = false;
    }
    if (plain) return transcript(command.substr(7));
    write("command.sh", "vkgemm() { '" VKGEMM_TESTS_WITH "' " VKGEMM_TESTS_DRIVER " '" VKGEMM_TESTS_TOOL
                        "' \"$@\"; }\n" +
                            command + "\n");
    return run_shell("bash command.sh 2>&1").out;
}

}  // namespace

TEST_SUITE_BEGIN("outputs");

TEST_CASE("outputs: what docs/tool.md shows is what the commands print") {
    const Folder folder("outputs");
    std::filesystem::copy_file(VKGEMM_SOURCE_DIR "/docs/results/example.json", "example.json");
    const bool renews = std::getenv("VKGEMM_TESTS_WRITE") != nullptr;
    const std::string page = read(page_path);
    std::string renewed;
    size_t count = 0, stale = 0, at = 0;
    for (size_t from; (from = page.find(fence, at)) != std::string::npos; ++count) {
        const size_t begin = from + fence.size(), line_end = page.find('\n', begin), end = page.find("\n```", line_end);
        REQUIRE(end != std::string::npos);
        const std::string command = page.substr(begin, line_end - begin);
        std::string shown = end > line_end ? page.substr(line_end + 1, end - line_end - 1) : "";
        std::string fresh = output_of(command);
        if (fresh.ends_with('\n')) fresh.pop_back();
        const std::string was = lasting(shown), is = lasting(fresh);
        CHECK_MESSAGE((renews || was == is), command, "\nprints\n", is, "and the page shows\n", was,
                      "run cmake --build build --target docs");
        if (was != is) {
            ++stale;
            shown = fresh;
        }
        renewed += page.substr(at, line_end + 1 - at) + shown;
        at = end;
    }
    CHECK(count >= 7);
    if (renews && stale) write(page_path, renewed + page.substr(at));
}

TEST_SUITE_END();
