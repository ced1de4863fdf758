// i = Gather(Shape(x), 1), always 80      →   initializer i
// j = Gather(Shape(z), 0), as i before    →   what read j reads i
// y = Reshape(x, Concat(b, s, 12, 64))    →   y = Reshape(x, [0, 0, 12, 64])   where x is [b, s, 768]
// The first for every integer tensor whose elements are the same for all inputs, the second where they are the same
// expressions of the inputs' sizes. The third where each element of a computed target is a number, or the size that x
// has on the same axis (0 says: copy it), or one that follows from the others (-1). A new -1 stands beside a copied
// size only where that cannot be 0: the runtime refuses to divide by it.
#include <algorithm>
#include <map>

#include "model/graph_match.h"
#include "model/tensor_access.h"
#include "prepare/analysis.h"
#include "prepare/pass.h"
#include "prepare/shapes.h"

namespace octet {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::size_t kMaxElements = 128;

onnx::TensorProto ints_tensor(Model& model, const std::string& name, int type, const Sizes& dims, const Sizes& values) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&](auto value) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  for (const std::int64_t value : values) {
    if (type == onnx::TensorProto::INT64)
      put(value);
    else
      put(static_cast<std::int32_t>(value));
  }
  return make_tensor(model, name, type, dims, std::move(bytes));
}

Value& add_constant(Scope& scope, onnx::TensorProto tensor) {
  Value& value = scope.values[tensor.name()];
  value.name = tensor.name();
  value.scope = &scope;
  value.producer = nullptr;
  value.initializer = scope.graph->add_initializer();
  value.initializer->Swap(&tensor);
  return value;
}

// The elements of an integer value that is not stored yet, when all are numbers and fit its type.
std::optional<Sizes> known_elements(const ShapeFacts& facts) {
  if (facts.type != onnx::TensorProto::INT64 && facts.type != onnx::TensorProto::INT32) return std::nullopt;
  const auto dims = facts.shape();
  const auto values = facts.data ? numbers(*facts.data) : std::nullopt;
  if (!dims || dims->size() > 1 || !values || values->size() > kMaxElements) return std::nullopt;
  if (values->size() != (dims->empty() ? 1 : static_cast<std::uint64_t>(dims->front()))) return std::nullopt;
  for (const std::int64_t value : *values) {
    if (facts.type == onnx::TensorProto::INT32 && value != static_cast<std::int32_t>(value)) return std::nullopt;
  }
  return values;
}

struct ReshapeTarget {
  Sizes sizes;
  bool zero_copies = true;  // what 0 means in it
};

// Whether a run in which none of `nonzero` is 0 has no 0 for this size either: it is a factor of one of them.
bool never_zero(const Dim& size, const Dims& nonzero) {
  if (const auto number = size.number()) return *number > 0;
  return std::any_of(nonzero.begin(), nonzero.end(), [&](const Dim& dim) { return divide_exactly(dim, size); });
}

// `wanted` as a stored target. `written`: these are the elements of a target, where 0 and -1 have their meaning, and
// not sizes of a result.
std::optional<ReshapeTarget> target_of(const ShapeFacts& in, const Dims& wanted, bool allow_zero, bool written,
                                       const Dims& nonzero) {
  ReshapeTarget target;
  for (const Dim& size : wanted) {
    if (allow_zero && written && size.is(0)) target.zero_copies = false;
  }
  int open = 0;
  bool safe = true, new_open = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto number = wanted[i].number();
    const Dim* same_axis = in.dims && i < in.dims->size() ? &(*in.dims)[i] : nullptr;
    if (number && *number > 0) {
      target.sizes.push_back(*number);
    } else if ((written && wanted[i].is(0)) || (same_axis && *same_axis == wanted[i] && target.zero_copies)) {
      target.sizes.push_back(0);
      safe = safe && same_axis && never_zero(*same_axis, nonzero);
    } else if (number && !(written && *number == -1)) {
      return std::nullopt;
    } else {
      target.sizes.push_back(-1);
      ++open;
      new_open = new_open || !number;
    }
  }
  if (open > 1 || (open == 1 && !target.zero_copies) || (new_open && !safe)) return std::nullopt;
  return target;
}

// Sizes without which no run gets through: those that stand beside a -1 in targets that the model has already.
Dims nonzero_sizes(const GraphView& view, const Shapes& shapes) {
  Dims sizes;
  for (const NodeAt& at : view.nodes()) {
    if (at.scope->parent || !is_op(*at.node, "Reshape") || at.node->output_size() != 1) continue;
    const Value* out = view.find(*at.scope, at.node->output(0));
    if (!out || (out->uses.empty() && out->graph_outputs == 0)) continue;
    const auto &target = shapes.input(at, 1).data, &in = shapes.input(at, 0).dims;
    if (!target || std::none_of(target->begin(), target->end(), [](const Dim& dim) { return dim.is(-1); })) continue;
    for (std::size_t i = 0; i < target->size(); ++i) {
      const Dim& size = (*target)[i];
      if (!size.number()) sizes.push_back(size);
      if (size.is(0) && in && i < in->size() && !(*in)[i].number()) sizes.push_back((*in)[i]);
    }
  }
  return sizes;
}

