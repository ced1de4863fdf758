// Questions and edits that every pass needs when it looks for a pattern of nodes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/graph_view.h"
#include "model/tensor_access.h"

namespace octet {

// The one node input that reads a value, when nothing else does: no other node, no output of a graph.
const Use* only_use(const Value& value);

// The node that makes a value, with the scope it stands in; nothing for inputs and stored tensors.
std::optional<NodeAt> producer_of(const Value* value);

// The producer of an input when it is such an operator of the standard domain and stands in the same graph.
std::optional<NodeAt> producer_of(const GraphView& view, const NodeAt& at, int input, std::string_view op);

// The types that tensor_as_int64 reads whose values fit there.
bool is_integer_type(int data_type);

// The single element of a stored float or integer tensor of any rank.
std::optional<double> scalar_of(const Model& model, const Value* value);

// The elements of a small stored integer tensor, or of a node's attribute where it has one of that name (older opsets
// keep there what newer ones take as an input). Nothing when they are neither or more than 1024.
std::optional<std::vector<std::int64_t>> constant_ints(const Model& model, const Value* value);
std::optional<std::vector<std::int64_t>> constant_ints(const Model& model, const GraphView& view, const NodeAt& at,
                                                       int input, std::string_view attribute = {});

// Readers of `from` read `to` instead, in subgraphs too. False, and nothing changed, when a reader stands where the
// name of `to` means something else. Outputs of graphs are not touched: the caller asks for from.graph_outputs first.
// The view still lists the readers with `from`.
bool redirect(const GraphView& view, const Value& from, const Value& to);

// Old name → new name. A node reads the new names, and so do its subgraphs unless they define the old one again.
using Renamed = std::unordered_map<std::string, std::string>;
void rename_reads(onnx::NodeProto& node, const Renamed& names);

// Nodes and values that a sweep has changed: what the view says of them is no longer true, so a pattern that needs one
// of them waits for the next sweep.
class Touched {
 public:
  bool any(std::initializer_list<const onnx::NodeProto*> nodes) const;
  bool has(const onnx::NodeProto* node) const { return nodes_.contains(node); }
  void add(const onnx::NodeProto* node) { nodes_.insert(node); }

 private:
  std::unordered_set<const onnx::NodeProto*> nodes_;
};

// Makes `node` another operator: keeps its name, outputs, metadata and documentation, takes the rest anew.
void become(onnx::NodeProto& node, std::string_view op, const std::vector<std::string>& inputs,
            std::string_view domain = {});

// Marks on nodes (metadata) that `from` has and `to` has not: a node that took another one in keeps what was said of
// it.
void inherit_marks(const onnx::NodeProto& from, onnx::NodeProto& to);

}  // namespace octet
