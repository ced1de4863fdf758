// Shape inference and folding on calls of every standard operator that no checker has seen: attributes that are
// missing, of another type or absurd, inputs of any number, rank and content.
#include <gmock/gmock.h>

#include "fuzz/words.h"
#include "model_fixtures.h"
#include "octet/error.h"
#include "octet/prepare.h"
#include "onnx/defs/schema.h"

namespace octet {
namespace {

using onnx::AttributeProto;

constexpr int kTries = 24;  // of each version of each operator

class Calls {
 public:
  explicit Calls(std::uint32_t seed) : state_(seed * 2654435761u + 12345u) {}

  onnx::ModelProto model(const onnx::OpSchema& schema) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    auto& opset = *model.add_opset_import();
    opset.set_version(std::max(schema.SinceVersion(), 7));
    auto& graph = *model.mutable_graph();
    graph.set_name("g");
    auto& node = *graph.add_node();
    node.set_op_type(schema.Name());
    for (int i = 0, count = number_of(schema.min_input(), schema.max_input()); i < count; ++i)
      node.add_input(input(graph, "i" + std::to_string(i)));
    for (int i = 0, count = number_of(schema.min_output(), schema.max_output()); i < count; ++i) {
      node.add_output("o" + std::to_string(i));
      graph.add_output()->set_name(node.output(i));
    }
    for (const auto& [name, wanted] : schema.attributes()) {
      if (below(4) != 0) add_attribute(node, name, wanted.type);
    }
    return model;
  }

 private:
  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % limit;
  }
  std::int64_t number() {
    return below(3) == 0 ? fuzz::kNumbers[below(static_cast<std::uint32_t>(fuzz::kNumbers.size()))]
                         : static_cast<std::int64_t>(below(5)) - 1;
  }
  int number_of(int least, int most) {
    if (below(8) == 0) return static_cast<int>(below(7));
    return least + static_cast<int>(below(static_cast<std::uint32_t>(std::min(most - least, 4) + 1)));
  }

  std::string input(onnx::GraphProto& graph, const std::string& name) {
    switch (below(5)) {
      case 0:
        return "";
      case 1: {
        auto& tensor = *graph.add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(onnx::TensorProto::INT64);
        const auto count = below(5);
        if (count != 1 || below(2) == 0) tensor.add_dims(count);
        for (std::uint32_t i = 0; i < count; ++i) tensor.add_int64_data(number());
        return name;
      }
      default: {
        auto& info = *graph.add_input();
        info.set_name(name);
        if (below(12) == 0) return name;
        auto* type = info.mutable_type();
        if (below(8) == 0) type = type->mutable_sequence_type()->mutable_elem_type();
        auto& tensor = *type->mutable_tensor_type();
        tensor.set_elem_type(below(2) == 0 ? onnx::TensorProto::FLOAT : static_cast<int>(below(24)));
        if (below(8) == 0) return name;
        tensor.mutable_shape();
        for (auto rank = below(6); rank > 0; --rank) {
          auto& dim = *tensor.mutable_shape()->add_dim();
          if (below(4) != 0) dim.set_dim_value(below(8) == 0 ? number() : 1 + below(4));
        }
        return name;
      }
    }
  }

  void add_attribute(onnx::NodeProto& node, const std::string& name, AttributeProto::AttributeType type) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    if (below(8) == 0) type = static_cast<AttributeProto::AttributeType>(1 + below(12));
    attribute.set_type(type);
    if (below(12) == 0) return;
    const auto count = below(5);
    attribute.set_i(type == AttributeProto::INT ? number() : 0);
    attribute.set_f(static_cast<float>(number()));
    const char* const kTexts[] = {"",          "SAME_UPPER", "constant", "forward", "bidirectional",
                                  "ij,jk->ik", "...i,->",    "->"};
    attribute.set_s(kTexts[below(8)]);
    if (type == AttributeProto::TENSOR) {
      auto& tensor = *attribute.mutable_t();
      tensor.set_data_type(onnx::TensorProto::INT64);
      tensor.add_dims(count);
      for (std::uint32_t i = 0; i < count; ++i) tensor.add_int64_data(number());
    }
    if (type == AttributeProto::GRAPH) {
      auto& body = *attribute.mutable_g();
      for (std::uint32_t i = 0; i < count; ++i) body.add_input()->set_name("b" + name + std::to_string(i));
      for (std::uint32_t i = 0, outputs = below(count + 1); i < outputs; ++i)
        body.add_output()->set_name("b" + name + std::to_string(i));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (type == AttributeProto::INTS) attribute.add_ints(number());
      if (type == AttributeProto::FLOATS) attribute.add_floats(static_cast<float>(number()));
      if (type == AttributeProto::STRINGS) attribute.add_strings("forward");
    }
  }

  std::uint32_t state_;
};

TEST(PrepareHostile, CallsOfEveryOperator) {
  std::size_t refused = 0, all = 0;
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (!schema.domain().empty() || schema.SinceVersion() > kMaxOpset) continue;
    SCOPED_TRACE(schema.Name() + " of opset " + std::to_string(schema.SinceVersion()));
    for (std::uint32_t seed = 0; seed < kTries; ++seed, ++all) {
      const auto proto = Calls(seed).model(schema);
      try {
        Model model = fixtures::load(fixtures::to_bytes(proto));
        cover_shapes(model);
        prepare(model);
      } catch (const Error& error) {
        ++refused;
        EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      } catch (const std::exception& fault) {
        ADD_FAILURE() << "seed " << seed << ": " << fault.what();
      }
    }
  }
  EXPECT_LT(refused, all / 2) << "most should get as far as inference";
}

}  // namespace
}  // namespace octet
