// SPDX-License-Identifier: MIT
// When pipelines are compiled: plans that compile later or never, keys that outlive the program, and trimming.
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "api/mock.h"
#include "plan/problem/epilogue.h"

using namespace vkgemm::test;

namespace {

std::atomic<int> compiled = 0, destroyed = 0;  // calls of the driver
std::atomic<bool> fails = false;

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice d, VkPipelineCache cache, uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* a, VkPipeline* out) {
    if (fails) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    ++compiled;
    return device_command<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(d, cache, count, infos, a, out);
}
VKAPI_ATTR void VKAPI_CALL destroy_pipeline(VkDevice d, VkPipeline pipeline, const VkAllocationCallbacks* a) {
    if (pipeline) ++destroyed;
    device_command<PFN_vkDestroyPipeline>("vkDestroyPipeline")(d, pipeline, a);
}
const Mocked driver[] = {mocked("vkCreateComputePipelines", create_pipelines),
                         mocked("vkDestroyPipeline", destroy_pipeline)};

/// A context whose driver counts, with its log, to which several threads may write at the same time.
struct CountingContext {
    OwnedContext context;
    std::string log;
    std::mutex writes_log;
    VkgemmContext handle() const { return context.handle; }

    CountingContext() {
        compiled = destroyed = 0;
        fails = false;
        VkgemmContextInfo info = mocked_context_info<driver>();
        info.flags = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT;
        info.log = [](void* user, VkgemmSeverity, const char* text) {
            auto& to = *static_cast<CountingContext*>(user);
            const std::lock_guard lock(to.writes_log);
            to.log += std::string(text) + "\n";
        };
        info.logUser = this;
        REQUIRE(vkgemmCreateContext(&info, &context.handle, nullptr) == VKGEMM_SUCCESS);
        log.clear();
    }
};

VkgemmPlanOptions with(uint32_t flags, const char* kernel = "naive_f32_8x8") {
    VkgemmPlanOptions o = options();
    o.flags = flags;
    o.kernel = kernel;
    return o;
}

Said compile(const OwnedPlan& plan) {
    return said([&](VkgemmError* e) { return vkgemmCompilePlan(plan.handle, e); });
}
Said compile(const CountingContext& c, const std::string& keys) {
    return said([&](VkgemmError* e) { return vkgemmCompilePipelines(c.handle(), keys.c_str(), e); });
}
Said check_key(const CountingContext& c, const std::string& line) {
    return said([&](VkgemmError* e) { return vkgemmCheckPipelineKey(c.handle(), line.c_str(), e); });
}
std::string text(const std::function<VkgemmResult(char*, size_t*)>& get) {
    size_t size = 0;
    REQUIRE(get(nullptr, &size) == VKGEMM_SUCCESS);
    std::string out(size, '?');
    REQUIRE(get(out.data(), &size) == VKGEMM_SUCCESS);
    out.resize(size - 1);
    return out;
}
std::string keys_of(const OwnedPlan& plan) {
    return text([&](char* s, size_t* size) { return vkgemmGetPlanKeys(plan.handle, s, size); });
}
std::string keys_of(const CountingContext& c) {
    return text([&](char* s, size_t* size) { return vkgemmGetPipelineKeys(c.handle(), s, size); });
}
uint32_t trim(const CountingContext& c) {
    uint32_t n = 12345;
    REQUIRE(vkgemmTrimPipelines(c.handle(), &n) == VKGEMM_SUCCESS);
    return n;
}
size_t lines(const std::string& s) { return static_cast<size_t>(std::count(s.begin(), s.end(), '\n')); }

