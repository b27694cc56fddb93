// SPDX-License-Identifier: MIT
// tools/fit: what it derives from measurements, how its networks learn, and the tables that it writes.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/string_util.h"
#include "tables.h"
#include "training.h"

using namespace vkgemm::fit;
using namespace vkgemm::test;
namespace plan = vkgemm::plan;

namespace {

plan::DeviceCaps h200() { return *plan::parse_device_caps(file_text("devices/h200.txt")); }

// What `bench --random --csv` writes.
std::string csv(const std::string& rows,
                const std::string& head = "problem,type,kernel,tile,cost,seconds,final,chosen") {
    const std::string path = (std::filesystem::temp_directory_path() / "vkgemm_fit_test.csv").string();
    std::ofstream(path) << head << '\n' << rows;
    return path;
}

/// Problems whose times are the cost, but for what `tile` of the first problem gains where K is deep.
Timings imagined(const plan::DeviceCaps& caps) {
    Reader reader(caps);
    reader.generate(60, 3);
    Timings out = reader.timings();
    for (TimedProblem& p : out.problems) {
        p.file = 0;
        for (Sample& s : p.samples) {
            const float gain = 0.2F * float(s.tile % 3) + 0.4F * s.facts[size_t(plan::TileFact::idle)];
            s.log_seconds = s.log_cost - gain;
            s.is_final = true;
        }
    }
    return out;
}

double mean_loss(const Timings& all, const Network& network) {
    std::vector<double> losses;
    for (const TimedProblem& p : all.problems) losses.push_back(loss_of(p, network));
    return summary_of(std::move(losses)).mean;
}

}  // namespace

TEST_CASE("a sample's cost and facts give the cost by which the library chooses") {
    const plan::DeviceCaps caps = h200();
    const std::string text = "f16*f16+f32->f16 45x128x2496 batch=3 layout=tn";
    Reader reader(caps);
    const std::string row = "\"" + text + "\",f16,";
    const auto read = reader.add(csv(row + "coopmat_f16_16x64x128,\"SPLIT=5,PACK=1\",1,2e-05,1,1\n" + row +
                                     "coopmat_f16_64x64x64,\"SPLIT=1,PACK=3\",1,1e-05,0,0\n" + row +
                                     "simt_f16_no_more,\"SPLIT=1,PACK=3\",1,1e-05,0,0\n"),
                                 2, 3);
    REQUIRE_MESSAGE(bool(read), read.status().text);
    CHECK(reader.left_out() == 1);
    REQUIRE((*read == 1 && reader.timings().problems.size() == 1));
    const TimedProblem& p = reader.timings().problems[0];
    CHECK((p.text == text && p.kind == "f16" && p.file == 2 && p.weight == 3));
    REQUIRE(p.samples.size() == 2);
    CHECK((p.samples[0].is_final && !p.samples[1].is_final));
    CHECK(p.samples[0].log_seconds == doctest::Approx(std::log(2e-5)));
    for (size_t i = 0; i < 2; ++i) {
        plan::Request request;
        request.workspace_limit = uint64_t{1} << 30;
        request.kernel = i ? "coopmat_f16_64x64x64" : "coopmat_f16_16x64x128";
        request.tile = i ? "SPLIT=1,PACK=3" : "SPLIT=5,PACK=1";
        const auto choice =
            plan::select(caps, plan::normalise(*plan::complete(plan::parse_problem(text)->problem)).problem, request);
        REQUIRE(bool(choice));
        plan::TermSum terms(*plan::find_tile_terms(*choice->kernel, choice->tile, caps));
        terms.add(plan::TileFact(0), p.samples[i].facts);
        CHECK(std::exp(p.samples[i].log_cost) * terms.factor() == doctest::Approx(choice->schedule.cost).epsilon(1e-4));
    }
}

TEST_CASE("machine code is fitted beside shaders, whose costs are those of the tables") {
    const plan::DeviceCaps caps = *plan::parse_device_caps(file_text("devices/h200_native.txt"));
    const std::string text = "f16*f16+f32->f16 45x128x2496 batch=3 layout=tn";
    const std::string row = "\"" + text + "\",f16,";
    Reader reader(caps, Fitted::native);
    REQUIRE(bool(reader.add(csv(row + "coopmat_f16_16x64x128,\"SPLIT=5,PACK=1\",1,2e-05,1,1\n" + row +
                                "wgmma_f16_64x64x64,\"SPLIT=1,PACK=1\",1,1e-05,0,0\n"),
                            0, 1)));
    const bool has_native = plan::find_kernel("wgmma_f16_64x64x64") != nullptr;
    CHECK(reader.left_out() == (has_native ? 0 : 1));
    CHECK(reader.timings().tiles.size() == (has_native ? 1 : 0));
    const std::vector<Sample>& samples = reader.timings().problems[0].samples;
    REQUIRE(samples.size() == (has_native ? 2 : 1));
    CHECK(samples[0].tile == no_tile);
    plan::Request request;
    request.workspace_limit = uint64_t{1} << 30;
    request.kernel = "coopmat_f16_16x64x128";
    request.tile = "SPLIT=5,PACK=1";
    const auto choice =
        plan::select(caps, plan::normalise(*plan::complete(plan::parse_problem(text)->problem)).problem, request);
    REQUIRE(bool(choice));
    CHECK(std::exp(samples[0].log_cost) == doctest::Approx(choice->schedule.cost).epsilon(1e-4));
    HiddenUnits units;
    CHECK(Network({}, 1, true).value(samples[0], units) == 0);
    if (has_native) CHECK(samples[1].tile == 0);
}

