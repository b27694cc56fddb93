// SPDX-License-Identifier: MIT
#include "report/bench_saved.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "measure/stats.h"

namespace vkgemm::tool {
namespace {

using nlohmann::json;

/// Why the file is none of ours; thrown within this file.
struct Foreign {
    std::string why;
};

/// A value with its place in the file.
struct Place {
    const json& value;
    std::string name;

    [[noreturn]] void refuse(const std::string& why) const { throw Foreign{(name.empty() ? "" : name + " ") + why}; }
    bool has(const char* key) const { return value.is_object() && value.contains(key) && !value[key].is_null(); }
    Place at(const char* key) const {
        const std::string inner = (name.empty() ? "" : name + ".") + key;
        if (!value.is_object()) refuse("is not an object");
        if (!value.contains(key)) throw Foreign{inner + " is missing"};
        return {value[key], inner};
    }
    std::vector<Place> list() const {
        if (!value.is_array()) refuse("is not a list");
        std::vector<Place> all;
        for (size_t i = 0; i < value.size(); ++i) all.push_back({value[i], name + "[" + std::to_string(i) + "]"});
        return all;
    }
    std::string text() const {
        if (!value.is_string()) refuse("is not a text");
        auto words = value.get<std::string>();
        if (std::ranges::any_of(words, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n'; }))
            refuse("has characters that cannot be shown");
        return words;
    }
    /// One line that may stand in a table and between commas.
    std::string word() const {
        auto words = text();
        if (words.find('\n') != std::string::npos) refuse("has more than one line");
        return words;
    }
    std::string one_of(std::initializer_list<std::string_view> known) const {
        auto word = text();
        if (std::ranges::find(known, word) != known.end()) return word;
        std::string all;
        for (const std::string_view k : known) all += (all.empty() ? "" : ", ") + std::string(k);
        refuse("is '" + word + "', none of " + all);
    }
    double number() const {
        if (!value.is_number()) refuse("is not a number");
        const double x = value.get<double>();
        if (!std::isfinite(x) || x < 0) refuse("is not from 0 on");
        return x;
    }
    /// Operations a second, of a member in TFLOP/s.
    double rate() const {
        const double x = number() * 1e12;
        if (!std::isfinite(x)) refuse("is not a rate");
        return x;
    }
    /// Of a run that does and moves so much.
    double seconds(double flops, double bytes) const {
        constexpr double most = 1e9;
        const double x = number();
        if (x > most || (x > 0 && !std::isfinite(std::max(flops, bytes) / x))) refuse("is not the time of a run");
        return x;
    }
    double number_or_inf() const { return value == "inf" ? std::numeric_limits<double>::infinity() : number(); }
    bool yes() const {
        if (!value.is_boolean()) refuse("is neither true nor false");
        return value.get<bool>();
    }
    void must_be_near(double wanted, const char* whence) const {
        if (std::abs(number() - wanted) > 1e-9 * wanted)
            refuse("is " + value.dump() + ", but " + json(wanted).dump() + " " + whence);
    }
    void must_be(const json& wanted) const {
        if (value != wanted) refuse("is " + value.dump() + ", not " + wanted.dump());
    }
};

Measurement measurement(const Place& p, const Case& c) {
    Measurement m;
    m.flops = flops(c);
    m.bytes = least_bytes(c);
    m.checked = p.at("checked").one_of({"all", "projected", "sampled", "no"});
    if (p.has("note")) m.note = p.at("note").text();
    if (p.has("wrong"))
        m.wrong = p.at("wrong").text();
    else if (p.has("error") && !p.value.contains("wrong") && m.checked != "no")
        m.wrong = p.at("error").text();  // before there was that key
    else if (p.has("error"))
        m.failure = {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, p.at("error").text()};
    if (!m.wrong.empty() || !m.failure) return m;
    if (!p.has("samples") && !p.has("median")) return m;  // it was interrupted
    for (const Place& s : p.at("samples").list()) m.samples.push_back(s.seconds(m.flops, m.bytes));
    if (m.samples.empty()) p.at("samples").refuse("has no sample");
    m.times = summarise(m.samples);
    for (const auto& [key, expected] : {std::pair("median", m.times.median), std::pair("min", m.times.min),
                                        std::pair("max", m.times.max), std::pair("p95", m.times.p95)})
        p.at(key).must_be_near(expected, "by the samples");
    m.drift = drift_of(m.samples);
    m.scatter = scatter_of(m.samples);
    if (p.has("others")) m.others = std::min(p.at("others").number(), 1.0);
    if (p.has("deviation")) m.deviation = p.at("deviation").number_or_inf();
    m.cold = p.at("cold").yes();
    m.sets = static_cast<size_t>(std::min(p.at("operand_sets").number(), 1e9));
    m.clock = p.at("clock").one_of({"device", "host"}) == "device" ? host::Clock::device : host::Clock::host;
    if (p.has("in_a_row")) m.in_a_row = p.at("in_a_row").seconds(m.flops, m.bytes);
    return m;
}

void read_baselines(const Place& all, SavedBench& bench) {
    for (const Place& p : all.list()) {
        BenchBaseline baseline{.name = p.at("name").word(), .title = {}, .missing = {}};
        (p.has("missing") ? baseline.missing : baseline.title) = p.at(p.has("missing") ? "missing" : "title").text();
        bench.baselines.push_back(std::move(baseline));
    }
}

/// Baselines stand with every kernel of a problem; they count once.
void read_baseline_results(const Place& p, SavedBench& bench) {
    if (!p.has("baselines")) return;
    const Roof roof = bench.results.back().roof;
    for (const Place& baseline : p.at("baselines").list()) {
        const Case& given = bench.cases.back();
        BenchResult its{
            .given = &given, .m = measurement(baseline, given), .is_baseline = true, .expected = true, .roof = roof};
        its.m.kernel = baseline.at("name").word();
        bench.results.push_back(std::move(its));
    }
}

void read_cases(const Place& list, SavedBench& bench) {
    const std::vector<Place> all = list.list();
    std::set<std::string> kernels;  // of the last case: one that comes again is of the same problem, given again
    for (size_t i = 0; i < all.size(); ++i) {
        const Place& p = all[i];
        auto c = parse_case(p.at("problem").text());
        if (!c) p.at("problem").refuse("is none: " + c.status().text);
        if (p.has("target_tflops")) c->target = p.at("target_tflops").rate();
        const std::string kernel = p.at("kernel").word();
        if (bench.cases.empty() || bench.cases.back().text != c->text || kernels.contains(kernel)) {
            if (i) read_baseline_results(all[i - 1], bench);
            bench.cases.push_back(*std::move(c));
            kernels.clear();
        }
        kernels.insert(kernel);
        const Case& given = bench.cases.back();
        BenchResult ours{.given = &given, .m = measurement(p, given), .expected = true};
        if (p.has("roof_tflops"))
            ours.roof = {.intensity = p.at("flop_per_byte").number(),
                         .limit = p.at("roof_tflops").rate(),
                         .by_memory = p.at("roof_by").one_of({"arithmetic", "memory"}) == "memory",
                         .of_shaders = p.has("roof_of_shaders") && p.at("roof_of_shaders").yes()};
        ours.m.kernel = kernel;
        ours.m.tile = p.at("tile").word();
        bench.results.push_back(std::move(ours));
    }
    if (!all.empty()) read_baseline_results(all.back(), bench);
}

SavedBench bench_of(const json& file) {
    const Place top{file, ""};
    SavedBench bench;
    if (!file.is_object() || !file.contains("program")) throw Foreign{"is not a result of vkgemm"};
    top.at("program").must_be("vkgemm");
    top.at("schema").must_be(1);
    top.at("command").must_be("bench");
    const Place device = top.at("device");
    bench.device =
        device.at("name").text() + " [" + device.at("driver").text() + "], Vulkan " + device.at("api").text();
    bench.version = top.at("version").text();
    bench.unchecked = !top.at("options").at("check").yes();
    bench.interrupted = top.at("interrupted").yes();
    read_baselines(top.at("baselines"), bench);
    read_cases(top.at("cases"), bench);
    return bench;
}

}  // namespace

Result<SavedBench> parse_bench(std::string_view text) {
    const auto refused = [](const std::string& why) { return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, why}; };
    try {
        return bench_of(json::parse(text));
    } catch (const Foreign& foreign) {
        return refused(foreign.why);
    } catch (const json::exception& e) {  // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
        const std::string why = e.what();
        const size_t line = why.find("line "), head = why.find("] ");  // without a line if a number is too large
        return refused(line != std::string::npos   ? why.substr(line)
                       : head != std::string::npos ? why.substr(head + 2)
                                                   : why);
    }
}

}  // namespace vkgemm::tool
