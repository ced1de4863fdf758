// Producers, consumers and scopes of a model's graph and all its nested subgraphs: what passes, rules and reports look
// at. A view holds pointers into the skeleton; build a new one after changing node or initializer lists.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "octet/model.h"
#include "onnx/onnx_pb.h"

namespace octet {

struct Scope;

// One reading of a value by a node input.
struct Use {
  onnx::NodeProto* node = nullptr;
  Scope* scope = nullptr;  // where the node stands, which may be deeper than where the value is defined
  int input = 0;
};

struct Value {
  std::string name;
  Scope* scope = nullptr;
  onnx::NodeProto* producer = nullptr;
  onnx::TensorProto* initializer = nullptr;
  bool graph_input = false;
  int graph_outputs = 0;  // how often it is an output of its own graph
  std::vector<Use> uses;  // in node order

  // Stored in the model and not replaceable by the caller.
  bool constant() const { return initializer != nullptr && !graph_input; }
};

struct Scope {
  onnx::GraphProto* graph = nullptr;
  Scope* parent = nullptr;
  onnx::NodeProto* owner = nullptr;  // the node whose attribute holds this graph
  int depth = 0;
  std::unordered_map<std::string, Value> values;
};

struct NodeAt {
  onnx::NodeProto* node = nullptr;
  Scope* scope = nullptr;
};

class GraphView {
 public:
  // Throws Error(kMalformed) when a name is defined twice in a scope, or read but defined nowhere before.
  explicit GraphView(onnx::ModelProto& model);

  // Outer before inner; the first is the main graph.
  const std::vector<std::unique_ptr<Scope>>& scopes() const { return scopes_; }
  Scope& main() const { return *scopes_.front(); }

  // Every node, subgraphs right after the node that holds them.
  const std::vector<NodeAt>& nodes() const { return nodes_; }

  // The value a name means in a scope: its own, or of an enclosing one. Null when unknown or "".
  Value* find(const Scope& scope, const std::string& name) const;
  Value* input(const NodeAt& at, int index) const;

 private:
  void add_scope(onnx::GraphProto& graph, Scope* parent, onnx::NodeProto* owner);
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<NodeAt> nodes_;
};

// Takes nodes out of their graphs, wherever they stand. The view's nodes and values are void afterwards.
void remove_nodes(const GraphView& view, const std::unordered_set<const onnx::NodeProto*>& nodes);

// Orders the nodes of every graph so that producers come first, keeping the given order where it already does.
// Throws Error(kMalformed) naming a node of a cycle.
void sort_nodes(onnx::ModelProto& model);

// All names of a model, for making new ones that clash with none, in whatever scope they end up.
class NameSet {
 public:
  explicit NameSet(const onnx::ModelProto& model);
  std::string fresh(const std::string& wish);  // `wish`, or `wish_1`, `wish_2` …; taken from then on
  bool contains(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_set<std::string> names_;
};

// A node's name if it is the only one of that name, else "OP(first output)", with "#2" and so on where sibling graphs
// make the same name: stable and unique within a model.
class NodeIds {
 public:
  explicit NodeIds(const GraphView& view);
  // `node` is one of the view's.
  const std::string& of(const onnx::NodeProto& node) const { return ids_.at(&node); }

 private:
  std::unordered_map<const onnx::NodeProto*, std::string> ids_;
};

// Subgraphs of a node, in attribute order.
std::vector<onnx::GraphProto*> subgraphs(onnx::NodeProto& node);

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);
std::int64_t int_attribute(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise);
float float_attribute(const onnx::NodeProto& node, std::string_view name, float otherwise);
void set_attribute(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set_attribute(onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& values);
void set_attribute(onnx::NodeProto& node, const std::string& name, const std::string& value);
void set_float_attribute(onnx::NodeProto& node, const std::string& name, float value);
void drop_attribute(onnx::NodeProto& node, std::string_view name);

// "" and "ai.onnx" are the same domain.
bool is_standard(const onnx::NodeProto& node);
bool is_op(const onnx::NodeProto& node, std::string_view op, std::string_view domain = "");

// Imported version of a domain; 0 when it is not imported.
std::int64_t opset_of(const onnx::ModelProto& model, std::string_view domain = "");
void require_domain(onnx::ModelProto& model, const std::string& domain, std::int64_t version);

}  // namespace octet
