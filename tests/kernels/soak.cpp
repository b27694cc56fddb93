// SPDX-License-Identifier: MIT
#include "kernels/soak.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/launch.h"
#include "kernels/run.h"
#include "support/limited_device.h"

namespace vkgemm::test {
namespace {

using Clock = std::chrono::steady_clock;

// Of every kind that has memory of its own: split K, packed, sizes that vary, groups, scalars, slices, replays.
constexpr std::array<const char*, 18> lines = {
    "fill=exact seed=1 f32*f32 96x80x64 bias=col act=relu",
    "ways=text,slices,replay fill=exact seed=2 f32*f32 33x70x129 layout=nt c=d beta=2",
    "ways=text,replay fill=exact seed=3 f32*f32 8x8x2048",
    "fill=exact seed=4 f32*f32 40x50x60 batch=3 layout=tn packed_a=any",
    "fill=exact seed=5 f32*f32 64x64x64 packed_b=any",
    "sizes=17x50x60x1 fill=exact seed=6 f32*f32 40x50x60 upto=m",
    "sizes=40x3x5x2 fill=exact seed=7 f32*f32 40x50x60 batch=4 upto=nkb",
    "operands=addresses fill=special seed=8 f32*f32 40x50x60 c=separate beta=-1",
    "broken=1 fill=exact seed=9 f32*f32 29x36x40 batch=6 groups=table upto=mnk layout=nt",
    "broken=1 fill=exact seed=10 f32*f32 45x35x38 batch=7 groups=indexed per_row=4 upto=m c=d beta=2",
    "fill=exact seed=11 f16*f16 64x64x64",
    "fill=exact seed=12 f16*f16+f32->f32 17x33x65 layout=nt",
    "fill=random seed=13 bf16*bf16 20x30x40 act=gelu",
    "fill=exact seed=14 i8*i8 33x44x55 layout=nt",
    "fill=exact seed=15 f32*q8_0 4x40x256 layout=nt",
    "fill=exact seed=16 f64*f64 30x20x10",
    "shifts=1,2,0,3,0,0,0 fill=exact seed=17 f32*f32 31x29x27",
    "ways=rows fill=random seed=18 f32*f32 50x40x60 invariant",
};

/// Kibibytes that this process has in memory; 0: unknown.
uint64_t resident() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10);
    return 0;
}

/// The largest of each kind in a part of the time.
struct Memory {
    uint64_t host = 0;    // KiB
    uint64_t device = 0;  // KiB that this process has there; 0 if the driver does not report it

    void look() {
        host = std::max(host, resident());
        device = std::max(device, device_used() / 1024);
    }

   private:
    static uint64_t device_used() {
        const host::Device& d = test::device();
        if (d.info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU || d.memoryLeft() == UINT64_MAX) return 0;
        VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
        budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
        VkPhysicalDeviceMemoryProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget, {}};
        reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties2>(
            d.getInstanceProcAddr()(d.instance(), "vkGetPhysicalDeviceMemoryProperties2"))(d.physicalDevice(), &all);
        uint64_t used = 0;
        for (uint32_t i = 0; i < all.memoryProperties.memoryHeapCount; ++i) used += budget.heapUsage[i];
        return used;
    }
};

// A device that is lost while a pipeline compiles, and stays lost.
bool lost = false;
VKAPI_ATTR VkResult VKAPI_CALL compile(VkDevice d, VkPipelineCache cache, uint32_t count,
                                       const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* a,
                                       VkPipeline* out) {
    for (uint32_t i = 0; i < count; ++i) out[i] = VK_NULL_HANDLE;
    if (lost) return VK_ERROR_DEVICE_LOST;
    const auto functions = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device().getInstanceProcAddr()(device().instance(), "vkGetDeviceProcAddr"));
    return reinterpret_cast<PFN_vkCreateComputePipelines>(functions(d, "vkCreateComputePipelines"))(d, cache, count,
                                                                                                    infos, a, out);
}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice d, const char* name) {
    if (std::strcmp(name, "vkCreateComputePipelines") == 0) return reinterpret_cast<PFN_vkVoidFunction>(compile);
    return reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device().getInstanceProcAddr()(device().instance(), "vkGetDeviceProcAddr"))(d, name);
}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL any_function(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(device_function);
    return device().getInstanceProcAddr()(instance, name);
}

/// A context whose device is lost between two plans. The second one is refused, and all can be destroyed.
std::string lose_device() {
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    VkgemmError error{};
    OwnedContext context;
    if (vkgemmCreateContext(&info, &context.handle, &error) != VKGEMM_SUCCESS) return error.text;
    VkgemmProblem problem{};
    problem.structSize = sizeof problem;
    problem.m = problem.n = problem.k = 24;
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.kernel = "naive_f32_8x8";
    OwnedPlan before, after;
    if (vkgemmCreatePlan(context.handle, &problem, &options, &before.handle, &error) != VKGEMM_SUCCESS)
        return std::string("no plan before the loss: ") + error.text;
    lost = true;
    options.kernel = "tiled_f32_8x8";
    const VkgemmResult code = vkgemmCreatePlan(context.handle, &problem, &options, &after.handle, &error);
    lost = false;
    return code == VKGEMM_ERROR_DEVICE_LOST ? "" : std::string("the loss is ") + vkgemmResultName(code);
}

