// Preparation never changes what a model computes: random small models, run before and after, with the runtime's own
// optimizations off and on.
//
//   OCTET_PROPERTY_GRAPHS=5000 OCTET_PROPERTY_SEED=7 build/native/octet_native_tests --gtest_filter='PrepareProperty.*'
//
// A failure names its seed, which as OCTET_PROPERTY_SEED with one graph gives that model alone, and prints the smallest
// part of it that fails; OCTET_PROPERTY_KEEP=FOLDER also writes that part there.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

#include "engine/engine.h"
#include "graph_pictures.h"
#include "onnx/defs/printer.h"
#include "prepare/pass.h"
#include "random_graph.h"
#include "tiny_models.h"

namespace octet {
namespace {

using random_graphs::Random;
using random_graphs::RandomModel;

constexpr int kGraphs = 200;
constexpr std::uint64_t kFirstSeed = 1;
// A float output may differ by what summing in another order gives; where the model itself enlarges rounding, as a
// difference of nearly equal numbers does, by a multiple of what inputs changed in their last bits change.
constexpr double kTolerance = 1e-4, kNudge = 1e-6, kNudgeShare = 30;
constexpr double kRounding = 1e-6;  // of a difference that is 0, divided by a small epsilon
constexpr double kMostUnusable = 0.03;  // share of models the runtime does not take
// Share of prepared models that hold as written, but not through the runtime's optimizer: its defects, which some other
// form of the same graph meets. Above it, preparation would be making a form that the runtime does not stand.
constexpr double kMostRuntimeFaults = 0.001;

constexpr std::size_t kSameWords = 40;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

std::vector<double> reals(const Tensor& tensor) {
  if (tensor.type == kDouble) return values_of<double>(tensor);
  const auto floats = values_of<float>(tensor);
  return {floats.begin(), floats.end()};
}

Sample inputs_of(const onnx::ModelProto& model, std::size_t binding, std::uint64_t seed) {
  Random random(seed);
  Sample sample;
  std::set<std::string> stored;
  for (const auto& tensor : model.graph().initializer()) stored.insert(tensor.name());
  for (const auto& input : model.graph().input()) {
    if (stored.contains(input.name())) continue;
    Tensor& tensor = sample[input.name()];
    tensor.type = input.type().tensor_type().elem_type();
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      const auto& symbol = dim.dim_param() == "n" ? random_graphs::kSymbolN : random_graphs::kSymbolM;
      tensor.dims.push_back(dim.has_dim_value() ? dim.dim_value() : symbol[binding]);
    }
    const auto put = [&](auto value) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
      tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof value);
    };
    for (std::uint64_t i = 0; i < element_count(tensor.dims); ++i) {
      if (tensor.type == kFloat)
        put(static_cast<float>(random.uniform(-1, 1)));
      else if (tensor.type == kInt64)
        put(static_cast<std::int64_t>(random.below(8)));
      else
        put(static_cast<std::uint8_t>(random.below(2)));
    }
  }
  return sample;
}

Sample nudged(Sample sample) {
  Random random(5);
  for (auto& [name, tensor] : sample) {
    if (tensor.type != kFloat) continue;
    auto floats = values_of<float>(tensor);
    for (float& value : floats) value *= static_cast<float>(1 + (random.chance(0.5) ? kNudge : -kNudge));
    if (!floats.empty()) std::memcpy(tensor.bytes.data(), floats.data(), tensor.bytes.size());
  }
  return sample;
}

// max|a - b| over what is finite in both; nothing when they differ in kind, integer, shape or where they are finite.
std::optional<double> largest_difference(const Tensor& a, const Tensor& b) {
  if (a.type != b.type || a.dims != b.dims) return std::nullopt;
  if (a.type != kFloat && a.type != kDouble) return a.bytes == b.bytes ? std::optional(0.0) : std::nullopt;
  const auto left = reals(a), right = reals(b);
  double most = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (std::isfinite(left[i]) != std::isfinite(right[i])) return std::nullopt;
    if (std::isfinite(left[i])) most = std::max(most, std::abs(left[i] - right[i]));
    if (std::isnan(left[i]) != std::isnan(right[i])) return std::nullopt;
    if (std::isinf(left[i]) && left[i] != right[i]) return std::nullopt;
  }
  return most;
}

double largest(const Tensor& a) {
  double most = 0;
  for (const double value : reals(a)) most = std::isfinite(value) ? std::max(most, std::abs(value)) : most;
  return most;
}

