// SPDX-License-Identifier: MIT
#include "timed.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "plan/base/concat.h"
#include "plan/choice/unfit.h"
#include "plan/problem/problem_text.h"
#include "tools/csv.h"

namespace vkgemm::fit {
namespace {

constexpr uint64_t workspace = uint64_t{1} << 30;  // that `bench --random` allows
constexpr uint32_t alignment = 16;
constexpr size_t most_generated = 80;     // samples of a problem that nobody timed
constexpr double generated_within = 1.8;  // times its least cost

// Whether a kernel may have terms. Not: sums of f64, families that few problems choose, and native variants.
bool may_have_terms(const plan::Kernel& k) {
    static constexpr std::string_view without[] = {"naive", "cpu"};
    return k.module.is_product() && !(k.module.is_native() && !k.module.family.variant.empty()) &&
           !k.module.is_mixed() && k.module.element_bytes().accumulator != 8 &&
           std::ranges::find(without, k.module.family.name) == std::end(without);
}

plan::Result<plan::Problem> problem_of(const std::string& text) {
    const auto read = plan::parse_problem(text);
    if (!read) return read.status();
    const auto full = plan::complete(read->problem);
    if (!full) return full.status();
    return plan::normalise(*full).problem;
}

}  // namespace

Reader::Reader(const plan::DeviceCaps& caps, Fitted fitted) : caps_(caps), device_(caps), fitted_(fitted) {}

bool Reader::is_fitted(const plan::Kernel& k) const {
    return may_have_terms(k) && k.module.is_native() == (fitted_ == Fitted::native);
}

// The kernel that names the terms of this one. null: the tile is of no row.
const plan::Kernel* Reader::namesake(const plan::Kernel& k, const plan::Tile& t) const {
    const auto shares_terms = [&](const plan::Kernel& other) {
        const plan::Tile& o = other.tile;
        return is_fitted(other) && other.module.family.name == k.module.family.name &&
               other.module.element_bytes().a == k.module.element_bytes().a && o.BM == t.BM && o.BN == t.BN &&
               o.BK == t.BK && o.DEPTH == t.DEPTH && o.WG == t.WG;
    };
    const auto found = std::ranges::find_if(plan::kernels(), shares_terms);
    return found == plan::kernels().end() ? nullptr : &*found;
}

std::optional<size_t> Reader::tile_of(const plan::Kernel& k, const plan::Tile& t) {
    const plan::Kernel* const kernel = namesake(k, t);
    if (!kernel) return std::nullopt;
    const auto [at, is_new] = index_.try_emplace(kernel, timings_.tiles.size());
    if (is_new) {
        const plan::TileTerms* terms = plan::find_tile_terms(k, t, caps_);
        timings_.tiles.push_back({kernel, terms ? terms->step : uint8_t{100}});
    }
    return at->second;
}

std::optional<Sample> Reader::sample(const plan::Kernel& k, const plan::Tile& t, const plan::Problem& p) {
    plan::Request request;
    request.workspace_limit = workspace;
    request.operand_alignment = alignment;
    request.corrected = !is_fitted(k);
    const plan::KernelCost of_kernel(k, t, caps_);
    const auto best = plan::best_schedule({k, t, of_kernel}, device_, p, request);
    if (!best || !std::isfinite(best->cost)) return std::nullopt;
    const auto log_cost = static_cast<float>(std::log(best->cost));
    if (!is_fitted(k)) return Sample{.log_cost = log_cost};
    const plan::ProductCost cost(of_kernel, p, false);
    const auto all = best->operands();
    const auto effects = cost.effects_of(all, alignment);
    const std::optional<size_t> tile = tile_of(k, t);
    if (!tile) return std::nullopt;
    return Sample{.tile = *tile, .facts = cost.facts(all, best->parts, best->split, effects), .log_cost = log_cost};
}

plan::Result<size_t> Reader::add(const std::string& path, size_t number, float weight) {
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line) && line.starts_with("#")) continue;
    if (!in) return plan::Refusal{VKGEMM_ERROR_PARSE, plan::concat({path, " cannot be read"})};
    const std::vector<std::string> names = csv_fields(line);
    size_t at[6];
    for (size_t i = 0; const std::string_view name : {"problem", "type", "kernel", "tile", "seconds", "final"}) {
        const auto found = std::ranges::find(names, name);
        if (found == names.end())
            return plan::Refusal{VKGEMM_ERROR_PARSE, plan::concat({path, " has no column ", name})};
        at[i++] = static_cast<size_t>(found - names.begin());
    }
    const size_t before = timings_.problems.size();
    std::optional<plan::Problem> problem;
    std::string text;
    while (std::getline(in, line)) {
        if (line.starts_with("#")) {  // what follows is of another run, also if it is of the same problem
            text.clear();
            continue;
        }
        const std::vector<std::string> f = csv_fields(line);
        if (f.size() != names.size()) return plan::Refusal{VKGEMM_ERROR_PARSE, plan::concat({path, ": ", line})};
        if (f[at[0]] != text) {
            text = f[at[0]];
            const auto read = problem_of(text);
            if (!read)
                return plan::Refusal{read.status().code, plan::concat({path, ": ", text, ": ", read.status().text})};
            problem = *read;
            timings_.problems.push_back(
                {.text = text, .kind = f[at[1]], .file = number, .weight = weight, .samples = {}});
        }
        const plan::Kernel* const k = plan::find_kernel(f[at[2]]);
        const double seconds = std::strtod(f[at[4]].c_str(), nullptr);
        const auto tile = k ? plan::with_constants(k->tile, f[at[3]]) : plan::Result<plan::Tile>(plan::Tile{});
        std::optional<Sample> found;
        const bool compared = k && (is_fitted(*k) || (fitted_ == Fitted::native && !k->module.is_native()));
        if (compared && tile && seconds > 0) found = sample(*k, *tile, *problem);
        if (!found) {
            ++left_out_;
            continue;
        }
        found->log_seconds = static_cast<float>(std::log(seconds));
        found->is_final = f[at[5]] == "1";
        timings_.problems.back().samples.push_back(*found);
    }
    std::erase_if(timings_.problems, [](const TimedProblem& p) { return p.samples.empty(); });
    return timings_.problems.size() - before;
}

