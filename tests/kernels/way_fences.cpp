// SPDX-License-Identifier: MIT
// A case whose operands and workspace end at pages that nobody may touch.
#include "kernels/fenced.h"
#include "kernels/launch.h"

#if defined(__linux__)

#    include <array>
#    include <atomic>
#    include <csignal>
#    include <deque>

#    include "kernels/compare.h"

namespace vkgemm::test {
namespace {

// What each thread runs between fences: a shader that reaches beyond one ends the process on a thread of the driver.
struct Running {
    static constexpr size_t most = 64;
    static inline char texts[most][1024];
    static inline std::atomic<size_t> threads = 0;

    static void print(int signal) {
        const char message[] = "wrong: memory beside an operand was touched by one of:\n";
        [[maybe_unused]] ssize_t done = write(STDOUT_FILENO, message, sizeof message - 1);
        for (const char(&text)[1024] : texts)
            if (*text) done = write(STDOUT_FILENO, text, std::strlen(text));
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
    explicit Running(const Case& x) {
        static const bool installed = (std::signal(SIGSEGV, print), std::signal(SIGBUS, print), true);
        static_cast<void>(installed);
        std::snprintf(text(), sizeof texts[0] - 1, "%s", ("  repeat it with: " + repeat_with(x)).c_str());
        std::strcat(text(), "\n");
    }
    ~Running() { *text() = '\0'; }
    static char* text() {
        thread_local const size_t own = threads++ % most;
        return texts[own];
    }
};

/// Where `slot` may begin, in bytes.
size_t alignment_of_slot(const Case& x, const plan::Problem& p, VkgemmSlot slot, plan::Type type) {
    if (plan::is_read_in_words(p, slot)) return std::max<size_t>(alignment_of(x, p), 4);
    if (slot == VKGEMM_SLOT_BIAS || slot == VKGEMM_SLOT_SCALE || slot == VKGEMM_SLOT_BIAS2)
        return plan::info(type).unit_bytes();
    return std::max<size_t>(alignment_of(x, p), plan::info(type).unit_bytes());
}

}  // namespace

std::string run_fenced_case(const Case& x, const Ran& ran) {
    const plan::Problem& p = ran.problem;
    if (device().info().kind != VK_PHYSICAL_DEVICE_TYPE_CPU || ran.with.info.packedA || ran.with.info.packedB)
        return "";
    Launch with;
    if (std::string why = make_plan(x, x.problem, options_of(x, p), with); !why.empty()) return why;
    if (std::string why = pool().hold_scalars(ran.data->scalars); !why.empty()) return why;
    VkgemmRun run = run_of(x, p, *ran.data, with);
    std::deque<Fenced> all;
    const auto data = ran.data->all();
    const std::array<VkgemmOperand*, data.size()> slots = {&run.a,     &run.b,        &run.c,  &run.d,    &run.bias,
                                                           &run.scale, &run.residual, &run.b2, &run.bias2};
    const std::byte* d = nullptr;
    for (size_t i = 0; i < data.size(); ++i) {
        if (slots[i]->size == 0) continue;
        Fenced& one =
            all.emplace_back(slots[i]->size, Side::behind, alignment_of_slot(x, p, Data::slots[i], data[i]->type()));
        std::memcpy(one.data(), &data[i]->bytes()[data[i]->offset()], data[i]->span_bytes());
        *slots[i] = one.operand(x.addresses);
        if (Data::slots[i] == VKGEMM_SLOT_D) d = one.data();
    }
    if (x.alias == Alias::c) run.c = run.d;
    if (x.alias == Alias::residual) run.residual = run.d;
    Fenced& workspace =
        all.emplace_back(with.info.requiredBytes[VKGEMM_SLOT_WORKSPACE], Side::behind, with.info.workspaceAlignment);
    run.workspace = workspace.operand(x.addresses);
    const Running running(x);
    for (Fenced& one : all) one.set(PROT_NONE);
    const std::string why = submit(with.plan.handle, run);
    for (Fenced& one : all) one.set(PROT_READ | PROT_WRITE);
    if (!why.empty() || !d) return why;
    std::vector<std::byte> after = ran.data->d.bytes();
    std::memcpy(&after[ran.data->d.offset()], d, ran.data->d.span_bytes());
    if (std::string held = pool().hold(VKGEMM_SLOT_D, after); !held.empty()) return held;
    return compare(x, p, *ran.data, ran.error_bound);
}

}  // namespace vkgemm::test

#else

namespace vkgemm::test {
std::string run_fenced_case(const Case&, const Ran&) { return ""; }
}  // namespace vkgemm::test

#endif