std::string dims_text(const Tensor& tensor) {
  std::string text;
  for (const auto dim : tensor.dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return type_name(tensor.type) + "[" + text + "]";
}

// The original's run under one binding, plain, and how far each output may be off; negative: it cannot be told.
struct Wanted {
  Sample inputs, outputs;
  std::map<std::string, double> allowed;
};

std::string difference(const Wanted& wanted, const Sample& given) {
  for (const auto& [name, expected] : wanted.outputs) {
    const double allowed = wanted.allowed.at(name);
    if (allowed < 0) continue;
    const auto found = given.find(name);
    if (found == given.end()) return "output " + name + " is gone";
    const auto off = largest_difference(expected, found->second);
    if (!off)
      return "output " + name + ": " + dims_text(expected) + " became " + dims_text(found->second) +
             ", or an integer or NaN differs";
    if (*off > allowed)
      return "output " + name + " is off by " + std::to_string(*off) + ", allowed " + std::to_string(allowed);
  }
  return "";
}

std::string signature(const std::vector<ValueInfo>& values) {
  std::string text;
  for (const ValueInfo& value : values) text += value.name + ": " + type_name(value.type) + "\n";
  return text;
}

enum class Outcome { kHolds, kUnusable, kRuntimeFault, kFails };
struct Verdict {
  Outcome outcome = Outcome::kHolds;
  std::string why = {};
  std::vector<PassReport> passes = {};
};

// Everything that must hold of one model.
Verdict judge(const onnx::ModelProto& proto, std::uint64_t seed) {
  const auto original = fixtures::to_bytes(proto);
  std::vector<Wanted> wanted;
  std::string names;
  try {
    const Session plain = Session::from_bytes(original, {.optimize = false});
    names = signature(plain.outputs());
    for (std::size_t binding = 0; binding < random_graphs::kBindings; ++binding) {
      Wanted one{inputs_of(proto, binding, seed + binding), {}, {}};
      one.outputs = plain.run(one.inputs);
      const Sample moved = plain.run(nudged(one.inputs));
      for (const auto& [name, tensor] : one.outputs) {
        const auto off = largest_difference(tensor, moved.at(name));
        const bool real = tensor.type == kFloat || tensor.type == kDouble;
        one.allowed[name] = !off ? -1 : real ? kTolerance * largest(tensor) + kNudgeShare * *off + kRounding : 0;
      }
      wanted.push_back(std::move(one));
    }
  } catch (const std::exception& fault) {
    return {Outcome::kUnusable, fault.what()};
  }
  const auto compare = [&](const fixtures::Bytes& bytes, bool optimize, const std::string& what) -> std::string {
    try {
      const Session session = Session::from_bytes(bytes, {.optimize = optimize});
      if (signature(session.outputs()) != names)
        return what + ": outputs are\n" + signature(session.outputs()) + "and were\n" + names;
      for (const Wanted& one : wanted) {
        if (auto off = difference(one, session.run(one.inputs)); !off.empty()) return what + ": " + off;
      }
    } catch (const std::exception& fault) {
      return what + ": " + fault.what();
    }
    return "";
  };
  const bool runtime_agrees =
      compare(original, true, "").empty();  // else it is the runtime's optimizer that is at fault
  try {
    Model model = fixtures::load(original);
    Verdict verdict{Outcome::kHolds, "", prepare(model)};
    const auto prepared = fixtures::save(model);
    if (auto off = compare(prepared, false, "prepared, as written"); !off.empty())
      return {Outcome::kFails, off + "\n" + pictures::picture(model)};
    if (auto off = runtime_agrees ? compare(prepared, true, "prepared, optimized") : ""; !off.empty())
      verdict = {Outcome::kRuntimeFault, off + "\n" + pictures::picture(model)};
    Model again = fixtures::load(prepared);
    prepare(again);
    if (fixtures::save(again) != prepared)
      return {Outcome::kFails,
              "preparing again changes it:\n" + pictures::picture(model) + "becomes\n" + pictures::picture(again)};
    // One pass alone.
    const Pass& pass = all_passes()[seed % all_passes().size()];
    Model alone = fixtures::load(original);
    PrepareOptions options;
    options.passes = {std::string(pass.name)};
    prepare(alone, options);
    if (auto off = compare(fixtures::save(alone), false, "after " + options.passes[0] + " alone"); !off.empty())
      return {Outcome::kFails, off + "\n" + pictures::picture(alone)};
    return verdict;
  } catch (const std::exception& fault) {
    return {Outcome::kFails, std::string("preparing throws: ") + fault.what()};
  }
}

// Nodes and tensors that no output needs.
void drop_dead(onnx::GraphProto& graph) {
  std::set<std::string> read;
  for (const auto& output : graph.output()) read.insert(output.name());
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  std::vector<const onnx::NodeProto*> needed;
  const std::function<void(const onnx::NodeProto&)> read_all = [&](const onnx::NodeProto& node) {
    read.insert(node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute()) {
      for (const auto& inner : attribute.g().node()) read_all(inner);
      for (const auto& output : attribute.g().output()) read.insert(output.name());
    }
  };
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    const auto& node = graph.node(i);
    if (std::none_of(node.output().begin(), node.output().end(), [&](const auto& name) { return read.contains(name); }))
      continue;
    read_all(node);
    needed.push_back(&node);
  }
  for (auto node = needed.rbegin(); node != needed.rend(); ++node) *kept.Add() = **node;
  graph.mutable_node()->Swap(&kept);
  for (int i = graph.initializer_size() - 1; i >= 0; --i) {
    if (!read.contains(graph.initializer(i).name())) graph.mutable_initializer()->DeleteSubrange(i, 1);
  }
  graph.clear_value_info();
}

