// SPDX-License-Identifier: MIT
#include "measure/random_problems.h"

#include <algorithm>
#include <span>

#include "cli/text.h"
#include "measure/numbers.h"

namespace vkgemm::tool {
namespace {

constexpr uint64_t octaves = 14, batch_octaves = 8;         // sizes below 2^14, batches below 2^8
constexpr double least_flops = 1e7;                         // below it, all that is timed is the launch
constexpr double most_sampled_bytes = 512.0 * 1024 * 1024;  // of operands
constexpr int most_draws = 10000;

/// From 1 to 2^octaves - 1. Whole numbers alone, so that no machine rounds otherwise.
uint64_t log_uniform(Random& random, uint64_t octave_count) {
    const uint64_t octave = uint64_t{1} << random.next() % octave_count;
    return octave + random.next() % octave;
}

std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    for (size_t at = 0; at <= list.size();) {
        const size_t end = std::min(list.find(',', at), list.size());
        words.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

/// The sizes of one problem, as a line has them after the types.
std::string draw_sizes(Random& random) {
    constexpr uint64_t units[] = {1, 8, 64};
    static constexpr const char* layouts[] = {"nn", "nt", "tn", "tt"};
    const uint64_t unit = units[random.next() % 3];
    std::string line;
    for (int i = 0; i < 3; ++i) {
        const uint64_t size = log_uniform(random, octaves);
        line += (i ? "x" : "") + std::to_string(size < unit ? size : size / unit * unit);
    }
    const bool batched = random.next() % 4 == 0;
    const uint64_t batch = log_uniform(random, batch_octaves) + 1;
    if (batched) line += " batch=" + std::to_string(batch);
    return line + " layout=" + layouts[random.next() % 4];
}

uint64_t random_one_of(Random& random, std::span<const uint64_t> values) {
    return values[random.next() % values.size()];
}

std::string draw_network(Random& random) {
    static constexpr uint64_t widths[] = {768,  1024, 1536, 2048, 2560,  3072,  4096, 4608,
                                          5120, 6144, 7680, 8192, 11008, 14336, 16384};
    static constexpr uint64_t head_widths[] = {64, 64, 80, 96, 128}, heads[] = {8, 12, 16, 32};
    const auto line = [](uint64_t m, uint64_t n, uint64_t k) {
        return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    };
    const uint64_t kind = random.next() % 3;
    if (kind == 1) {
        const uint64_t queries = 64 + random.next() % 1985, others = 64 + random.next() % 1985;
        const uint64_t keys = random.next() % 4 ? queries : others, head = random_one_of(random, head_widths);
        const uint64_t batch = random_one_of(random, heads) << random.next() % 4;
        const bool scores = random.next() % 2, along = random.next() % 2;
        return (scores ? line(queries, keys, head) : line(queries, head, keys)) + " batch=" + std::to_string(batch) +
               (scores && along ? " layout=nt" : "");
    }
    const uint64_t rows = kind ? 1 + random.next() % 64 : 512 + random.next() % 1024;
    const uint64_t width = random_one_of(random, widths), depth = random_one_of(random, widths);
    return line(rows, width, depth) + (random.next() % 3 ? " layout=nt" : "");
}

/// The line of a problem: `word` is a type of A and B, "f16*f16+f32->f16", or the accuracy of f32.
std::string line_of(const std::string& word, const std::string& sizes) {
    if (word == "f32_split" || word == "f32_split_rows") return sizes + " accuracy=" + word;
    const bool alone = word.find_first_of("*+>") == std::string::npos;
    return (alone ? word + "*" + word : word) + " " + sizes;
}

Status refused_type(const Status& why, const std::string& types, const std::string& word) {
    return {why.code, VK_SUCCESS, "--type " + types + ": '" + word + "' is neither a type of a product nor f32_split"};
}

}  // namespace

Result<std::vector<RandomCase>> random_problems(size_t count, uint64_t seed, const std::string& types, double max_flops,
                                                Draw draw) {
    const std::vector<std::string> words = words_of(types);
    for (const std::string& word : words)
        if (const auto probe = parse_work(line_of(word, "8x8x8")); !probe)
            return refused_type(probe.status(), types, word);
    std::vector<RandomCase> out;
    for (size_t i = 0; i < count; ++i) {
        const std::string& word = words[i % words.size()];
        uint64_t mixed = seed;
        Random random{splitmix64(mixed) + i};
        for (int tries = 0;; ++tries) {
            if (tries == most_draws)
                return Status{VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                              "no random problem takes from 1e7 to --max-flops operations; give it more"};
            auto c = parse_case(line_of(word, draw == Draw::sizes ? draw_sizes(random) : draw_network(random)));
            if (!c) return c.status();
            if (flops(*c) < least_flops || flops(*c) > max_flops || least_bytes(*c) > most_sampled_bytes) continue;
            out.push_back({*std::move(c), word});
            break;
        }
    }
    return out;
}

std::vector<RandomCase> drawn_from(std::vector<Case> all, size_t count, uint64_t seed) {
    Random random{splitmix64(seed)};
    std::vector<RandomCase> out;
    for (size_t left = all.size(); left && out.size() < count; --left) {
        Case& drawn = all[random.next() % left];
        std::swap(drawn, all[left - 1]);
        out.push_back({std::move(all[left - 1]), ""});
        out.back().kind = out.back().c.text.substr(0, out.back().c.text.find('*'));
    }
    return out;
}

}  // namespace vkgemm::tool