class KnownShapes {
 public:
  KnownShapes(Model& model, Analysis& analysis)
      : model_(model),
        analysis_(analysis),
        view_(analysis.view),
        shapes_(analysis.shapes()),
        nonzero_(nonzero_sizes(view_, shapes_)) {}

  // Stores what is known of the node's outputs; true when that makes the node unnecessary.
  bool store_outputs(const NodeAt& at, int& changes) {
    bool needed = false, any = false;
    for (const auto& name : at.node->output()) {
      Value* value = name.empty() ? nullptr : view_.find(*at.scope, name);
      if (!value || value->producer != at.node) continue;
      const bool stored = !value->uses.empty() && store(*value, at.node->output_size() == 1);
      changes += stored;
      any = any || stored;
      needed = needed || value->producer || value->graph_outputs > 0;
    }
    return any && !needed;
  }

  // Gives readers of the node's outputs the first value that holds the same sizes.
  int share_outputs(const NodeAt& at) {
    int changes = 0;
    for (const auto& name : at.node->output()) {
      Value* value = name.empty() ? nullptr : view_.find(*at.scope, name);
      if (!value || value->producer != at.node) continue;
      const std::string contents = contents_of(shapes_.of(value));
      if (contents.empty()) continue;
      Value* first = nullptr;
      for (const Scope* scope = at.scope; scope && !first; scope = scope->parent) {
        const auto found = first_.find({scope, contents});
        if (found != first_.end()) first = found->second;
      }
      if (!first) first_[{at.scope, contents}] = value;
      if (!first || value->uses.empty() || !redirect(view_, *value, *first)) continue;
      first->uses.insert(first->uses.end(), value->uses.begin(), value->uses.end());
      value->uses.clear();
      ++changes;
    }
    return changes;
  }

  bool store_target(const NodeAt& at) {
    auto& node = *at.node;
    const Value* given = view_.input(at, 1);
    if (!is_op(node, "Reshape") || node.input_size() != 2 || !given || given->initializer) return false;
    const auto &in = shapes_.input(at, 0), &target = shapes_.of(given), &out = shapes_.output(at, 0);
    const bool allow_zero = int_attribute(node, "allowzero", 0) != 0;
    std::optional<ReshapeTarget> found;
    if (target.data) found = target_of(in, *target.data, allow_zero, true, nonzero_);
    if (!found && out.dims) found = target_of(in, *out.dims, allow_zero, false, nonzero_);
    if (!found || found->sizes.size() > kMaxElements) return false;
    const std::string name = analysis_.names().fresh(node.output(0) + "_shape");
    add_constant(*at.scope, ints_tensor(model_, name, onnx::TensorProto::INT64,
                                        {static_cast<std::int64_t>(found->sizes.size())}, found->sizes));
    node.set_input(1, name);
    if (allow_zero && found->zero_copies) drop_attribute(node, "allowzero");
    return true;
  }

 private:
  // Type, rank and elements of an integer value whose elements are known expressions; "" for all others.
  static std::string contents_of(const ShapeFacts& facts) {
    if (facts.type != onnx::TensorProto::INT64 && facts.type != onnx::TensorProto::INT32) return {};
    if (!facts.data || !facts.dims || facts.dims->size() > 1) return {};
    std::string text = std::to_string(facts.type) + (facts.dims->empty() ? " " : " list ");
    for (const Dim& dim : *facts.data) text += dim.text() + "; ";
    return text;
  }

  bool store(Value& value, bool sole_output) {
    const ShapeFacts& facts = shapes_.of(&value);
    const auto values = known_elements(facts);
    if (!values) return false;
    const bool takes_name = sole_output && value.graph_outputs == 0;
    const std::string name = takes_name ? value.name : analysis_.names().fresh(value.name + "_value");
    onnx::TensorProto tensor = ints_tensor(model_, name, facts.type, *facts.shape(), *values);
    if (takes_name) {
      add_constant(*value.scope, std::move(tensor));
      return true;
    }
    Value& constant = add_constant(*value.scope, std::move(tensor));
    constant.uses = std::move(value.uses);
    value.uses.clear();
    for (const Use& use : constant.uses) use.node->set_input(use.input, name);  // a fresh name hides behind no other
    return true;
  }

  Model& model_;
  Analysis& analysis_;
  const GraphView& view_;
  const Shapes& shapes_;
  const Dims nonzero_;
  std::map<std::pair<const Scope*, std::string>, Value*> first_;  // by what they hold
};

}  // namespace

void run_fold_known_shapes(Model& model, PassReport& report) {
  const auto analysis = analyze(model);
  GraphView& view = analysis->view;
  KnownShapes known(model, *analysis);
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const NodeAt& at : view.nodes()) {
    if (is_op(*at.node, "Constant") || !subgraphs(*at.node).empty()) continue;
    if (known.store_outputs(at, report.changes)) dead.insert(at.node);
  }
  for (const NodeAt& at : view.nodes()) report.changes += !dead.contains(at.node) && known.store_target(at);
  for (const NodeAt& at : view.nodes()) {
    if (!dead.contains(at.node) && subgraphs(*at.node).empty()) report.changes += known.share_outputs(at);
  }
  remove_nodes(view, dead);
}

}  // namespace octet