// The smallest model found that still fails: the first patterns of it, then fewer outputs, then without single nodes.
onnx::ModelProto minimized(std::uint64_t seed, const Verdict& found, onnx::ModelProto best) {
  // In the same way, as far as the first words tell: a part of a model may fail in another.
  const auto fails = [&, kind = found.why.substr(0, kSameWords)](const onnx::ModelProto& model) {
    const Verdict verdict = judge(model, seed);
    return verdict.outcome == found.outcome && verdict.why.starts_with(kind);
  };
  for (int budget = 1; budget < random_graphs::random_budget(seed); ++budget) {
    auto smaller = random_graphs::random_model(seed, budget).proto;
    if (!fails(smaller)) continue;
    best = std::move(smaller);
    break;
  }
  const auto try_one = [&](onnx::ModelProto smaller) {
    drop_dead(*smaller.mutable_graph());
    if (smaller.ByteSizeLong() >= best.ByteSizeLong() || !fails(smaller)) return false;
    best = std::move(smaller);
    return true;
  };
  for (int i = best.graph().output_size() - 1; i >= 0 && best.graph().output_size() > 1; --i) {
    auto smaller = best;
    smaller.mutable_graph()->mutable_output()->DeleteSubrange(i, 1);
    try_one(std::move(smaller));
  }
  for (int i = best.graph().node_size() - 1; i >= 0; --i) {  // readers of a node read its input instead
    if (i >= best.graph().node_size() || best.graph().node(i).input_size() == 0) continue;
    const onnx::NodeProto replaced = best.graph().node(i);
    for (const auto& input : replaced.input()) {
      auto smaller = best;
      auto& node = *smaller.mutable_graph()->mutable_node(i);
      const auto output = node.output(0);
      node.Clear();
      node.set_op_type("Identity");
      node.add_input(input);
      node.add_output(output);
      if (try_one(std::move(smaller))) break;
    }
  }
  try_one(best);
  return best;
}

std::string report(std::uint64_t seed, const Verdict& found, const RandomModel& model) {
  const auto smallest = minimized(seed, found, model.proto);
  if (const char* folder = std::getenv("OCTET_PROPERTY_KEEP"))
    tiny::write(std::filesystem::path(folder) / ("seed_" + std::to_string(seed) + ".onnx"),
                fixtures::to_bytes(smallest));
  return "seed " + std::to_string(seed) + ": " + judge(smallest, seed).why + "\nof\n" + onnx::ProtoToString(smallest);
}

std::string table(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [what, count] : counts) text += std::to_string(count) + " " + what + "\n";
  return text;
}

TEST(PrepareProperty, ChangesNothingOfRandomModels) {
  const auto graphs = from_environment("OCTET_PROPERTY_GRAPHS", kGraphs);
  const auto first = from_environment("OCTET_PROPERTY_SEED", kFirstSeed);
  std::map<std::string, int> unusable, changes;
  std::vector<std::string> runtime_faults;
  std::size_t skipped = 0;
  for (auto seed = first; seed < first + graphs; ++seed) {
    const auto model = random_graphs::random_model(seed, random_graphs::random_budget(seed));
    const Verdict verdict = judge(model.proto, seed);
    for (const PassReport& pass : verdict.passes) changes[pass.pass] += pass.changes > 0 ? 1 : 0;
    if (verdict.outcome == Outcome::kUnusable) ++skipped, ++unusable[verdict.why];
    if (verdict.outcome == Outcome::kRuntimeFault) runtime_faults.push_back(report(seed, verdict, model));
    if (verdict.outcome == Outcome::kFails) ADD_FAILURE() << report(seed, verdict, model);
  }
  const auto share = [&](double most) { return static_cast<std::size_t>(most * static_cast<double>(graphs)); };
  EXPECT_LE(skipped, share(kMostUnusable)) << table(unusable);
  EXPECT_LE(runtime_faults.size(), share(kMostRuntimeFaults)) << testing::PrintToString(runtime_faults);
  std::cout << graphs << " models; in how many each pass found something:\n" << table(changes);
}

}  // namespace
}  // namespace octet
