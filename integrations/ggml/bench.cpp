// SPDX-License-Identifier: MIT
//
// vkgemm-ggml-bench: products of ggml's Vulkan backend with and without vkgemm, interleaved within one process.
//
//     vkgemm-ggml-bench [--device Vulkan0] [--seconds 1] [--total S] [--small] [TEXT...]
//
// runs the rows of `table` whose names and a dot have one of the texts in them, in the order of the texts, or all. No
// row begins after S seconds. A line of the output:
//
//     MUL_MAT q4_0 4096x512x14336: ggml 812.3, vkgemm 401.9, usual 402.2 us, 2.02x, 2.02x, 82 GB/s, errors 1e-03 9e-04,
//     clock 99 %
//
// `usual` is what the adapter chooses after it has timed both. Times are medians. GB/s counts the weights, as they are
// packed. Weights are random and cycle through more memory than a cache holds, and all nodes write one dst, so that
// each waits for the one before, as in a model. An error is the root of the mean square of 256 results beside sums in
// double precision, relative to that of those sums. The clock is how fast a product of ggml's ran before and after, the
// slower of both relative to its fastest run so far; the same product keeps the GPU busy before a row is timed, because
// an idle GPU lowers its clock. With GGML_VKGEMM=log products are noted before they are timed, not while.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "vkgemm_ggml/registry.h"

namespace {

struct Row {
    ggml_type type;
    int64_t m, n, k;
    int64_t experts = 0, used = 0;  // of MUL_MAT_ID
    int64_t heads = 0, shared = 1;  // of attention: a batch, and how many neighbours share a matrix of weights
    std::string name() const {
        std::string s = experts ? "MUL_MAT_ID " : "MUL_MAT ";
        s += std::string(ggml_type_name(type)) + " " + std::to_string(m) + "x" + std::to_string(n) + "x" +
             std::to_string(k);
        if (heads) s += ", batch " + std::to_string(heads) + " of " + std::to_string(heads / shared);
        return experts ? s + ", " + std::to_string(used) + " of " + std::to_string(experts) : s;
    }
    int64_t matrices() const { return std::max<int64_t>({experts, heads / shared, 1}); }
    int64_t products() const { return std::max<int64_t>({used, heads, 1}); }
};

std::vector<Row> table(bool is_small) {
    const int64_t by = is_small ? 16 : 1;  // smaller by this much, for CPU drivers
    const int64_t model = 4096 / by, inner = 14336 / (is_small ? 14 : 1);
    std::vector<Row> rows;
    const std::vector<ggml_type> main = {GGML_TYPE_F16,  GGML_TYPE_Q4_K,  GGML_TYPE_Q8_0, GGML_TYPE_Q4_0,
                                         GGML_TYPE_BF16, GGML_TYPE_MXFP4, GGML_TYPE_F32};
    // The sizes first.
    for (const ggml_type type : main)
        for (const int64_t n : {512, 1, 2, 4, 8}) rows.push_back({.type = type, .m = model, .n = n, .k = inner});
    for (const ggml_type type : main)
        for (const int64_t n : {512, 1, 32})
            rows.push_back(
                {.type = type, .m = 768 / by, .n = n, .k = 2048 / (is_small ? 4 : 1), .experts = 128 / by, .used = 8});
    // Attention without flash attention, 32 heads of 128 over 8 of K and V.
    for (const int64_t n : {512, 1}) {
        rows.push_back({.type = GGML_TYPE_F16, .m = 2048 / by, .n = n, .k = 128, .heads = 32, .shared = 4});
        rows.push_back({.type = GGML_TYPE_F16, .m = 128, .n = n, .k = 2048 / by, .heads = 32, .shared = 4});
    }
    for (const ggml_type type : main)
        for (const int64_t n : {32, 64, 3, 16, 128, 256})
            rows.push_back({.type = type, .m = model, .n = n, .k = inner});
    for (const ggml_type type : main)
        for (const int64_t n : {1, 512, 32, 4, 100}) {
            rows.push_back({.type = type, .m = 1024 / by, .n = n, .k = 4096 / (is_small ? 4 : 1)});
            rows.push_back({.type = type, .m = inner, .n = n, .k = 4096 / (is_small ? 4 : 1)});
        }
    for (const ggml_type type : {GGML_TYPE_Q6_K, GGML_TYPE_Q5_K, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
                                 GGML_TYPE_IQ4_NL, GGML_TYPE_NVFP4})
        for (const int64_t n : {512, 1, 4, 32}) rows.push_back({.type = type, .m = model, .n = n, .k = inner});
    return rows;
}

std::vector<float> random_numbers(size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<float> out(count);
    for (float& x : out) x = any(random);
    return out;
}

constexpr int64_t period = 1 << 20;  // weights: so many random ones, again and again

const std::vector<char>& random_weights(ggml_type type) {
    static std::map<ggml_type, std::vector<char>> made;
    std::vector<char>& out = made[type];
    if (!out.empty()) return out;
    const std::vector<float> numbers = random_numbers(period, 7);
    out.resize(ggml_row_size(type, period));
    if (type == GGML_TYPE_F32)
        std::memcpy(out.data(), numbers.data(), out.size());
    else
        ggml_quantize_chunk(type, numbers.data(), out.data(), 0, period / 256, 256, nullptr);
    return out;
}

// One row of the table on the device: several matrices of weights, and a graph that multiplies by each in turn.
class Case {
   public:
    Case(ggml_backend_t backend, const Row& row) : backend_(backend), row_(row) {
        context_.reset(ggml_init(
            {ggml_tensor_overhead() * 512 + 8 * ggml_graph_overhead_custom(max_nodes, false), nullptr, true}));
        ggml_context* const c = context_.get();
        const size_t one = ggml_row_size(row.type, row.k) * row.m * row.matrices();
        copies_ = std::clamp<size_t>((size_t{256} << 20) / one, 1, 64);
        for (size_t i = 0; i < copies_; ++i)
            weights_.push_back(ggml_new_tensor_3d(c, row.type, row.k, row.m, row.matrices()));
        if (row.experts) {
            ids_ = ggml_new_tensor_2d(c, GGML_TYPE_I32, row.used, row.n);
            y_ = ggml_new_tensor_3d(c, GGML_TYPE_F32, row.k, row.used, row.n);
        } else {
            y_ = ggml_new_tensor_3d(c, GGML_TYPE_F32, row.k, row.n, row.products());
        }
        for (ggml_tensor* const w : weights_)
            dst_.push_back(ids_ ? ggml_mul_mat_id(c, w, y_, ids_) : ggml_mul_mat(c, w, y_));
        place();
        fill();
    }

