// convert_opset: what onnx's converter drops, does wrongly, or does not reach; and convert_upsample.
#include <gmock/gmock.h>

#include "graph_pictures.h"
#include "prepare/pass.h"
#include "prepare/widened.h"

namespace octet {
namespace {

using pictures::lines;
using pictures::message_of;
using pictures::model_of;
using pictures::picture;
using pictures::stored;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string converted(const std::string& text, int from, int to) {
  Model model = model_of(text, from);
  convert_opset(model, to);
  EXPECT_EQ(opset_of(model.proto()), to);
  EXPECT_NO_THROW(GraphView{model.proto()}) << picture(model);
  return picture(model);
}

std::string refusal(const std::string& text, int from, int to) {
  Model model = model_of(text, from);
  const std::string before = model.proto().SerializeAsString();
  const std::string why = message_of(ErrorCode::kUnsupported, [&] { convert_opset(model, to); });
  EXPECT_EQ(model.proto().SerializeAsString(), before) << "what is refused stays as it was";
  return why;
}

TEST(ConvertOpset, UpsampleBecomesResize) {
  const std::string text =
      "g (float[1,1,n,n] x) => (float[1,1,m,m] y) <float[4] s = {1, 1, 2, 2}> { y = Upsample(x, s) }";
  EXPECT_EQ(converted(text, 9, 10), "\ny = Resize<mode=nearest>(x, s)\n");
  EXPECT_EQ(converted(text, 9, 13),
            "\ny = Resize<coordinate_transformation_mode=asymmetric, mode=nearest, nearest_mode=floor>(x, -, s)\n");
  EXPECT_EQ(converted(text, 9, 11),
            "\ny = Resize<coordinate_transformation_mode=asymmetric, mode=nearest, nearest_mode=floor>(x, y_region, "
            "s)\n");
  EXPECT_EQ(converted("g (float[1,1,n,n] x) => (float[1,1,m,m] y) { y = Upsample<scales = [1.0, 1.0, 2.0, 2.0], mode = "
                      "\"linear\">(x) }",
                      7, 17),
            "\ny = Resize<coordinate_transformation_mode=asymmetric, mode=linear>(x, -, y_scales)\n");
  // Up to 9 it is what it was.
  EXPECT_THAT(
      converted("g (float[1,1,n,n] x) => (float[1,1,m,m] y) { y = Upsample<scales = [1.0, 1.0, 2.0, 2.0]>(x) }", 7, 9),
      HasSubstr("Upsample"));
}

TEST(ConvertOpset, ResizeKeepsItsCoordinates) {
  const auto resize = [](const std::string& scales, const std::string& mode) {
    return "g (float[1,1,n,n] x, float[4] q) => (float[1,1,m,m] y) <float[4] s = {" + scales +
           "}> { y = Resize<mode = \"" + mode + "\">(x, s) }";
  };
  EXPECT_THAT(converted(resize("1, 1, 2, 3", "nearest"), 10, 13), HasSubstr("nearest_mode=floor>(x, -, s)"));
  EXPECT_THAT(converted(resize("1, 1, 0.5, 0.6", "nearest"), 10, 13), HasSubstr("nearest_mode=ceil>(x, -, s)"));
  EXPECT_THAT(converted(resize("1, 1, 0.5, 2", "linear"), 10, 13), HasSubstr("mode=asymmetric, mode=linear>(x, -, s)"));
  EXPECT_THAT(refusal(resize("1, 1, 0.5, 2", "nearest"), 10, 13), HasSubstr("Resize"));
  EXPECT_THAT(refusal("g (float[1,1,n,n] x, float[4] q) => (float[1,1,m,m] y) { [up] y = Resize(x, q) }", 10, 13),
              HasSubstr("'up'"));
}

TEST(ConvertOpset, SoftmaxOfOneAxisStaysOne) {
  const auto softmax = [](const std::string& dims, const std::string& node) {
    return "g (float[" + dims + "] x) => (float[" + dims + "] y) { y = " + node + "(x) }";
  };
  EXPECT_EQ(converted(softmax("n,k", "Softmax"), 11, 13), "\ny = Softmax<axis=-1>(x)\n");
  EXPECT_EQ(converted(softmax("n,k,m", "LogSoftmax<axis = 2>"), 11, 17), "\ny = LogSoftmax<axis=-1>(x)\n");
  EXPECT_EQ(converted(softmax("n,9,1,1", "Softmax"), 11, 13), "\ny = Softmax<axis=1>(x)\n");
  EXPECT_EQ(converted(softmax("n,k", "Hardmax"), 12, 13), "\ny = Hardmax<axis=-1>(x)\n");
  EXPECT_THAT(converted(softmax("n,k,m", "Softmax"), 11, 13), HasSubstr("Flatten<axis=1>(x)")) << "of a whole matrix";
  EXPECT_THAT(refusal(softmax("n,k,m", "Hardmax"), 11, 13), HasSubstr("Hardmax"));
}

TEST(ConvertOpset, DescribesNoValueWrongly) {
  Model model = model_of("g (float[n,k,m] x) => (float[n,k,m] y) { y = Softmax(x) }", 11);
  convert_opset(model, 13);
  EXPECT_EQ(model.proto().graph().value_info_size(), 0) << "the matrix between is no single number";
}

TEST(ConvertOpset, EntersGraphsInside) {
  const std::string branch = R"((c) <then_branch = a () => (float[n,k] z) { d = Clip<min = 0.0>(x) z = Softmax(d) },
                                     else_branch = e () => (float[n,k] z) { z = Neg(x) }> })";
  const auto run = [&](const std::string& op, const std::string& imports) {
    Model model = fixtures::load(pictures::proto_of("<ir_version: 8, opset_import: [\"\" : 10" + imports +
                                                    "]> g (float[n,k] x, bool "
                                                    "c) => (float[n,k] y) { y = " +
                                                    op + branch));
    convert_opset(model, 13);
    return picture(model);
  };
  for (const char* op : {"If", "my.domain.Choose"}) {
    const std::string drawn = run(op, ", \"my.domain\" : 1");
    EXPECT_THAT(drawn, HasSubstr(std::string("y = ") + op + "(c)"));
    EXPECT_THAT(drawn, HasSubstr("Softmax<axis=-1>(d)"));
    EXPECT_THAT(drawn, HasSubstr("d = Clip(x, "));
    EXPECT_THAT(drawn, Not(HasSubstr("octet"))) << drawn;
  }
}

