#include "engine/layers.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "data/mapped_file.h"
#include "engine/engine.h"
#include "engine/model_session.h"
#include "octet/error.h"
#include "octet/prepare.h"
#include "octet/segments.h"

namespace octet {
namespace {

Model open(const std::filesystem::path& path) {
  return load_model(open_file(path), path.filename().string(), external_beside(path));
}

struct Match {
  Model reference;
  LayerPairs pairs;
  std::vector<WeightDrift> weights;
  int unmatched = 0;
  bool prepared = false;

  std::size_t found() const {
    return pairs.values.size() + weights.size() + static_cast<std::size_t>(pairs.rounded_matched);
  }
};

Match match(Model reference, Model& candidate, bool prepared) {
  Match result;
  result.prepared = prepared;
  result.pairs = match_values(reference, candidate);
  result.weights = compare_weights(reference, candidate, &result.unmatched);
  result.reference = std::move(reference);
  return result;
}

// The quantized model has the names of what it was made from: the float model as it is, or prepared.
Match best_match(const std::filesystem::path& path, Model& candidate) {
  Model prepared = open(path);
  PrepareOptions options;
  options.keep_widened = true;
  prepare(prepared, options);
  Match best = match(std::move(prepared), candidate, true);
  Model plain = open(path);
  normalize(plain);
  Match other = match(std::move(plain), candidate, false);
  return other.found() > best.found() ? std::move(other) : std::move(best);
}

class LayersRun {
 public:
  explicit LayersRun(const LayersJob& job)
      : job_(job), candidate_(open(job.candidate)), match_(best_match(job.reference, candidate_)) {
    for (const ValueInfo& input : inputs_of(match_.reference)) inputs_.insert(input.name);
    for (const ValueInfo& input : inputs_of(candidate_)) other_inputs_.insert(input.name);
  }

  LayersResult run() {
    LayersResult result;
    result.runtime = runtime_version();
    result.prepared = match_.prepared;
    result.float_values = static_cast<int>(float_values(match_.reference).size());
    result.rounded = match_.pairs.rounded;
    result.rounded_matched = match_.pairs.rounded_matched;
    const Session plain = Session::from_file(job_.reference, {.optimize = false, .threads = job_.threads});
    const auto reader = job_.data ? open_samples(*job_.data, plain.inputs(), job_.samples)
                                  : find_runnable_synthetic(plain, job_.synthetic);
    result.samples_description = reader->description();
    result.samples = reader->size();
    const auto slices = slices_for(*reader);
    result.slices = slices.size();
    for (std::size_t i = 0; i < slices.size(); ++i) {
      run_slice(slices[i], *reader, [&](double part) {
        if (job_.progress) job_.progress((static_cast<double>(i) + part) / static_cast<double>(slices.size()));
      });
    }
    result.layers = layers();
    result.weights = std::move(match_.weights);
    std::stable_sort(result.weights.begin(), result.weights.end(),
                     [](const WeightDrift& a, const WeightDrift& b) { return a.sqnr_db < b.sqnr_db; });
    result.weights_unmatched = match_.unmatched;
    return result;
  }

 private:
  using Slice = std::vector<const ValuePair*>;

  // As many pairs together as the budget holds. A value is there up to three times, each in the runtime and copied.
  std::vector<Slice> slices_for(SampleReader& reader) const {
    const auto sample = reader.next();
    reader.rewind();
    if (!sample) throw Error(ErrorCode::kData, "compare", "there are no samples");
    std::vector<std::string> wanted;
    for (const ValuePair& pair : match_.pairs.values) {
      if (!inputs_.contains(pair.name)) wanted.push_back(pair.name);
    }
    std::map<std::string, std::vector<std::int64_t>> dims;
    for (const auto& [name, tensor] : *sample) dims[name] = tensor.dims;
    const auto sizes = SegmentedModel(match_.reference, wanted).estimate(dims);
    constexpr std::uint64_t kCopies = 6;
    std::vector<Slice> slices;
    std::uint64_t filled = job_.memory_budget;
    for (const ValuePair& pair : match_.pairs.values) {
      const auto size = sizes.find(pair.name);
      const std::uint64_t bytes = kCopies * (size == sizes.end() ? 0 : size->second);
      if (slices.empty() || filled + bytes > job_.memory_budget) {
        slices.emplace_back();
        filled = 0;
      }
      slices.back().push_back(&pair);
      filled += bytes;
    }
    return slices;
  }

