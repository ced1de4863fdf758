// y = F(x), F(a) = { b = MatMul(a, w); Relu(b) }   →   b__1 = MatMul(x, w); y = Relu(b__1)
// Quantizers that skip this never see the weights applied inside functions.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "model/graph_view.h"
#include "octet/error.h"
#include "onnx/inliner/inliner.h"
#include "onnx/shape_inference/implementation.h"
#include "prepare/check_calls.h"
#include "prepare/node_metadata.h"
#include "prepare/pass.h"

namespace octet {
namespace {

constexpr int kMaxCallDepth = 64;
// Three functions that call each other ten thousand times each are a small file and more nodes than memory holds.
constexpr std::uint64_t kMaxNodes = std::uint64_t{2} << 20;

using Key = std::tuple<std::string, std::string, std::string>;

Key key_of(const std::string& domain, const std::string& name, const std::string& overload) {
  return {domain == "ai.onnx" ? "" : domain, name, overload};
}

// What inlining makes of a list of nodes, calls within subgraphs included.
struct Size {
  std::uint64_t nodes = 0;
  int height = 0;  // of calls within calls
};

class CallCounter {
 public:
  explicit CallCounter(const onnx::ModelProto& model) {
    for (const auto& function : model.functions())
      functions_[key_of(function.domain(), function.name(), function.overload())].body = &function.node();
  }

  Size count(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, int depth) {
    Size size;
    const auto add = [&](const Size& part, int calls) {
      size.nodes += part.nodes;
      size.height = std::max(size.height, part.height + calls);
    };
    for (const auto& node : nodes) {
      const auto found = functions_.find(key_of(node.domain(), node.op_type(), node.overload()));
      ++size.nodes;
      if (found != functions_.end()) add(expanded(found->second, node, depth + 1), 1);
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) add(count(attribute.g().node(), depth), 0);
        for (const auto& graph : attribute.graphs()) add(count(graph.node(), depth), 0);
      }
      if (size.nodes > kMaxNodes) refuse(node, "its functions hold more nodes than Octet takes");
      if (size.height > kMaxCallDepth)
        refuse(node, "functions call each other more than " + std::to_string(kMaxCallDepth) + " deep");
    }
    return size;
  }

 private:
  struct Function {
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>* body = nullptr;
    bool open = false;  // being counted: a call from within is a cycle
    std::optional<Size> size;
  };

  [[noreturn]] static void refuse(const onnx::NodeProto& node, const std::string& what) {
    throw Error(ErrorCode::kUnsupported, "call of function '" + node.op_type() + "'", what,
                "export without local functions");
  }

  Size expanded(Function& function, const onnx::NodeProto& call, int depth) {
    if (function.open)
      throw Error(ErrorCode::kMalformed, "function '" + call.op_type() + "'", "it calls itself",
                  "export the model again");
    if (depth > kMaxCallDepth)
      refuse(call, "functions call each other more than " + std::to_string(kMaxCallDepth) + " deep");
    if (!function.size) {
      function.open = true;
      function.size = count(*function.body, depth);
      function.open = false;
    }
    return *function.size;
  }

  std::map<Key, Function> functions_;
};

// Where a function's opset differs from the model's, the inliner converts its body: it trusts what it is given, and
// looks for the types of what goes in and out among the descriptions of values.
void prepare_conversion(onnx::ModelProto& model) {
  const bool differs = std::any_of(model.functions().begin(), model.functions().end(), [&](const auto& function) {
    return std::any_of(function.opset_import().begin(), function.opset_import().end(),
                       [&](const auto& opset) { return opset.version() != opset_of(model, opset.domain()); });
  });
  if (!differs) return;
  sort_nodes(model);
  check_calls(model);
  check_function_bodies(model);
  auto& graph = *model.mutable_graph();
  std::unordered_set<std::string> described;
  for (const auto& value : graph.input()) described.insert(value.name());
  for (const auto& value : graph.value_info()) described.insert(value.name());
  for (const auto& tensor : graph.initializer()) {
    if (!described.insert(tensor.name()).second) continue;
    auto& info = *graph.add_value_info();
    info.set_name(tensor.name());
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    for (const auto dim : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(dim);
  }
  try {
    const onnx::ShapeInferenceOptions options(/*check_type=*/false, /*error_mode=*/0, /*data_prop=*/true);
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception&) {  // what it found until then is what there is
  }
}

}  // namespace

void check_function_calls(const onnx::ModelProto& model) {
  if (model.functions_size() > 0) CallCounter(model).count(model.graph().node(), 0);
}

void run_inline_functions(Model& model, PassReport& report) {
  auto& proto = model.proto();
  report.changes = proto.functions_size();
  if (report.changes == 0) return;
  check_function_calls(proto);
  // Bodies may use domains that the model itself does not import.
  for (const auto& function : proto.functions()) {
    for (const auto& opset : function.opset_import()) {
      if (opset_of(proto, opset.domain()) == 0) require_domain(proto, opset.domain(), opset.version());
    }
  }
  prepare_conversion(proto);
  const NodeMetadata metadata(proto);  // marks among it
  try {
    onnx::inliner::InlineLocalFunctions(proto, /*convert_version=*/true);
    metadata.restore(proto);
  } catch (const std::exception& fault) {
    throw Error(ErrorCode::kUnsupported, model.name, std::string("a local function cannot be inlined: ") + fault.what(),
                "inline it before export");
  }
  if (proto.functions_size() > 0) {
    throw Error(
        ErrorCode::kUnsupported, model.name,
        "function '" + proto.functions(0).name() + "' cannot be inlined (it needs another opset, or calls itself)",
        "inline it before export");
  }
}

}  // namespace octet
