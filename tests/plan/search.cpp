// SPDX-License-Identifier: MIT
// The search for a schedule: it gives up early, and finds what judging every schedule finds.
#include <doctest/doctest.h>

#include "plan/base/rounding.h"
#include "plan/choice/select.h"
#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

Problem normalised(const std::string& line) { return normalise(*complete(parse_problem(line)->problem)).problem; }

}  // namespace

TEST_CASE("the search that gives up early finds what judging every kernel and schedule finds") {
    int split = 0, packed = 0, checked = 0;
    std::vector<std::string> lines = problem_lines();
    for (const char* line :
         {"128x128x65536", "f16*f16 511x4095x4095", "i8*i8 333x333x333", "1000x500x3000", "f16*f16 512x4096x4096",
          "bf16*bf16 512x4096x4096 layout=nt", "f16*f16 16x4096x4096", "f16*f16 4096x1x4096", "i8*i8 64x64x30000",
          "1024x1024x1024 accuracy=f32_split_rows", "1023x1025x1027 accuracy=f32_split", "64x64x1000 batch=7"})
        lines.push_back(line);
    for (const std::string& file : device_files()) {
        const Result<DeviceCaps> caps = parse_device_caps(file_text(file));
        const DeviceKernels kernels(*caps);
        for (const std::string& line : lines)
            for (const uint64_t workspace : {uint64_t{0}, uint64_t{1} << 20, uint64_t{1} << 30}) {
                CAPTURE(file);
                CAPTURE(line);
                CAPTURE(workspace);
                const Problem p = normalised(line);
                Request request;
                request.workspace_limit = workspace;
                // Without factors of machine code, terms decide among shaders, and not whether it is taken.
                Request without_terms = request;
                without_terms.corrected = false;
                const auto plain = list_candidates(kernels, p, without_terms),
                           all = list_candidates(kernels, p, request);
                const bool unfitted = std::ranges::any_of(all, [&](const Candidate& x) {
                    return !x.why && x.kernel->module.is_native() && !find_tile_terms(*x.kernel, x.kernel->tile, *caps);
                });
                const auto cheapest = [](const std::vector<Candidate>& list, const auto& is_meant) {
                    const Candidate* best = nullptr;
                    for (const Candidate& x : list)
                        if (!x.why && is_meant(x) && (!best || x.schedule.cost < best->schedule.cost)) best = &x;
                    return best;
                };
                const Candidate* best = cheapest(plain, [](const Candidate&) { return true; });
                const bool native = best && best->kernel->module.is_native();
                best = cheapest(
                    all, [&](const Candidate& x) { return !unfitted || x.kernel->module.is_native() == native; });
                const Result<Choice> choice = select(kernels, p, request);
                REQUIRE(bool(choice) == (best != nullptr));
                if (!best) continue;
                const Schedule &found = choice->schedule, &exact = best->schedule;
                CHECK(choice->kernel == best->kernel);
                CHECK(found.cost == exact.cost);
                CHECK(found.split.slices == exact.split.slices);
                CHECK(found.split.reducer == exact.split.reducer);
                CHECK(found.a.kernel == exact.a.kernel);
                CHECK(found.b.kernel == exact.b.kernel);
                CHECK(found.workspace_bytes() == exact.workspace_bytes());
                split += found.split.slices > 1;
                packed += found.a.kernel || found.b.kernel;
                ++checked;
            }
    }
    CHECK(checked > 500);
    CHECK(split > 20);
    CHECK(packed > 20);
}

TEST_CASE("no schedule costs less than the search finds: K in slices of one step, the last of them shorter") {
    const DeviceCaps caps = device("h200");
    const DeviceKernels kernels(caps);
    int checked = 0;
    for (const std::string line : {"bf16*bf16 45x128x2496 layout=tn", "i8*i8 40x224x952 layout=tn", "200x200x1000"}) {
        const Problem p = normalised(line);
        Request request;
        request.workspace_limit = uint64_t{1} << 30;
        request.native = Request::Native::excluded;
        for (const Candidate& x : list_candidates(kernels, p, request)) {
            if (x.why || !x.kernel->tile.BK || p.k / x.kernel->tile.BK > 200) continue;
            CAPTURE(line);
            CAPTURE(x.kernel->name);
            Request one_step = request;
            one_step.kernel = x.kernel->name;
            one_step.tile = "PACK=1,SPLIT=" + std::to_string(div_up(p.k, x.kernel->tile.BK));
            const Result<Choice> demanded = select(kernels, p, one_step);
            if (!demanded) continue;
            CHECK(x.schedule.cost <= demanded->schedule.cost * 1.000001);
            ++checked;
        }
    }
    CHECK(checked > 50);
}
