// SPDX-License-Identifier: MIT
// Measures what vkgemm costs on the host: nanoseconds for each recording, with the driver's part and without it, and
// for each plan whose pipelines exist; and the time to the first result with an empty and with a filled pipeline cache.
// It is not a test: tests/api/varying_sizes.cpp counts allocations and compilations.
//
//     tools/with lavapipe build/tests/host_cost [N|NAME-PART of a device]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "support/used_operands.h"
#include "vkgemm/host.hpp"

static thread_local uint64_t allocations = 0;  // by operator new, on this thread

void* operator new(size_t size) {
    ++allocations;
    if (void* const p = std::malloc(size ? size : 1)) return p;
    throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace {

using namespace vkgemm;
using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); }

[[noreturn]] void give_up(const Status& why) {
    std::fprintf(stderr, "host_cost: %s\n", why.text.c_str());
    std::exit(1);
}
template <class T>
T value(Result<T> result) {
    if (!result) give_up(result.status());
    return *std::move(result);
}
void check(VkResult r, const char* what) {
    if (r != VK_SUCCESS) give_up({VKGEMM_ERROR_VULKAN, r, std::string(what) + " failed"});
}

const host::Device* real_device = nullptr;  // find() takes its functions

template <class Function>
Function find(const char* name) {
    const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        real_device->getInstanceProcAddr()(real_device->instance(), "vkGetDeviceProcAddr"));
    return reinterpret_cast<Function>(get(real_device->handle(), name));
}
#define VULKAN(name) find<PFN_##name>(#name)

