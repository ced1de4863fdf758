// Include and exclude lists are matched against the model as its author named it, before anything is renamed or
// inlined; the marks travel on the nodes (and on copies of function bodies) until the plan is made.
#include <algorithm>
#include <unordered_map>

#include "model/graph_view.h"
#include "octet/error.h"
#include "octet/plan.h"
#include "prepare/pass.h"
#include "quantize/marks.h"

namespace octet {
namespace {

// Glob with * and ?, iterative so that hostile patterns stay linear in practice.
bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]))
      ++p, ++t;
    else if (p < pattern.size() && pattern[p] == '*')
      star = p++, mark = t;
    else if (star != std::string_view::npos)
      p = star + 1, t = ++mark;
    else
      return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

struct Pattern {
  std::string_view text;
  bool used = false;
};

bool matches(Pattern& pattern, const onnx::NodeProto& node) {
  constexpr std::string_view kByType = "op:";
  bool found = false;
  if (pattern.text.starts_with(kByType)) {
    found = glob_match(pattern.text.substr(kByType.size()), node.op_type());
  } else {
    found = !node.name().empty() && (pattern.text == node.name() || glob_match(pattern.text, node.name()));
    for (const auto& output : node.output()) {
      found = found || (!output.empty() && pattern.text == node.op_type() + "(" + output + ")");
    }
  }
  pattern.used = pattern.used || found;
  return found;
}

class Selector {
 public:
  Selector(onnx::ModelProto& model, std::vector<Pattern>& patterns, const char* mark)
      : model_(model), patterns_(patterns), mark_(mark) {}

  void run() {
    mark_graph(*model_.mutable_graph());
    // Bodies: nodes named by a list, whoever calls them.
    const int count = model_.functions_size();  // copies made on the way are complete already
    for (int i = 0; i < count; ++i) {
      for (auto& node : *model_.mutable_functions(i)->mutable_node()) visit(node);
    }
  }

 private:
  void mark_graph(onnx::GraphProto& graph) {
    for (auto& node : *graph.mutable_node()) visit(node);
  }

  void visit(onnx::NodeProto& node) {
    bool listed = false;
    for (Pattern& pattern : patterns_) listed = matches(pattern, node) || listed;
    if (listed) mark(node);
    for (onnx::GraphProto* inner : subgraphs(node)) mark_graph(*inner);
  }

  void mark(onnx::NodeProto& node) {
    set_mark(node, mark_);
    for (onnx::GraphProto* inner : subgraphs(node)) {
      for (auto& child : *inner->mutable_node()) mark(child);
    }
    for (int i = 0; i < model_.functions_size(); ++i) {
      if (model_.functions(i).name() != node.op_type() || model_.functions(i).domain() != node.domain()) continue;
      // Only this call is named: it gets a body of its own, marked, which inlining then copies.
      const std::string name = model_.functions(i).name() + "__" + mark_ + std::to_string(copies_++);
      onnx::FunctionProto copy = model_.functions(i);
      copy.set_name(name);
      node.set_op_type(name);
      for (auto& child : *copy.mutable_node()) mark(child);
      *model_.add_functions() = std::move(copy);
      return;
    }
  }

  onnx::ModelProto& model_;
  std::vector<Pattern>& patterns_;
  std::string mark_;
  int copies_ = 0;
};

void apply_list(onnx::ModelProto& model, const std::vector<std::string>& list, const char* mark, const char* option) {
  if (list.empty()) return;
  std::vector<Pattern> patterns;
  for (const std::string& entry : list) patterns.push_back({entry});
  Selector(model, patterns, mark).run();
  for (const Pattern& pattern : patterns) {
    if (!pattern.used) {
      throw Error(ErrorCode::kUsage, std::string(option) + " '" + std::string(pattern.text) + "'",
                  "no node of the model has this name",
                  "octet inspect --nodes lists them; globs (* ?) and op:TYPE work too");
    }
  }
}

// By what the author's nodes are called: a MatMul that preparation makes a Gemm stays one that was asked for.
void mark_types(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const std::vector<std::string>& types) {
  for (auto& node : nodes) {
    if (std::find(types.begin(), types.end(), node.op_type()) != types.end()) set_mark(node, kTypeMark);
    for (onnx::GraphProto* inner : subgraphs(node)) mark_types(*inner->mutable_node(), types);
  }
}

}  // namespace

void select_nodes(Model& model, const PlanOptions& options) {
  clear_marks(model.proto());  // none but these count
  check_function_calls(model.proto());
  apply_list(model.proto(), options.nodes_to_exclude, kExcludeMark, "--nodes-to-exclude");
  apply_list(model.proto(), options.nodes_to_quantize, kIncludeMark, "--nodes-to-quantize");
  if (options.op_types.empty()) return;
  mark_types(*model.proto().mutable_graph()->mutable_node(), options.op_types);
  for (auto& function : *model.proto().mutable_functions()) mark_types(*function.mutable_node(), options.op_types);
}

}  // namespace octet
