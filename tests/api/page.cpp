// SPDX-License-Identifier: MIT
// Runs the code of docs/validation.md as printed there: an engine's frame without one of its barriers, what the library
// prints about it, the barrier that is missing, and a run as a file.
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "api/api.h"
#include "support/files.h"

using namespace vkgemm::test;

namespace {

/// What the engine of the page has, and what the page's code gave it.
struct Engine {
    vkgemm::host::Buffer a = buffer(8192), weights = buffer(16384), x = buffer(8192), y = buffer(8192);
    std::vector<std::string> printed;
    std::string gave_up;
    VkMemoryBarrier2 recorded{};
    int results = 0;
};
Engine* engine = nullptr;

std::string without_handle(std::string text) {
    const size_t begin = text.find("buffer 0x") + 9;
    return text.erase(begin, text.find(',', begin) - begin);
}

std::string content_of(std::FILE* file) {
    std::string text(static_cast<size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    REQUIRE(std::fread(text.data(), 1, text.size(), file) == text.size());
    return text;
}

}  // namespace

extern "C" {

void validation(VkgemmContext context, VkgemmProblem problem, VkgemmError error, VkCommandBuffer cmd, VkBuffer a,
                VkBuffer weights, VkBuffer x, VkBuffer y, FILE* file);
void give_up(const char* why);
int print_line(const char* line);
void record_barrier(VkCommandBuffer cmd, const VkMemoryBarrier2* barrier);
const void* read_back(const VkgemmRunAccess* operand);
const void* result_of(VkgemmPlan plan);

void give_up(const char* why) { engine->gave_up = why; }

int print_line(const char* line) {
    engine->printed.emplace_back(line);
    return 0;
}

void record_barrier(VkCommandBuffer, const VkMemoryBarrier2* barrier) { engine->recorded = *barrier; }

const void* read_back(const VkgemmRunAccess* operand) {
    for (const vkgemm::host::Buffer* b : {&engine->a, &engine->weights, &engine->x})
        if (b->handle() == operand->buffer) return b->mapped().data() + operand->offset;
    return nullptr;
}

const void* result_of(VkgemmPlan plan) {
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.a = at(engine->a);
    run.b = at(engine->weights);
    run.d = at(engine->x);
    const vkgemm::Status done = device().submit([&](VkCommandBuffer commands) {
        const Said got = said([&](VkgemmError* e) { return vkgemmRecord(plan, commands, &run, e); });
        return vkgemm::Status{got.code, VK_SUCCESS, got.text};
    });
    CHECK_MESSAGE(bool(done), done.text);
    ++engine->results;
    return engine->x.mapped().data();
}

}  // extern "C"

TEST_CASE("page: a frame without one of its barriers, what is printed about it, and a run as a file") {
    Engine e;
    engine = &e;
    REQUIRE(bool(device().upload(e.a, std::vector<float>(2048, 1))));
    REQUIRE(bool(device().upload(e.weights, std::vector<float>(4096, 2))));
    std::FILE* const file = std::tmpfile();
    REQUIRE(file);
    validation(context(), problem("64x32x32"), {}, VK_NULL_HANDLE, e.a.handle(), e.weights.handle(), e.x.handle(),
               e.y.handle(), file);
    const std::string written = content_of(file);
    std::fclose(file);
    if (!e.gave_up.empty()) {  // the page demands descriptors, which SwiftShader cannot push
        CHECK_MESSAGE(has_words(e.gave_up, "push descriptors"), e.gave_up);
        CHECK((e.printed.empty() && written.empty()));
        return;
    }
    REQUIRE(e.printed.size() == 1);
    std::string page = file_text("../docs/validation.md");
    std::ranges::replace(page, '\n', ' ');
    const size_t at = page.find("commands[3] 'output layer' reads");
    REQUIRE(at != std::string::npos);
    CHECK_MESSAGE(without_handle(page.substr(at)).starts_with(without_handle(e.printed[0]) + " "), e.printed[0]);

    CHECK(e.recorded.srcStageMask == VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    CHECK(e.recorded.srcAccessMask == VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    CHECK(e.recorded.dstStageMask == VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    CHECK(e.recorded.dstAccessMask == VK_ACCESS_2_SHADER_STORAGE_READ_BIT);

    CHECK(e.results == 1);
    const auto capture = vkgemm::host::parseCapture(written);
    REQUIRE_MESSAGE(bool(capture), capture.status().text);
    CHECK((capture->operands.size() == 3 && capture->hasResult));
    const auto again = vkgemm::host::replay(device(), *capture);
    REQUIRE_MESSAGE(bool(again), again.status().text);
    CHECK(again->checksum == capture->resultChecksum);
}
