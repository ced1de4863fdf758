// If, Loop and Scan, whose bodies read what is around them.
#include <algorithm>

#include "random_graph.h"

namespace octet::random_graphs {
namespace {

constexpr int kDeepest = 2;

Value mean_of_all(Builder& b, const Value& x) {
  return b.add("ReduceMean", {x.name}, kFloat, {}, {attribute("keepdims", 0)});
}

// What a body did, brought into the shape of x: x plus the mean of something that was made there.
Value gathered_up(Builder& body, const Value& x) {
  for (int steps = body.random.between(0, 3), tries = 0; steps > 0 && tries < 12; ++tries)
    steps -= add_random(body) ? 1 : 0;
  const auto made = body.pick([&](const Value& v) {
    return v.is_float() && !v.stored &&
           std::any_of(body.values.begin(), body.values.end(), [&](const Value& mine) { return mine.name == v.name; });
  });
  const Value half = body.add("Mul", {x.name, body.scalar(kFloat, 0.5).name}, kFloat, x.dims);
  if (!made || body.random.chance(0.2)) return half;
  return body.add("Add", {half.name, mean_of_all(body, *made).name}, kFloat, x.dims);
}

onnx::GraphProto finished(Builder& body, const char* name, const std::vector<Value>& inputs,
                          const std::vector<Value>& outputs) {
  onnx::GraphProto graph = body.graph;
  graph.set_name(name);
  for (const Value& value : inputs) *graph.add_input() = value_info(value, body.random.chance(0.5));
  for (const Value& value : outputs) *graph.add_output() = value_info(value, body.random.chance(0.5));
  return graph;
}

struct Condition {
  std::string name;
  std::optional<bool> known;
};

Condition condition_of(Builder& b) {
  const bool truth = b.random.chance(0.5);
  switch (b.random.below(4)) {
    case 0:
      return {b.scalar(kBool, truth ? 1 : 0).name, truth};
    case 1: {  // a question about a dimension that is fixed
      const auto x = b.pick([](const Value& v) { return v.rank() >= 1 && fixed(v.dims.back()); });
      if (!x) break;
      const Value shape = b.add("Shape", {x->name}, kInt64, {same(static_cast<std::int64_t>(x->rank()))});
      const Value dim =
          b.add("Gather", {shape.name, b.scalar(kInt64, static_cast<double>(x->rank() - 1)).name}, kInt64, {});
      const Value asked = b.scalar(kInt64, static_cast<double>(x->dims.back()[0] + (truth ? 0 : 1)));
      return {b.add("Equal", {dim.name, asked.name}, kBool, {}).name, truth};
    }
    case 2: {
      const auto flag = b.pick([](const Value& v) { return v.name == "flag"; });
      if (flag) return {flag->name, std::nullopt};
      break;
    }
    default:
      break;
  }
  const auto x = b.pick_float();
  if (!x) return {b.scalar(kBool, 1).name, true};
  return {b.add("Greater", {mean_of_all(b, *x).name, b.scalar(kFloat, 0.01).name}, kBool, {}).name, std::nullopt};
}

bool branch(Builder& b) {
  if (b.depth() >= kDeepest) return false;
  const auto x = b.pick_float();
  if (!x) return false;
  const Condition condition = condition_of(b);
  onnx::GraphProto graphs[2];
  for (const bool taken : {true, false}) {
    Builder body(b);
    Value result = gathered_up(body, *x);
    // What is never taken may have any shape.
    if (condition.known && *condition.known != taken && body.random.chance(0.4)) {
      const std::vector<std::int64_t> axes = {0};
      result = b.opset < 13 ? body.add("Unsqueeze", {result.name}, kFloat, {}, {attribute("axes", axes)})
                            : body.add("Unsqueeze", {result.name, body.ints(axes).name}, kFloat, {});
      graphs[taken] = body.graph;
      graphs[taken].set_name("other");
      *graphs[taken].add_output() = value_info(result, false);
    } else {
      graphs[taken] = finished(body, taken ? "then" : "else", {}, {result});
    }
  }
  b.add("If", {condition.name}, kFloat, x->dims,
        {attribute("then_branch", graphs[1]), attribute("else_branch", graphs[0])});
  return true;
}

bool loop(Builder& b) {
  if (b.depth() >= kDeepest) return false;
  const auto x = b.pick_float();
  if (!x) return false;
  const std::int64_t trips = b.random.between(1, 3);
  const bool scans = b.random.chance(0.4);
  Builder body(b);
  const Value count = body.input(body.new_name("i"), kInt64, {}), go = body.input(body.new_name("g"), kBool, {});
  const Value state = body.input(body.new_name("s"), kFloat, x->dims);
  const Value next = gathered_up(body, state);
  const Value again = body.random.chance(0.5) ? body.add("Identity", {go.name}, kBool, {})
                                              : body.add("Identity", {body.scalar(kBool, 1).name}, kBool, {});
  std::vector<Value> outputs = {again, next};
  std::vector<std::pair<int, Sizes>> made = {{kFloat, x->dims}};
  if (scans) {
    outputs.push_back(mean_of_all(body, next));
    made.emplace_back(kFloat, Sizes{same(trips)});
  }
  const auto graph = finished(body, "loop", {count, go, state}, outputs);
  const std::string more = b.random.chance(0.5) ? "" : b.scalar(kBool, 1).name;
  b.add_all("Loop", {b.scalar(kInt64, static_cast<double>(trips)).name, more, x->name}, made,
            {attribute("body", graph)});
  return true;
}

bool scan(Builder& b) {
  if (b.depth() >= kDeepest) return false;
  const auto x = b.pick_float(2, 4), start = b.pick_float(0, 3);
  if (!x || !start) return false;
  Builder body(b);
  const Value state = body.input(body.new_name("s"), kFloat, start->dims);
  const Value slice = body.input(body.new_name("x"), kFloat, Sizes(x->dims.begin() + 1, x->dims.end()));
  const Value next = gathered_up(body, state);
  const Value sum = body.add("Add", {slice.name, mean_of_all(body, next).name}, kFloat, slice.dims);
  const auto graph = finished(body, "scan", {state, slice}, {next, sum});
  b.add_all("Scan", {start->name, x->name}, {{kFloat, start->dims}, {kFloat, x->dims}},
            {attribute("body", graph), attribute("num_scan_inputs", 1)});
  return true;
}

}  // namespace

const std::vector<Maker>& control_makers() {
  static const std::vector<Maker> makers = {{"If", 5, branch}, {"Loop", 2, loop}, {"Scan", 1, scan}};
  return makers;
}

}  // namespace octet::random_graphs
