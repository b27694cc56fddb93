// SPDX-License-Identifier: MIT
// Tuned rows: reading them, which of them is near, and what becomes of it.
#include "plan/choice/tuned.h"

#include <doctest/doctest.h>

#include <cmath>

#include "plan/choice/select.h"
#include "plan/problem/problem_text.h"
#include "support/files.h"
#include "support/random.h"
#include "support/recorded_device.h"
#include "support/string_util.h"

using namespace vkgemm::plan;
using namespace vkgemm::test;

namespace {

constexpr uint64_t much = uint64_t{1} << 30;

DeviceCaps h200() { return device("h200"); }

Problem normalised(const std::string& line) {
    const Result<ProblemText> read = parse_problem(line);
    REQUIRE_MESSAGE(bool(read), line, ": ", read.status().text);
    return normalise(*complete(read->problem)).problem;
}

std::vector<TunedRow> rows_of(const std::string& text) {
    const Result<std::vector<TunedRow>> rows = parse_tuned(text);
    REQUIRE_MESSAGE(bool(rows), rows.status().text);
    return *rows;
}
std::vector<TunedRow> on_h200(const std::string& text) { return tuned_for(h200(), rows_of(text)); }

/// The distance of `problem` from a row for `of`; below 0: no match.
double distance(const std::string& of, const std::string& problem, uint32_t alignment = 16) {
    const auto rows = rows_of("any | " + of + " | any |");
    return tuned_distance(rows[0], normalised(problem), alignment).value_or(-1);
}

Result<Choice> choose(const std::vector<TunedRow>& rows, const std::string& line, Request r = {}) {
    static TunedRows index;  // a Choice points into it
    index = TunedRows(rows);
    r.tuned = &index;
    return select(h200(), normalised(line), r);
}

}  // namespace

TEST_CASE("tuned rows are read") {
    const auto rows = rows_of(
        "# by hand\n\n NVIDIA H200 |f16*f16 64x128x256 layout=nt beta=1 bias=col|coopmat_f16_64x64x64| SPLIT=2,PACK=1 "
        "# 3 us\r\n"
        "H200|8x8x8|gone_f32|");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].device == "NVIDIA H200");
    CHECK(rows[0].kernel == "coopmat_f16_64x64x64");
    CHECK(rows[0].tile == "SPLIT=2,PACK=1");
    CHECK(rows[0].problem.n == 128);
    CHECK(rows[0].problem.b.layout == columnMajor);
    CHECK(rows[0].text.ends_with("| SPLIT=2,PACK=1"));
    CHECK(rows[1].kernel == "gone_f32");
    CHECK(rows[1].tile.empty());
    CHECK(parse_tuned("")->empty());
    CHECK(parse_tuned("# nothing")->empty());
}

TEST_CASE("with a device, the rows are those that tuned_for() keeps, and a broken one of its own is refused") {
    const std::string text = "H200 | 8x8x8 | naive_f32_8x8 |\nother | 8x8 | |\nNVIDIA H | 9x9x9 | gone_f32 |\n";
    const DeviceCaps h200 = device("h200");
    const auto rows = parse_tuned(text, &h200);
    REQUIRE_MESSAGE(bool(rows), rows.status().text);
    REQUIRE(rows->size() == 2);
    CHECK((*rows)[0].kernel == "naive_f32_8x8");
    CHECK((*rows)[1].kernel == "gone_f32");
    CHECK(!parse_tuned(text));
    const auto broken = parse_tuned(text + "H200 | 8x8 | naive_f32_8x8 |\n", &h200);
    REQUIRE(!broken);
    CHECK(has_words(broken.status().text, "line 4"));
    for (const std::string& file : device_files()) {
        const DeviceCaps caps = *parse_device_caps(file_text(file));
        CHECK(parse_tuned(built_in_tuned(), &caps)->size() ==
              tuned_for(caps, rows_of(std::string(built_in_tuned()))).size());
    }
}

TEST_CASE("a zero byte, where a C string would end, is refused by its line") {
    const auto cut = parse_tuned(std::string_view("H200|8x8x8|naive_f32_8x8|\n# a\0comment\n", 38));
    REQUIRE(!cut);
    CHECK(has_words(cut.status().text, "line 2"));
}

