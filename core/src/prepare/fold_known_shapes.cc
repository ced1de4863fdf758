// i = Gather(Shape(x), 1), always 80      →   initializer i
// y = Reshape(x, Concat(b, s, 12, 64))    →   y = Reshape(x, [0, 0, 12, 64])   where x is [b, s, 768]
// The first for every integer tensor whose elements are the same for all inputs. The second where each element of a
// computed target is a number, or the size that x has on the same axis (0 says: copy it), or one that follows from the
// others (-1). A new -1 is declined beside a copied size: while that one is 0 the runtime refuses to divide by it.
#include <cstring>

#include "model/graph_match.h"
#include "model/tensor_access.h"
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

// `wanted` as a stored target. `written`: these are the elements of a target, where 0 and -1 have their meaning, and
// not sizes of a result.
std::optional<ReshapeTarget> target_of(const ShapeFacts& in, const Dims& wanted, bool allow_zero, bool written) {
  ReshapeTarget target;
  for (const Dim& size : wanted) {
    if (allow_zero && written && size.is(0)) target.zero_copies = false;
  }
  int open = 0;
  bool copies = false, new_open = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto number = wanted[i].number();
    const bool same = in.dims && i < in.dims->size() && (*in.dims)[i] == wanted[i];
    if (number && (*number > 0 || (written && *number == 0))) {
      target.sizes.push_back(*number);
      copies = copies || *number == 0;
    } else if (same && target.zero_copies) {
      target.sizes.push_back(0);
      copies = true;
    } else if (number && !(written && *number == -1)) {
      return std::nullopt;
    } else {
      target.sizes.push_back(-1);
      ++open;
      new_open = new_open || !number;
    }
  }
  if (open > 1 || (open == 1 && !target.zero_copies) || (new_open && copies)) return std::nullopt;
  return target;
}

class KnownShapes {
 public:
  KnownShapes(Model& model, const GraphView& view, const Shapes& shapes)
      : model_(model), view_(view), shapes_(shapes), names_(model.proto()) {}

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

  bool store_target(const NodeAt& at) {
    auto& node = *at.node;
    const Value* given = view_.input(at, 1);
    if (!is_op(node, "Reshape") || node.input_size() != 2 || !given || given->initializer) return false;
    const auto &in = shapes_.input(at, 0), &target = shapes_.of(given), &out = shapes_.output(at, 0);
    const bool allow_zero = int_attribute(node, "allowzero", 0) != 0;
    std::optional<ReshapeTarget> found;
    if (target.data) found = target_of(in, *target.data, allow_zero, true);
    if (!found && out.dims) found = target_of(in, *out.dims, allow_zero, false);
    if (!found || found->sizes.size() > kMaxElements) return false;
    const std::string name = names_.fresh(node.output(0) + "_shape");
    add_constant(*at.scope, ints_tensor(model_, name, onnx::TensorProto::INT64,
                                        {static_cast<std::int64_t>(found->sizes.size())}, found->sizes));
    node.set_input(1, name);
    if (allow_zero && found->zero_copies) drop_attribute(node, "allowzero");
    return true;
  }

 private:
  bool store(Value& value, bool sole_output) {
    const ShapeFacts& facts = shapes_.of(&value);
    const auto values = known_elements(facts);
    if (!values) return false;
    const bool takes_name = sole_output && value.graph_outputs == 0;
    const std::string name = takes_name ? value.name : names_.fresh(value.name + "_value");
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
  const GraphView& view_;
  const Shapes& shapes_;
  NameSet names_;
};

}  // namespace

void run_fold_known_shapes(Model& model, PassReport& report) {
  GraphView view(model.proto());
  const Shapes shapes(model, view);
  KnownShapes known(model, view, shapes);
  std::unordered_set<const onnx::NodeProto*> dead;
  for (const NodeAt& at : view.nodes()) {
    if (is_op(*at.node, "Constant") || !subgraphs(*at.node).empty()) continue;
    if (known.store_outputs(at, report.changes)) dead.insert(at.node);
  }
  for (const NodeAt& at : view.nodes()) report.changes += !dead.contains(at.node) && known.store_target(at);
  remove_nodes(view, dead);
}

}  // namespace octet
