// SPDX-License-Identifier: MIT
// The pipeline of a chain that is one dispatch: equal chains share it, it is compiled with the caller's cache, it has a
// key that outlives the program, and it is trimmed.
#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "api/mock.h"
#include "vk/context.h"

using namespace vkgemm::test;

namespace {

int compiled = 0;  // calls of the driver
VkPipelineCache used_cache = VK_NULL_HANDLE;

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice d, VkPipelineCache cache, uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* a, VkPipeline* out) {
    ++compiled;
    used_cache = cache;
    return device_command<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(d, cache, count, infos, a, out);
}
const Mocked driver[] = {mocked("vkCreateComputePipelines", create_pipelines)};

/// A context whose driver counts, with its log, and with a pipeline cache that is synchronised externally.
struct CountingContext {
    VkPipelineCache cache = VK_NULL_HANDLE;
    OwnedContext context;
    std::string log;

    CountingContext() {
        compiled = 0;
        VkPipelineCacheCreateInfo cache_info{};
        cache_info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
        REQUIRE(device_command<PFN_vkCreatePipelineCache>("vkCreatePipelineCache")(device().handle(), &cache_info,
                                                                                   nullptr, &cache) == VK_SUCCESS);
        VkgemmContextInfo info = mocked_context_info<driver>();
        info.flags = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT | VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED;
        info.pipelineCache = cache;
        info.log = [](void* user, VkgemmSeverity, const char* text) {
            *static_cast<std::string*>(user) += std::string(text) + "\n";
        };
        info.logUser = &log;
        REQUIRE(vkgemmCreateContext(&info, &context.handle, nullptr) == VKGEMM_SUCCESS);
        context.handle->caps.kind = vkgemm::plan::DeviceKind::discrete;  // a CPU computes separate products
        log.clear();
    }
    CountingContext(const CountingContext&) = delete;
    CountingContext& operator=(const CountingContext&) = delete;
    ~CountingContext() {
        vkgemmDestroyContext(std::exchange(context.handle, nullptr));
        device_command<PFN_vkDestroyPipelineCache>("vkDestroyPipelineCache")(device().handle(), cache, nullptr);
    }

    std::string keys() const {
        size_t size = 0;
        REQUIRE(vkgemmGetPipelineKeys(context.handle, nullptr, &size) == VKGEMM_SUCCESS);
        std::string out(size, '?');
        REQUIRE(vkgemmGetPipelineKeys(context.handle, out.data(), &size) == VKGEMM_SUCCESS);
        out.resize(size - 1);
        return out;
    }
    Said compile(const std::string& keys) const {
        return said([&](VkgemmError* e) { return vkgemmCompilePipelines(context.handle, keys.c_str(), e); });
    }
    Said check(const std::string& key) const {
        return said([&](VkgemmError* e) { return vkgemmCheckPipelineKey(context.handle, key.c_str(), e); });
    }
    uint32_t trim() const {
        uint32_t n = 12345;
        REQUIRE(vkgemmTrimPipelines(context.handle, &n) == VKGEMM_SUCCESS);
        return n;
    }
};

using OwnedChain = Owned<VkgemmChain, vkgemmDestroyChain>;

/// Two layers that one dispatch computes, with 32 inputs, on matrix units (f16) or not (f32). False: the device has no
/// kernel for it.
bool make(OwnedChain& chain, const CountingContext& c, uint64_t outputs, const std::string& type = "f16") {
    if (!stores_types_of(type + "*" + type)) return false;
    std::vector<VkgemmProblem> layers = {problem((type + "*" + type + " 64x16x32 act=relu").c_str()),
                                         problem((type + "*" + type + " 64x16x16").c_str())};
    layers[1].a = {};
    layers[1].n = outputs;
    const VkgemmChainProblem p = {
        .structSize = sizeof p, .problemCount = 2, .pNext = nullptr, .problems = layers.data(), .kept = 0, .flags = 0};
    expect(said([&](VkgemmError* e) { return vkgemmCreateChain(c.context.handle, &p, nullptr, &chain.handle, e); }),
           VKGEMM_SUCCESS, {});
    VkgemmChainInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetChainInfo(chain.handle, &info) == VKGEMM_SUCCESS);
    return info.isOneDispatch;
}

auto lines(const std::string& s) { return std::ranges::count(s, '\n'); }

}  // namespace

