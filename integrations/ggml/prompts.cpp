// SPDX-License-Identifier: MIT
//
// vkgemm-ggml-prompts: random prompts through llama.cpp, on a device and on the CPU.
//
//     vkgemm-ggml-prompts [--device Vulkan0] [--tolerance 1e-4] FILE...   logits beside those of the CPU
//     vkgemm-ggml-prompts [--device Vulkan0] --seconds S FILE...          memory over time
//
// The first prints for several lengths the mean of the squared differences relative to that of the CPU's squares, and
// exits with 1 if one is beyond the tolerance; 1e-4 is what llama.cpp's test-llama-archs allows. The second sends
// prompts of 1 to 512 tokens, each followed by up to 8 single tokens, and prints now and then what the process holds of
// host memory and what is free on the device. Files are those of `model`, which have no tokenizer.
#include <ggml-backend.h>
#include <llama.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int longest = 512;

struct Free {
    void operator()(llama_model* x) const { llama_model_free(x); }
    void operator()(llama_context* x) const { llama_free(x); }
};

class Model {
   public:
    // Null: on the CPU alone.
    Model(const std::string& file, ggml_backend_dev_t device) {
        ggml_backend_dev_t devices[] = {device, nullptr};
        llama_model_params model = llama_model_default_params();
        model.devices = devices;
        model.n_gpu_layers = device ? 999 : 0;
        model_.reset(llama_model_load_from_file(file.c_str(), model));
        if (!model_) {
            std::fprintf(stderr, "%s: cannot be loaded\n", file.c_str());
            std::exit(2);
        }
        llama_context_params context = llama_context_default_params();
        context.n_ctx = 2 * longest;
        context.n_batch = context.n_ubatch = longest;
        context.n_threads = context.n_threads_batch = int32_t(std::max(std::thread::hardware_concurrency(), 1u));
        context_.reset(llama_init_from_model(model_.get(), context));
        if (!context_) {
            std::fprintf(stderr, "%s: no context\n", file.c_str());
            std::exit(2);
        }
        entries_ = llama_vocab_n_tokens(llama_model_get_vocab(model_.get()));
    }
    int entries() const { return entries_; }
    void forget() { llama_memory_clear(llama_get_memory(context_.get()), true); }
    // The logits of the last token.
    const float* run(std::vector<llama_token>& tokens) {
        if (llama_decode(context_.get(), llama_batch_get_one(tokens.data(), int32_t(tokens.size()))) != 0) {
            std::fprintf(stderr, "llama_decode failed\n");
            std::exit(2);
        }
        return llama_get_logits_ith(context_.get(), -1);
    }

   private:
    std::unique_ptr<llama_model, Free> model_;
    std::unique_ptr<llama_context, Free> context_;
    int entries_ = 0;
};

std::vector<llama_token> random_tokens(int count, int entries, std::mt19937& random) {
    std::vector<llama_token> out(count);
    for (llama_token& x : out) x = llama_token(random() % unsigned(entries));
    return out;
}

// Of the logits behind a prompt, and of those behind one more token.
bool compare(const std::string& file, ggml_backend_dev_t device, double tolerance) {
    Model ours(file, device), cpu(file, nullptr);
    std::mt19937 random(1);
    bool is_fine = true;
    for (const int count : {1, 3, 8, 20, 33, 130, longest}) {
        double wrong = 0, all = 0;
        bool same_token = true;
        ours.forget();
        cpu.forget();
        for (const int part : {count, 1}) {
            auto tokens = random_tokens(part, cpu.entries(), random);
            const float *const got = ours.run(tokens), *const want = cpu.run(tokens);
            int best[2] = {0, 0};
            for (int i = 0; i < cpu.entries(); ++i) {
                wrong += (double(got[i]) - want[i]) * (double(got[i]) - want[i]);
                all += double(want[i]) * want[i];
                if (got[i] > got[best[0]]) best[0] = i;
                if (want[i] > want[best[1]]) best[1] = i;
            }
            same_token = same_token && best[0] == best[1];
        }
        const bool is_near = wrong / all <= tolerance;  // false for NaN
        std::printf("%s, %d tokens: %.1e%s, %s\n", file.c_str(), count, wrong / all, is_near ? "" : " (too much)",
                    same_token ? "the same next tokens" : "another next token");
        std::fflush(stdout);
        is_fine = is_fine && is_near;
    }
    return is_fine;
}

double host_mib() {
    double all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void soak(const std::string& file, ggml_backend_dev_t device, double seconds) {
    Model model(file, device);
    std::mt19937 random(2);
    const auto begin = std::chrono::steady_clock::now();
    long prompts = 0, tokens = 0;
    for (int line = 0; line <= 20;) {
        model.forget();
        auto prompt = random_tokens(1 + int(random() % longest), model.entries(), random);
        model.run(prompt);
        const int more = int(random() % 9);
        for (int i = 0; i < more; ++i) {
            auto next = random_tokens(1, model.entries(), random);
            model.run(next);
        }
        ++prompts;
        tokens += long(prompt.size()) + more;
        const double now = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (now < seconds * line / 20) continue;
        size_t unused = 0, total = 0;
        ggml_backend_dev_memory(device, &unused, &total);
        std::printf("%6.0f s, %6ld prompts, %8ld tokens: %.1f MiB of host memory, %.0f MiB of %.0f free on the GPU\n",
                    now, prompts, tokens, host_mib(), double(unused) / (1 << 20), double(total) / (1 << 20));
        std::fflush(stdout);
        while (line <= 20 && now >= seconds * line / 20) ++line;
    }
}

}  // namespace

int main(int count, char** arguments) {
    std::string name = "Vulkan0";
    double seconds = 0, tolerance = 1e-4;
    std::vector<std::string> files;
    for (int i = 1; i < count; ++i) {
        const std::string word = arguments[i];
        if (word == "--device" && i + 1 < count)
            name = arguments[++i];
        else if (word == "--seconds" && i + 1 < count)
            seconds = std::atof(arguments[++i]);
        else if (word == "--tolerance" && i + 1 < count)
            tolerance = std::atof(arguments[++i]);
        else if (word.rfind("--", 0) == 0) {
            std::printf("usage: vkgemm-ggml-prompts [--device NAME] [--tolerance T | --seconds S] FILE...\n");
            return 2;
        } else
            files.push_back(word);
    }
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    ggml_backend_load_all();
    ggml_backend_dev_t const device = ggml_backend_dev_by_name(name.c_str());
    if (!device) {
        std::fprintf(stderr, "no device %s\n", name.c_str());
        return 2;
    }
    bool is_fine = true;
    for (const std::string& file : files)
        if (seconds > 0)
            soak(file, device, seconds);
        else
            is_fine = compare(file, device, tolerance) && is_fine;
    return is_fine ? 0 : 1;
}