/// The longest dispatch of a plan that may take 50 ms for each, in seconds; below 0: it failed.
double longest_dispatch(const Case& x, std::string& why) {
    Ran ran;
    why = execute(x, ran);  // its operands are now in the pool
    if (!why.empty()) return -1;
    VkgemmPlanOptions options = options_of(x, ran.problem);
    options.dispatchSeconds = 0.05;
    Launch with;
    why = make_plan(x, x.problem, options, with);
    if (why.empty()) why = with.workspace.hold(with.info.requiredBytes[VKGEMM_SLOT_WORKSPACE]);
    if (!why.empty()) return -1;
    const VkgemmRun run = run_of(x, ran.problem, *ran.data, with);
    uint32_t count = 0;
    VkgemmError error{};
    if (vkgemmCountDispatches(with.plan.handle, &run, &count, &error) != VKGEMM_SUCCESS) why = error.text;
    double longest = 0;
    for (uint32_t i = 0; i < count && why.empty(); ++i) {
        const auto times = device().time(1, [&](VkCommandBuffer commands, uint32_t) {
            const VkgemmResult code = vkgemmRecordDispatches(with.plan.handle, commands, &run, i, 1, &error);
            return Status{code, error.vkResult, error.text};
        });
        if (times)
            longest = std::max(longest, times->seconds.at(0));
        else
            why = times.status().text;
    }
    return why.empty() ? longest : -1;
}

class Soak {
   public:
    explicit Soak(const SoakOptions& options) : options_(options) {
        for (const char* line : lines) {
            const auto x = parse_case(line);
            if (!x)
                fail(std::string(line) + ": " + x.status().text);
            else if (is_planned(*x))
                cases_.push_back(*x);
        }
        large_ = *parse_case("samples=8 fill=random seed=1 f32*f32 400x300x300");
    }

    int run() {
        for (; part() < 1 && wrong_ < 20; ++rounds_) {
            for (const Case& x : cases_) check(x);
            if (rounds_ % 4 == 3) trim_contexts();
            fail(lose_device());
            if (rounds_ % 4 == 0) time_dispatches();
            (part() < warm() ? first_ : part() < 0.75 ? middle_ : last_).look();
        }
        return conclude();
    }

   private:
    double passed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
    /// How much of the soak is over.
    double part() const {
        if (options_.rounds) return static_cast<double>(rounds_) / static_cast<double>(options_.rounds);
        return passed() / static_cast<double>(options_.seconds);
    }
    double warm() const { return options_.rounds ? 0.5 : std::min(60.0 / static_cast<double>(options_.seconds), 0.5); }

    void fail(const std::string& why) {
        if (why.empty()) return;
        ++wrong_;
        std::printf("wrong: %s\n", why.c_str());
    }
    void check(const Case& x) {
        ++runs_;
        fail(test::run(x));
    }
    void time_dispatches() {
        std::string why;
        longest_ = std::max(longest_, longest_dispatch(large_, why));
        fail(why);
    }

    int conclude() {
        std::printf("%.0f s, %zu problems, %llu rounds, %llu runs, %llu lost devices\n", passed(), cases_.size(),
                    static_cast<unsigned long long>(rounds_), static_cast<unsigned long long>(runs_),
                    static_cast<unsigned long long>(rounds_));
        std::printf("memory      host KiB  device KiB\n");
        for (const auto& [name, memory] : {std::pair{"at first", first_}, {"then", middle_}, {"at last", last_}})
            std::printf("%-9s %10llu  %10llu\n", name, static_cast<unsigned long long>(memory.host),
                        static_cast<unsigned long long>(memory.device));
        std::printf("longest dispatch of a plan with dispatchSeconds = 0.05: %.3f s (limit %.1f s)\n", longest_,
                    options_.longest_dispatch);
        // A CPU device has no watchdog, and other programs delay it.
        const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
        if (!is_cpu && longest_ > options_.longest_dispatch) fail("a dispatch takes too long");
        if (cases_.size() < lines.size() / 2) fail("most of the problems have no plan on this device");
        if (!middle_.host || !last_.host) fail("too few rounds to compare memory; give it more time");
        // What grows by a page in each round is seen; what the driver keeps for longer is not.
        const uint64_t slack = 2048;
        if (last_.host > middle_.host + slack) fail("host memory grows");
        if (last_.device > middle_.device + slack) fail("device memory grows");
        std::printf("%llu failures\n", static_cast<unsigned long long>(wrong_));
        return wrong_ ? 1 : 0;
    }

    SoakOptions options_;
    std::vector<Case> cases_;
    Case large_;
    const Clock::time_point began_ = Clock::now();
    Memory first_, middle_, last_;
    uint64_t rounds_ = 0, runs_ = 0, wrong_ = 0;
    double longest_ = 0;
};

}  // namespace

int run_soak(const SoakOptions& options) {
    device();
    return Soak(options).run();
}

}  // namespace vkgemm::test