TEST_CASE("the weights of facts stay where they are known") {
    Network fitted({}, 1), known({}, 1, true);
    const auto before = known.weights_of_fact(0), output = known.weights_of_fact(size_t(plan::TileFact::count));
    CHECK(before != fitted.weights_of_fact(0));
    for (Network* n : {&fitted, &known}) {
        n->step(std::vector<float>(n->size(), 1.0F), 0.1F);
        n->round(true);
    }
    CHECK(known.weights_of_fact(0) == before);
    CHECK(known.weights_of_fact(size_t(plan::TileFact::count)) == output);
    CHECK(Network({}, 1).weights_of_fact(0) != fitted.weights_of_fact(0));
}

TEST_CASE("comments separate runs of one problem") {
    const plan::DeviceCaps caps = h200();
    Reader reader(caps);
    const std::string row = "64x64x4096,f32,simt_f32_32x32x32,\"SPLIT=4,PACK=1\",1,1e-05,1,0\n";
    CHECK(*reader.add(csv(row + row + "# another day\n" + row), 0, 1) == 2);
    CHECK((reader.timings().problems[0].samples.size() == 2 && reader.timings().problems[1].samples.size() == 1));
}

TEST_CASE("what cannot be read is refused with the file's name") {
    const plan::DeviceCaps caps = h200();
    Reader reader(caps);
    CHECK(has_words(reader.add("no_such_file.csv", 0, 1).status().text, "no_such_file.csv"));
    CHECK(
        has_words(reader.add(csv("\"8x8\",f32,naive_f32_8x8,,1,1,1,1\n"), 0, 1).status().text, "fit_test.csv", "8x8"));
    CHECK(has_words(reader.add(csv("8x8x8,f32\n"), 0, 1).status().text, "fit_test.csv", "8x8x8,f32"));
    const std::string no_seconds = csv("", "problem,type,kernel,tile,cost");
    CHECK(has_words(reader.add(no_seconds, 0, 1).status().text, "fit_test.csv", "seconds"));
}

TEST_CASE("the gradient of a network is what small changes of its weights do") {
    const plan::DeviceCaps caps = h200();
    Reader reader(caps);
    reader.generate(2, 1);
    const Timings& all = reader.timings();
    Network network(all.tiles, 1);
    HiddenUnits units;
    const Sample& s = all.problems[0].samples[0];
    const float before = network.value(s, units);
    std::vector<float> gradient(network.size(), 0);
    network.add_gradient(s, units, 1, gradient);
    double square = 0;
    for (const float x : gradient) square += double(x) * double(x);
    // A step of Adam changes each weight by the rate, against the sign of its gradient, and fades it a little.
    double expected = 0;
    for (const float x : gradient) expected -= 1e-4 * std::abs(double(x));
    network.step(gradient, 1e-4F);
    network.round(false);
    CHECK(double(network.value(s, units) - before) == doctest::Approx(expected).epsilon(0.02));
    CHECK(square > 0);
}

TEST_CASE("a fit chooses better than the costs alone, and in the whole numbers of the tables") {
    const plan::DeviceCaps caps = h200();
    const Timings all = imagined(caps);
    std::vector<size_t> every(all.problems.size());
    for (size_t i = 0; i < every.size(); ++i) every[i] = i;
    const Options brief = {.teachers = 1, .teacher_epochs = 30, .epochs = 30, .seed = 1};
    const Network network = fit(all, every, brief);
    const Network untrained = fit(all, every, {.teachers = 1, .teacher_epochs = 0, .epochs = 0, .seed = 1});
    const double lost = mean_loss(all, network);
    CHECK_MESSAGE(lost < 0.5 * mean_loss(all, untrained), lost);

    const std::string weights = weights_text(network, {"NVIDIA H200", "Radeon"});
    size_t rows = 0;
    for (const auto& [folder, text] : terms_texts(network, all.tiles)) {
        CHECK(folder.starts_with("shaders/"));
        for (size_t at = 0; (at = text.find("\nTERMS(", at)) != std::string::npos; ++at) ++rows;
    }
    CHECK(has_words(weights, "FITTED_ON(\"NVIDIA H200\")", "FITTED_ON(\"Radeon\")", "FACT_WEIGHTS(a_along, ",
                    "FACT_WEIGHTS(output, "));
    CHECK(rows == all.tiles.size());
    // The value is that of the whole numbers.
    const Sample& s = all.problems[1].samples[0];
    double expected = 0;
    const auto offsets = network.offsets_of(s.tile), own = network.terms_of(s.tile),
               output = network.weights_of_fact(size_t(plan::TileFact::count));
    std::vector<double> sums(offsets.size());
    for (size_t unit = 0; unit < sums.size(); ++unit) sums[unit] = offsets[unit] * double(plan::offset_unit);
    for (size_t fact = 0; fact < s.facts.size(); ++fact) {
        expected += own[fact] * double(plan::term_unit) * double(s.facts[fact]);
        for (size_t unit = 0; unit < sums.size(); ++unit)
            sums[unit] += network.weights_of_fact(fact)[unit] * double(plan::weight_unit) * double(s.facts[fact]);
    }
    for (size_t unit = 0; unit < sums.size(); ++unit)
        expected += std::max(sums[unit], 0.0) * output[unit] * double(plan::weight_unit);
    HiddenUnits units;
    CHECK(double(network.value(s, units)) == doctest::Approx(expected).epsilon(1e-3));
}
