// SPDX-License-Identifier: MIT
// vkgemm replay: repeats captured runs on this machine.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "commands/command.h"
#include "vkgemm/hash.hpp"

namespace vkgemm::tool::replay_command {
namespace {

/// The files of `paths`, in which a folder stands for its files *.vkgemm, sorted.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
    std::vector<std::string> out;
    for (const std::string& path : paths) {
        std::error_code why;
        if (!std::filesystem::is_directory(path, why)) {
            out.push_back(path);
            continue;
        }
        std::vector<std::string> inside;
        for (const auto& entry : std::filesystem::directory_iterator(path, why))
            if (entry.path().extension() == ".vkgemm") inside.push_back(entry.path().string());
        if (why) return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, path + ": " + why.message()};
        if (inside.empty())
            return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS, path + ": no file *.vkgemm is in this folder"};
        std::ranges::sort(inside);
        out.insert(out.end(), inside.begin(), inside.end());
    }
    return out;
}

std::string result_text(const host::Capture& c, const host::Replay& again) {
    const std::string bytes = std::to_string(c.resultBytes) + " bytes, checksum " + hashText(again.checksum);
    if (!c.hasResult) return "it runs: D has " + bytes + "; the capture has no result to compare with";
    if (again.checksum == c.resultChecksum) return "it reproduces: D has the same " + bytes;
    return "it does NOT reproduce: D differs from the captured " + bytes + ", captured " + hashText(c.resultChecksum);
}

Status in_file(const std::string& path, const Status& s) { return {s.code, s.vkResult, path + ": " + s.text}; }

Result<host::Capture> read_capture(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return text.status();
    auto c = host::parseCapture(*text);
    return c ? std::move(c) : in_file(path, c.status());
}

Result<Exit> replay_one(const host::Device& device, const std::string& path, const host::Capture& c) {
    print(wrapped(c.problem, 0) + wrapped("on " + c.kernel + ", " + c.tile, 0) +
          wrapped("captured on " + c.device + " [" + c.driver + "] by vkgemm " + c.version, 0, 4) + "\n");
    const auto again = host::replay(device, c);
    if (!again) return in_file(path, again.status());
    if (again->workspace != c.workspace)
        print(wrapped("the plan differs here: its workspace is " + bytes_text(again->workspace) + ", not " +
                          bytes_text(c.workspace),
                      0));
    print(wrapped(result_text(c, *again), 0));
    return c.hasResult && again->checksum != c.resultChecksum ? exit_wrong : exit_right;
}

/// All files, also after one that fails.
int run(const Session& given, const std::vector<std::string>& paths) {
    Session session = given;
    session.use_disabled_kernels = false;  // a kernel that failed a self-test may be just what is to be repeated
    const auto files = files_of(paths);
    if (!files) return session.fail(files.status());
    std::optional<host::Device> device;
    size_t right = 0;
    Exit code = exit_right;
    for (const std::string& path : *files) {
        const auto c = read_capture(path);
        if (!c) {
            code = worse(code, session.fail(c.status()));
            continue;
        }
        if (!device) {
            auto opened = session.open();
            if (!opened) return session.fail(opened.status());
            device = *std::move(opened);
            print(device_line(device->info()) + "\n");
        }
        if (files->size() > 1) print("\n" + wrapped(path, 0));
        const auto one = replay_one(*device, path, *c);
        const Exit own = one ? *one : session.fail(one.status());
        right += own == exit_right;
        code = worse(code, own);
    }
    if (files->size() > 1)
        print("\n" + std::to_string(right) + " of " + std::to_string(files->size()) + " files are right\n");
    return device ? session.finish(*device, code) : code;
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto paths = std::make_shared<std::vector<std::string>>();
    CLI::App* command = program.add_subcommand("replay", "repeat runs that were captured with VKGEMM_CAPTURE=DIR");
    command->add_option("file", *paths, "files that VKGEMM_CAPTURE=DIR wrote, or folders of them")
        ->type_name("DIR|FILE")
        ->required();
    command->callback([&session, &action, paths] { action = [&session, paths] { return run(session, *paths); }; });
    return command;
}

}  // namespace vkgemm::tool::replay_command