    void build(size_t nodes) {
        graph_ = ggml_new_graph_custom(context_.get(), max_nodes, false);
        nodes_ = std::min(nodes, max_nodes);
        for (size_t i = 0; i < nodes_; ++i)
            if (i < copies_)
                ggml_build_forward_expand(graph_, dst_[i]);  // marks it as one to be computed
            else
                ggml_graph_add_node(graph_, dst_[i % copies_]);
    }

    // Seconds for a node.
    double run() const {
        const auto begin = std::chrono::steady_clock::now();
        if (ggml_backend_graph_compute(backend_, graph_) != GGML_STATUS_SUCCESS) return -1;
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        return time.count() / double(nodes_);
    }

    // Of what the last node of the last run wrote.
    double error() const {
        const ggml_tensor* const d = dst_[(nodes_ - 1) % copies_];
        std::vector<float> got(ggml_nelements(d)), row(row_.k), values(period);
        ggml_backend_tensor_get(d, got.data(), 0, ggml_nbytes(d));
        if (row_.type == GGML_TYPE_F32)
            values = random_numbers(period, 7);
        else
            ggml_get_type_traits(row_.type)->to_float(packed_.data(), values.data(), period);
        std::mt19937 random(3);
        double wrong = 0, all = 0;
        for (int sample = 0; sample < 256; ++sample) {
            const size_t at = random() % got.size();
            const size_t m = at % row_.m, pair = at / row_.m;  // pair: of token and slot, or row and head
            const size_t expert = ids_ ? size_t(chosen_[pair]) : pair / row_.n / row_.shared;
            const size_t first = (expert * row_.m + m) * row_.k;
            double sum = 0;
            for (int64_t k = 0; k < row_.k; ++k)
                sum += double(values[(first + k) % period]) * double(activations_[pair * row_.k + k]);
            wrong += (got[at] - sum) * (got[at] - sum);
            all += sum * sum;
        }
        return std::sqrt(wrong / all);
    }

    // Of the weights that a node reads.
    double bytes() const {
        double matrices = row_.matrices();
        if (row_.experts) {
            std::vector<int32_t> seen = chosen_;
            std::sort(seen.begin(), seen.end());
            matrices = double(std::unique(seen.begin(), seen.end()) - seen.begin());
        }
        return matrices * double(ggml_row_size(row_.type, row_.k)) * row_.m;
    }
    size_t copies() const { return copies_; }

