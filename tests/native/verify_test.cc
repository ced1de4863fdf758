// Verification and timing, in this process and in one of their own.
#include "engine/verify.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "engine/bench.h"
#include "engine/child_process.h"
#include "octet/error.h"
#include "tiny_models.h"

namespace octet {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class Verify : public testing::Test {
 protected:
  VerifyJob job(const tiny::Bytes& float_model, const tiny::Bytes& candidate) {
    tiny::write(folder_ / "float.onnx", float_model);
    tiny::write(folder_ / "int8.onnx", candidate);
    VerifyJob job;
    job.float_model = folder_ / "float.onnx";
    job.candidate = folder_ / "int8.onnx";
    job.latency_seconds = 0.05;
    return job;
  }

  tiny::Folder folder_;
};

TEST_F(Verify, MeasuresDriftConsistencyAndTime) {
  const VerifyResult result = verify(job(tiny::matmul(), tiny::matmul(0.01f)));
  EXPECT_TRUE(result.verified) << result.why;
  EXPECT_TRUE(result.loads);
  EXPECT_TRUE(result.runs);
  EXPECT_TRUE(result.synthetic);
  EXPECT_EQ(result.samples, 2u);
  EXPECT_THAT(result.samples_description, HasSubstr("x float32 [1,4]"));
  ASSERT_THAT(result.drift, SizeIs(1));
  EXPECT_EQ(result.drift[0].name, "y");
  EXPECT_GT(result.worst_sqnr_db, 20);
  EXPECT_LT(result.worst_sqnr_db, 80);
  EXPECT_GT(result.consistency_sqnr_db, 100);
  EXPECT_TRUE(result.finite);
  ASSERT_TRUE(result.latency);
  EXPECT_GE(result.latency->baseline.runs, 10u);
  EXPECT_GT(result.latency->speedup.ratio, 0);
  EXPECT_GT(result.peak_bytes, 1u << 20);
  EXPECT_THAT(result.runtime, testing::StartsWith("1."));
}

TEST_F(Verify, SurvivesItsJsonForm) {
  VerifyJob wanted = job(tiny::matmul(), tiny::matmul(0.01f));
  wanted.synthetic.dims = {{"batch", 3}};
  wanted.data = "some/where";
  EXPECT_EQ(to_json(verify_job_from_json(to_json(wanted))), to_json(wanted));
  wanted.data.reset();
  VerifyResult result = verify(wanted);
  EXPECT_EQ(to_json(verify_result_from_json(to_json(result))), to_json(result));
  result.worst_sqnr_db = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(to_json(result)["worst_sqnr_db"].is_null());
}

TEST_F(Verify, SaysWhenTheCandidateDoesNotLoad) {
  const VerifyResult result = verify(job(tiny::matmul(), tiny::custom_operator()));
  EXPECT_TRUE(result.verified);
  EXPECT_FALSE(result.loads);
  EXPECT_THAT(result.error, HasSubstr("does not load"));
}

TEST_F(Verify, SaysWhenTheCandidateDoesNotRun) {
  const VerifyResult result = verify(job(tiny::matmul(), tiny::fixed_reshape()));
  EXPECT_TRUE(result.verified);
  EXPECT_TRUE(result.loads);
  EXPECT_FALSE(result.runs);
  EXPECT_THAT(result.error, HasSubstr("lacks input 'signal'"));
}

TEST_F(Verify, SaysWhatStoodInTheWay) {
  VerifyResult result = verify(job(tiny::custom_operator(), tiny::matmul()));
  EXPECT_FALSE(result.verified);
  EXPECT_TRUE(result.loads);
  EXPECT_THAT(result.why, HasSubstr("the float model does not load"));

  VerifyJob small = job(tiny::matmul(), tiny::matmul());
  small.memory_limit = 100;
  result = verify(small);
  EXPECT_FALSE(result.verified);
  EXPECT_THAT(result.why, HasSubstr("memory"));

  VerifyJob unfit = job(tiny::fixed_reshape(), tiny::fixed_reshape());
  unfit.synthetic.dims = {{"length", 5}};
  result = verify(unfit);
  EXPECT_FALSE(result.verified);
  EXPECT_THAT(result.why, HasSubstr("--dim NAME=N"));
}

TEST_F(Verify, NoticesWhatIsNotFinite) {
  const VerifyResult result = verify(job(tiny::matmul(), tiny::not_finite()));
  EXPECT_TRUE(result.runs) << result.error;
  EXPECT_FALSE(result.finite);
  EXPECT_EQ(result.worst_sqnr_db, -kSqnrEqual);
}

TEST_F(Verify, RunsInAChildWithTheSameDrift) {
  const VerifyJob wanted = job(tiny::matmul(), tiny::matmul(0.01f));
  const VerifyResult here = verify(wanted), there = verify_in_child(wanted);
  EXPECT_TRUE(there.verified) << there.why;
  EXPECT_EQ(there.worst_sqnr_db, here.worst_sqnr_db);
  EXPECT_GT(there.peak_bytes, 1u << 20);
  EXPECT_GT(there.seconds, 0);
}

TEST_F(Verify, ValuesBetweenNodesAreSeenByRunning) {
  VerifyJob wanted = job(tiny::token_table(), tiny::token_table());
  wanted.probe = {"rows", "mask"};
  for (const VerifyResult& result : {verify(wanted), verify_in_child(wanted)}) {
    ASSERT_THAT(result.probed, SizeIs(2)) << result.why;
    EXPECT_EQ(result.probed.at("rows").type, kFloat);
    EXPECT_EQ(result.probed.at("rows").rank, 3U);
  }
  wanted.probe = {"no such value"};
  const VerifyResult result = verify_in_child(wanted);
  EXPECT_TRUE(result.verified) << result.why;
  EXPECT_THAT(result.probed, SizeIs(0));
}

TEST_F(Verify, ErrorsAboutSamplesComeBackFromTheChild) {
  VerifyJob wanted = job(tiny::matmul(), tiny::matmul());
  wanted.data = folder_ / "none";
  try {
    verify_in_child(wanted);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kRead);
    EXPECT_THAT(error.where(), HasSubstr("none"));
  }
}