TEST_CASE("a line that is not a tuned row is refused with its number and the reason") {
    const std::pair<const char*, std::vector<std::string>> bad[] = {
        {"\n# x\nH200 | 8x8x8 | naive_f32_8x8\n", {"line 3:", "DEVICE | PROBLEM | KERNEL | TILE", "3 fields"}},
        {"H200", {"line 1:", "'H200'", "1 field"}},
        {"H200 | 8x8x8 | naive_f32_8x8 | | ", {"line 1:", "5 fields"}},
        {" | 8x8x8 | naive_f32_8x8 |", {"line 1:", "device"}},
        {"H200 | 8x8x8 | |", {"line 1:", "kernel"}},
        {"H200 | 8x8 | naive_f32_8x8 |", {"line 1:", "problem", "character", "MxNxK"}},
        {"H200 | | naive_f32_8x8 |", {"line 1:", "problem", "MxNxK"}},
        {"H200 | 8x8x8 lda=3 | naive_f32_8x8 |", {"line 1:", "problem", "lda is 3"}},
        {"H200 | 0x8x8 | naive_f32_8x8 |", {"line 1:", "empty"}},
        {"H200 | 8x8x8 | naive_f32_8x8 |\nH200 | 8x8x8 | naive_f32_8x8 | SPLI=2", {"line 2:", "SPLI", "SPLIT"}},
        {"H200 | 8x8x8 | naive_f32_8x8 | SPLIT=x", {"line 1:", "SPLIT", "'x'"}},
        {"H200 | model | simt | steps=2", {"line 1:", "'model'", "model 6"}},
        {"H200 | model 0 | simt | steps=2", {"line 1:", "'model 0'"}},
        {"H200 | model 6 | | steps=2", {"line 1:", "kernel"}},
        {"H200 | model 6 | simt | step=2", {"line 1:", "'step=2'", "launch, steps, results, memory"}},
        {"H200 | model 6 | simt | steps=2,steps=2", {"line 1:", "each once"}},
        {"H200 | model 6 | simt | steps", {"line 1:", "'steps'"}},
        {"H200 | model 6 | simt | steps=0", {"line 1:", "'steps=0'", "0.01 to 100"}},
        {"H200 | model 6 | simt | memory=nan", {"line 1:", "'memory=nan'"}},
    };
    for (const auto& one : bad) {
        const Result<std::vector<TunedRow>> rows = parse_tuned(one.first);
        REQUIRE_MESSAGE(!rows, std::string(one.first));
        CHECK(rows.status().code == VKGEMM_ERROR_PARSE);
        std::vector<std::string> skipped;
        const std::string good = "H200 | 8x8x8 | naive_f32_8x8 |\n";
        const auto others = parse_tuned(good + one.first + "\n" + good, nullptr, &skipped);
        REQUIRE(others);
        CHECK(others->size() >= 2);
        REQUIRE(skipped.size() == 1);
        CHECK(has_words(skipped[0], "tuned rows, line", "' is skipped"));
        for (const std::string& word : one.second)
            CHECK_MESSAGE(has_words(rows.status().text, word), "'", word, "' is not in: ", rows.status().text);
    }
}

TEST_CASE("rows of weights: of the device alone, the first of a family, and of this version of the cost model") {
    const auto rows = on_h200(
        "H200 | model 6 | simt | steps=2, memory=0.5\nH200 | model 6 | simt | steps=3\n"
        "other | model 6 | gemv | steps=4\nH200 | model 6 | no_such | steps=5\nH200 | model 99 | coopmat | what=6\n"
        "H200 | 64x64x64 | naive_f32_8x8 |");
    REQUIRE(rows.size() == 5);
    CHECK(rows[0].skipped.empty());
    CHECK(has_words(rows[2].skipped, "no_such"));
    CHECK(has_words(rows[3].skipped, "version 99"));
    const auto fitted = fitted_weights(rows);
    REQUIRE(fitted.size() == 1);
    CHECK(fitted[0].family == "simt");
    CHECK((fitted[0].weights.steps == 2 && fitted[0].weights.memory == 0.5 && fitted[0].weights.results == 1));
    CHECK(TunedRows(rows).nearest(normalised("64x64x64"), 16)->kernel == "naive_f32_8x8");  // no row of weights
}

