#include "engine/engine.h"

#include <gmock/gmock.h>

#include <cstring>

#include "error_of.h"
#include "tiny_models.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Engine, RunsWithAndWithoutOptimizations) {
  for (const bool optimize : {true, false}) {
    const Session session = Session::from_bytes(tiny::matmul(), {.optimize = optimize});
    const Sample out = session.run({{"x", tiny::floats({1, 4}, {1, 0, 0, 2})}});
    EXPECT_THAT(out.at("y").dims, ElementsAre(1, 3));
    // Rows 0 and 3 of W: -1 -0.75 -0.5 and 1.25 1.5 1.75.
    EXPECT_THAT(to_float(out.at("y")), ElementsAre(2.0f, 2.25f, 2.5f));
  }
}

TEST(Engine, TellsInputsAndOutputs) {
  const Session session = Session::from_bytes(tiny::matmul(), {});
  ASSERT_EQ(session.inputs().size(), 1u);
  const ValueInfo& input = session.inputs()[0];
  EXPECT_EQ(input.name, "x");
  EXPECT_EQ(input.type, kFloat);
  EXPECT_THAT(input.dims, ElementsAre(-1, 4));
  EXPECT_THAT(input.symbols, ElementsAre("batch", ""));
  EXPECT_TRUE(input.is_tensor);
  EXPECT_EQ(session.outputs().at(0).name, "y");
}

TEST(Engine, PassesEveryElementTypeThrough) {
  struct Case {
    int type;
    std::size_t size;
  };
  for (const auto& [type, size] : {Case{kFloat, 4},
                                   {kDouble, 8},
                                   {kFloat16, 2},
                                   {kBfloat16, 2},
                                   {kBool, 1},
                                   {kInt8, 1},
                                   {kUint8, 1},
                                   {kInt16, 2},
                                   {kUint16, 2},
                                   {kInt32, 4},
                                   {kUint32, 4},
                                   {kInt64, 8},
                                   {kUint64, 8}}) {
    SCOPED_TRACE(type);
    const Session session = Session::from_bytes(tiny::identity(type, {2, -1}), {});
    Tensor tensor{type, {2, 3}, tiny::Bytes(6 * size, 1)};
    const Sample out = session.run({{"in", tensor}});
    EXPECT_EQ(out.at("out").type, type);
    EXPECT_EQ(out.at("out").bytes, tensor.bytes);
  }
}

TEST(Engine, RunsScalarsAndEmptyTensors) {
  const Session scalar = Session::from_bytes(tiny::identity(kInt64, {}), {});
  const Sample out = scalar.run({{"in", tiny::ints({}, {7})}});
  EXPECT_TRUE(out.at("out").dims.empty());
  EXPECT_EQ(out.at("out").bytes, tiny::ints({}, {7}).bytes);

  const Session empty = Session::from_bytes(tiny::identity(kFloat, {-1, 3}), {});
  const Sample none = empty.run({{"in", tiny::floats({0, 3}, {})}});
  EXPECT_THAT(none.at("out").dims, ElementsAre(0, 3));
  EXPECT_TRUE(none.at("out").bytes.empty());
}

TEST(Engine, NamesTheInputThatDoesNotFit) {
  const Session session = Session::from_bytes(tiny::matmul(), {});
  EXPECT_THAT(error_of(ErrorCode::kData, [&] { session.run({}); }), HasSubstr("lacks input 'x'"));
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         session.run({{"x", tiny::ints({1, 4}, {1, 2, 3, 4})}});
                       }),
              HasSubstr("input 'x' is int64 [1,4], the model wants float32 [-1,4]"));
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         session.run({{"x", tiny::floats({1, 5}, {1, 2, 3, 4, 5})}});
                       }),
              HasSubstr("float32 [1,5], the model wants float32 [-1,4]"));
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         session.run({{"x", tiny::floats({2, 4}, {1, 2, 3, 4})}});
                       }),
              HasSubstr("holds 16 bytes instead of 32"));
  const Session text = Session::from_bytes(tiny::identity(kString, {1}), {});
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         text.run({{"in", Tensor{kString, {1}, {}}}});
                       }),
              HasSubstr("no tensor of numbers"));
}

TEST(Engine, RunsOnlyTheOutputsAskedFor) {
  const Session session = Session::from_bytes(tiny::matmul(), {});
  const Sample input{{"x", tiny::floats({1, 4}, {1, 2, 3, 4})}, {"label", tiny::ints({1}, {0})}};
  EXPECT_EQ(session.run(input, {"y"}).size(), 1u);
  EXPECT_THAT(error_of(ErrorCode::kRun, [&] { session.run(input, {"z"}); }), HasSubstr("no output 'z'"));
  EXPECT_GE(session.time_run(input), 0);
}

TEST(Engine, SaysInOneLineWhyAModelDoesNotLoadOrRun) {
  const std::string load = error_of(ErrorCode::kRun, [] { Session::from_bytes(tiny::custom_operator(), {}); });
  EXPECT_THAT(load, HasSubstr("does not load"));
  EXPECT_EQ(load.find('\n'), std::string::npos);
  const Session session = Session::from_bytes(tiny::fixed_reshape(), {});
  EXPECT_THAT(error_of(ErrorCode::kRun,
                       [&] {
                         session.run({{"signal", tiny::floats({1, 2}, {1, 2})}});
                       }),
              HasSubstr("the run failed"));
  error_of(ErrorCode::kRead, [] { Session::from_file("/nowhere/model.onnx", {}); });
  error_of(ErrorCode::kRun, [] { Session::from_bytes(tiny::Bytes{1, 2, 3}, {}); });
}

TEST(Engine, FindsExternalData) {
  const tiny::Folder folder;
  tiny::Bytes external;
  const tiny::Bytes model = tiny::matmul_external("weights.bin", external);
  tiny::write(folder / "model.onnx", model);
  tiny::write(folder / "weights.bin", external);
  const Sample input{{"x", tiny::floats({1, 4}, {1, 0, 0, 2})}};
  EXPECT_THAT(to_float(Session::from_file(folder / "model.onnx", {}).run(input).at("y")),
              ElementsAre(2.0f, 2.25f, 2.5f));
  const Session from_bytes = Session::from_bytes(model, {.external_folder = folder.path});
  EXPECT_THAT(to_float(from_bytes.run(input).at("y")), ElementsAre(2.0f, 2.25f, 2.5f));
}

TEST(Engine, KnowsItsVersion) { EXPECT_THAT(runtime_version(), testing::StartsWith("1.")); }

}  // namespace
}  // namespace octet