void Reader::generate(size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    const auto octave = [&](uint64_t n) {
        const uint64_t x = uint64_t{1} << below(n);
        return x + below(x);
    };
    static constexpr const char* types[] = {"f32*f32+f32->f32", "f16*f16+f32->f16", "bf16*bf16+f32->bf16",
                                            "i8*i8+i32->i32", "f32*f32+f32->f32"};
    static constexpr const char* layouts[] = {"nn", "nt", "tn", "tt"};
    for (size_t i = 0; i < count;) {
        const uint64_t unit = uint64_t{1} << 3 * below(3);
        uint64_t size[3];
        for (uint64_t& x : size) {
            x = octave(14);
            x = x < unit ? x : x / unit * unit;
        }
        const uint64_t batch = below(4) ? 1 : octave(8) + 1;
        const double flops = 2 * double(size[0]) * double(size[1]) * double(size[2]) * double(batch);
        const double elements = double(batch) * (double(size[0]) * double(size[2]) + double(size[1]) * double(size[2]) +
                                                 double(size[0]) * double(size[1]));
        if (flops < 1e7 || flops > 2e11 || elements > 1e8) continue;
        const std::string text =
            plan::concat({types[i % 5], " ", size[0], "x", size[1], "x", size[2],
                          i % 5 == 4 ? " accuracy=f32_split" : "", " batch=", batch, " layout=", layouts[below(4)]});
        const auto p = problem_of(text);
        if (!p) continue;
        TimedProblem out{.text = text, .kind = "", .file = generated_file, .samples = {}};
        float least = INFINITY;
        for (const auto& x : device_.products(*p)) {
            const plan::Kernel& k = *x.kernel;
            if (!x.fits || !is_fitted(k) || p->accuracy < k.module.family.accuracy || !k.module.has_types_of(*p) ||
                plan::unfit(k, k.tile, caps_, *p, plan::Binding::addresses))
                continue;
            for (uint32_t pack = 1; pack <= 4; ++pack)
                for (uint32_t split = 1; split <= 256 && (split == 1 || p->k / split >= k.tile.BK);
                     split += 1 + split / 4) {
                    plan::Tile t = k.tile;
                    t.PACK = pack;
                    t.SPLIT = split;
                    if (auto found = sample(k, t, *p)) {
                        out.samples.push_back(*found);
                        least = std::min(least, found->log_cost);
                    }
                }
        }
        std::erase_if(out.samples, [&](const Sample& s) { return s.log_cost > least + std::log(generated_within); });
        std::ranges::shuffle(out.samples, random);
        if (out.samples.size() > most_generated) out.samples.resize(most_generated);
        if (out.samples.empty()) continue;
        timings_.problems.push_back(std::move(out));
        ++i;
    }
}

}  // namespace vkgemm::fit
