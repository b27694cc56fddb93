// SPDX-License-Identifier: MIT
// The C API: contexts, plans, what is packed and compiled, recorded, explained and read.
#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <vector>

#include "failing/scenario.h"
#include "support/owned.h"
#include "vkgemm/vkgemm.h"

using namespace vkgemm::test;
using namespace vkgemm::test::failing;

namespace {

VkgemmContextInfo info_with_texts() {
    VkgemmContextInfo i = context_info();
    i.tunedRows = "llvmpipe | 64x64x64 | cpu_f32_8x32 |\nllvmpipe | model 6 | cpu | steps=1.25\n";
    i.disabledKernels = "llvmpipe | block_f32_64x64 | it is wrong\n";
    return i;
}

VkgemmContext context() { return device().context().handle(); }
void trim() { vkgemmTrimPipelines(context(), nullptr); }

VkgemmProblem problem(const char* line) {
    VkgemmProblem p{};
    p.structSize = sizeof p;
    REQUIRE(vkgemmParseProblem(line, &p, nullptr, nullptr, nullptr) == VKGEMM_SUCCESS);
    return p;
}

VkgemmPlanOptions options(uint32_t flags = 0, const char* kernel = nullptr) {
    VkgemmPlanOptions o{};
    o.structSize = sizeof o;
    o.flags = flags;
    o.kernel = kernel;
    return o;
}

/// A plan that is there before anything fails.
void make(OwnedPlan& plan, const char* line, const VkgemmPlanOptions& o = options()) {
    const VkgemmProblem p = problem(line);
    const Got made = got([&](VkgemmError* e) { return vkgemmCreatePlan(context(), &p, &o, &plan.handle, e); });
    REQUIRE_MESSAGE(bool(made), line, ": ", std::string(made.error.text));
}

/// The text of a function that fills memory of the caller's: asked for its size, then for itself.
template <class Call>
Got text_of(const Call& call) {
    static char text[1 << 20];
    size_t size = 0;
    Got out = got([&](VkgemmError* e) { return call(nullptr, &size, e); });
    if (!out) return out;
    size = sizeof text;
    return got([&](VkgemmError* e) { return call(text, &size, e); });
}

/// Of a function without a VkgemmError, a code is all that there is.
Got silent(VkgemmResult code) {
    Got out{.code = code, .error = {}};
    if (code < 0) out.error.text[0] = '-';
    return out;
}

/// What makes plans of kinds that differ in what they keep and compile.
struct PlanKind {
    const char *name, *line;
    const char* kernel = nullptr;
    double dispatch_seconds = 0;
};
constexpr PlanKind plan_kinds[] = {
    {"plan", "20x30x40"},
    {"plan of all steps", "20x30x40 c=separate bias=row scale=all residual clamp=-1:1"},
    {"plan of sizes up to", "40x50x60 upto=mnk"},
    {"plan of a pair", "3x20x40 bias=col pair=relu"},
};

}  // namespace

TEST_CASE("a context fails cleanly") {
    const VkgemmContextInfo info = info_with_texts();
    each_fails({.name = "context", .run = [&] {
                    OwnedContext c;
                    return got([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); });
                }});
}

TEST_CASE("what a device needs fails cleanly") {
    const VkgemmProblem problems[] = {problem("f16*f16 64x64x64 layout=nt"), problem("f64*f64 8x8x8")};
    VkgemmNeedsInfo info{};
    info.structSize = sizeof info;
    info.instance = device().instance();
    info.physicalDevice = device().physicalDevice();
    info.apiVersion = device().apiVersion();
    info.getInstanceProcAddr = device().getInstanceProcAddr();
    info.problems = problems;
    info.problemCount = std::size(problems);
    each_fails({.name = "needs", .run = [&] {
                    VkgemmNeeds needs{};
                    needs.structSize = sizeof needs;
                    return got([&](VkgemmError* e) { return vkgemmQueryNeeds(&info, &needs, e); });
                }});
}