TEST_CASE("weights change what a family costs, and by that the choice") {
    for (const char* line : {"512x512x512", "1000x1000x1000", "64x64x64", "7x4096x4096 layout=nt"}) {
        DeviceCaps caps = h200();
        const Problem p = normalised(line);
        Request request;
        request.workspace_limit = much;
        const Result<Choice> before = select(caps, p, request);
        REQUIRE(before);
        const std::string family(before->kernel->module.family.name);
        caps.fitted = {{family, {100, 100, 100, 100, 100}}};
        const Result<Choice> after = select(caps, p, request);
        REQUIRE(after);
        CHECK_MESSAGE(after->kernel->module.family.name != family, std::string(line));
        caps.fitted = {{family, {2, 2, 2, 2, 2}}};
        Request same = request;
        same.kernel = before->kernel->name;
        const Result<Choice> twice = select(caps, p, same), once = select(h200(), p, same);
        REQUIRE((twice && once));
        CHECK(twice->schedule.cost == doctest::Approx(2 * once->schedule.cost));
        CHECK(twice->schedule.parts.steps == once->schedule.parts.steps);
    }
}

TEST_CASE("a row speaks of problems within a factor of 1.5, of its types, layouts, batching and alignment") {
    CHECK(distance("1024x512x256", "1024x512x256") == 0);
    CHECK(distance("1024x512x256", "1024x512x256 alpha=2 beta=3 bias=col act=gelu") == 0);
    CHECK(distance("1024x512x256", "1024x768x256") == doctest::Approx(std::log(1.5)));
    CHECK(distance("1024x512x256", "1024x344x256") == doctest::Approx(std::log(512. / 344)));
    CHECK(distance("1024x512x256", "1536x768x384") == doctest::Approx(3 * std::log(1.5)));
    CHECK(distance("1024x512x256", "1540x512x256") < 0);
    CHECK(distance("1024x512x256", "1024x340x256") < 0);
    CHECK(distance("1024x512x256", "1024x512x388") < 0);
    CHECK(distance("1024x512x256", "1024x512x0") < 0);
    CHECK(distance("f16*f16 64x64x64", "f16*f16+f32->f16 64x64x64") == 0);
    for (const char* other : {"f16*f16+f32->f32", "f16*f16+f16->f16", "bf16*bf16", "f16*bf16+f32->f16", "f32*f32"})
        CHECK_MESSAGE(distance("f16*f16 64x64x64", std::string(other) + " 64x64x64") < 0, std::string(other));
    for (const char* other : {"nt", "tn", "tt"})
        CHECK(distance("64x64x64", std::string("64x64x64 layout=") + other) < 0);
    CHECK(distance("96x64x32", "64x96x32 layout=tt layout_d=t") == 0);  // the same product, transposed
    CHECK(distance("64x64x64", "64x64x64 batch=2") < 0);
    CHECK(distance("64x64x64 batch=2", "64x64x64 batch=3") == doctest::Approx(std::log(1.5)));
    CHECK(distance("64x64x64 batch=2", "64x64x64 batch=4") < 0);
    CHECK(distance("64x64x64", "64x64x63") < 0);  // A's rows are no whole 16-byte chunks
    CHECK(distance("64x64x63", "64x64x64") < 0);
    CHECK(distance("64x64x63", "64x64x61") > 0);
    CHECK(distance("64x64x63", "64x63x61") < 0);  // neither are B's
    CHECK(distance("64x64x64", "64x64x64", 4) < 0);
    for (const char* packed : {" packed_a=any", " packed_b=any"})
        CHECK(distance("64x64x64", std::string("64x64x64") + packed) < 0);
}