// A mocked driver whose commands do nothing, so that only vkgemm's own time is left.
template <class Function>
struct Nothing;
template <class... Arguments>
struct Nothing<void(VKAPI_PTR*)(Arguments...)> {
    static VKAPI_ATTR void VKAPI_CALL call(Arguments...) {}
};
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL idle_device_function(VkDevice, const char* name) {
    const std::string_view word = name;
#define IDLE(f) \
    if (word.starts_with("vk" #f)) return reinterpret_cast<PFN_vkVoidFunction>(Nothing<PFN_vk##f>::call);
    IDLE(CmdBindPipeline)
    IDLE(CmdPushConstants)
    IDLE(CmdPushDescriptorSet)
    IDLE(CmdPipelineBarrier)
    IDLE(CmdDispatch)
    IDLE(CmdBeginDebugUtilsLabelEXT)
    IDLE(CmdEndDebugUtilsLabelEXT)
#undef IDLE
    return find<PFN_vkVoidFunction>(name);
}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL idle_function(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(idle_device_function);
    return real_device->getInstanceProcAddr()(instance, name);
}

/// The same without memory and compilation: a buffer's address is its handle, and a pipeline is a number.
VKAPI_ATTR VkDeviceAddress VKAPI_CALL handle_as_address(VkDevice, const VkBufferDeviceAddressInfo* info) {
    return reinterpret_cast<VkDeviceAddress>(info->buffer);
}
VKAPI_ATTR VkResult VKAPI_CALL compile_nothing(VkDevice, VkPipelineCache, uint32_t count,
                                               const VkComputePipelineCreateInfo*, const VkAllocationCallbacks*,
                                               VkPipeline* out) {
    static uintptr_t number = 0;
    for (uint32_t i = 0; i < count; ++i) out[i] = reinterpret_cast<VkPipeline>(++number);
    return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL destroy_nothing(VkDevice, VkPipeline, const VkAllocationCallbacks*) {}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL mocked_device_function(VkDevice device, const char* name) {
    const std::string_view word = name;
    if (word.starts_with("vkGetBufferDeviceAddress")) return reinterpret_cast<PFN_vkVoidFunction>(handle_as_address);
    if (word == "vkCreateComputePipelines") return reinterpret_cast<PFN_vkVoidFunction>(compile_nothing);
    if (word == "vkDestroyPipeline") return reinterpret_cast<PFN_vkVoidFunction>(destroy_nothing);
    return idle_device_function(device, name);
}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL mocked_function(VkInstance instance, const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(mocked_device_function);
    return real_device->getInstanceProcAddr()(instance, name);
}

ContextInfo context_info(const host::Device& d) {
    return {.instance = d.instance(),
            .physicalDevice = d.physicalDevice(),
            .device = d.handle(),
            .apiVersion = d.apiVersion(),
            .getInstanceProcAddr = d.getInstanceProcAddr(),
            .enabledFeatures = &d.enabledFeatures(),
            .enabledExtensions = d.enabledExtensions()};
}

/// Measures one recording in nanoseconds: the median over rounds of 1000, each into a command buffer that was reset.
class Recorder {
   public:
    explicit Recorder(const host::Device& d) : device_(d.handle()) {
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.queueFamilyIndex = d.queueFamily();
        check(VULKAN(vkCreateCommandPool)(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
        VkCommandBufferAllocateInfo one{};
        one.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        one.commandPool = pool_;
        one.commandBufferCount = 1;
        check(VULKAN(vkAllocateCommandBuffers)(device_, &one, &commands_), "vkAllocateCommandBuffers");
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    ~Recorder() { VULKAN(vkDestroyCommandPool)(device_, pool_, nullptr); }

    double cost(const Plan& plan, const Run& run) const {
        constexpr int rounds = 101, count = 1000;
        const VkgemmRun c = convert::toC(run);
        VkgemmError error{};
        std::vector<double> all;
        const auto reset = VULKAN(vkResetCommandPool);
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        for (int round = 0; round < rounds; ++round) {
            check(VULKAN(vkBeginCommandBuffer)(commands_, &begin), "vkBeginCommandBuffer");
            const auto start = Clock::now();
            for (int i = 0; i < count; ++i)
                if (const VkgemmResult r = vkgemmRecord(plan.handle(), commands_, &c, &error); r != VKGEMM_SUCCESS)
                    give_up(convert::toStatus(r, error));
            all.push_back(nanoseconds(Clock::now() - start) / count);
            check(VULKAN(vkEndCommandBuffer)(commands_), "vkEndCommandBuffer");
            check(reset(device_, pool_, 0), "vkResetCommandPool");
        }
        std::ranges::nth_element(all, all.begin() + rounds / 2);
        return all[rounds / 2];
    }

   private:
    VkDevice device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

/// Milliseconds of each part of the first product on a new device.
struct FirstResult {
    double context, plan, run;
};
FirstResult first_result(const host::DeviceOptions& options, std::vector<std::byte>& cache_data) {
    const host::Device device = value(host::Device::open(options));
    real_device = &device;
    VkPipelineCacheCreateInfo kept{};
    kept.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    kept.initialDataSize = cache_data.size();
    kept.pInitialData = cache_data.data();
    VkPipelineCache cache = VK_NULL_HANDLE;
    check(VULKAN(vkCreatePipelineCache)(device.handle(), &kept, nullptr, &cache), "vkCreatePipelineCache");
    const auto x = value(device.createBuffer(64 * 64 * 4, host::Memory::host));
    const auto d = value(device.createBuffer(64 * 64 * 4, host::Memory::host));
    FirstResult times{};
    {
        ContextInfo info = context_info(device);
        info.pipelineCache = cache;
        const auto start = Clock::now();
        const Context context = value(Context::create(info));
        const auto made = Clock::now();
        const Plan plan = value(context.createPlan({.m = 64, .n = 64, .k = 64}));
        const auto planned = Clock::now();
        const Status done = device.submit([&](VkCommandBuffer commands) {
            return plan.record(commands, {.a = x.operand(), .b = x.operand(), .d = d.operand()});
        });
        if (!done) give_up(done);
        times = {nanoseconds(made - start) * 1e-6, nanoseconds(planned - made) * 1e-6,
                 nanoseconds(Clock::now() - planned) * 1e-6};
    }
    size_t size = 0;
    check(VULKAN(vkGetPipelineCacheData)(device.handle(), cache, &size, nullptr), "vkGetPipelineCacheData");
    cache_data.resize(size);
    check(VULKAN(vkGetPipelineCacheData)(device.handle(), cache, &size, cache_data.data()), "vkGetPipelineCacheData");
    VULKAN(vkDestroyPipelineCache)(device.handle(), cache, nullptr);
    return times;
}

void print_first_results(const host::DeviceOptions& options) {
    std::vector<std::byte> cache;
    for (const char* const what : {"empty", "filled"}) {
        const FirstResult t = first_result(options, cache);
        std::printf("first result, %-6s cache  %8.2f ms: context %.2f, plan %.2f, recorded, submitted, done %.2f\n",
                    what, t.context + t.plan + t.run, t.context, t.plan, t.run);
    }
    std::printf("the cache then holds %zu bytes\n\n", cache.size());
}

void print_costs(const host::Device& device) {
    real_device = &device;
    ContextInfo idle = context_info(device);
    idle.getInstanceProcAddr = idle_function;
    const Context with = value(Context::create(context_info(device))), without = value(Context::create(idle));
    const Recorder recorder(device);
    const auto a = value(device.createBuffer(1 << 20)), b = value(device.createBuffer(1 << 20)),
               d = value(device.createBuffer(1 << 20)), space = value(device.createBuffer(1 << 20));
    const Run buffers{.a = {.buffer = a.handle()},
                      .b = {.buffer = b.handle()},
                      .d = {.buffer = d.handle()},
                      .workspace = {.buffer = space.handle()}};
    Run addresses = buffers, barriers = buffers;
    addresses.a = a.operand();
    addresses.b = b.operand();
    addresses.d = d.operand();
    barriers.flags = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER;
    Run sized = buffers, sized_addresses = addresses;
    sized.sizes = sized_addresses.sizes = Sizes{.m = 17, .n = 33, .k = 61};
    const Problem problem{.m = 64, .n = 64, .k = 64};
    Problem varying = problem;
    varying.upTo = VKGEMM_UP_TO_M | VKGEMM_UP_TO_N | VKGEMM_UP_TO_K;
    const PlanOptions usual{}, by_address{.operands = VKGEMM_OPERANDS_ADDRESSES},
        split{.kernel = "tiled_f32_8x8", .tile = "SPLIT=4", .workspaceLimit = 1 << 20};
    const struct {
        const char* what;
        const Problem& problem;
        const PlanOptions& options;
        const Run& run;
        bool possible;
    } rows[] = {{"buffers", problem, usual, buffers, true},
                {"buffers, both barriers", problem, usual, barriers, true},
                {"buffers, K in 4 slices", problem, split, buffers, true},
                {"addresses", problem, by_address, addresses, device.hasAddresses()},
                {"addresses of buffers", problem, by_address, buffers, device.hasAddresses()},
                {"buffers, other sizes", varying, usual, sized, true},
                {"the same, K in slices", varying, split, sized, true},
                {"addresses, other sizes", varying, by_address, sized_addresses, device.hasAddresses()}};
    std::printf("%-26s %12s %18s\n", "one recording", "ns", "of that vkgemm, ns");
    for (const auto& row : rows) {
        if (!row.possible) continue;
        const Plan plan = value(with.createPlan(row.problem, row.options)),
                   own = value(without.createPlan(row.problem, row.options));
        std::printf("%-26s %12.0f %18.0f\n", row.what, recorder.cost(plan, row.run), recorder.cost(own, row.run));
    }
}

/// The least nanoseconds of making one plan, over rounds, because other programs of the machine only add to it.
double plan_cost(const Context& context, const Problem& problem, const PlanOptions& options) {
    constexpr int rounds = 200, count = 20;
    static_cast<void>(value(context.createPlan(problem, options)));  // makes the pipelines
    double least = 1e300;
    for (int round = 0; round < rounds; ++round) {
        const auto start = Clock::now();
        for (int i = 0; i < count; ++i) static_cast<void>(value(context.createPlan(problem, options)));
        least = std::min(least, nanoseconds(Clock::now() - start) / count);
    }
    return least;
}

void print_plan_costs(const host::Device& device) {
    const Context context = value(Context::create(context_info(device)));
    const auto types = [](Type t, Problem p) {
        p.a.type = t;
        return p;
    };
    const PlanOptions usual{}, roomy{.workspaceLimit = 1 << 30},
        untuned{.flags = VKGEMM_PLAN_IGNORE_TUNED, .workspaceLimit = 1 << 30}, named{.kernel = "tiled_f32_8x8"};
    const struct {
        const char* what;
        const Problem problem;
        const PlanOptions& options;
    } rows[] = {
        {"f32 64", {.m = 64, .n = 64, .k = 64}, usual},
        {"f32 64, kernel named", {.m = 64, .n = 64, .k = 64}, named},
        {"f32 1024, workspace", {.m = 1024, .n = 1024, .k = 1024}, roomy},
        {"f16 512x4096x4096", types(f16, {.m = 512, .n = 4096, .k = 4096}), usual},
        {"the same, workspace", types(f16, {.m = 512, .n = 4096, .k = 4096}), roomy},
        {"the same, untuned", types(f16, {.m = 512, .n = 4096, .k = 4096}), untuned},
        {"f16 511x4095x4095, workspace", types(f16, {.m = 511, .n = 4095, .k = 4095}), roomy},
        {"f16 1x4096x4096, workspace", types(f16, {.m = 1, .n = 4096, .k = 4096}), roomy},
        {"f16 up to 512x4096x4096", types(f16, {.m = 512, .n = 4096, .k = 4096, .upTo = VKGEMM_UP_TO_M}), roomy}};
    std::printf("\n%-30s %8s\n", "a plan, pipelines there", "ns");
    for (const auto& row : rows)
        if (context.createPlan(row.problem, row.options))
            std::printf("%-30s %8.0f\n", row.what, plan_cost(context, row.problem, row.options));
}

/// What a runtime's frame has: a problem, and in each run the sizes that vary are others.
struct Frame {
    const char *what, *line;
    uint64_t workspace = 1 << 28;
};
constexpr Frame frames[] = {
    {"f16", "f16*f16 512x4096x4096 layout=nt"},
    {"f16, m varies", "f16*f16 512x4096x4096 layout=nt upto=m"},
    {"f16, m n k batch vary", "f16*f16 512x4096x4096 batch=4 layout=nt upto=mnkb"},
    {"f16, these and strides", "f16*f16 512x4096x4096 batch=4 layout=nt upto=mnkbs"},
    {"f16, packed weights", "f16*f16 512x4096x4096 layout=nt packed_b=any"},
    {"the same, m varies", "f16*f16 512x4096x4096 layout=nt packed_b=any upto=m"},
    {"q4_0 weights", "f16*q4_0 512x4096x4096 layout=nt"},
    {"q4_0 weights, m varies", "f16*q4_0 512x4096x4096 layout=nt upto=m"},
    {"groups", "f16*f16 512x4096x4096 batch=8 layout=nt groups=table upto=m"},
    {"groups by address", "f16*f16 512x4096x4096 batch=8 layout=nt groups=addresses upto=mnk"},
    {"selected", "f16*q4_0 1x768x2048 batch=8 layout=nt groups=selected"},
    {"64 experts", "f16*f16 4096x768x2048 batch=64 layout=nt groups=indexed per_row=8 upto=m"},
    {"64 experts, q4_0", "f16*q4_0 4096x768x2048 batch=64 layout=nt groups=indexed per_row=8 upto=m"},
};

Run mocked_run() {
    const auto at = [](uintptr_t number) {
        return Operand{.buffer = reinterpret_cast<VkBuffer>(number << 40)};  // as far apart as addresses
    };
    return {.a = at(1), .b = at(2), .c = at(3), .d = at(4), .workspace = at(5), .groups = at(6), .indices = at(7)};
}

/// Sizes that the plan has not had: no two of 1,000 are equal.
void resize(VkgemmRun& run, const Problem& p, uint64_t i) {
    const auto some = [&](uint32_t bit, uint64_t most, uint64_t step) {
        return p.upTo & bit ? 1 + i * step % most : most;
    };
    run.m = some(VKGEMM_UP_TO_M, p.m, 7);
    run.n = some(VKGEMM_UP_TO_N, p.n, 11);
    run.k = some(VKGEMM_UP_TO_K, p.k, 13);
    run.batch = p.grouping ? p.batch : some(VKGEMM_UP_TO_BATCH, p.batch, 1);
    if (p.upTo & VKGEMM_UP_TO_STRIDES) {
        run.strides.lda = run.k + i % 3;
        run.strides.ldd = run.n + i % 5;
    }
}

struct FrameCost {
    double ns = 1e300;
    uint64_t allocations = 0;  // of one
};

FrameCost record_cost(const Plan& plan, const Problem& p) {
    VkgemmRun run = test::used_by(plan.handle(), convert::toC(mocked_run()));
    if (p.upTo) run.flags = VKGEMM_RECORD_SIZES;
    if (p.upTo & VKGEMM_UP_TO_STRIDES) run.flags |= VKGEMM_RECORD_STRIDES;
    const auto commands = reinterpret_cast<VkCommandBuffer>(uintptr_t{64});
    constexpr uint64_t rounds = 50, count = 500;
    VkgemmError error{};
    FrameCost out;
    for (uint64_t round = 0; round < rounds; ++round) {
        const uint64_t before = allocations;
        const auto start = Clock::now();
        for (uint64_t i = 0; i < count; ++i) {
            if (p.upTo) resize(run, p, i);
            if (const VkgemmResult r = vkgemmRecord(plan.handle(), commands, &run, &error); r != VKGEMM_SUCCESS)
                give_up(convert::toStatus(r, error));
        }
        out.ns = std::min(out.ns, nanoseconds(Clock::now() - start) / double(count));
        out.allocations = (allocations - before) / count;
    }
    return out;
}

void print_frame_costs(const host::Device& device) {
    real_device = &device;
    ContextInfo mocked = context_info(device);
    mocked.getInstanceProcAddr = mocked_function;
    const Context context = value(Context::create(mocked));
    std::printf("\n%-26s %12s %12s %10s %12s %10s\n", "vkgemm's own time, ns", "recording", "allocations", "plan",
                "allocations", "pipelines");
    for (const Frame& f : frames) {
        const Problem p = value(parseProblem(f.line)).problem;
        const PlanOptions options{.workspaceLimit = f.workspace};
        const auto plan = context.createPlan(p, options);
        if (!plan) {
            std::printf("%-26s %s\n", f.what, plan.status().text.c_str());
            continue;
        }
        const FrameCost recorded = record_cost(*plan, p);
        const double planned = plan_cost(context, p, options);
        const uint64_t before = allocations;
        const uint32_t pipelines = value(context.createPlan(p, options)).info().pipelineCount;
        std::printf("%-26s %12.0f %12zu %10.0f %12zu %10u\n", f.what, recorded.ns, size_t(recorded.allocations),
                    planned, size_t(allocations - before), pipelines);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const host::DeviceOptions options{.device = argc > 1 ? argv[1] : ""};
    print_first_results(options);
    const host::Device device = value(host::Device::open(options));
    std::printf("%s [%s]\n", device.info().name.c_str(), device.info().driver.c_str());
    print_frame_costs(device);
    print_costs(device);
    print_plan_costs(device);
}
