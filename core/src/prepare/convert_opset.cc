// onnx's own converter, for nodes alone: all else of a model stays as it is, since the converter drops much of it
// (documentation, metadata, what is noted on stored tensors) and describes values wrongly that it makes. What it does
// to nodes wrongly is done in own_conversions.cc. It sees the skeleton only.
#include <string_view>
#include <unordered_set>

#include "model/graph_view.h"
#include "octet/error.h"
#include "octet/prepare.h"
#include "onnx/version_converter/convert.h"
#include "prepare/check_calls.h"
#include "prepare/node_metadata.h"
#include "prepare/own_conversions.h"
#include "prepare/pass.h"

namespace octet {
namespace {

// What the converter says, without where its sources were when it was compiled.
std::string reason_of(const std::exception& fault) {
  constexpr std::string_view kBefore = "failed: ";
  const std::string text = fault.what();
  const auto at = text.find(kBefore);
  return at == std::string::npos ? text : text.substr(at + kBefore.size());
}

// `graph` gets the nodes of `converted`, whose inner graphs get what the old ones had beside their nodes.
void take_nodes(onnx::GraphProto& graph, onnx::GraphProto& converted) {
  std::vector<onnx::NodeProto*> before, after;
  for (auto& node : *graph.mutable_node()) {
    if (!subgraphs(node).empty()) before.push_back(&node);
  }
  for (auto& node : *converted.mutable_node()) {
    if (!subgraphs(node).empty()) after.push_back(&node);
    if (node.domain().empty()) node.clear_domain();
  }
  const auto mismatch = [] { return Error(ErrorCode::kInternal, {}, "the opset converter lost an inner graph"); };
  if (before.size() != after.size()) throw mismatch();
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (auto& attribute : *after[i]->mutable_attribute()) {
      for (auto& old : *before[i]->mutable_attribute()) {
        if (old.name() != attribute.name() || old.has_g() != attribute.has_g()) continue;
        if (old.graphs_size() != attribute.graphs_size()) throw mismatch();
        for (int k = 0; k < old.graphs_size(); ++k) take_nodes(*old.mutable_graphs(k), *attribute.mutable_graphs(k));
        if (old.has_g()) take_nodes(*old.mutable_g(), *attribute.mutable_g());
        if (old.has_g() || old.graphs_size() > 0) attribute.Swap(&old);
      }
    }
  }
  graph.mutable_node()->Swap(converted.mutable_node());
  std::unordered_set<std::string> stored;
  for (const auto& tensor : graph.initializer()) stored.insert(tensor.name());
  for (const auto& tensor : converted.initializer()) {
    if (!stored.contains(tensor.name())) *graph.add_initializer() = tensor;
  }
}

void set_opset(onnx::ModelProto& model, int version) {
  for (auto& import : *model.mutable_opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") import.set_version(version);
  }
}

}  // namespace

void convert_opset(Model& model, int version) {
  const auto from = opset_of(model.proto());
  if (from == version) return;
  check_calls(model.proto());
  Model work = model.clone();
  if (work.proto().functions_size() > 0) {
    PassReport report;
    run_inline_functions(work, report);
  }
  if (work.proto().ir_version() < 4) work.proto().set_ir_version(4);
  const OwnConversions own(work, from, version);
  const NodeMetadata metadata(work.proto());
  try {
    onnx::ModelProto converted = onnx::version_conversion::ConvertVersion(work.proto(), version);
    take_nodes(*work.proto().mutable_graph(), *converted.mutable_graph());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& fault) {
    throw Error(ErrorCode::kUnsupported, model.name,
                "opset " + std::to_string(from) + " cannot be converted to " + std::to_string(version) + ": " +
                    reason_of(fault),
                "export the model with opset " + std::to_string(version));
  }
  metadata.restore(work.proto());
  set_opset(work.proto(), version);
  own.finish(work);
  model.proto().Swap(&work.proto());
}

}  // namespace octet
