// SPDX-License-Identifier: MIT
#include "commands/check_native.h"

namespace vkgemm::tool {
namespace {

std::string count_text(size_t n, const std::string& thing) {
    return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

std::string summary(const host::SelfTest& test, uint32_t runs) {
    const std::string done = count_text(test.kernels, "native kernel") + ", " + count_text(test.products, "product") +
                             ", each in " + count_text(runs, "run") + ": ";
    if (!test.failure) return done + "the device failed, so do not use native kernels with this driver";
    if (!test.disabledKernels.empty())
        return done + "some are WRONG; with VKGEMM_NATIVE_ANY_DRIVER, pass the rows above as disabledKernels";
    return done +
           "every result is exact; a program may use VKGEMM_NATIVE_ANY_DRIVER, or VKGEMM_NATIVE=any, with this "
           "device and driver";
}

}  // namespace

int check_native(const Session& session, uint32_t runs, uint64_t seed) {
    size_t messages = 0;
    host::DeviceInfo info;
    host::DeviceOptions options = session.device_options();
    const auto warn_of = options.onMessage;
    options.onMessage = [&](const host::Message& m) {
        ++messages;
        warn_of(m);
    };
    options.accepts = [&](const host::DeviceInfo& opened) {
        info = opened;
        return Status{};
    };
    const auto test = host::testNativeKernels(options, {.runs = runs, .seed = seed});
    if (!test) return session.fail(test.status());
    if (test->kernels == 0) return session.fail(test->failure);
    print(device_line(info) + "\n\n" + test->disabledKernels + (test->disabledKernels.empty() ? "" : "\n") +
          wrapped(summary(*test, runs), 0));
    Exit code = test->disabledKernels.empty() ? exit_right : exit_wrong;
    if (!test->failure) code = worse(code, session.fail(test->failure));
    if (session.validate && messages == 0 && !session.quiet) warn("validation: no message");
    return messages ? exit_vulkan : code;
}

}  // namespace vkgemm::tool
