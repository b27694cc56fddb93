// SPDX-License-Identifier: MIT
// Runs vkgemm as its users do. run() calls the program's entry point in this process, which saves the start of a driver
// for every command line; start() makes a process of its own, for tests of signals and closed streams.
#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vkgemm::test {

using Json = nlohmann::ordered_json;

/// The line of a test that calls a function with this default argument. clang 14 has no std::source_location.
struct Where {
    const char* file;
    int line;
    static Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

/// What one run left behind.
struct Run {
    int code = -1;  // 128 + the signal's number, if a signal ended it
    std::string out, err;
    std::string both() const { return out + err; }
    Json json() const;  // standard output must be one JSON value; else the test case ends
};

/// "bench 'i32*i32 8x8x8' --json -": words are separated by blanks; single quotes keep several together.
std::vector<std::string> split(const std::string& words);

/// The exit code must be `code`, and lines for people must fit into 100 columns.
Run run(int code, const std::string& words, Where where = Where::current());
/// The same with a terminal as both streams; `out` is what the terminal received.
Run run_on_terminal(int code, const std::string& words, Where where = Where::current());

/// Both streams in the order in which they were written, whatever the exit code is.
std::string transcript(const std::string& words);

/// Lets /bin/sh run `script`, in which "$@" is the program with `words`. Nothing is checked.
Run run_shell(const std::string& script, const std::string& words = "");

/// Starts the program, sends `signal` as soon as `ready` returns true, and waits for the end. Standard output goes to
/// out.txt, standard error to err.txt.
Run run_until(const std::function<bool()>& ready, int signal, const std::string& words);

/// Each of `parts` is in `text`, in which lines that were broken may be joined again.
void expect(const std::string& text, std::initializer_list<std::string> parts, Where where = Where::current());
/// A refusal: the code, nothing on standard output, and each of `parts` on standard error.
void refused(int code, const std::string& words, std::initializer_list<std::string> parts,
             Where where = Where::current());
void expect_picture(const std::string& svg, Where where = Where::current());  // one, and nothing else

/// Makes an empty folder the working directory, below that of the tests; leaves it at the end.
class Folder {
   public:
    explicit Folder(const std::string& name);
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();
};

/// Sets an environment variable for a time.
class Variable {
   public:
    Variable(const char* name, const std::string& value);
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable();

   private:
    const char* name_;
};

std::string read(const std::string& path);  // "" if there is no such file
void write(const std::string& path, const std::string& text);
void append(const std::string& path, const std::string& text);
bool is_file(const std::string& path);
bool contains(const std::string& text, const std::string& part);
std::string replace(std::string text, const std::string& from, const std::string& to);  // every occurrence
/// The lines that are neither empty nor comments.
std::vector<std::string> rows(const std::string& text);

}  // namespace vkgemm::test