TEST_CASE("plans fail cleanly, and their pipelines are compiled the next time") {
    for (const PlanKind& kind : plan_kinds) {
        const VkgemmProblem p = problem(kind.line);
        VkgemmPlanOptions o = options(0, kind.kernel);
        o.dispatchSeconds = kind.dispatch_seconds;
        each_fails({.name = kind.name,
                    .run =
                        [&] {
                            OwnedPlan plan;
                            return got(
                                [&](VkgemmError* e) { return vkgemmCreatePlan(context(), &p, &o, &plan.handle, e); });
                        },
                    .prepare = trim});
    }
}

TEST_CASE("packing fails cleanly") {
    OwnedPlan product;
    make(product, "40x50x60 packed_a=any packed_b=any");
    each_fails({.name = "pack",
                .run =
                    [&] {
                        OwnedPlan a, b;
                        const Got made = got([&](VkgemmError* e) {
                            return vkgemmCreatePack(product.handle, VKGEMM_SLOT_A, &a.handle, e);
                        });
                        if (!made) return made;
                        return got([&](VkgemmError* e) {
                            return vkgemmCreatePack(product.handle, VKGEMM_SLOT_B, &b.handle, e);
                        });
                    },
                .prepare = trim});
}

TEST_CASE("compiling later and by keys fails cleanly, and works afterwards") {
    OwnedPlan plan;
    each_fails({.name = "compile later",
                .run = [&] { return got([&](VkgemmError* e) { return vkgemmCompilePlan(plan.handle, e); }); },
                .prepare =
                    [&] {
                        vkgemmDestroyPlan(plan.handle);
                        plan.handle = nullptr;
                        trim();
                        make(plan, "21x31x41 c=separate", options(VKGEMM_PLAN_DEFER_COMPILE));
                    }});
    char keys[4096];
    size_t size = sizeof keys;
    REQUIRE(vkgemmGetPlanKeys(plan.handle, keys, &size) == VKGEMM_SUCCESS);
    vkgemmDestroyPlan(plan.handle);
    plan.handle = nullptr;
    const std::string lines(keys), first = lines.substr(0, lines.find('\n'));
    const char* const key = first.c_str();
    each_fails({.name = "compile by keys",
                .run = [&] { return got([&](VkgemmError* e) { return vkgemmCompilePipelines(context(), keys, e); }); },
                .prepare = trim});
    each_fails({.name = "check a key",
                .run = [&] { return got([&](VkgemmError* e) { return vkgemmCheckPipelineKey(context(), key, e); }); },
                .calls_vulkan = false});
}

TEST_CASE("recording, checking and counting a run fail cleanly") {
    static vkgemm::host::Buffer all;
    all = *device().createBuffer(1 << 20);
    before_closing([] { all = {}; });
    for (const PlanKind& kind : plan_kinds) {
        OwnedPlan plan;
        VkgemmPlanOptions o = options(0, kind.kernel);
        o.dispatchSeconds = kind.dispatch_seconds;
        make(plan, kind.line, o);
        VkgemmPlanInfo info{};
        info.structSize = sizeof info;
        REQUIRE(vkgemmGetPlanInfo(plan.handle, &info) == VKGEMM_SUCCESS);
        VkgemmRun run{};
        run.structSize = sizeof run;
        VkgemmOperand* const slots[] = {&run.a,       &run.b,        &run.c,         &run.d,      &run.bias,
                                        &run.scale,   &run.residual, &run.workspace, &run.groups, &run.indices,
                                        &run.scalars, &run.b2,       &run.bias2};
        for (uint32_t slot = 0; slot < std::size(slots) && slot < info.slotCount; ++slot)
            if (info.requiredBytes[slot])
                *slots[slot] = {.buffer = all.handle(), .offset = slot * uint64_t{65536}, .size = 0, .address = 0};
        run.alpha = 1;
        const auto record = [&](VkCommandBuffer commands) {
            uint32_t count = 0;
            Got out = got([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); });
            if (out) out = got([&](VkgemmError* e) { return vkgemmCountDispatches(plan.handle, &run, &count, e); });
            VkgemmRunAccess accesses[VKGEMM_SLOT_COUNT];
            uint32_t access_count = VKGEMM_SLOT_COUNT;
            if (out)
                out = got([&](VkgemmError* e) {
                    return vkgemmGetRunAccesses(plan.handle, &run, &access_count, accesses, e);
                });
            if (out) out = got([&](VkgemmError* e) { return vkgemmRecord(plan.handle, commands, &run, e); });
            for (uint32_t i = 0; out && i < count; ++i)
                out = got([&](VkgemmError* e) { return vkgemmRecordDispatches(plan.handle, commands, &run, i, 1, e); });
            return out;
        };
        each_fails({.name = kind.name,
                    .run =
                        [&] {
                            Got last;
                            const vkgemm::Status sent = device().submit([&](VkCommandBuffer commands) {
                                last = record(commands);
                                return vkgemm::Status{last.code, VK_SUCCESS, {}};
                            });
                            return last ? got(sent) : last;
                        },
                    .throws = true});  // vkgemm::host submits
    }
}