TEST_F(Verify, AChildThatCannotAnswerIsNotVerified) {
  const VerifyJob wanted = job(tiny::matmul(), tiny::matmul());
  EXPECT_THAT(verify_in_child(wanted, 10, "/bin/false").why, HasSubstr("status 1"));
  EXPECT_THAT(verify_in_child(wanted, 10, "/nowhere/octet").why, HasSubstr("status 127"));
}

TEST_F(Verify, AMissingRuntimeIsNamed) {
  const VerifyJob wanted = job(tiny::matmul(), tiny::matmul());
  ::setenv("OCTET_ORT_LIBRARY", "/nowhere/libonnxruntime.so.1", 1);  // this process has opened its own already
  const VerifyResult result = verify_in_child(wanted);
  ::unsetenv("OCTET_ORT_LIBRARY");
  EXPECT_FALSE(result.verified);
  EXPECT_THAT(result.why, HasSubstr("looked for /nowhere/libonnxruntime.so.1"));
  EXPECT_THAT(result.why, HasSubstr("scripts/setup"));
}

TEST(ChildProcess, PassesInputOutputAndStatus) {
  const std::string long_input(300'000, 'a');
  const ChildResult result = ChildProcess({"__echo"}, long_input).wait(30);
  EXPECT_EQ(result.output, "heard: " + long_input);
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_GT(result.peak_bytes, 0u);
}

TEST(ChildProcess, TellsOfSignals) {
  const ChildResult result = ChildProcess({"__die"}, "").wait(30);
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_status, -1);
}

TEST(ChildProcess, EndsAtItsTimeout) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult result = ChildProcess({"__sleep"}, "").wait(0.2);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  { const ChildProcess abandoned({"__sleep"}, ""); }
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20);
}

class Benchmark : public Verify {};

TEST_F(Benchmark, TimesModelsAgainstTheFirst) {
  const VerifyJob models = job(tiny::token_table(), tiny::token_table());
  tiny::write(folder_ / "broken.onnx", tiny::custom_operator());
  BenchJob wanted;
  wanted.models = {models.float_model, models.candidate, folder_ / "broken.onnx"};
  wanted.threads = {1, 2};
  wanted.runs = 7;
  wanted.synthetic.dims = {{"batch", 2}};
  const BenchResult result = bench(wanted);
  ASSERT_THAT(result.rows, SizeIs(6));
  for (const BenchRow& row : result.rows) {
    SCOPED_TRACE(row.model);
    EXPECT_GT(row.file_bytes, 0u);
    if (row.model.filename() == "broken.onnx") {
      EXPECT_THAT(row.error, HasSubstr("does not load"));
      continue;
    }
    EXPECT_EQ(row.error, "");
    EXPECT_THAT(row.milliseconds, SizeIs(7));
    EXPECT_EQ(row.latency.runs, 7u);
    EXPECT_GT(row.load_ms, 0);
    EXPECT_GT(row.memory.bytes, 1u << 20) << row.memory.why_not;
    EXPECT_NEAR(row.samples_per_second, 2 * 1000 / row.latency.median_ms, 1e-6);
    ASSERT_TRUE(row.tokens_per_second);
    EXPECT_NEAR(*row.tokens_per_second, 16 * row.samples_per_second, 1e-3);
    EXPECT_EQ(row.speedup.has_value(), row.model.filename() != "float.onnx");
  }
  EXPECT_THAT(result.rows[2].memory.why_not, HasSubstr("does not load"));
  EXPECT_EQ(result.rows[1].worst_sqnr_db, kSqnrEqual);
  EXPECT_EQ(result.rows[3].threads, 2u);
  EXPECT_FALSE(result.cut_short);
  EXPECT_EQ(to_json(result)["rows"].size(), 6u);
}

