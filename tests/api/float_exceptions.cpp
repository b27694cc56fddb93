// SPDX-License-Identifier: MIT
// Floating-point exceptions: a driver that raises them in every call, on a thread that traps. The library neither ends
// the program nor leaves a flag.
#include <cfenv>
#include <cstring>
#include <utility>

#include "api/api.h"

using namespace vkgemm::test;

namespace {

constexpr int trapping = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

// What drivers do: invalid, a division by zero, an overflow.
void raise_all() {
    volatile double zero = 0, huge = 1e300, result = 0;
    result = zero / zero;
    result = 1 / zero;
    result = huge * huge;
    static_cast<void>(result);
}

/// Traps of this thread, where the platform has them. The flags are clear at the beginning.
class Traps {
   public:
    Traps() {
        std::feclearexcept(FE_ALL_EXCEPT);
#ifdef __GLIBC__
        feenableexcept(trapping);
        enabled_ = fegetexcept();
#endif
    }
    Traps(const Traps&) = delete;
    Traps& operator=(const Traps&) = delete;
    ~Traps() {
        std::feclearexcept(FE_ALL_EXCEPT);
#ifdef __GLIBC__
        fedisableexcept(FE_ALL_EXCEPT);
#endif
    }
    /// The traps are in force and nothing was raised.
    bool as_before() const {
#ifdef __GLIBC__
        if (fegetexcept() != enabled_) return false;
#endif
        return !std::fetestexcept(trapping);
    }

   private:
    int enabled_ = 0;
};

int raising_calls = 0;

// One function of the driver, which raises exceptions before and after it works.
template <class Name, class Function>
struct Raising;
template <class Name, class R, class... A>
struct Raising<Name, R(VKAPI_PTR*)(A...)> {
    using Function = R(VKAPI_PTR*)(A...);
    static inline Function real = nullptr;
    static VKAPI_ATTR R VKAPI_CALL call(A... arguments) {
        ++raising_calls;
        raise_all();
        if constexpr (std::is_void_v<R>) {
            real(arguments...);
            raise_all();
        } else {
            const R result = real(arguments...);
            raise_all();
            return result;
        }
    }
    static PFN_vkVoidFunction over(PFN_vkVoidFunction found) {
        real = reinterpret_cast<Function>(found);
        return found ? reinterpret_cast<PFN_vkVoidFunction>(call) : nullptr;
    }
};

#define RAISE(name)                                          \
    if (is(#name)) {                                         \
        struct name##_tag;                                   \
        return Raising<name##_tag, PFN_##name>::over(found); \
    }

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice, const char* name) {
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    const auto found = device_command<PFN_vkVoidFunction>(name);
    RAISE(vkCreateShaderModule)
    RAISE(vkDestroyShaderModule)
    RAISE(vkCreateDescriptorSetLayout)
    RAISE(vkDestroyDescriptorSetLayout)
    RAISE(vkCreatePipelineLayout)
    RAISE(vkDestroyPipelineLayout)
    RAISE(vkCreateComputePipelines)
    RAISE(vkDestroyPipeline)
    RAISE(vkCmdBindPipeline)
    RAISE(vkCmdPushConstants)
    RAISE(vkCmdPushDescriptorSetKHR)
    RAISE(vkCmdPushDescriptorSet)
    RAISE(vkCmdDispatch)
    RAISE(vkCmdPipelineBarrier)
    return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL any_function(VkInstance instance, const char* name) {
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkGetDeviceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(device_function);
    const PFN_vkVoidFunction found = device().getInstanceProcAddr()(instance, name);
    RAISE(vkGetPhysicalDeviceProperties2)
    RAISE(vkGetPhysicalDeviceFeatures2)
    RAISE(vkEnumerateDeviceExtensionProperties)
    return found;
}

void raise_in_log(void*, VkgemmSeverity, const char*) { raise_all(); }

VkgemmContextInfo raising_info() {
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    info.log = raise_in_log;
    return info;
}

}  // namespace

TEST_CASE("a driver that raises floating-point exceptions does not end a program that traps them") {
    const VkgemmProblem p = problem("20x30x40");
    const VkgemmContextInfo info = raising_info();
    VkgemmNeedsInfo asked{};
    asked.structSize = sizeof asked;
    asked.instance = info.instance;
    asked.physicalDevice = info.physicalDevice;
    asked.apiVersion = info.apiVersion;
    asked.getInstanceProcAddr = any_function;
    asked.problems = &p;
    asked.problemCount = 1;
    VkgemmNeeds needs{};
    needs.structSize = sizeof needs;
    const auto a = buffer(4096 * 4), b = buffer(4096 * 4), d = buffer(4096 * 4);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.alpha = 1;
    run.a = at(a);
    run.b = at(b);
    run.d = at(d);
    const auto checked = [](auto&& call) {  // doctest itself runs without traps
        raising_calls = 0;
        bool kept = false;
        {
            const Traps traps;
            call();
            kept = traps.as_before();
        }
        CHECK(kept);
        return raising_calls;
    };
    VkgemmResult result = VKGEMM_ERROR_VULKAN;
    CHECK(checked([&] { result = vkgemmQueryNeeds(&asked, &needs, nullptr); }) >= 3);
    CHECK(result == VKGEMM_SUCCESS);
    OwnedContext c;
    CHECK(checked([&] { result = vkgemmCreateContext(&info, &c.handle, nullptr); }) >= 3);
    REQUIRE(result == VKGEMM_SUCCESS);
    OwnedPlan plan;
    CHECK(checked([&] { result = vkgemmCreatePlan(c.handle, &p, nullptr, &plan.handle, nullptr); }) >= 2);
    REQUIRE(result == VKGEMM_SUCCESS);
    const vkgemm::Status recorded = device().submit([&](VkCommandBuffer commands) -> vkgemm::Status {
        CHECK(checked([&] { result = vkgemmRecord(plan.handle, commands, &run, nullptr); }) >= 2);
        CHECK(result == VKGEMM_SUCCESS);
        return {};
    });
    CHECK_MESSAGE(recorded, recorded.text);
    checked([&] { vkgemmDestroyPlan(std::exchange(plan.handle, nullptr)); });
    uint32_t destroyed = 0;
    CHECK(checked([&] { result = vkgemmTrimPipelines(c.handle, &destroyed); }) >= 1);
    CHECK(destroyed >= 1);
    CHECK(checked([&] { vkgemmDestroyContext(std::exchange(c.handle, nullptr)); }) >= 1);
}

TEST_CASE("flags that the program has raised, and its rounding, stay") {
    const VkgemmProblem p = problem("20x30x40");
    const VkgemmContextInfo info = raising_info();
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    std::fesetround(FE_UPWARD);
    OwnedContext c;
    OwnedPlan plan;
    const VkgemmResult made = vkgemmCreateContext(&info, &c.handle, nullptr);
    const VkgemmResult planned = vkgemmCreatePlan(c.handle, &p, nullptr, &plan.handle, nullptr);
    const int raised = std::fetestexcept(trapping), rounding = std::fegetround();
    std::fesetround(FE_TONEAREST);
    std::feclearexcept(FE_ALL_EXCEPT);
    CHECK(made == VKGEMM_SUCCESS);
    CHECK(planned == VKGEMM_SUCCESS);
    CHECK(raised == FE_DIVBYZERO);
    CHECK(rounding == FE_UPWARD);
}