  static Session tapped(const Model& model, const std::vector<std::string>& values, unsigned threads) {
    Model copy = model.clone();
    add_outputs(copy, values);
    return open_session(copy, {.optimize = false, .threads = threads});
  }

  template <class Tell>
  void run_slice(const Slice& slice, SampleReader& reader, const Tell& tell) {
    std::vector<std::string> taps, other_taps;
    std::set<std::string> listed;
    for (const ValuePair* pair : slice) {
      if (!inputs_.contains(pair->name)) taps.push_back(pair->name);
      for (const std::string* name : {&pair->after, &pair->before}) {
        if (!name->empty() && !other_inputs_.contains(*name) && listed.insert(*name).second)
          other_taps.push_back(*name);
      }
    }
    const Session reference = tapped(match_.reference, taps, job_.threads),
                  candidate = tapped(candidate_, other_taps, job_.threads);
    reader.rewind();
    std::size_t done = 0;
    while (const auto sample = reader.next()) {
      auto other = std::async(std::launch::async, [&] { return run_one(candidate, *sample, other_taps, reader); });
      const Sample floats = run_one(reference, *sample, taps, reader), values = other.get();
      for (const ValuePair* pair : slice) add(*pair, *sample, floats, values);
      tell(static_cast<double>(++done) / static_cast<double>(reader.size()));
    }
  }

  static Sample run_one(const Session& session, const Sample& sample, const std::vector<std::string>& taps,
                        const SampleReader& reader) {
    if (taps.empty()) return {};
    try {
      return session.run(sample, taps);
    } catch (const Error& fault) {
      throw Error(fault.code(), reader.name().empty() ? fault.where() : reader.name(), fault.problem(), fault.next());
    }
  }

  static const Tensor* look_up(const std::string& name, const Sample& values, const Sample& inputs) {
    if (const auto found = values.find(name); found != values.end()) return &found->second;
    const auto input = inputs.find(name);
    return input == inputs.end() ? nullptr : &input->second;
  }

  void add(const ValuePair& pair, const Sample& sample, const Sample& floats, const Sample& values) {
    const Tensor* reference = look_up(pair.name, floats, sample);
    const Tensor* after = look_up(pair.after, values, sample);
    const Tensor* before = pair.before.empty() ? nullptr : look_up(pair.before, values, sample);
    if (!reference || !after || !is_float(reference->type)) return;
    meters_[pair.name].model.add({{"", *reference}}, {{"", *after}});
    if (before) meters_[pair.name].rounding.add({{"", clamped(*before, pair)}}, {{"", *after}});
  }

  static bool is_float(int type) { return type == kFloat || type == kFloat16 || type == kBfloat16 || type == kDouble; }

  static Tensor clamped(const Tensor& tensor, const ValuePair& pair) {
    Tensor result = tensor;
    if (tensor.type != kFloat || !(pair.low || pair.high)) return result;
    std::vector<float> values = to_float(tensor);
    for (float& value : values) {
      if (pair.low) value = std::max(value, *pair.low);
      if (pair.high) value = std::min(value, *pair.high);
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    result.bytes.assign(bytes, bytes + values.size() * sizeof(float));
    return result;
  }

  std::vector<LayerDrift> layers() const {
    std::vector<LayerDrift> result;
    for (const ValuePair& pair : match_.pairs.values) {
      const auto found = meters_.find(pair.name);
      if (found == meters_.end()) continue;
      LayerDrift layer{pair, found->second.model.result().front(), std::nullopt};
      if (const auto rounding = found->second.rounding.result(); !rounding.empty()) layer.rounding = rounding.front();
      result.push_back(std::move(layer));
    }
    std::stable_sort(result.begin(), result.end(), [](const LayerDrift& a, const LayerDrift& b) {
      if (a.rounding.has_value() != b.rounding.has_value()) return a.rounding.has_value();
      return a.rounding ? a.rounding->sqnr_db < b.rounding->sqnr_db : a.model.sqnr_db < b.model.sqnr_db;
    });
    return result;
  }

  struct Meters {
    DriftMeter model, rounding;
  };

  const LayersJob& job_;
  Model candidate_;
  Match match_;
  std::set<std::string> inputs_, other_inputs_;
  std::map<std::string, Meters> meters_;
};

}  // namespace

LayersResult compare_layers(const LayersJob& job) { return LayersRun(job).run(); }

}  // namespace octet
