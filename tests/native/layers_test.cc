// Layers compared on a model that Octet quantizes here, in every format.
#include "engine/layers.h"

#include <gmock/gmock.h>

#include <cmath>

#include "data/mapped_file.h"
#include "engine/calibrate.h"
#include "octet/quantizer.h"
#include "tiny_models.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

const fs::path kModel = fs::path(OCTET_TESTS_DIR) / "data/digits_cnn.onnx";
const fs::path kData = fs::path(OCTET_TESTS_DIR) / "data/digits_cnn/eval";

class Layers : public testing::Test {
 protected:
  static Model load(const fs::path& path) {
    return load_model(open_file(path), path.filename().string(), external_beside(path));
  }

  LayersJob job(const PlanOptions& options) {
    Quantizer quantizer(load(kModel), options);
    if (options.mode == Mode::kStatic) {
      const auto samples = open_samples(kData, inputs_of(quantizer.model()));
      quantizer.set_ranges(run_calibration(quantizer.model(), quantizer.taps(), *samples).ranges);
    }
    plan_ = quantizer.plan();
    MemorySink sink;
    save_model(quantizer.apply(quantizer.plan()), sink);
    tiny::write(folder_ / "quantized.onnx", sink.bytes());
    LayersJob result;
    result.reference = kModel;
    result.candidate = folder_ / "quantized.onnx";
    result.data = kData;
    result.samples.limit = 3;
    return result;
  }

  tiny::Folder folder_;
  Plan plan_;
};

PlanOptions options(Mode mode, Format format = Format::kQdq) {
  PlanOptions result;
  result.mode = mode;
  result.format = format;
  result.target = Target::kX64;
  return result;
}

TEST_F(Layers, EveryRoundingOfAStaticModelIsFound) {
  const LayersResult result = compare_layers(job(options(Mode::kStatic)));
  EXPECT_EQ(result.samples, 3u);
  EXPECT_GT(result.rounded, 5);
  EXPECT_EQ(result.rounded_matched, result.rounded);
  std::size_t rounded = 0;
  for (const LayerDrift& layer : result.layers) {
    EXPECT_TRUE(layer.model.comparable) << layer.pair.name << ": " << layer.model.why_not;
    EXPECT_GT(layer.model.sqnr_db, 20) << layer.pair.name;
    if (!layer.rounding) continue;
    ++rounded;
    EXPECT_TRUE(layer.rounding->comparable) << layer.pair.name;
    if (layer.pair.op == "MaxPool" || layer.pair.op == "Flatten") {
      EXPECT_EQ(layer.rounding->sqnr_db, kSqnrEqual) << layer.pair.name << " carries on what is rounded already";
      continue;
    }
    // Eight bits over a range that holds every value: a Relu's missing negatives would show as a few dB.
    EXPECT_GT(layer.rounding->sqnr_db, 30) << layer.pair.name;
    EXPECT_LT(layer.rounding->sqnr_db, 70) << layer.pair.name;
  }
  EXPECT_EQ(static_cast<int>(rounded), result.rounded);
  EXPECT_GE(result.weights.size(), plan_.tensors.size());
  for (const WeightDrift& weight : result.weights) EXPECT_GT(weight.sqnr_db, 30) << weight.name;
}

TEST_F(Layers, AreSortedByWhatTheirOwnRoundingLoses) {
  const LayersResult result = compare_layers(job(options(Mode::kStatic)));
  for (std::size_t i = 1; i < result.layers.size(); ++i) {
    const LayerDrift &before = result.layers[i - 1], &after = result.layers[i];
    if (before.rounding && after.rounding)
      EXPECT_LE(before.rounding->sqnr_db, after.rounding->sqnr_db);
    else
      EXPECT_FALSE(after.rounding) << "those without rounding come last";
  }
  for (std::size_t i = 1; i < result.weights.size(); ++i)
    EXPECT_LE(result.weights[i - 1].sqnr_db, result.weights[i].sqnr_db);
}

TEST_F(Layers, OperatorsInIntegersShowWhatIsFloat) {
  const LayersResult result = compare_layers(job(options(Mode::kStatic, Format::kQOperator)));
  EXPECT_FALSE(result.layers.empty());
  for (const LayerDrift& layer : result.layers) EXPECT_GT(layer.model.sqnr_db, 20) << layer.pair.name;
  EXPECT_GE(result.weights.size(), plan_.tensors.size());
}

TEST_F(Layers, WithoutRoundingValuesAreComparedByName) {
  for (const Mode mode : {Mode::kDynamic, Mode::kWeights}) {
    const LayersResult result = compare_layers(job(options(mode)));
    EXPECT_EQ(result.rounded, 0);
    EXPECT_GE(result.layers.size(), 12u);
    for (const LayerDrift& layer : result.layers) EXPECT_FALSE(layer.rounding);
    EXPECT_EQ(result.weights.size(), plan_.tensors.size());
    EXPECT_EQ(result.weights_unmatched, 0);
  }
}

TEST_F(Layers, AModelAgainstItselfIsEqual) {
  LayersJob same = job(options(Mode::kWeights));
  same.candidate = kModel;
  const LayersResult result = compare_layers(same);
  EXPECT_FALSE(result.prepared) << "the plain form has more of its values";
  EXPECT_EQ(result.layers.size() + 1, static_cast<std::size_t>(result.float_values)) << "all but the input";
  for (const LayerDrift& layer : result.layers) EXPECT_EQ(layer.model.sqnr_db, kSqnrEqual) << layer.pair.name;
  EXPECT_TRUE(result.weights.empty());
}

TEST_F(Layers, SlicesChangeNothing) {
  LayersJob whole = job(options(Mode::kStatic));
  const LayersResult expected = compare_layers(whole);
  EXPECT_EQ(expected.slices, 1u);
  whole.memory_budget = 1 << 16;
  double last = 0;
  whole.progress = [&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
  };
  const LayersResult sliced = compare_layers(whole);
  EXPECT_GT(sliced.slices, 3u);
  EXPECT_EQ(last, 1);
  ASSERT_EQ(sliced.layers.size(), expected.layers.size());
  for (std::size_t i = 0; i < sliced.layers.size(); ++i) {
    EXPECT_EQ(sliced.layers[i].pair.name, expected.layers[i].pair.name);
    EXPECT_EQ(sliced.layers[i].model.sqnr_db, expected.layers[i].model.sqnr_db);
  }
}

}  // namespace
}  // namespace octet