TEST_CASE("chains: equal ones share a pipeline, which has a key and is trimmed") {
    std::string keys;
    {
        const CountingContext c;
        OwnedChain other;
        if (!make(other, c, 3)) return;
        CHECK(compiled == 1);
        CHECK(used_cache == c.cache);
        {
            OwnedChain first, second;
            make(first, c, 16);
            make(second, c, 16);
            CHECK(compiled == 2);
            CHECK(c.trim() == 0);
        }
        keys = c.keys();
        CAPTURE(keys);
        CHECK(lines(keys) == 2);
        for (const char* part : {"0.2.0 chain_f16", " addresses WG=", ",LAYERS=2,", ",INPUTS=32,", ",WIDTH_1=3,"})
            CHECK_MESSAGE(keys.find(part) != std::string::npos, part);
        CHECK(c.trim() == 1);
        CHECK(lines(c.keys()) == 1);
    }
    const CountingContext c;
    expect(c.compile(keys), VKGEMM_SUCCESS, {});
    CHECK_MESSAGE(c.log.empty(), c.log);
    CHECK(compiled == 2);
    CHECK(c.keys() == keys);
    OwnedChain first, other;
    make(first, c, 16);
    make(other, c, 3);
    CHECK(compiled == 2);
}

namespace {

/// A key, one of its constants replaced, and what the log has about it.
struct Skipped {
    std::string from, to;
    std::vector<std::string> words;
};
void check_skipped(CountingContext& c, const std::string& key, const std::vector<Skipped>& all) {
    compiled = 0;
    for (const Skipped& row : all) {
        const size_t at = row.from.empty() ? key.size() : key.find(row.from);
        REQUIRE_MESSAGE(at != std::string::npos, row.from, " is not in ", key);
        const std::string line = key.substr(0, at) + row.to + key.substr(std::min(key.find(',', at), key.size()));
        CAPTURE(line);
        c.log.clear();
        expect(c.compile(line), VKGEMM_SUCCESS, {});
        const size_t quoted = c.log.find("' is skipped: ");  // the line, whose numbers are no reasons
        CHECK_MESSAGE(quoted != std::string::npos, c.log);
        const std::string why = c.log.substr(std::min(quoted, c.log.size()));
        for (const std::string& word : row.words) CHECK_MESSAGE(why.find(word) != std::string::npos, word, c.log);
        if (const size_t example = c.log.find(", as in 'chain_"); example != std::string::npos) {
            std::string as_in = c.log.substr(example + 9);
            as_in.resize(as_in.find('\''));
            expect(c.check("0.2.0 " + as_in), VKGEMM_SUCCESS, {});
        }
        CHECK(c.check(line).code != VKGEMM_SUCCESS);
    }
    expect(c.check(key), VKGEMM_SUCCESS, {});
    CHECK(compiled == 0);
    expect(c.compile(key), VKGEMM_SUCCESS, {});
    CHECK(compiled == 1);
}

/// The key of a chain whose pipeline exists no more; "": no kernel of the device is for the type.
std::string key_of(const CountingContext& c, const std::string& type) {
    std::string key;
    {
        OwnedChain chain;
        if (!make(chain, c, 16, type)) return "";
        key = c.keys();
        key.pop_back();
        CHECK(c.trim() == 0);
    }
    CHECK(c.trim() == 1);
    return key;
}

}  // namespace

TEST_CASE("chains: keys that are skipped, with the reason") {
    CountingContext c;
    const std::string key = key_of(c, "f16");
    if (key.find("WM=") == std::string::npos) return;  // matrix units
    check_skipped(c, key,
                  {{"", " more", {"MODULE addresses CONSTANTS"}},
                   {"", ",HOLE=1", {"'HOLE=1'"}},
                   {"", ",LAYERS=2", {"'LAYERS=2'", "twice"}},
                   {"", ",WIDTH_6=2", {"'WIDTH_6=2'"}},
                   {"LAYERS=", "LAYERS=7", {"LAYERS is 7", "1 to 6"}},
                   {"WIDTH_1=", "WIDTH_1=17000", {"WIDTH_1 is 17000", "MAX_WIDTH"}},
                   {"INPUTS=", "INPUTS=0", {"INPUTS is 0"}},
                   {"MAX_WIDTH=", "MAX_WIDTH=1024", {"MAX_WIDTH is 1024", "up to 128"}},
                   {"WEIGHT_CHUNKS=", "WEIGHT_CHUNKS=1000000", {"bytes of shared memory"}},
                   {"WG=", "WG=7", {"WG is 7", "multiple"}},
                   {"WM=", "WM=1024", {"WM is 1024", "multiple"}},
                   {"SG=", "SG=3", {"SG 3"}}});
}

TEST_CASE("chains: keys without matrix units that are skipped, with the reason") {
    CountingContext c;
    const std::string key = key_of(c, "f32");
    if (key.empty()) return;
    check_skipped(c, key,
                  {{"LAYERS=", "LAYERS=5", {"LAYERS is 5", "1 to 4"}},
                   {"MAX_WIDTH=", "MAX_WIDTH=33", {"MAX_WIDTH is 33", "multiple of 4 up to 64"}},
                   {"WG=", "WG=15", {"WG is 15", "16 to"}},
                   {"BM=", "BM=129", {"BM is 129", "multiple of 4 up to 128 with 128 invocations"}},
                   {"BK=", "BK=6", {"BK is 6", "multiple of 4"}},
                   {"BK=", "BK=68", {"BK is 68", "up to 64"}}});
}