/// Computes 2x3 with k 4 of small whole numbers. Returns what was refused, or that D is wrong.
Said multiply(VkgemmPlan plan) {
    const auto memory = buffer(4096);
    auto* const x = reinterpret_cast<float*>(memory.mapped().data());
    for (int i = 0; i < 8; ++i) x[i] = float(i + 1);
    for (int i = 0; i < 12; ++i) x[64 + i] = float(i % 5 - 2);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.a = at(memory);
    run.b = at(memory, 256);
    run.d = at(memory, 512);
    const Said got = said([&](VkgemmError* e) {
        VkgemmResult code = VKGEMM_SUCCESS;
        const auto submitted = device().submit([&](VkCommandBuffer commands) -> vkgemm::Status {
            code = vkgemmRecord(plan, commands, &run, e);
            return {};
        });
        CHECK_MESSAGE(bool(submitted), submitted.text);
        return code;
    });
    for (int i = 0; i < 6 && got.code == VKGEMM_SUCCESS; ++i) {
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += x[i / 3 * 4 + k] * x[64 + k * 3 + i % 3];
        CHECK(x[128 + i] == sum);
    }
    return got;
}

}  // namespace

TEST_CASE("a deferred plan compiles nothing, and can be recorded once it is compiled") {
    CountingContext c;
    OwnedPlan plan;
    plan_for(plan, "2x3x4", with(VKGEMM_PLAN_DEFER_COMPILE), c.handle());
    CHECK(compiled == 0);
    CHECK(info_of(plan.handle).pipelineCount == 1);
    CHECK(info_of(plan.handle).missingPipelines == 1);
    uint32_t count = 7;
    CHECK(vkgemmGetPlanPipelines(plan.handle, &count, nullptr) == VKGEMM_SUCCESS);
    CHECK(count == 0);
    expect(multiply(plan.handle), VKGEMM_ERROR_NOT_COMPILED, {"DEFER_COMPILE", "vkgemmCompilePlan"});

    fails = true;
    expect(compile(plan), VKGEMM_ERROR_OUT_OF_MEMORY, {"vkCreateComputePipelines", "naive_f32_8x8"});
    CHECK(info_of(plan.handle).missingPipelines == 1);
    fails = false;
    expect(compile(plan), VKGEMM_SUCCESS, {});
    expect(compile(plan), VKGEMM_SUCCESS, {});
    CHECK(compiled == 1);
    CHECK(info_of(plan.handle).missingPipelines == 0);
    expect(multiply(plan.handle), VKGEMM_SUCCESS, {});

    OwnedPlan second;  // the context has its pipeline
    plan_for(second, "2x3x4", with(VKGEMM_PLAN_DEFER_COMPILE), c.handle());
    expect(multiply(second.handle), VKGEMM_SUCCESS, {});
    CHECK(compiled == 1);
}

TEST_CASE("a plan that may not compile is refused until its pipelines are there") {
    CountingContext c;
    OwnedPlan refused, warm, plan, dry;
    expect(make_plan(refused, problem("2x3x4"), with(VKGEMM_PLAN_FAIL_ON_COMPILE), c.handle()),
           VKGEMM_ERROR_NOT_COMPILED, {"FAIL_ON_COMPILE", "1 of its 1 pipelines", "naive_f32_8x8"});
    CHECK(compiled == 0);
    CHECK(refused.handle == nullptr);
    plan_for(warm, "20x30x40", with(0), c.handle());
    plan_for(plan, "2x3x4", with(VKGEMM_PLAN_FAIL_ON_COMPILE), c.handle());
    CHECK(compiled == 1);
    expect(multiply(plan.handle), VKGEMM_SUCCESS, {});
    plan_for(dry, "2x3x4", with(VKGEMM_PLAN_DRY, "tiled_f32_8x8"), c.handle());
    CHECK(info_of(dry.handle).missingPipelines == 1);
    expect(compile(dry), VKGEMM_ERROR_INVALID_ARGUMENT, {"VKGEMM_PLAN_DRY", "DEFER_COMPILE"});
    for (const uint32_t flags : {2u | 8u, 2u | 16u, 8u | 16u})
        expect(make_plan(refused, problem("2x3x4"), with(flags), c.handle()), VKGEMM_ERROR_INVALID_ARGUMENT,
               {"at most one", std::to_string(flags)});
    expect(said([&](VkgemmError* e) { return vkgemmCompilePlan(nullptr, e); }), VKGEMM_ERROR_INVALID_ARGUMENT,
           {"plan is null"});
}

