// SPDX-License-Identifier: MIT
#include "cli/program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tools/vkgemm/cli/program.h"
#include "tools/vkgemm/cli/text.h"

namespace vkgemm::test {
namespace fs = std::filesystem;
namespace {

// Whatever terminal the tests are started from, the program's is one with colours.
[[maybe_unused]] const bool has_terminal = [] {
    return setenv("TERM", "xterm", 1) == 0 && unsetenv("NO_COLOR") == 0;
}();

void fail(const Where& where, const std::string& text) { ADD_FAIL_CHECK_AT(where.file, where.line, text); }

std::string title_of(const std::vector<std::string>& words) {
    std::string title = "vkgemm";
    for (const std::string& word : words) title += " '" + word + "'";
    return title;
}

int call(const std::vector<std::string>& words, std::FILE* out, std::FILE* err) {
    std::vector<const char*> argv = {"vkgemm"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    const int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    return tool::run_program(argc, argv.data(), out, err);
}

std::string text_of(std::FILE* file) {
    std::fflush(file);
    std::rewind(file);
    std::string text;
    char part[4096];
    for (size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
    return text;
}

/// Lines of data may be longer, also in a code block, and so may a single word.
void check_width(const Run& r, const std::vector<std::string>& words, const Where& where) {
    const bool is_data = r.out.starts_with("{") || r.out.starts_with("<") ||
                         std::find(words.begin(), words.end(), "-") != words.end() ||
                         (!words.empty() && words[0] == "generate");
    const std::string text = r.err + (is_data ? "" : r.out);
    bool in_block = false;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        if (line == "```") in_block = !in_block;
        const bool has_two_words = !in_block && line.find(' ', line.find_first_not_of(' ')) != std::string::npos;
        if (tool::columns(line) > 100 && has_two_words)
            fail(where, title_of(words) + " prints more than 100 columns:\n" + line);
        at = end + 1;
    }
}

void check_code(const Run& r, int code, const std::vector<std::string>& words, const Where& where) {
    CHECK(r.code >= 0);
    if (r.code != code)
        fail(where, title_of(words) + " ended with " + std::to_string(r.code) + ", not " + std::to_string(code) +
                        ":\n" + r.both());
}

/// A pseudo-terminal, 80 columns wide.
class Terminal {
   public:
    Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
        REQUIRE(master_ >= 0);
        REQUIRE(grantpt(master_) == 0);
        REQUIRE(unlockpt(master_) == 0);
        const int slave = open(ptsname(master_), O_RDWR | O_NOCTTY);
        REQUIRE(slave >= 0);
        file_ = fdopen(slave, "w");
        reader_ = std::thread([this] {
            char part[4096];
            for (ssize_t n; (n = ::read(master_, part, sizeof part)) > 0;) text_.append(part, static_cast<size_t>(n));
        });
    }
    std::FILE* file() const { return file_; }
    /// Hangs up, and returns what was received. Call it once.
    std::string close() {
        std::fclose(file_);  // then reading fails
        reader_.join();
        ::close(master_);
        return text_;
    }

   private:
    int master_;
    std::FILE* file_ = nullptr;
    std::string text_;
    std::thread reader_;
};

/// A process with these words; its streams are out.txt and err.txt.
pid_t start(const std::vector<std::string>& words) {
    std::vector<std::string> all = {VKGEMM_TESTS_WITH, VKGEMM_TESTS_DRIVER, VKGEMM_TESTS_TOOL};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    constexpr int made = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open("out.txt", made, 0644), STDOUT_FILENO);
    dup2(open("err.txt", made, 0644), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
}

int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

Json Run::json() const {
    const Json json = Json::parse(out, nullptr, false);
    REQUIRE_MESSAGE(!json.is_discarded(), "this is not JSON:\n", out);
    return json;
}

std::vector<std::string> split(const std::string& words) {
    std::vector<std::string> out;
    bool quoted = false, open = false;
    for (const char c : words) {
        if (c == '\'') quoted = !quoted;
        if (c == ' ' && !quoted) {
            open = false;
            continue;
        }
        if (!open) out.emplace_back();
        open = true;
        if (c != '\'') out.back() += c;
    }
    return out;
}

Run run(int code, const std::string& given, Where where) {
    const std::vector<std::string> words = split(given);
    std::FILE *out = std::tmpfile(), *err = std::tmpfile();
    REQUIRE(out);
    REQUIRE(err);
    Run r{.code = call(words, out, err), .out = {}, .err = {}};
    r.out = text_of(out);
    r.err = text_of(err);
    std::fclose(out);
    std::fclose(err);
    check_code(r, code, words, where);
    check_width(r, words, where);
    return r;
}

Run run_on_terminal(int code, const std::string& given, Where where) {
    const std::vector<std::string> words = split(given);
    Terminal terminal;
    Run r{.code = call(words, terminal.file(), terminal.file()), .out = {}, .err = {}};
    r.out = terminal.close();
    check_code(r, code, words, where);
    return r;
}

std::string transcript(const std::string& words) {
    std::FILE* both = std::tmpfile();
    REQUIRE(both);
    call(split(words), both, both);
    std::string text = text_of(both);
    std::fclose(both);
    return text;
}

Run run_shell(const std::string& script, const std::string& words) {
    std::string all = "set -- '" VKGEMM_TESTS_WITH "' '" VKGEMM_TESTS_DRIVER "' '" VKGEMM_TESTS_TOOL "'";
    for (const std::string& word : split(words)) all += " '" + word + "'";
    const int status = std::system(("{ " + all + "; " + script + "; } >out.txt 2>err.txt").c_str());
    return {.code = code_of(status), .out = read("out.txt"), .err = read("err.txt")};
}

Run run_until(const std::function<bool()>& ready, int signal, const std::string& words) {
    using namespace std::chrono;
    const pid_t child = start(split(words));
    int status = 0;
    pid_t ended = 0;
    bool sent = false;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (!sent && ready()) sent = ::kill(child, signal) == 0;
        std::this_thread::sleep_for(20ms);
    }
    REQUIRE(ended == child);
    CHECK_MESSAGE(sent, "it ended before it could be interrupted");
    return {.code = code_of(status), .out = read("out.txt"), .err = read("err.txt")};
}

void expect(const std::string& text, std::initializer_list<std::string> parts, Where where) {
    std::string joined;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool broken = text[i] == '\n' && i + 1 < text.size() && text[i + 1] == ' ';
        if (!broken) {
            joined += text[i];
            continue;
        }
        while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
        joined += ' ';
    }
    for (const std::string& part : parts) {
        const bool is_there = contains(text, part) || contains(joined, part);
        CHECK_MESSAGE(!part.empty(), "nothing to look for");
        if (!is_there) fail(where, "'" + part + "' is not in:\n" + text);
    }
}

void refused(int code, const std::string& words, std::initializer_list<std::string> parts, Where where) {
    const Run r = run(code, words, where);
    expect(r.err, parts, where);
    if (!r.out.empty()) fail(where, "vkgemm " + words + " prints, though it refuses:\n" + r.out);
}

void expect_picture(const std::string& svg, Where where) {
    const size_t end = svg.rfind("</svg>");
    const bool whole = svg.starts_with("<svg ") && end != std::string::npos && svg.size() - end <= 7;
    if (!whole) fail(where, "this is not one picture:\n" + svg);
}

Folder::Folder(const std::string& name) {
    const fs::path path = fs::path(VKGEMM_TESTS_FOLDER) / name;
    fs::remove_all(path);
    fs::create_directories(path);
    fs::current_path(path);
}
Folder::~Folder() { fs::current_path(VKGEMM_TESTS_FOLDER); }

Variable::Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
Variable::~Variable() { unsetenv(name_); }

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
void append(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
}
bool is_file(const std::string& path) { return fs::exists(fs::symlink_status(path)); }
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string replace(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

std::vector<std::string> rows(const std::string& text) {
    std::vector<std::string> out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        if (end > at && text[at] != '#') out.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

}  // namespace vkgemm::test
