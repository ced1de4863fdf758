// Accuracy by labels.json: both forms, what is not judged, and why labels are of no use.
#include "data/labels_file.h"

#include <gmock/gmock.h>

#include <limits>

#include "engine/verify.h"
#include "tiny_models.h"

namespace octet {
namespace {

using testing::HasSubstr;

const Sample kRight = {{"y", tiny::floats({2, 3}, {0, 1, 0, 5, 2, 5})}};  // rows choose 1 and 0
const Sample kOther = {{"y", tiny::floats({2, 3}, {0, 1, 0, 5, 2, 9})}};  // rows choose 1 and 2
const Sample kTwo = {{"y", kRight.at("y")}, {"z", kRight.at("y")}};

class Labels : public testing::Test {
 protected:
  AccuracyMeter meter(const std::string& text) {
    tiny::write(folder_ / "labels.json", {text.begin(), text.end()});
    return labels_beside(folder_.path);
  }

  tiny::Folder folder_;
};

TEST_F(Labels, CountsRowsOfFilesByName) {
  AccuracyMeter judged = meter(R"({"output": "y", "labels": {"b.npz": [1, 2], "a.npz": [[0], [0]]}})");
  judged.add(0, "a.npz", kRight, kOther);
  judged.add(1, "b.npz", kRight, kOther);
  judged.add(2, "unlabelled.npz", kRight, kOther);
  const auto accuracy = judged.result();
  ASSERT_TRUE(accuracy) << judged.why_not();
  EXPECT_EQ(accuracy->output, "y");
  EXPECT_EQ(accuracy->rows, 4u);
  EXPECT_EQ(accuracy->reference, 0.5);  // a: second row, b: first row
  EXPECT_EQ(accuracy->candidate, 0.5);  // b: both rows
}

TEST_F(Labels, TakesAListInFileOrderAndTheOnlyOutputThatFits) {
  AccuracyMeter judged = meter("[[1, -100], null, [null, 0]]");
  for (std::size_t i = 0; i < 3; ++i) judged.add(i, "any", kRight, kOther);
  const auto accuracy = judged.result();
  ASSERT_TRUE(accuracy) << judged.why_not();
  EXPECT_EQ(accuracy->output, "y");
  EXPECT_EQ(accuracy->rows, 2u);
  EXPECT_EQ(accuracy->reference, 1);
  EXPECT_EQ(accuracy->candidate, 0.5);
}

TEST_F(Labels, OneNumberIsTheLabelOfOneRow) {
  const Sample one = {{"y", tiny::floats({1, 2}, {0, 1})}, {"wide", tiny::floats({1, 1}, {0})}};
  AccuracyMeter judged = meter("[1, 0]");
  judged.add(0, "", one, one);
  judged.add(1, "", one, one);
  ASSERT_TRUE(judged.result()) << judged.why_not();
  EXPECT_EQ(judged.result()->reference, 0.5);
}

TEST_F(Labels, NotANumberIsNeverChosen) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  AccuracyMeter judged = meter("[2]");
  const Sample half = {{"y", tiny::floats({1, 3}, {kNan, 1, 2})}};
  judged.add(0, "", half, half);
  ASSERT_TRUE(judged.result());
  EXPECT_EQ(judged.result()->candidate, 1);
}

TEST_F(Labels, SaysWhyTheyAreOfNoUse) {
  const auto why = [&](const std::string& text, const Sample& reference, const Sample& candidate) {
    AccuracyMeter judged = meter(text);
    judged.add(0, "a.npz", reference, candidate);
    EXPECT_FALSE(judged.result());
    return judged.why_not();
  };
  EXPECT_THAT(why("[[1", kRight, kRight), HasSubstr("neither a list nor"));
  EXPECT_THAT(why("{\"labels\": 3}", kRight, kRight), HasSubstr("neither a list nor"));
  EXPECT_THAT(why("[\"YD91A\"]", kRight, kRight), HasSubstr("something else than whole numbers"));
  EXPECT_THAT(why("[[1.5, 0]]", kRight, kRight), HasSubstr("something else than whole numbers"));
  EXPECT_THAT(why("[[1]]", kRight, kRight), HasSubstr("output 'y' has 2 rows, the labels 1"));
  EXPECT_THAT(why("[[1, 3]]", kRight, kRight), HasSubstr("chooses among 3, a label is 3"));
  EXPECT_THAT(why("[[1, 2]]", kTwo, kTwo), HasSubstr("'y' and 'z' both fit"));
  EXPECT_THAT(why(R"({"output": "z", "labels": {"a.npz": [1, 2]}})", kRight, kRight),
              HasSubstr("which the reference has not"));
  EXPECT_THAT(why(R"({"output": "z", "labels": {"a.npz": [1, 2]}})", kTwo, kRight),
              HasSubstr("which the candidate has not"));
  EXPECT_EQ(why("[]", kRight, kRight), "");
  EXPECT_EQ(why(R"({"labels": {}})", kRight, kRight), "");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(why(deep, kRight, kRight), HasSubstr("something else"));
  EXPECT_EQ(labels_beside(folder_ / "nowhere").why_not(), "");
}

TEST_F(Labels, VerificationReportsAccuracyAndSurvivesJson) {
  const std::filesystem::path data = std::filesystem::path(OCTET_TESTS_DIR) / "data";
  VerifyJob job;
  job.float_model = job.candidate = data / "digits_cnn.onnx";
  job.data = data / "digits_cnn/eval";
  job.latency_seconds = 0;
  const VerifyResult result = verify(job);
  ASSERT_TRUE(result.accuracy) << result.accuracy_why_not;
  EXPECT_EQ(result.accuracy->rows, 360u);
  EXPECT_GT(result.accuracy->reference, 0.97);
  EXPECT_EQ(result.accuracy->reference, result.accuracy->candidate);
  EXPECT_EQ(to_json(verify_result_from_json(to_json(result))), to_json(result));
}

}  // namespace
}  // namespace octet