   private:
    static constexpr size_t max_nodes = 4096;
    struct Free {
        void operator()(ggml_context* x) const { ggml_free(x); }
        void operator()(ggml_backend_buffer* x) const { ggml_backend_buffer_free(x); }
    };

    // Every dst at the same place.
    void place() {
        size_t end = 0;
        const auto take = [&](const ggml_tensor* x) {
            const size_t at = end;
            end += (ggml_nbytes(x) + 1023) / 1024 * 1024;
            return at;
        };
        std::vector<size_t> places;
        for (const ggml_tensor* const w : weights_) places.push_back(take(w));
        const size_t y = take(y_), d = take(dst_[0]), ids = ids_ ? take(ids_) : 0;
        buffer_.reset(ggml_backend_alloc_buffer(backend_, end + 1024));
        if (!buffer_) {
            std::fprintf(stderr, "no memory\n");
            std::exit(1);
        }
        char* const base = static_cast<char*>(ggml_backend_buffer_get_base(buffer_.get()));
        for (size_t i = 0; i < copies_; ++i) ggml_backend_tensor_alloc(buffer_.get(), weights_[i], base + places[i]);
        ggml_backend_tensor_alloc(buffer_.get(), y_, base + y);
        if (ids_) ggml_backend_tensor_alloc(buffer_.get(), ids_, base + ids);
        for (ggml_tensor* const x : dst_) ggml_backend_tensor_alloc(buffer_.get(), x, base + d);
    }

    void fill() {
        packed_ = random_weights(row_.type);
        const size_t all = ggml_nbytes(weights_[0]);
        for (ggml_tensor* const w : weights_)
            for (size_t at = 0; at < all; at += packed_.size())
                ggml_backend_tensor_set(w, packed_.data(), at, std::min(packed_.size(), all - at));
        activations_ = random_numbers(ggml_nelements(y_), 8);
        ggml_backend_tensor_set(y_, activations_.data(), 0, ggml_nbytes(y_));
        if (!ids_) return;
        std::mt19937 random(9);
        std::vector<int32_t> order(row_.experts);
        for (int64_t i = 0; i < row_.experts; ++i) order[i] = int32_t(i);
        for (int64_t token = 0; token < row_.n; ++token) {
            std::shuffle(order.begin(), order.end(), random);
            chosen_.insert(chosen_.end(), order.begin(), order.begin() + row_.used);
        }
        ggml_backend_tensor_set(ids_, chosen_.data(), 0, ggml_nbytes(ids_));
    }

    ggml_backend_t backend_;
    Row row_;
    std::unique_ptr<ggml_context, Free> context_;
    std::unique_ptr<ggml_backend_buffer, Free> buffer_;
    size_t copies_ = 1, nodes_ = 0;
    std::vector<ggml_tensor*> weights_, dst_;
    ggml_tensor *y_ = nullptr, *ids_ = nullptr;
    ggml_cgraph* graph_ = nullptr;
    std::vector<char> packed_;
    std::vector<float> activations_;
    std::vector<int32_t> chosen_;
};

double median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return x[x.size() / 2];
}

class Watch {
   public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

   private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A product of ggml's that raises the clock of the GPU and shows it.
class Load {
   public:
    Load(ggml_backend_t backend, bool is_small)
        : product_(backend, is_small ? Row{.type = GGML_TYPE_F16, .m = 256, .n = 64, .k = 1024}
                                     : Row{.type = GGML_TYPE_F16, .m = 4096, .n = 512, .k = 4096}) {
        product_.build(is_small ? 4 : 64);  // about 5 ms on an H200
        run(1);
    }

    void run(double seconds) {
        vkgemm::ggml::set_sides(vkgemm::ggml::Sides::GGML);
        for (const Watch watch; watch.seconds() < seconds;) fastest_ = std::min(fastest_, product_.run());
    }

    // Relative to the highest so far.
    double clock() {
        vkgemm::ggml::set_sides(vkgemm::ggml::Sides::GGML);
        const double now = median({product_.run(), product_.run(), product_.run()});
        fastest_ = std::min(fastest_, now);
        return fastest_ / now;
    }

