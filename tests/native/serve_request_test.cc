// What clients of octet serve may ask of a job.
#include <gmock/gmock.h>

#include "error_of.h"
#include "serve/job_request.h"

namespace octet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const JobPlaces kPlaces{.uploads = "/u", .gathered = "/g", .data = "/served/data", .calib = {}};

BenchJob bench_of(const char* text) { return bench_job_of(json::parse(text), kPlaces); }
CalibrateJob calibrate_of(const char* text) { return calibrate_job_of(json::parse(text), kPlaces); }

TEST(ServeRequest, DefaultsAreThoseOfTheCommandLine) {
  const BenchJob job = bench_of(R"({"models": ["a.onnx"], "data": null, "plan": null})"), plain;
  EXPECT_THAT(job.models, ElementsAre("/u/a.onnx"));
  EXPECT_FALSE(job.data);
  EXPECT_EQ(job.runs, plain.runs);
  EXPECT_EQ(job.warmup, plain.warmup);
  EXPECT_EQ(job.seconds, plain.seconds);
  EXPECT_EQ(job.samples.limit, plain.samples.limit);
  EXPECT_EQ(job.thresholds.min_sqnr_db, plain.thresholds.min_sqnr_db);
  EXPECT_TRUE(job.memory);
  EXPECT_EQ(job.threads.front(), 1u);
}

TEST(ServeRequest, EverythingIsTaken) {
  const BenchJob job = bench_of(R"({"models": ["a", "b"], "data": "s.npz", "threads": [1, 3], "runs": 7, "warmup": 0,
      "seconds": 0.5, "memory": false, "thresholds": {"min_sqnr_db": -3.5, "min_smaller": 2, "slower": 0.5, "faster": 9},
      "samples": {"limit": 3, "shuffle": 4, "image": {"image_size": "8x9"}}})");
  EXPECT_THAT(job.models, ElementsAre("/u/a", "/u/b"));
  EXPECT_EQ(job.data, "/u/s.npz");
  EXPECT_THAT(job.threads, ElementsAre(1u, 3u));
  EXPECT_EQ(job.runs, 7u);
  EXPECT_EQ(job.warmup, 0u);
  EXPECT_EQ(job.seconds, 0.5);
  EXPECT_FALSE(job.memory);
  EXPECT_EQ(job.thresholds.min_sqnr_db, -3.5);
  EXPECT_EQ(job.thresholds.faster, 9);
  EXPECT_EQ(job.samples.limit, 3u);
  EXPECT_EQ(job.samples.shuffle, 4u);
  const BenchJob synthetic = bench_of(R"({"models": ["a"], "dims": {"n": 5}, "synthetic": {"count": 9, "seed": 8}})");
  EXPECT_EQ(synthetic.synthetic.dims.at("n"), 5);
  EXPECT_EQ(synthetic.synthetic.count, 9u);
  EXPECT_EQ(synthetic.synthetic.seed, 8u);
}

TEST(ServeRequest, SamplesAreServedSentOrGathered) {
  EXPECT_EQ(bench_of(R"({"models": ["a"], "data": "served"})").data, "/served/data");
  EXPECT_EQ(bench_of(R"({"models": ["a"], "data": ["x", "y"]})").data, "/g");
  EXPECT_EQ(calibrate_of(R"({"model": "a", "calib": "c.npz"})").calib, "/u/c.npz");
  EXPECT_THAT(error_of(ErrorCode::kUsage, [] { calibrate_of(R"({"model": "a", "calib": "served"})"); }),
              HasSubstr("calib: this server was started without"));
  const NamedFiles many = files_named(json::parse(R"({"models": ["a", "b"], "data": ["x", "y"]})"), "data");
  EXPECT_THAT(many.models, ElementsAre("a", "b"));
  EXPECT_THAT(many.samples, ElementsAre("x", "y"));
  EXPECT_TRUE(many.gather);
  EXPECT_TRUE(files_named(json::parse(R"({"model": "a", "calib": "served"})"), "calib").samples.empty());
}

TEST(ServeRequest, CalibrationIsStatic) {
  const CalibrateJob job =
      calibrate_of(R"({"model": "a", "calib": "c", "options": {"mode": "dynamic", "prepare": false}})");
  EXPECT_EQ(job.options.plan_options.mode, Mode::kStatic);
  EXPECT_FALSE(job.options.plan_options.prepare);
  EXPECT_THAT(error_of(ErrorCode::kUsage, [] { calibrate_of(R"({"model": "a", "calib": "c", "options": {"x": 1}})"); }),
              HasSubstr("option x"));
}

TEST(ServeRequest, WhatMeansNothingIsNamed) {
  for (const auto& [text, said] : std::vector<std::pair<const char*, const char*>>{
           {R"({})", "models: is missing"},
           {R"([])", "no JSON object"},
           {R"({"models": "a"})", "models: must be a list"},
           {R"({"models": []})", "models: must be a list"},
           {R"({"models": ["a", "../b"]})", "models: must name files"},
           {R"({"models": ["a", 3]})", "models: must name files"},
           {R"({"models": ["a"], "data": "/etc/passwd"})", "data: must name files"},
           {R"({"models": ["a"], "data": {}})", "data: must name files"},
           {R"({"models": ["a"], "data": "d", "dims": {"n": 1}})", "dims: are for made-up inputs"},
           {R"({"models": ["a"], "runs": 1.5})", "runs: must be a whole number"},
           {R"({"models": ["a"], "runs": 0})", "runs: must be a whole number from 1"},
           {R"({"models": ["a"], "threads": [0]})", "threads: must be a whole number"},
           {R"({"models": ["a"], "threads": 2})", "threads: must be a list"},
           {R"({"models": ["a"], "seconds": -1})", "seconds: must be a number"},
           {R"({"models": ["a"], "seconds": "1"})", "seconds: must be a number"},
           {R"({"models": ["a"], "memory": 0})", "memory: must be true or false"},
           {R"({"models": ["a"], "thresholds": {"slower": 1.1}})", "thresholds.slower: must be"},
           {R"({"models": ["a"], "thresholds": {"slow": 1}})", "thresholds.slow: is none that is known"},
           {R"({"models": ["a"], "samples": {"limit": -1}})", "samples.limit: must be"},
           {R"({"models": ["a"], "run": 5})", "run: is none that is known here; there are calibrated_on, data"},
       })
    EXPECT_THAT(error_of(ErrorCode::kUsage, [text = text] { bench_of(text); }), HasSubstr(said)) << text;
}

TEST(ServeRequest, PlacesCrossToTheChild) {
  const JobPlaces there = job_places_from_json(to_json(kPlaces));
  EXPECT_EQ(there.uploads, kPlaces.uploads);
  EXPECT_EQ(there.gathered, kPlaces.gathered);
  EXPECT_EQ(there.data, kPlaces.data);
  EXPECT_FALSE(there.calib);
}

}  // namespace
}  // namespace octet
