// SPDX-License-Identifier: MIT
// Contexts: bad input, functions that are not there, memory that runs out, two at once, the one environment variable.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "api/api.h"
#include "vk/functions.h"

using namespace vkgemm::test;

namespace {

Said make(const VkgemmContextInfo& info, OwnedContext& out) {
    out.handle = reinterpret_cast<VkgemmContext>(uintptr_t{1});  // must be overwritten, also by a refusal
    const Said got = said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &out.handle, e); });
    CHECK((got.code < 0) == (out.handle == nullptr));
    return got;
}

// A loader that does not know one function, under none of its names.
std::string hidden;
bool only_khr = false;  // it is known by the name of the extension that it came with
bool is_hidden(const char* name) {
    return !hidden.empty() && (hidden == name || (!only_khr && hidden + "KHR" == name));
}
std::string real_name(const char* name) { return only_khr && hidden + "KHR" == name ? hidden : name; }

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice, const char* name) {
    if (is_hidden(name)) return nullptr;
    return device_command<PFN_vkVoidFunction>(real_name(name).c_str());
}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL any_function(VkInstance instance, const char* name) {
    if (is_hidden(name)) return nullptr;
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(device_function);
    return device().getInstanceProcAddr()(instance, real_name(name).c_str());
}

/// Host memory that refuses the n-th request and knows what was not given back.
struct Allocator {
    int64_t left = -1;  // requests until one is refused; below 0: never
    std::map<void*, size_t> alive;
    std::mutex mutex;
    bool refused = false;

    VkAllocationCallbacks callbacks() {
        VkAllocationCallbacks c{};
        c.pUserData = this;
        c.pfnAllocation = allocate;
        c.pfnReallocation = reallocate;
        c.pfnFree = release;
        return c;
    }

   private:
    static VKAPI_ATTR void* VKAPI_CALL allocate(void* user, size_t size, size_t alignment, VkSystemAllocationScope) {
        auto& self = *static_cast<Allocator*>(user);
        const std::lock_guard lock(self.mutex);
        if (self.left == 0) {
            self.refused = true;
            return nullptr;
        }
        if (self.left > 0) --self.left;
        const size_t step = std::max(alignment, alignof(std::max_align_t));
        void* p = ::operator new(size + 1, std::align_val_t(step));
        self.alive[p] = step;
        return p;
    }
    static VKAPI_ATTR void* VKAPI_CALL reallocate(void*, void*, size_t, size_t, VkSystemAllocationScope) {
        return nullptr;
    }
    static VKAPI_ATTR void VKAPI_CALL release(void* user, void* p) {
        if (!p) return;
        auto& self = *static_cast<Allocator*>(user);
        const std::lock_guard lock(self.mutex);
        const auto found = self.alive.find(p);
        if (found == self.alive.end()) return;
        ::operator delete(p, std::align_val_t(found->second));
        self.alive.erase(found);
    }
};

}  // namespace