TEST_CASE("the nearest row counts, the first of equally near ones, and none that is skipped") {
    auto rows = on_h200(
        "H200 | 1024x1024x1024 | simt_f32_64x64x16 |\n"
        "H200 | 1024x1024x1280 | simt_f32_128x128x8 |\n"
        "H200 | 1024x1024x1024 | naive_f32_8x8 |\n"
        "H100 | 1024x1024x1152 | naive_f32_8x8 |\n");
    REQUIRE(rows.size() == 3);
    const auto nearest = [&](const char* line) -> std::string {
        const TunedRows index(rows);
        const TunedRow* row = index.nearest(normalised(line), 16);
        return row ? row->kernel : "";
    };
    CHECK(nearest("1024x1024x1024") == "simt_f32_64x64x16");
    CHECK(nearest("1024x1024x1100") == "simt_f32_64x64x16");
    CHECK(nearest("1024x1024x1200") == "simt_f32_128x128x8");
    CHECK(nearest("1024x1024x2048") == "");
    rows[0].skipped = "for some reason";
    CHECK(nearest("1024x1024x1024") == "naive_f32_8x8");
    const TunedRows index(rows);
    CHECK(has_words(index.skipped_near(normalised("1024x1024x1100"), 16).at(0), "for some reason", rows[0].text));
    CHECK(index.skipped_near(normalised("64x64x64"), 16).empty());
}

TEST_CASE("the index finds what looking at every row finds") {
    std::vector<TunedRow> rows;
    Random random(7);
    const auto any_problem = [&] {
        const std::string types[] = {"", "f16*f16 ", "bf16*bf16 "},
                          layouts[] = {"", " layout=nt", " batch=3", " batch=4"};
        const auto size = [&] { return std::to_string(8 * (1 + random.below(12)) - random.one_in(4)); };
        return types[random.below(3)] + size() + "x" + size() + "x" + size() + layouts[random.below(4)];
    };
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "H200 | " + any_problem() + " | naive_f32_8x8 |\n";
    rows = rows_of(text);
    for (TunedRow& row : rows) row.skipped = random.one_in(5) ? "for some reason" : "";
    const TunedRows index(rows);
    int found = 0, ties = 0;
    for (int i = 0; i < 2000; ++i) {
        const Problem p = normalised(any_problem());
        const uint32_t alignment = random.one_in(3) ? 4 : 16;
        const TunedRow* best = nullptr;
        double least = 0;
        std::vector<std::string> skipped;
        int equal = 0;
        for (const TunedRow& row : index.rows()) {
            const auto d = tuned_distance(row, p, alignment);
            if (!d) continue;
            if (!row.skipped.empty())
                skipped.push_back("a tuned row is skipped, " + row.text + ": " + row.skipped);
            else if (!best || *d < least) {
                best = &row;
                least = *d;
                equal = 0;
            } else
                equal += *d == least;
        }
        REQUIRE(index.nearest(p, alignment) == best);
        REQUIRE(index.skipped_near(p, alignment) == skipped);
        found += best != nullptr;
        ties += equal > 0;
    }
    CHECK(found > 500);
    CHECK(ties > 20);
}

TEST_CASE("a row decides, where no kernel or tile is forced") {
    const auto rows = on_h200("H200 | 1024x1024x1024 | naive_f32_8x8 | RASTER=4");
    const Result<Choice> free = choose({}, "1024x1024x1000"), tuned = choose(rows, "1024x1024x1000");
    REQUIRE(free);
    REQUIRE(tuned);
    CHECK(free->tuned == nullptr);
    CHECK(free->kernel->name != "naive_f32_8x8");
    CHECK(tuned->kernel->name == "naive_f32_8x8");
    CHECK(tuned->tuned->text == rows[0].text);
    CHECK(tuned->tile.RASTER == 4);
    CHECK(tuned->tile.WG == tuned->kernel->tile.WG);
    CHECK(choose(rows, "2048x1024x1024")->tuned == nullptr);
    Request forced, tile;
    forced.kernel = "tiled_f32_8x8";
    tile.tile = "RASTER=2";
    CHECK(choose(rows, "1024x1024x1024", forced)->kernel->name == "tiled_f32_8x8");
    CHECK(choose(rows, "1024x1024x1024", tile)->kernel == free->kernel);
    CHECK(choose(rows, "1024x1024x1024", tile)->tuned == nullptr);
}

