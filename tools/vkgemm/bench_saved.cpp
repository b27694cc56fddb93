// SPDX-License-Identifier: MIT
#include "tools/vkgemm/bench_saved.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

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
        if (!value.is_object()) refuse("is no object");
        if (!value.contains(key)) throw Foreign{inner + " is missing"};
        return {value[key], inner};
    }
    std::vector<Place> list() const {
        if (!value.is_array()) refuse("is no list");
        std::vector<Place> all;
        for (size_t i = 0; i < value.size(); ++i) all.push_back({value[i], name + "[" + std::to_string(i) + "]"});
        return all;
    }
    std::string text() const {
        if (!value.is_string()) refuse("is no text");
        auto words = value.get<std::string>();
        if (std::ranges::any_of(words, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n'; }))
            refuse("has characters that cannot be shown");
        return words;
    }
    double number() const {
        if (!value.is_number()) refuse("is no number");
        const double x = value.get<double>();
        if (!std::isfinite(x) || x < 0) refuse("is not from 0 on");
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
    m.flops = flops(c.problem), m.bytes = least_bytes(c);
    m.checked = p.at("checked").text();
    if (p.has("note")) m.note = p.at("note").text();
    if (p.has("error")) {
        const std::string why = p.at("error").text();
        if (m.checked == "no")
            m.failure = {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, why};
        else
            m.wrong = why;
        return m;
    }
    if (!p.has("samples") && !p.has("median")) return m;  // it was interrupted
    for (const Place& s : p.at("samples").list()) m.samples.push_back(s.number());
    m.times = summarise(m.samples);
    for (const auto& [key, told] : {std::pair("median", m.times.median), std::pair("min", m.times.min),
                                    std::pair("max", m.times.max), std::pair("p95", m.times.p95)})
        p.at(key).must_be_near(told, "by the samples");
    m.drift = drift_of(m.samples);
    if (p.has("deviation")) m.deviation = p.at("deviation").number_or_inf();
    m.cold = p.at("cold").yes();
    m.sets = static_cast<size_t>(std::min(p.at("operand_sets").number(), 1e9));
    m.clock = p.at("clock").text() == "device" ? host::Clock::device : host::Clock::host;
    if (p.has("in_a_row")) m.in_a_row = p.at("in_a_row").number();
    return m;
}

void read_peers(const Place& all, SavedBench& bench) {
    for (const Place& p : all.list()) {
        BenchPeer peer{.name = p.at("name").text(), .title = {}, .missing = {}};
        (p.has("missing") ? peer.missing : peer.title) = p.at(p.has("missing") ? "missing" : "title").text();
        bench.peers.push_back(std::move(peer));
    }
}

/// Peers stand with every kernel of a problem; they count once.
void read_results_of_peers(const Place& p, SavedBench& bench) {
    if (!p.has("peers")) return;
    const Roof roof = bench.results.back().roof;
    for (const Place& peer : p.at("peers").list()) {
        const Case& given = bench.cases.back();
        BenchResult its{
            .given = &given, .m = measurement(peer, given), .is_peer = true, .expected = true, .roof = roof};
        its.m.kernel = peer.at("name").text();
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
        if (p.has("reach_tflops")) c->reach = p.at("reach_tflops").number() * 1e12;
        const std::string kernel = p.at("kernel").text();
        if (bench.cases.empty() || bench.cases.back().text != c->text || kernels.contains(kernel)) {
            if (i) read_results_of_peers(all[i - 1], bench);
            bench.cases.push_back(*std::move(c));
            kernels.clear();
        }
        kernels.insert(kernel);
        const Case& given = bench.cases.back();
        BenchResult ours{.given = &given, .m = measurement(p, given), .expected = true};
        if (p.has("roof_tflops"))
            ours.roof = {.intensity = p.at("flop_per_byte").number(),
                         .limit = p.at("roof_tflops").number() * 1e12,
                         .by_memory = p.at("roof_by").text() == "memory"};
        ours.m.kernel = kernel, ours.m.tile = p.at("tile").text();
        bench.results.push_back(std::move(ours));
    }
    if (!all.empty()) read_results_of_peers(all.back(), bench);
}

SavedBench bench_of(const json& file) {
    const Place top{file, ""};
    SavedBench bench;
    if (!file.is_object() || !file.contains("program")) throw Foreign{"is no result of vkgemm"};
    top.at("program").must_be("vkgemm");
    top.at("schema").must_be(1);
    top.at("command").must_be("bench");
    const Place device = top.at("device");
    bench.device =
        device.at("name").text() + " [" + device.at("driver").text() + "], Vulkan " + device.at("api").text();
    bench.version = top.at("version").text();
    bench.unchecked = !top.at("options").at("check").yes();
    bench.interrupted = top.at("interrupted").yes();
    read_peers(top.at("peers"), bench);
    read_cases(top.at("cases"), bench);
    return bench;
}

}  // namespace

Result<SavedBench> read_bench(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return text.status();
    const auto refused = [&](const std::string& why) {
        return Status{VKGEMM_ERROR_PARSE, VK_SUCCESS, path + ": " + why};
    };
    try {
        return bench_of(json::parse(*text));
    } catch (const Foreign& foreign) {
        return refused(foreign.why);
    } catch (const json::exception& e) {  // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
        const std::string why = e.what();
        const size_t line = why.find("line ");
        return refused(line == std::string::npos ? why : why.substr(line));
    }
}

int show_saved(const Session& session, const std::string& from, const std::string& csv_path,
               const std::string& plot_path) {
    const auto saved = read_bench(from);
    if (!saved) return session.fail(saved.status());
    auto csv = OutputFile::open(csv_path);
    if (!csv) return session.fail(csv.status());
    auto plot = OutputFile::open(plot_path);
    if (!plot) return session.fail(plot.status());
    BenchReport report(saved->peers, saved->unchecked, of_several_accuracies(saved->cases));
    std::string text = saved->device + ", vkgemm " + saved->version + "\n";
    for (const BenchPeer& p : saved->peers)
        text +=
            wrapped(p.missing.empty() ? "beside it: " + p.title : "no comparison with " + p.name + ": " + p.missing, 0);
    text += "\n" + report.header(session.colored());
    const Case* shown = nullptr;
    for (const BenchResult& r : saved->results) {
        if (r.given != shown)
            text += (shown ? report.footer(session.colored()) : "") + wrapped(r.given->text + heat_of(r.m), 0);
        shown = r.given;
        text += report.add(r, session.colored());
    }
    if (csv_path != "-" && plot_path != "-")
        print(text + report.footer(session.colored()) + report.summary(session.colored()));
    if (Status s = csv->commit(report.csv()); !s) return session.fail(s);
    if (Status s = plot->commit(report.svg(saved->device + ", vkgemm " + saved->version)); !s) return session.fail(s);
    if (saved->interrupted) warn("vkgemm: that run was interrupted; this is what was measured until then");
    const bool wrong =
        std::ranges::any_of(saved->results, [](const BenchResult& r) { return !r.is_peer && !r.m.wrong.empty(); });
    return wrong ? exit_wrong : exit_right;
}

}  // namespace vkgemm::tool