TEST(ConvertOpset, InlinesFunctions) {
  Model model = model_of(R"(<ir_version: 8, opset_import: ["" : 12, "my" : 1]>
    g (float[n,k] x) => (float[n,k] y) { y = my.Soft(x) }
    <opset_import: ["" : 12], domain: "my"> Soft (a) => (b) { b = Softmax<axis = -1>(a) })");
  convert_opset(model, 13);
  EXPECT_EQ(picture(model), "\ny = Softmax<axis=-1>(x)\n");
  EXPECT_EQ(model.proto().functions_size(), 0);
}

TEST(ConvertOpset, KeepsAllThatIsNoNode) {
  auto proto = pictures::proto_of(
      "g (float[n,4] x) => (float[n,4] y) <float[4] w = {1, 2, 3, 4}> { a = Add(x, w) y = Relu(a) }", 11);
  proto.set_doc_string("of the model");
  auto& graph = *proto.mutable_graph();
  graph.set_doc_string("of the graph");
  graph.mutable_input(0)->set_doc_string("of an input");
  graph.mutable_initializer(0)->set_doc_string("of a tensor");
  auto* note = graph.add_metadata_props();
  note->set_key("key");
  note->set_value("value");
  auto* annotation = graph.add_quantization_annotation();
  annotation->set_tensor_name("a");
  auto* scale = annotation->add_quant_parameter_tensor_names();
  scale->set_key("SCALE_TENSOR");
  scale->set_value("w");
  Model model = fixtures::load(proto);
  convert_opset(model, 17);
  const auto& after = model.proto().graph();
  EXPECT_EQ(model.proto().doc_string(), "of the model");
  EXPECT_EQ(after.doc_string(), "of the graph");
  EXPECT_EQ(after.input(0).doc_string(), "of an input");
  EXPECT_EQ(after.initializer(0).doc_string(), "of a tensor");
  EXPECT_EQ(after.metadata_props_size(), 1);
  ASSERT_EQ(after.quantization_annotation_size(), 1);
  EXPECT_EQ(after.quantization_annotation(0).tensor_name(), "a");
}