TEST_CASE("contexts that are refused") {
    const struct {
        std::string what;
        std::function<void(VkgemmContextInfo&)> change;
        VkgemmResult code;
        std::vector<std::string> words;
    } rows[] = {
        {"structSize",
         [](VkgemmContextInfo& i) { i.structSize = 12; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"VkgemmContextInfo", "structSize", "12"}},
        {"pNext", [](VkgemmContextInfo& i) { i.pNext = &i; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"pNext"}},
        {"instance",
         [](VkgemmContextInfo& i) { i.instance = VK_NULL_HANDLE; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"instance", "null"}},
        {"physicalDevice",
         [](VkgemmContextInfo& i) { i.physicalDevice = VK_NULL_HANDLE; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"physicalDevice"}},
        {"device",
         [](VkgemmContextInfo& i) { i.device = VK_NULL_HANDLE; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"device", "null"}},
        {"loader",
         [](VkgemmContextInfo& i) { i.getInstanceProcAddr = nullptr; },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"getInstanceProcAddr"}},
        {"extensions",
         [](VkgemmContextInfo& i) {
             i.enabledExtensions = nullptr;
             i.enabledExtensionCount = 2;
         },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"enabledExtensions"}},
        {"extension that is null",
         [](VkgemmContextInfo& i) {
             static const char* const names[] = {nullptr};
             i.enabledExtensions = names;
             i.enabledExtensionCount = 1;
         },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"enabledExtensions[0]", "null"}},
        {"extension that there is not",
         [](VkgemmContextInfo& i) {
             static const char* const names[] = {"VK_KHR_push_descriptors"};
             i.enabledExtensions = names;
             i.enabledExtensionCount = 1;
         },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"enabledExtensions[0]", "'VK_KHR_push_descriptors'"}},
        {"flags", [](VkgemmContextInfo& i) { i.flags = 64; }, VKGEMM_ERROR_INVALID_ARGUMENT, {"flags", "64"}},
        {"neither way to operands",
         [](VkgemmContextInfo& i) {
             i.enabledFeatures = nullptr;
             i.enabledExtensions = nullptr;
             i.enabledExtensionCount = 0;
             i.apiVersion = VK_API_VERSION_1_1;
         },
         VKGEMM_ERROR_UNSUPPORTED,
         {"push descriptors", "VK_KHR_push_descriptor", "bufferDeviceAddress", "neither is enabled"}},
        {"chain",
         [](VkgemmContextInfo& i) {
             static VkPhysicalDeviceFeatures2 bare{};
             i.enabledFeatures = &bare;
         },
         VKGEMM_ERROR_INVALID_ARGUMENT,
         {"enabledFeatures", "sType", "VkPhysicalDeviceFeatures2"}},
        {"version 0",
         [](VkgemmContextInfo& i) { i.apiVersion = 0; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"apiVersion", "0.0", "1.1"}},
        {"version 1.0",
         [](VkgemmContextInfo& i) { i.apiVersion = VK_API_VERSION_1_0; },
         VKGEMM_ERROR_UNSUPPORTED,
         {"1.0", "1.1"}},
    };
    for (const auto& row : rows) {
        INFO(row.what);
        VkgemmContextInfo info = context_info();
        row.change(info);
        OwnedContext c;
        expect(make(info, c), row.code, row.words);
    }
    OwnedContext c;
    expect(said([&](VkgemmError* e) { return vkgemmCreateContext(nullptr, &c.handle, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmContextInfo", "null"});
    const VkgemmContextInfo info = context_info();
    expect(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, nullptr, e); }), VKGEMM_ERROR_INVALID_ARGUMENT,
           {"context", "null"});
    CHECK(vkgemmCreateContext(nullptr, nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("half an allocator is refused") {
    Allocator memory;
    const VkAllocationCallbacks whole = memory.callbacks();
    const auto notify = [](void*, size_t, VkInternalAllocationType, VkSystemAllocationScope) {};
    const std::pair<const char*, std::function<void(VkAllocationCallbacks&)>> rows[] = {
        {"pfnAllocation", [](VkAllocationCallbacks& a) { a.pfnAllocation = nullptr; }},
        {"pfnReallocation", [](VkAllocationCallbacks& a) { a.pfnReallocation = nullptr; }},
        {"pfnFree", [](VkAllocationCallbacks& a) { a.pfnFree = nullptr; }},
        {"pfnInternalFree", [&](VkAllocationCallbacks& a) { a.pfnInternalAllocation = notify; }},
        {"pfnInternalAllocation", [&](VkAllocationCallbacks& a) { a.pfnInternalFree = notify; }},
    };
    for (const auto& [name, change] : rows) {
        VkAllocationCallbacks half = whole;
        change(half);
        VkgemmContextInfo info = context_info();
        info.allocator = &half;
        OwnedContext c;
        expect(make(info, c), VKGEMM_ERROR_INVALID_ARGUMENT, {"allocator", name});
    }
    CHECK(memory.alive.empty());
}

TEST_CASE("every function that must be there is missed by name") {
    const char* const needed[] = {"vkGetDeviceProcAddr",
#define X(name, alternative) "vk" #name,
                                  VKGEMM_INSTANCE_FUNCTIONS(X) VKGEMM_DEVICE_FUNCTIONS(X)
#undef X
    };
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    for (const char* name : needed) {
        hidden = name;
        OwnedContext c;
        expect(make(info, c), VKGEMM_ERROR_MISSING_FUNCTION, {name, "not found"});
    }
    hidden.clear();
    OwnedContext whole;
    expect(make(info, whole), VKGEMM_SUCCESS, {});
}

TEST_CASE("a function that may be missing is done without") {
    const char* const optional[] = {
#define X(name, alternative) "vk" #name,
        VKGEMM_OPTIONAL_INSTANCE_FUNCTIONS(X) VKGEMM_OPTIONAL_DEVICE_FUNCTIONS(X)
#undef X
    };
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    const VkgemmProblem p = problem("20x30x40");
    const bool descriptors = device().info().uses.find("pushDescriptor") != std::string::npos;
    for (const char* name : optional) {
        hidden = name;
        OwnedContext c;
        const Said made = make(info, c);
        INFO(name, ": ", made.text);
        const bool addresses_only = std::string(name) == "vkGetBufferDeviceAddress" && !descriptors;
        const bool descriptors_only = std::string(name) == "vkCmdPushDescriptorSet" && !device().hasAddresses();
        if (addresses_only || descriptors_only) {
            expect(made, VKGEMM_ERROR_UNSUPPORTED, {"push descriptors", "bufferDeviceAddress"});
            continue;
        }
        REQUIRE(made.code == VKGEMM_SUCCESS);
        OwnedPlan plan;
        const Said got = make_plan(plan, p, options(), c.handle);
        REQUIRE(got.code == VKGEMM_SUCCESS);
        if (std::string(name) == "vkCmdPushDescriptorSet") CHECK(info_of(plan.handle).usesAddresses == 1);
    }
    hidden.clear();
}

TEST_CASE("a function is found by the name of its extension too") {
    const std::pair<const char*, const char*> functions[] = {
#define X(name, alternative) {"vk" #name, alternative},
        VKGEMM_INSTANCE_FUNCTIONS(X) VKGEMM_OPTIONAL_DEVICE_FUNCTIONS(X)
#undef X
    };
    OwnedPlan plain;
    plan_for(plain, "20x30x40");
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    int tried = 0;
    for (const auto& [name, alternative] : functions) {
        if (std::string(alternative) != "KHR") continue;
        hidden = name;
        only_khr = true;
        const std::string what = name;
        INFO(what);
        OwnedContext c;
        expect(make(info, c), VKGEMM_SUCCESS, {});
        OwnedPlan plan;
        REQUIRE(make_plan(plan, problem("20x30x40"), options(), c.handle).code == VKGEMM_SUCCESS);
        CHECK(info_of(plan.handle).usesAddresses == info_of(plain.handle).usesAddresses);
        ++tried;
    }
    hidden.clear();
    only_khr = false;
    CHECK(tried >= 4);
}

TEST_CASE("what was not enabled is asked for by name") {
    VkgemmContextInfo info = context_info();
    std::vector<const char*> enabled;
    for (const char* e : device().enabledExtensions())
        if (std::strcmp(e, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME) != 0) enabled.push_back(e);
    info.enabledExtensions = enabled.data();
    info.enabledExtensionCount = static_cast<uint32_t>(enabled.size());
    OwnedContext c;
    REQUIRE(make(info, c).code == VKGEMM_SUCCESS);
    OwnedPlan plan;
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_CAPTURE_STATISTICS | VKGEMM_PLAN_DRY;
    expect(make_plan(plan, problem("0x3x4"), o, c.handle), VKGEMM_ERROR_UNSUPPORTED, {"pipelineExecutableInfo"});
}

TEST_CASE("two devices of two instances work side by side, and end in any order") {
    auto second = std::make_unique<vkgemm::host::Device>(*vkgemm::host::Device::open({.device = device().info().name}));
    OwnedPlan here, there;
    plan_for(here, "20x30x40 bias=row");
    plan_for(there, "20x30x40 bias=row", options(), second->context().handle());
    CHECK(second->handle() != device().handle());
    VkPipeline pipelines[2];
    uint32_t count = 1;
    REQUIRE(vkgemmGetPlanPipelines(here.handle, &count, &pipelines[0]) == VKGEMM_SUCCESS);
    REQUIRE(vkgemmGetPlanPipelines(there.handle, &count, &pipelines[1]) == VKGEMM_SUCCESS);
    CHECK(pipelines[0] != pipelines[1]);
    OwnedContext third;  // a second context on the first device
    REQUIRE(make(context_info(), third).code == VKGEMM_SUCCESS);
    OwnedPlan again;
    plan_for(again, "20x30x40 bias=row", options(), third.handle);
    vkgemmDestroyPlan(std::exchange(there.handle, nullptr));
    second.reset();
    vkgemmDestroyPlan(std::exchange(here.handle, nullptr));
    vkgemmDestroyPlan(std::exchange(again.handle, nullptr));
}

TEST_CASE("clamps with different bounds share one pipeline") {
    OwnedPlan narrow, wide;
    plan_for(narrow, "20x30x40 clamp=-1:1");
    plan_for(wide, "20x30x40 clamp=-9:9");
    VkPipeline pipelines[2];
    uint32_t count = 1;
    REQUIRE(vkgemmGetPlanPipelines(narrow.handle, &count, &pipelines[0]) == VKGEMM_SUCCESS);
    REQUIRE(vkgemmGetPlanPipelines(wide.handle, &count, &pipelines[1]) == VKGEMM_SUCCESS);
    CHECK(pipelines[0] == pipelines[1]);
}

TEST_CASE("host memory that runs out at any point is an error, never a leak") {
    int refused = 0, allocations = 0;
    for (int64_t n = 0; n < 400; ++n) {
        Allocator memory;
        memory.left = n;
        const VkAllocationCallbacks callbacks = memory.callbacks();
        VkgemmContextInfo info = context_info();
        info.allocator = &callbacks;
        bool whole = false;
        {
            OwnedContext c;
            const Said made = make(info, c);
            OwnedPlan plan;
            if (made.code == VKGEMM_SUCCESS) {
                VkgemmPlanOptions o = options();
                o.kernel = "tiled_f32_8x8";
                const Said got = make_plan(plan, problem("20x30x40"), o, c.handle);
                whole = got.code == VKGEMM_SUCCESS;
                if (!whole) expect(got, VKGEMM_ERROR_OUT_OF_MEMORY, {"memory"});
                if (!whole) CHECK(plan.handle == nullptr);
                memory.left = -1;  // the same plan again, with memory
                OwnedPlan retry;
                if (!whole) CHECK(make_plan(retry, problem("20x30x40"), o, c.handle).code == VKGEMM_SUCCESS);
                vkgemmDestroyPlan(std::exchange(retry.handle, nullptr));
                vkgemmDestroyPlan(std::exchange(plan.handle, nullptr));
            } else {
                expect(made, VKGEMM_ERROR_OUT_OF_MEMORY, {"memory"});
            }
        }
        CHECK_MESSAGE(memory.alive.empty(), "request ", n, ": ", memory.alive.size(), " blocks were not given back");
        refused += memory.refused;
        if (whole && !memory.refused) {
            allocations = static_cast<int>(n);
            break;
        }
    }
    CHECK(allocations > 0);
    MESSAGE(refused, " of ", allocations, " requests were refused in turn");
}

TEST_CASE("VKGEMM_KERNEL is followed where it can be, and told where not") {
    Log log;
    VkgemmContextInfo info = context_info();
    info.log = Log::add;
    info.logUser = &log;
    const auto with = [&](const char* value, OwnedContext& c) {
        set_environment("VKGEMM_KERNEL", value);
        REQUIRE(make(info, c).code == VKGEMM_SUCCESS);
        set_environment("VKGEMM_KERNEL", "");
    };
    OwnedContext naive, unknown, integers;
    with("naive_f32_8x8", naive);
    OwnedPlan plan;
    plan_for(plan, "20x30x40", options(), naive.handle);
    CHECK(std::string(info_of(plan.handle).kernel) == "naive_f32_8x8");
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";  // who says so in the plan is heard first
    OwnedPlan named;
    plan_for(named, "20x30x40", o, naive.handle);
    CHECK(std::string(info_of(named.handle).kernel) == "tiled_f32_8x8");
    CHECK(log.lines.empty());

    with("tiled_i32_8x8", integers);
    OwnedPlan other;
    expect(make_plan(other, problem("20x30x40"), options(), integers.handle), VKGEMM_FALLBACK_USED,
           {"VKGEMM_KERNEL", "tiled_i32_8x8", "i32"});
    REQUIRE(other.handle);
    CHECK(std::string(info_of(other.handle).kernel) != "tiled_i32_8x8");
    REQUIRE(log.lines.size() == 1);
    CHECK(has_words(log.lines[0], "VKGEMM_KERNEL"));

    const VkgemmProblem p = problem("20x30x40");
    std::string why(200000, '\0');
    size_t size = why.size();
    REQUIRE(vkgemmExplain(integers.handle, &p, nullptr, why.data(), &size, nullptr) == VKGEMM_SUCCESS);
    CHECK(has_words(why, "VKGEMM_KERNEL", "tiled_i32_8x8"));
    CHECK(log.lines.size() == 1);

    set_environment("VKGEMM_KERNEL", "tiled_f32_16x16");  // which no device here would choose
    info.flags = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT;
    OwnedContext deaf;
    REQUIRE(make(info, deaf).code == VKGEMM_SUCCESS);
    set_environment("VKGEMM_KERNEL", "");
    info.flags = 0;
    OwnedPlan free;
    plan_for(free, "20x30x40", options(), deaf.handle);
    CHECK(std::string(info_of(free.handle).kernel) != "tiled_f32_16x16");

    with("naive_f32_8x9", unknown);
    REQUIRE(log.lines.size() == 2);
    CHECK(has_words(log.lines[1], "naive_f32_8x9", "naive_f32_8x8"));
    OwnedPlan chosen;
    expect(make_plan(chosen, problem("20x30x40"), options(), unknown.handle), VKGEMM_FALLBACK_USED, {"naive_f32_8x9"});
}

TEST_CASE("a plan that a workspace would make faster is logged, with what its info has; one that has it is not") {
    Log log;
    VkgemmContextInfo info = context_info();
    info.log = Log::add;
    info.logUser = &log;
    info.flags = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT;
    OwnedContext c;
    REQUIRE(make(info, c).code == VKGEMM_SUCCESS);
    log = {};
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_DRY;
    OwnedPlan without, with, small;
    plan_for(without, "8x8x1000000", o, c.handle);
    const VkgemmPlanInfo stated = info_of(without.handle);
    REQUIRE(stated.usefulWorkspace > 0);
    CHECK(stated.usefulGain > 1.1);
    REQUIRE(log.lines.size() == 1);
    CHECK(log.severities[0] == VKGEMM_SEVERITY_INFO);
    for (const std::string& part :
         {std::string("8x8x1000000"), " on " + std::string(stated.kernel) + ": a workspace of ",
          " " + std::to_string(stated.usefulWorkspace) + " bytes (", "allows " + std::string(stated.usefulKernel),
          std::string(" times faster")})
        CHECK_MESSAGE(log.lines[0].find(part) != std::string::npos, part, " is not in: ", log.lines[0]);

    o.workspaceLimit = stated.usefulWorkspace;
    plan_for(with, "8x8x1000000", o, c.handle);
    const VkgemmPlanInfo better = info_of(with.handle);
    CHECK(std::string(better.kernel) == stated.usefulKernel);
    CHECK(better.requiredBytes[VKGEMM_SLOT_WORKSPACE] == stated.usefulWorkspace);
    CHECK(stated.predictedCost / better.predictedCost == doctest::Approx(stated.usefulGain));
    o.workspaceLimit = 0;
    plan_for(small, "16x16x16", o, c.handle);
    const VkgemmPlanInfo enough = info_of(small.handle);
    CHECK((enough.usefulWorkspace == 0 && enough.usefulGain == 1 && std::string(enough.usefulKernel).empty()));
    CHECK(log.lines.size() == 1);
}