TEST_CASE("keys that one context gave compile the pipelines of another") {
    const char* const line = "40x24x100 batch=2 upto=mk lda=100 ldd=24 layout=nt bias=col act=relu";
    VkgemmPlanOptions o = with(0, "tiled_f32_8x8");
    o.tile = "SPLIT=2,PACK=4";
    o.workspaceLimit = 1 << 20;
    std::string keys;
    {
        CountingContext c;
        OwnedPlan plan, dry;
        o.flags = VKGEMM_PLAN_DRY;
        plan_for(dry, line, o, c.handle());
        keys = keys_of(dry);
        CHECK(keys_of(c).empty());
        o.flags = 0;
        plan_for(plan, line, o, c.handle());
        CHECK(keys_of(plan) == keys);
        CHECK(keys_of(c) == keys);
        CHECK(lines(keys) == info_of(plan.handle).pipelineCount);
        CHECK(compiled == int(lines(keys)));
        CHECK(compiled > 3);  // with and without WHOLE, two packs, a reduction
    }
    CountingContext c;
    expect(compile(c, keys), VKGEMM_SUCCESS, {});
    CHECK_MESSAGE(c.log.empty(), c.log);
    CHECK(compiled == int(lines(keys)));
    CHECK(keys_of(c) == keys);
    expect(compile(c, "# again\n\n" + keys + "\r\n"), VKGEMM_SUCCESS, {});
    CHECK(compiled == int(lines(keys)));
    OwnedPlan plan;
    o.flags = VKGEMM_PLAN_FAIL_ON_COMPILE;
    plan_for(plan, line, o, c.handle());
    CHECK(compiled == int(lines(keys)));
}