TEST_CASE("explaining fails cleanly") {
    const VkgemmProblem p = problem("20x30x40 c=separate bias=row");
    const VkgemmPlanOptions o = options();
    each_fails({.name = "explain",
                .run =
                    [&] {
                        return text_of([&](char* text, size_t* size, VkgemmError* e) {
                            return vkgemmExplain(context(), &p, &o, text, size, e);
                        });
                    },
                .calls_vulkan = false});
    each_fails({.name = "explanation",
                .run =
                    [&] {
                        OwnedExplanation x;
                        return got(
                            [&](VkgemmError* e) { return vkgemmCreateExplanation(context(), &p, &o, &x.handle, e); });
                    },
                .calls_vulkan = false});
    const VkgemmPlanOptions named = options(0, "naive_f32_8x8");
    each_fails(
        {.name = "check a kernel, and the workspace of problems",
         .run =
             [&] {
                 uint64_t bytes = 0;
                 const Got checked = got([&](VkgemmError* e) { return vkgemmCheckKernel(context(), &p, &named, e); });
                 if (!checked) return checked;
                 return got([&](VkgemmError* e) { return vkgemmQueryWorkspace(context(), &p, 1, &o, &bytes, e); });
             },
         .calls_vulkan = false});
}

TEST_CASE("texts and rows fail cleanly") {
    each_fails({.name = "problem",
                .run =
                    [] {
                        VkgemmProblem p{};
                        p.structSize = sizeof p;
                        double alpha = 0, beta = 0;
                        const Got read = got([&](VkgemmError* e) {
                            return vkgemmParseProblem("f16*f16 20x30x40 lda=48 c=separate bias=row clamp=-1:1", &p,
                                                      &alpha, &beta, e);
                        });
                        if (!read) return read;
                        return silent(text_of([&](char* text, size_t* size, VkgemmError*) {
                                          return vkgemmFormatProblem(&p, alpha, beta, text, size);
                                      }).code);
                    },
                .calls_vulkan = false});
    each_fails({.name = "texts of the context",
                .run =
                    [] {
                        const Got described = text_of([](char* text, size_t* size, VkgemmError*) {
                            return vkgemmDescribeDevice(context(), text, size);
                        });
                        if (!described) return silent(described.code);
                        return silent(text_of([](char* text, size_t* size, VkgemmError*) {
                                          return vkgemmGetPipelineKeys(context(), text, size);
                                      }).code);
                    },
                .calls_vulkan = false});
    each_fails({.name = "rows",
                .run =
                    [] {
                        OwnedRows tuned, disabled;
                        const Got read = got([&](VkgemmError* e) {
                            return vkgemmReadTunedRows(context(), info_with_texts().tunedRows, &tuned.handle, e);
                        });
                        if (!read) return read;
                        return got([&](VkgemmError* e) {
                            return vkgemmReadDisabledKernels("a | naive_f32_8x8 | b\n", &disabled.handle, e);
                        });
                    },
                .calls_vulkan = false});
}

TEST_CASE("trimming fails cleanly") {
    each_fails({.name = "trim",
                .run =
                    [] {
                        uint32_t destroyed = 0;
                        return silent(vkgemmTrimPipelines(context(), &destroyed));
                    },
                .prepare =
                    [] {
                        trim();
                        OwnedPlan plan;
                        make(plan, "20x30x40", options(0, "tiled_f32_8x8"));
                    },
                .calls_vulkan = false});
}
