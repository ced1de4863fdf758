// The plain driver: files and folders given as arguments, then hostile variants of every model that the rewrites are
// tested with and of random ones, the same ones each time.
//   octet_fuzz_replay [FILE|FOLDER]… [--count N] [--first I] [--verbose]
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/rewrite_models.h"
#include "fuzz/load_fuzz.h"
#include "fuzz/mutate.h"
#include "native/random_graph.h"
#include "octet/quantizer.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

using octet::fuzz::Outcome;
using octet::fuzz::Random;

constexpr unsigned kMostSeconds = 20;  // for one input, under sanitizers

char current[512] = "nothing";
bool verbose = false;  // for faults that end the program without a word about where

void say_current() {
  const char* words[] = {"\nwhile running ", current, "\n"};
  for (const char* word : words) {
    if (::write(STDERR_FILENO, word, std::strlen(word)) < 0) return;
  }
}

extern "C" void on_signal(int) {
  say_current();
  _exit(1);
}

struct Counts {
  std::size_t done = 0, refused = 0, failed = 0;
};

template <class Work>
void run_one(const std::string& name, Counts& counts, Work&& work) {
  std::snprintf(current, sizeof current, "%s", name.c_str());
  if (verbose) std::fprintf(stderr, "%s\n", current);
  ::alarm(kMostSeconds);
  try {
    ++(work() == Outcome::kDone ? counts.done : counts.refused);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), fault.what());
    ++counts.failed;
  }
  ::alarm(0);
}

void run_file(const std::filesystem::path& path, Counts& counts) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  run_one(path.string(), counts, [&] { return octet::fuzz::run(bytes); });
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Variant `index`: models take turns, every other one is random; of six, four are changed as protobuf, one as bytes,
// one has its plan changed.
void run_variant(const std::vector<octet::pictures::RewriteModel>& models, std::size_t index, Counts& counts) {
  const auto& seed = models[index / 2 % models.size()];
  Random random(index);
  const bool written = index % 2 == 0;
  const std::string name =
      "variant " + std::to_string(index) + " of " + (written ? std::string(seed.name) : "a random model");
  onnx::ModelProto model =
      written ? octet::fuzz::seed_model(seed.text, seed.opset)
              : octet::random_graphs::random_model(index, octet::random_graphs::random_budget(index)).proto;
  const std::size_t kind = random.below(6);
  if (kind == 5) {
    run_one(name + " (plan)", counts, [&] {
      octet::PlanOptions options;
      options.mode = random.one_in(2) ? octet::Mode::kDynamic : octet::Mode::kWeights;
      options.target = random.one_in(2) ? octet::Target::kX64 : octet::Target::kAny;
      if (options.mode == octet::Mode::kWeights && random.one_in(2)) options.weight_type = octet::QuantType::kInt4;
      const std::string text = model.SerializeAsString();
      const auto bytes = bytes_of(text);
      octet::Quantizer quantizer(octet::load_model(std::make_shared<octet::MemorySource>(
                                                       std::vector<std::uint8_t>(bytes.begin(), bytes.end())),
                                                   "fuzz.onnx"),
                                 options);
      octet::Plan plan = quantizer.plan();
      plan.cache = nullptr;
      octet::fuzz::mutate_plan(plan, random);
      return octet::fuzz::guarded([&] {
        octet::fuzz::write(quantizer.apply(plan));
        octet::Quantizer(octet::load_model(std::make_shared<octet::MemorySource>(
                                               std::vector<std::uint8_t>(bytes.begin(), bytes.end())),
                                           "fuzz.onnx"),
                         options, &plan)
            .sizes();
      });
    });
    return;
  }
  if (kind < 4) octet::fuzz::mutate_model(model, random);
  std::string text = model.SerializeAsString();
  if (kind == 4) octet::fuzz::mutate_bytes(text, random);
  run_one(name, counts, [&] { return octet::fuzz::run(bytes_of(text)); });
}

}  // namespace

int main(int argc, char** argv) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(say_current);
#else
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, on_signal);
#endif
  std::signal(SIGALRM, on_signal);
  std::size_t first = 0, count = 2000;
  Counts counts;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--verbose") {
      verbose = true;
    } else if (argument == "--count" && i + 1 < argc) {
      count = std::stoul(argv[++i]);
    } else if (argument == "--first" && i + 1 < argc) {
      first = std::stoul(argv[++i]);
    } else if (std::filesystem::is_directory(argument)) {
      std::vector<std::filesystem::path> files;
      for (const auto& entry : std::filesystem::directory_iterator(argument)) files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      for (const auto& file : files) run_file(file, counts);
    } else {
      run_file(argument, counts);
    }
  }
  const auto models = octet::pictures::rewrite_models();
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t index = first; index < first + count; ++index) run_variant(models, index, counts);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%zu went through, %zu were refused, %zu failed; %.1f s\n", counts.done, counts.refused, counts.failed,
              seconds);
  return counts.failed == 0 ? 0 : 1;
}