TEST_CASE("a row does not decide where the batch must not matter") {
    const TunedRows rows(on_h200("H200 | 256x1024x1024 | naive_f32_8x8 |"));  // reference_rows
    Request request;
    request.tuned = &rows;
    const auto chosen = [&](const char* line) {
        const auto p = prepare(parse_problem(line)->problem);
        const Result<Choice> choice = select_for(h200(), *p, request, Binding::addresses);
        REQUIRE(choice);
        return choice->kernel->name;
    };
    CHECK(chosen("256x1024x1024") == "naive_f32_8x8");
    CHECK(chosen("256x1024x1024 invariant") != "naive_f32_8x8");
}

TEST_CASE("a row is not followed where its kernel falls behind others between its sizes and these") {
    auto rows = on_h200(std::string(built_in_tuned()));
    for (TunedRow& row : rows) row.is_built_in = true;
    const auto larger = on_h200("H200 | 4096x4096x4096 | simt_f32_128x128x16 | SPLIT=1,PACK=2");
    Request request;
    request.workspace_limit = much;
    const Result<Choice> behind = choose(larger, "3000x3000x3000", request);  // a last round that is a third full
    REQUIRE(behind);
    CHECK(behind->tuned == nullptr);
    CHECK(behind->kernel->name == "simt_f32_64x128x16");
    CHECK((!behind->schedule.a.kernel && !behind->schedule.b.kernel));
    REQUIRE(behind->tuned_unfit);
    CHECK(has_words(why_not_followed(*behind->tuned_unfit, h200(), normalised("3000x3000x3000"), request),
                    behind->tuned_unfit->text, "4096x4096x4096", "fall behind"));
    for (const char* line : {"4096x4096x4096", "4096x4000x4096", "f16*f16 500x14336x4096", "f16*f16 2048x2048x1984",
                             "f16*f16 1x5800x4096 layout=nt"}) {
        const Result<Choice> near = choose(rows, line, request);
        CHECK_MESSAGE((near && near->tuned && !near->tuned_unfit), std::string(line));
    }
    CHECK(choose(rows, "f16*f16 2304x2304x2304", request)->tuned == nullptr);
    // A row that the model would never follow says as much about its neighbours.
    const auto odd = on_h200("H200 | 4096x4096x4096 | naive_f32_8x8 |");
    CHECK(choose(odd, "4000x4096x4096")->kernel->name == "naive_f32_8x8");
}

TEST_CASE("a row that this problem cannot follow is rejected with the reason") {
    const auto split = on_h200("H200 | 128x128x65536 | simt_f32_64x64x16 | SPLIT=8,PACK=1");
    const Result<Choice> without = choose(split, "128x128x65536");
    REQUIRE(without);
    CHECK(without->tuned == nullptr);
    REQUIRE(without->tuned_unfit);
    const std::string why = why_not_followed(*without->tuned_unfit, h200(), normalised("128x128x65536"), {});
    CHECK(has_words(why, split[0].text, "8 slices"));
    Request with_workspace;
    with_workspace.workspace_limit = much;
    const Result<Choice> with = choose(split, "128x128x65536", with_workspace);
    REQUIRE(with);
    CHECK(with->kernel->name == "simt_f32_64x64x16");
    CHECK(with->schedule.split.slices == 8);
    CHECK(with->tuned_unfit == nullptr);

    const auto few = on_h200("H200 | 16x4096x4096 | gemv_f32_8x16 |");
    CHECK(choose(few, "16x4096x4096")->tuned->text == few[0].text);
    const Result<Choice> more = choose(few, "20x4096x4096");
    REQUIRE(more);
    CHECK(more->tuned == nullptr);
    REQUIRE(more->tuned_unfit);
    CHECK(more->tuned_unfit->text == few[0].text);
    CHECK(has_words(why_not_followed(*more->tuned_unfit, h200(), normalised("20x4096x4096"), {}), "16 rows"));
}

