// SPDX-License-Identifier: MIT
// vkgemm replay: repeats a captured call on this machine.
#include <cstdio>

#include "commands/command.h"

namespace vkgemm::tool::replay_command {
namespace {

std::string hex(uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

int run(const Session& given, const std::string& path) {
    Session session = given;
    session.use_disabled_kernels = false;  // a kernel that failed a self-test may be just what is to be repeated
    const auto text = read_file(path);
    if (!text) return session.fail(text.status());
    const auto c = host::parseCapture(*text);
    if (!c) return session.fail({c.status().code, VK_SUCCESS, path + ": " + c.status().text});
    const auto device = session.open();
    if (!device) return session.fail(device.status());
    print(device_line(device->info()) + "\n" + wrapped(c->problem, 0) + wrapped("on " + c->kernel + ", " + c->tile, 0) +
          wrapped("captured on " + c->device + " [" + c->driver + "] by vkgemm " + c->version, 0, 4) + "\n");
    const auto again = host::replay(*device, *c);
    if (!again) return session.fail({again.status().code, again.status().vkResult, path + ": " + again.status().text});
    if (again->workspace != c->workspace)
        print(wrapped("the plan differs here: its workspace is " + bytes_text(again->workspace) + ", not " +
                          bytes_text(c->workspace),
                      0));
    const bool same = again->checksum == c->resultChecksum;
    print(wrapped(
        std::string(same ? "it reproduces: D has the same " : "it does NOT reproduce: D differs from the captured ") +
            std::to_string(c->resultBytes) + " bytes, checksum " + hex(again->checksum) +
            (same ? "" : ", captured " + hex(c->resultChecksum)),
        0));
    return session.finish(*device, same ? exit_right : exit_wrong);
}

}  // namespace

CLI::App* add(CLI::App& program, const Session& session, Action& action) {
    auto file = std::make_shared<std::string>();
    CLI::App* command = program.add_subcommand("replay", "repeat a call that was captured with VKGEMM_CAPTURE=DIR");
    command->add_option("file", *file, "a file that VKGEMM_CAPTURE=DIR wrote")->type_name("FILE")->required();
    command->callback([&session, &action, file] { action = [&session, file] { return run(session, *file); }; });
    return command;
}

}  // namespace vkgemm::tool::replay_command