TEST(ConvertOpset, KeepsTheNarrowFormOfAWidenedWeight) {
  Model model =
      model_of("g (float[n,32] x) => (float[n,64] y) <float16[32,64] w> { v = Cast<to = 1>(w) y = MatMul(x, v) }", 11);
  PassReport report;
  run_fold_constant_casts(model, report);
  ASSERT_EQ(report.changes, 1);
  convert_opset(model, 17);
  run_drop_unused(model, report);
  ASSERT_EQ(stored(model), "\nv: FLOAT[32,64]\n");
  EXPECT_TRUE(narrow_form(model.proto().graph().initializer(0)).has_value());
}

TEST(ConvertOpset, TakesOffWhatOlderReductionsDoNotKnow) {
  EXPECT_EQ(
      converted(
          "g (float[n,4] x) => (float[n,1] y) <int64[1] a = {1}> { y = ReduceMax<noop_with_empty_axes = 0>(x, a) }", 18,
          17),
      "\ny = ReduceMax<axes=[1]>(x)\n");
  EXPECT_THAT(refusal("g (float[n,4] x) => (float[n,4] y) { y = ReduceMax<noop_with_empty_axes = 1>(x) }", 18, 17),
              HasSubstr("ReduceMax"));
}

TEST(ConvertOpset, SaysNothingOfWhereTheConverterWasBuilt) {
  EXPECT_THAT(refusal("g (float[n,4] x) => (float[n,4] y) { y = Gelu(x) }", 20, 13), Not(HasSubstr(".h:")));
}

TEST(ConvertUpsample, WhereTheOpsetHasNone) {
  auto proto = pictures::proto_of(
      "g (float[1,1,n,n] x, bool c) => (float[1,1,m,m] y) <float[4] s = {1, 1, 2, 2}> { a = Upsample(x, s) y = If(c) "
      "<then_branch = t () => (float[1,1,m,m] z) { z = Upsample<scales = [1.0, 1.0, 1.0, 1.0], mode = \"linear\">(a) "
      "}, "
      "else_branch = e () => (float[1,1,m,m] z) { z = Neg(a) }> }",
      13);
  Model model = fixtures::load(proto);
  PassReport report;
  run_convert_upsample(model, report);
  EXPECT_EQ(report.changes, 2);
  EXPECT_EQ(picture(model), lines(R"(
    a = Resize<coordinate_transformation_mode=asymmetric, mode=nearest, nearest_mode=floor>(x, -, s)
    y = If(c)
      then_branch:
        z = Resize<coordinate_transformation_mode=asymmetric, mode=linear>(a, -, z_scales)
      else_branch:
        z = Neg(a))"));
  pictures::expect_sound(model);
}

TEST(ConvertUpsample, Declines) {
  for (const auto& [text, opset] : std::vector<std::pair<std::string, int>>{
           {"g (float[1,1,n,n] x) => (float[1,1,m,m] y) <float[4] s = {1, 1, 2, 2}> { y = Upsample(x, s) }", 9},
           {"g (float[1,1,n,n] x) => (float[1,1,m,m] y) { y = Upsample(x) }", 13},
           {"g (float[1,1,n,n] x) => (float[1,1,m,m] y) { y = Upsample() }", 13}}) {
    Model model = model_of(text, opset);
    PassReport report;
    run_convert_upsample(model, report);
    EXPECT_EQ(report.changes, 0) << text;
  }
}

}  // namespace
}  // namespace octet
