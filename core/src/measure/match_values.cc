#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "measure/layer_names.h"
#include "model/graph_match.h"
#include "model/graph_view.h"
#include "octet/layers.h"
#include "octet/segments.h"

namespace octet {

std::vector<std::string> original_names(std::string_view name) {
  constexpr std::array<std::string_view, 7> kSuffixes = {
      "_dequantized",           "_unrounded",       "_quantized", "_DequantizeLinear_Output", "_QuantizeLinear_Input",
      "_QuantizeLinear_Output", "_DequantizeLinear"};
  std::vector<std::string> names{std::string(name)};
  std::string_view plain = name;
  if (const auto last = plain.find_last_not_of("0123456789");
      last != std::string_view::npos && last + 1 < plain.size() && plain[last] == '_')
    plain.remove_suffix(plain.size() - last);
  for (const std::string_view stem : {name, plain}) {
    for (const std::string_view suffix : kSuffixes) {
      if (stem.size() > suffix.size() && stem.ends_with(suffix))
        names.emplace_back(stem.substr(0, stem.size() - suffix.size()));
    }
    if (plain == name) break;
  }
  return names;
}

namespace {

struct Rounded {
  std::string before, after;
};

class Matcher {
 public:
  Matcher(Model& reference, Model& candidate)
      : reference_(reference),
        view_(reference.proto()),
        ids_(view_),
        other_(candidate.proto()),
        floats_(float_values(reference)) {
    known_.insert(floats_.begin(), floats_.end());
  }

  LayerPairs run() {
    LayerPairs pairs;
    for (const NodeAt& at : other_.nodes()) {
      if (at.scope != &other_.main() || at.node->op_type() != "DequantizeLinear") continue;
      const Value* integers = other_.input(at, 0);
      if (!integers || integers->constant()) continue;
      Rounded rounded{"", at.node->output(0)};
      if (integers->producer && integers->producer->op_type() == "QuantizeLinear" &&
          integers->scope == &other_.main()) {
        rounded.before = integers->producer->input(0);
        const Value* source = other_.find(other_.main(), rounded.before);
        if (!source || source->constant()) continue;
      }
      if (!seen_.insert(integers->name).second) continue;  // one of several readers of the same rounding
      ++pairs.rounded;
      if (const std::string name = name_of(rounded); !name.empty()) found_.emplace(name, rounded);
    }
    for (const std::string& name : floats_) add(name, pairs);
    return pairs;
  }

 private:
  // The value of the float model that is rounded; "" when there is none.
  std::string name_of(const Rounded& rounded) const {
    for (const std::string* side : {&rounded.after, &rounded.before}) {
      for (const std::string& name : original_names(*side)) {
        if (known_.contains(name) && !found_.contains(name)) return behind_clamp(name);
      }
    }
    return {};
  }

  // A tool may keep the name of the value in front of a Relu that it leaves to rounding: what is rounded is the Relu's.
  std::string behind_clamp(const std::string& name) const {
    const Use* use = only_use(view_.main().values.at(name));
    if (!use || use->scope != &view_.main() || !is_clamp(*use->node)) return name;
    const std::string& output = use->node->output(0);
    const bool kept = other_.main().values.contains(output);
    return kept || !known_.contains(output) ? name : output;
  }

  static bool is_clamp(const onnx::NodeProto& node) { return is_op(node, "Relu") || is_op(node, "Clip"); }

  void add(const std::string& name, LayerPairs& pairs) {
    const Value& value = view_.main().values.at(name);
    ValuePair pair;
    pair.name = name;
    if (value.producer) {
      pair.node = ids_.of(*value.producer);
      pair.op = value.producer->op_type();
    }
    if (const auto rounded = found_.find(name); rounded != found_.end()) {
      pair.before = rounded->second.before;
      pair.after = rounded->second.after;
      ++pairs.rounded_matched;
      set_clamp(value, pair);
    } else {
      const auto namesake = other_.main().values.find(name);
      if (!value.producer || namesake == other_.main().values.end() || !namesake->second.producer) return;
      pair.after = name;
    }
    pairs.values.push_back(std::move(pair));
  }

  void set_clamp(const Value& value, ValuePair& pair) const {
    if (!value.producer || !is_clamp(*value.producer) || pair.before.empty()) return;
    const Value* source = other_.find(other_.main(), pair.before);
    if (source->producer && is_clamp(*source->producer)) return;
    if (is_op(*value.producer, "Relu")) {
      pair.low = 0.0f;
      return;
    }
    const auto bound = [&](int input, const char* attribute) -> std::optional<float> {
      if (find_attribute(*value.producer, attribute)) return float_attribute(*value.producer, attribute, 0);
      if (value.producer->input_size() <= input) return std::nullopt;
      const auto given = scalar_of(reference_, view_.find(view_.main(), value.producer->input(input)));
      return given ? std::optional<float>(static_cast<float>(*given)) : std::nullopt;
    };
    pair.low = bound(1, "min");
    pair.high = bound(2, "max");
  }

  const Model& reference_;
  GraphView view_;
  NodeIds ids_;
  GraphView other_;
  std::vector<std::string> floats_;
  std::set<std::string> known_;
  std::set<std::string> seen_;
  std::map<std::string, Rounded> found_;
};

}  // namespace

LayerPairs match_values(Model& reference, Model& candidate) { return Matcher(reference, candidate).run(); }

}  // namespace octet
