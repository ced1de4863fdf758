#include <chrono>
#include <utility>

#include "data/samples.h"
#include "octet/error.h"

namespace octet {
namespace {

class SyntheticSamples final : public SampleReader {
 public:
  explicit SyntheticSamples(SyntheticInputs inputs) : inputs_(std::move(inputs)) {}

  std::optional<Sample> next() override {
    if (at_ == inputs_.count()) return std::nullopt;
    return inputs_.sample(at_++);
  }
  void rewind() override { at_ = 0; }
  std::size_t size() const override { return inputs_.count(); }
  std::string description() const override { return inputs_.description(); }

 private:
  SyntheticInputs inputs_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<SampleReader> make_synthetic(const std::vector<ValueInfo>& inputs, const SyntheticOptions& options) {
  return std::make_unique<SyntheticSamples>(SyntheticInputs(inputs, options, std::nullopt));
}

std::unique_ptr<SampleReader> find_runnable_synthetic(const Session& session, const SyntheticOptions& options) {
  constexpr double kSeconds = 10;
  const auto sizes = sizes_to_try(session.inputs(), options);
  const bool has_choice = sizes.size() > 1;
  const auto start = std::chrono::steady_clock::now();
  std::optional<Error> first_complaint;
  for (const auto& size : sizes) {
    try {
      auto samples = std::make_unique<SyntheticSamples>(SyntheticInputs(session.inputs(), options, size));
      if (const auto sample = samples->next()) session.run(*sample);
      samples->rewind();
      return samples;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kUsage || (!has_choice && error.code() == ErrorCode::kUnsupported)) throw;
      if (!first_complaint) first_complaint = error;
    }
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > kSeconds) break;
  }
  throw Error(ErrorCode::kRun, first_complaint->where(),
              "no made-up input runs; the first attempt: " + first_complaint->problem(),
              "give real samples, sizes with --dim NAME=N, or values with --fix NAME=VALUE");
}

}  // namespace octet