TEST_CASE("keys that cannot be used") {
    CountingContext c;
    OwnedPlan dry;
    plan_for(dry, "2x3x4", with(VKGEMM_PLAN_DRY), c.handle());
    const std::string good = keys_of(dry), last_step = std::to_string(std::size(vkgemm::plan::step_info));
    const struct {
        std::string line;
        std::vector<std::string> words;
    } malformed[] = {
        {"naive_f32_8x8 addresses WG=64,BM=8,BN=8", {"line 2", "'naive_f32_8x8' is not a version"}},
        {"0.2.0", {"line 2", "KERNEL BINDING TILE"}},
        {"0.2.0 naive_f32_8x8 addresses", {"line 2", "KERNEL BINDING TILE"}},
        {"0.2.0 naive_f32_8x8 images WG=64,BM=8,BN=8", {"'images'", "descriptors", "addresses"}},
        {"0.2.0 naive_f32_8x8 addresses WG=64,BX=8", {"BX"}},
        {"0.2.0 naive_f32_8x8 addresses WG=64 WHOLE=2", {"WHOLE is 2", "limit of 1"}},
        {"0.2.0 join_int8_128 addresses WG=128 PRODUCTS=19", {"PRODUCTS is 19", "the limit of 18"}},
        {"0.2.0 naive_f32_8x8 addresses WG=64 STEP_0=99", {"STEP_0 is 99", "limit of " + last_step}},
        {"0.2.0 naive_f32_8x8 addresses WG=64 WHOLE", {"'WHOLE'"}},
        {"0.2.0 naive_f32_8x8 addresses WG=64 HOLE=1", {"'HOLE=1'"}},
        {"0.2.0 naive_f32_8x8 addresses WG=64 WHOLE=1 more", {"KERNEL BINDING TILE"}},
    };
    for (const auto& row : malformed) {
        c.log.clear();
        expect(compile(c, good + row.line + "\n" + good), VKGEMM_SUCCESS, {});
        for (const std::string& word : row.words) CHECK_MESSAGE(has_words(c.log, word), c.log);
        CHECK_MESSAGE(has_words(c.log, "pipeline keys, line 2: '" + row.line + "' is skipped: "), c.log);
        CHECK(lines(c.log) == 1);
        CHECK(compiled == 1);  // by the other lines
        const Said alone = check_key(c, row.line);
        expect(alone, VKGEMM_ERROR_PARSE, {});
        CHECK_MESSAGE(has_words(c.log, "' is skipped: " + alone.text), alone.text);
        const size_t example = alone.text.find(", as in '");
        if (example == std::string::npos) continue;
        std::string as_in = alone.text.substr(example + 9);
        as_in.resize(as_in.find('\''));
        expect(check_key(c, as_in.starts_with("0.2.0 ") ? as_in : "0.2.0 " + as_in), VKGEMM_SUCCESS, {});
    }
    CHECK(trim(c) == 1);
    compiled = 0;
    const struct {
        std::string line;
        std::vector<std::string> words;
    } ignored[] = {
        {"0.1.9 naive_f32_8x8 addresses WG=64,BM=8,BN=8", {"line 1", "0.1.9"}},
        {"0.2.0 of_tomorrow addresses WG=64,BM=8,BN=8", {"line 1", "of_tomorrow"}},
        {"0.2.0 naive_f32_8x8 addresses WG=4096,BM=8,BN=8", {"line 1", "WG 4096"}},
        {"0.2.0 naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1 FORMAT_A=8", {"line 1", "reads no FORMAT_A"}},
        {"0.2.0 naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1 PRODUCTS=15", {"PRODUCTS=15; split_int8 and"}},
        {"0.2.0 join_int8_128 addresses WG=128,BM=1,BN=128 PRODUCTS=16", {"PRODUCTS=16", "15 or 18"}},
        {"0.2.0 pack_32_64x64 grouped WG=64", {"line 1", "pack_32_64x64", "not the groups of a table"}},
    };
    for (const auto& row : ignored) {
        c.log.clear();
        expect(compile(c, row.line), VKGEMM_SUCCESS, {});
        for (const std::string& word : row.words) CHECK_MESSAGE(has_words(c.log, word), c.log);
        const Said alone = check_key(c, row.line);
        CHECK((alone.code != VKGEMM_SUCCESS && alone.code != VKGEMM_ERROR_PARSE));
        CHECK_MESSAGE(has_words(c.log, "' is skipped: " + alone.text), alone.text);
    }
    expect(check_key(c, "  # " + good), VKGEMM_ERROR_PARSE, {"empty line"});
    expect(check_key(c, good + good), VKGEMM_ERROR_PARSE, {"more than one line"});
    expect(check_key(c, good), VKGEMM_SUCCESS, {});
    expect(said([&](VkgemmError* e) { return vkgemmCheckPipelineKey(c.handle(), nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"key is null"});
    expect(said([&](VkgemmError* e) { return vkgemmCheckPipelineKey(nullptr, good.c_str(), e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"context is null"});
    CHECK(compiled == 0);
    expect(said([&](VkgemmError* e) { return vkgemmCompilePipelines(c.handle(), nullptr, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"keys is null"});
    expect(compile(c, good), VKGEMM_SUCCESS, {});
    CHECK(compiled == 1);
}

TEST_CASE("keys of groups of all kinds are read back") {
    if (!device().hasAddresses()) return;
    constexpr uint32_t counts = VKGEMM_PLAN_COUNT_INDICES;
    const std::pair<const char*, uint32_t> all[] = {{"8x12x24 batch=3 upto=mnk groups=table", 0},
                                                    {"24x12x24 batch=3 upto=m groups=indexed per_row=2", 0},
                                                    {"24x12x24 batch=3 upto=m groups=indexed per_row=2", counts},
                                                    {"8x12x24 batch=3 upto=m groups=addresses", 0},
                                                    {"2x12x24 batch=3 groups=selected layout=nt", 0},
                                                    {"2x12x24 batch=3 groups=selected layout=nt", counts},
                                                    {"f16*q4_0->f32 1x12x64 batch=3 groups=selected layout=nt", 0}};
    for (const auto& row : all) {
        const auto [line, flags] = row;
        CAPTURE(row.first);
        std::string keys;
        {
            CountingContext c;
            OwnedPlan plan;
            plan_for(plan, line, with(VKGEMM_PLAN_DRY | flags, nullptr), c.handle());
            keys = keys_of(plan);
        }
        CountingContext c;
        expect(compile(c, keys), VKGEMM_SUCCESS, {});
        CHECK_MESSAGE(c.log.empty(), c.log);
        CHECK(keys_of(c) == keys);
        OwnedPlan plan;
        plan_for(plan, line, with(VKGEMM_PLAN_FAIL_ON_COMPILE | flags, nullptr), c.handle());
    }
}

TEST_CASE("trimming destroys the pipelines that no plan uses, and no other") {
    CountingContext c;
    CHECK(trim(c) == 0);
    OwnedPlan kept, deferred;
    {
        OwnedPlan other, same;
        plan_for(kept, "2x3x4", with(0), c.handle());
        plan_for(same, "20x30x40", with(0), c.handle());
        plan_for(other, "2x3x4", with(0, "tiled_f32_8x8"), c.handle());
        plan_for(deferred, "2x3x4 layout=tt", with(VKGEMM_PLAN_DEFER_COMPILE), c.handle());
        CHECK(compiled == 2);
        CHECK(trim(c) == 0);
    }
    CHECK(destroyed == 0);
    CHECK(trim(c) == 1);
    CHECK(destroyed == 1);
    CHECK(trim(c) == 0);
    expect(multiply(kept.handle), VKGEMM_SUCCESS, {});
    expect(compile(deferred), VKGEMM_SUCCESS, {});
    CHECK(trim(c) == 0);
    CHECK(lines(keys_of(c)) == 2);
    CHECK(vkgemmTrimPipelines(c.handle(), nullptr) == VKGEMM_SUCCESS);
    CHECK(vkgemmTrimPipelines(nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("threads compile, trim and record at once") {
    CountingContext c;
    OwnedPlan shared;
    plan_for(shared, "2x3x4", with(VKGEMM_PLAN_DEFER_COMPILE), c.handle());
    std::atomic<bool> stop = false;
    std::thread trims([&] {
        while (!stop) vkgemmTrimPipelines(c.handle(), nullptr);
    });
    std::vector<std::thread> threads;
    std::atomic<int> failed = 0;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            if (vkgemmCompilePlan(shared.handle, nullptr) != VKGEMM_SUCCESS) ++failed;
            const VkgemmProblem p = problem("2x3x4 layout=tn");
            for (int i = 0; i < 8; ++i) {
                OwnedPlan own;
                const VkgemmPlanOptions o = with(0);
                if (vkgemmCreatePlan(c.handle(), &p, &o, &own.handle, nullptr) != VKGEMM_SUCCESS) ++failed;
            }
        });
    for (std::thread& t : threads) t.join();
    stop = true;
    trims.join();
    CHECK(failed == 0);
    expect(multiply(shared.handle), VKGEMM_SUCCESS, {});
    CHECK(info_of(shared.handle).missingPipelines == 0);
}

TEST_CASE("a pack of a deferred plan is deferred, and the C++ wrapper compiles it") {
    const auto& c = device().context();
    vkgemm::Problem p{.m = 64, .n = 32, .k = 16};
    p.packedB = VKGEMM_PACKED_ANY;
    const auto product =
        c.createPlan(p, {.kernel = "tiled_f32_8x8", .tile = "PACK=3", .flags = VKGEMM_PLAN_DEFER_COMPILE});
    REQUIRE_MESSAGE(bool(product), product.status().text);
    const auto pack = product->createPack(VKGEMM_SLOT_B);
    REQUIRE_MESSAGE(bool(pack), pack.status().text);
    CHECK(pack->compile().code == VKGEMM_SUCCESS);
    CHECK(pack->info().missingPipelines == 0);
    const auto keys = pack->keys();
    REQUIRE(keys);
    CHECK(has_words(*keys, "pack"));
    CHECK(has_words(*c.pipelineKeys(), *keys));
    CHECK(c.compilePipelines(keys->c_str()).code == VKGEMM_SUCCESS);
    c.trimPipelines();
    CHECK(has_words(*c.pipelineKeys(), *keys));
}