   private:
    Case product_;
    double fastest_ = 1e9;
};

using vkgemm::ggml::Sides;
constexpr Sides all_sides[] = {Sides::GGML, Sides::VKGEMM, Sides::FASTER};

struct Result {
    double time[3], clock;  // time: by Sides
};

Result times_of(Case& one, Load& load, double seconds) {
    constexpr double raising = 0.4;  // seconds until an H200 has its full clock
    load.run(raising);
    vkgemm::ggml::set_sides(Sides::FASTER);
    const Watch trying;  // it times both
    one.build(one.copies());
    for (int i = 0; i < 20 || trying.seconds() < 0.1 * seconds; ++i) one.run();
    double least = 1e9;
    for (const Sides sides : all_sides) {
        vkgemm::ggml::set_sides(sides);
        least = std::min(least, one.run());
    }
    one.build(size_t(std::max(0.02 * seconds / least, 8.0)));
    const double before = load.clock();
    std::vector<double> times[3];
    const Watch watch;
    for (int round = 0; round < 5 || (watch.seconds() < seconds && round < 25); ++round)
        for (const Sides sides : all_sides) {
            vkgemm::ggml::set_sides(sides);
            times[size_t(sides)].push_back(one.run());
        }
    return {{median(times[0]), median(times[1]), median(times[2])}, std::min(before, load.clock())};
}

void measure(ggml_backend_t backend, const Row& row, double seconds, Load& load) {
    Case one(backend, row);
    double error[3];
    one.build(one.copies());
    vkgemm::ggml::keep_notes(true);
    for (const Sides sides : all_sides) {  // this compiles pipelines
        vkgemm::ggml::set_sides(sides);
        one.run();
        error[size_t(sides)] = one.error();
    }
    vkgemm::ggml::keep_notes(false);
    Result best = times_of(one, load, seconds);
    for (int more = 0; more < 2 && best.clock < 0.95; ++more) {
        const Result again = times_of(one, load, seconds);
        if (again.clock > best.clock) best = again;
    }
    const double stock = best.time[size_t(Sides::GGML)], ours = best.time[size_t(Sides::VKGEMM)],
                 usual = best.time[size_t(Sides::FASTER)];
    std::printf("%s: ggml %.1f, vkgemm %.1f, usual %.1f us, %.2fx, %.2fx, %.0f GB/s, errors %.1e %.1e, clock %.0f %%\n",
                row.name().c_str(), stock * 1e6, ours * 1e6, usual * 1e6, stock / ours, stock / usual,
                one.bytes() / ours * 1e-9, error[size_t(Sides::GGML)], error[size_t(Sides::VKGEMM)], best.clock * 100);
    std::fflush(stdout);
}

// Those that are asked for, in the order in which they are.
std::vector<Row> chosen(const std::vector<Row>& all, const std::vector<std::string>& texts) {
    if (texts.empty()) return all;
    std::vector<Row> out;
    std::set<std::string> seen;
    for (const std::string& text : texts)
        for (const Row& row : all)
            if ((row.name() + ".").find(text) != std::string::npos && seen.insert(row.name()).second)
                out.push_back(row);
    return out;
}

}  // namespace

int main(int count, char** arguments) {
    std::string device = "Vulkan0";
    double seconds = 1, total = 1e9;
    bool is_small = false;
    std::vector<std::string> texts;
    for (int i = 1; i < count; ++i) {
        const std::string word = arguments[i];
        if (word == "--device" && i + 1 < count)
            device = arguments[++i];
        else if (word == "--seconds" && i + 1 < count)
            seconds = std::atof(arguments[++i]);
        else if (word == "--total" && i + 1 < count)
            total = std::atof(arguments[++i]);
        else if (word == "--small")
            is_small = true;
        else if (word.rfind("--", 0) == 0) {
            std::printf("usage: vkgemm-ggml-bench [--device NAME] [--seconds S] [--total S] [--small] [TEXT...]\n");
            return 2;
        } else
            texts.push_back(word);
    }
    ggml_backend_load_all();
    ggml_backend_dev_t const dev = ggml_backend_dev_by_name(device.c_str());
    ggml_backend_t const backend = dev ? ggml_backend_dev_init(dev, nullptr) : nullptr;
    if (!backend) {
        std::fprintf(stderr, "no device %s\n", device.c_str());
        return 1;
    }
    std::printf("%s: %s\n", device.c_str(), ggml_backend_dev_description(dev));
    {
        const Watch watch;
        Load load(backend, is_small);
        for (const Row& row : chosen(table(is_small), texts))
            if (watch.seconds() < total) measure(backend, row, seconds, load);
    }
    ggml_backend_free(backend);
}