TEST_F(Benchmark, JudgesByTheThresholdsGiven) {
  const VerifyJob models = job(tiny::matmul(), tiny::matmul(0.01f));
  BenchJob wanted;
  wanted.models = {models.float_model, models.candidate};
  wanted.model_bytes = {1000, 500};
  wanted.memory = false;
  wanted.thresholds = {.min_smaller = 1.5, .slower = 1e-9, .faster = 1e9};
  const BenchResult small_enough = bench(wanted);
  EXPECT_FALSE(small_enough.rows.at(0).verdict);
  EXPECT_EQ(small_enough.rows[0].memory.bytes, 0u);
  EXPECT_EQ(small_enough.rows[0].memory.why_not, "");
  ASSERT_TRUE(small_enough.rows.at(1).verdict);
  EXPECT_NE(small_enough.rows[1].verdict->decided_by, Decider::kSize) << small_enough.rows[1].verdict->sentence;
  wanted.thresholds.min_smaller = 3;
  const BenchResult too_large = bench(wanted);
  EXPECT_EQ(too_large.rows.at(1).verdict.value().decided_by, Decider::kSize);
  const nlohmann::json report = to_json(too_large);
  EXPECT_EQ(report["thresholds"]["min_smaller"], 3);
  EXPECT_EQ(report["rows"][1]["verdict"]["judgement"], "dont");
  EXPECT_EQ(report["rows"][1]["verdict"]["decided_by"], "size");
}

TEST_F(Benchmark, MemoryThatCannotBeMeasuredIsAResult) {
  tiny::write(folder_ / "float.onnx", tiny::matmul());
  MemoryJob wanted;
  wanted.model = folder_ / "float.onnx";
  EXPECT_GT(measure_peak_memory(wanted).bytes, 1u << 20);
  const MemoryResult failed = measure_peak_memory(wanted, 10, "/bin/false");
  EXPECT_EQ(failed.bytes, 0u);
  EXPECT_EQ(failed.why_not, "the measuring process ended with status 1");
  wanted.data = folder_ / "none";
  EXPECT_NE(measure_peak_memory(wanted).why_not, "");
}

TEST(Outliers, LieBeyondFiveDeviations) {
  std::vector<double> times = {9, 10, 11, 10, 9, 11, 10, 15.1};
  const LatencyStats stats = latency_stats(times);
  ASSERT_EQ(stats.median_ms, 10);
  ASSERT_EQ(stats.mad_ms, 1);
  EXPECT_EQ(outliers_in(times, stats), 1U);
  times.back() = 15;
  EXPECT_EQ(outliers_in(times, stats), 0U);
  times.back() = 0.1;  // quick is no disturbance
  EXPECT_EQ(outliers_in(times, stats), 0U);
  EXPECT_EQ(outliers_in({}, latency_stats({})), 0U);
}

TEST_F(Benchmark, SaysWhenTimeRanOut) {
  const VerifyJob models = job(tiny::matmul(), tiny::matmul());
  BenchJob wanted;
  wanted.models = {models.float_model};
  wanted.seconds = 1e-9;
  const BenchResult result = bench(wanted);
  EXPECT_TRUE(result.cut_short);
  EXPECT_THAT(result.rows.at(0).milliseconds, SizeIs(1));
  EXPECT_FALSE(result.rows[0].tokens_per_second);
}

TEST_F(Benchmark, NeedsAModelThatLoads) {
  EXPECT_THROW(bench({}), Error);
  tiny::write(folder_ / "broken.onnx", tiny::custom_operator());
  BenchJob wanted;
  wanted.models = {folder_ / "broken.onnx"};
  EXPECT_THROW(bench(wanted), Error);
}

}  // namespace
}  // namespace octet