TEST_CASE("rows whose kernel is gone, or does not fit the device, are skipped and said") {
    DeviceCaps bare = h200();
    bare.features = need::push_descriptor;
    const auto rows = tuned_for(bare, rows_of("H200 | 64x64x64 | naive_f32_8x9 |\n"
                                              "H200 | 64x64x64 | naive_f32_8x8 | WG=4096\n"
                                              "H200 | 64x64x64 | tiled_i32_8x8 |\n"
                                              "H200 | 64x64x64 | reduce_f32_64 |\n"
                                              "H200 | f16*f16 64x64x64 | coopmat_f16_64x64x64 |\n"
                                              "H200 | f16*f16 128x64x64 | coopmat_f16_64x64x64 |\n"
                                              "H200 | 64x64x64 | naive_f32_8x8 |\n"));
    REQUIRE(rows.size() == 7);
    CHECK(has_words(rows[0].skipped, "naive_f32_8x9", "naive_f32_8x8"));
    CHECK(has_words(rows[1].skipped, "WG 4096", "1024"));
    CHECK(has_words(rows[2].skipped, "i32*i32+i32->i32", "f32*f32+f32->f32"));
    CHECK(!rows[3].skipped.empty());
    CHECK(has_words(rows[4].skipped, "coopmat"));
    CHECK(rows[6].skipped.empty());
    const auto told = skipped_in_short(rows);
    REQUIRE(told.size() == 5);
    CHECK(has_words(told[0], rows[0].text, rows[0].skipped));
    CHECK(has_words(told[4], "2 tuned rows", rows[4].text, rows[4].skipped));
    CHECK(skipped_in_short({&rows[6], 1}).empty());
}

TEST_CASE("the built-in rows can be followed, each for its own problem") {
    const auto rows = rows_of(std::string(built_in_tuned()));
    for (const TunedRow& row : rows) CHECK_MESSAGE((row.model || find_kernel(row.kernel)), row.text);
    for (const std::string& file : device_files()) {
        const Result<DeviceCaps> caps = parse_device_caps(file_text(file));
        const TunedRows here(tuned_for(*caps, rows));
        Request request;
        request.tuned = &here;
        request.workspace_limit = much;
        for (const TunedRow& row : here.rows()) {
            CHECK_MESSAGE(row.skipped.empty(), file, ": ", row.text, ": ", row.skipped);
            if (row.model) continue;  // weights
            const Result<Choice> choice = select(*caps, row.problem, request);
            const bool followed = choice && choice->tuned && choice->kernel->name == row.kernel;
            CHECK_MESSAGE(followed, file, ": ", row.text, ": ",
                          choice ? why_not_followed(row, *caps, row.problem, request) : choice.status().text);
        }
    }
}

TEST_CASE("the built-in weights: on SwiftShader, products whose operands stay in a cache are naive") {
    const auto rows = rows_of(std::string(built_in_tuned()));
    const auto chosen = [&](const char* device, const char* line) {
        DeviceCaps caps = vkgemm::test::device(device);
        const TunedRows here(tuned_for(caps, rows));
        caps.fitted = fitted_weights(here.rows());
        return select(caps, normalised(line), {})->kernel->module.family.name;
    };
    for (const char* line : {"48x48x48", "64x64x64", "128x128x128", "100x60x90", "i32*i32 64x64x64"})
        CHECK_MESSAGE(chosen("swiftshader", line) == "naive", line);
    for (const char* line : {"512x512x512", "1024x1024x1024", "1x4096x4096", "4096x4096x4096"})
        CHECK_MESSAGE(chosen("swiftshader", line) == "cpu", line);
    for (const char* line : {"64x64x64", "128x128x128"}) CHECK_MESSAGE(chosen("lavapipe", line) == "cpu", line);
}

TEST_CASE("the golden table of the built-in rows: who is chosen") {
    const auto rows = rows_of(std::string(built_in_tuned()));
    size_t decided = 0;
    for (const std::string& line : lines_of("tuned_choices.txt")) {
        const auto field = fields_of(line);
        REQUIRE_MESSAGE(field.size() == 3, line);
        const Result<DeviceCaps> caps = parse_device_caps(file_text("devices/" + field[0] + ".txt"));
        REQUIRE_MESSAGE(bool(caps), line);
        const TunedRows here(tuned_for(*caps, rows));
        Request request;
        request.tuned = &here;
        request.workspace_limit = much;
        const Result<Choice> choice = select(*caps, normalised(field[1]), request);
        CAPTURE(line);
        CHECK((choice ? std::string(choice->kernel->name) : "none") == field[2]);
        decided += choice && choice->tuned;
    }
    CHECK_MESSAGE((rows.empty() || decided >= 3), "tuned_choices.txt has too few lines that a built-in row decides");
}
