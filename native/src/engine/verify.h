// Proof that a quantized model loads, runs, stays near the float one, and how fast it is: all of it measured by running
// both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/samples.h"
#include "engine/integer_share.h"
#include "octet/labels.h"
#include "octet/measure.h"
#include "octet/prepare.h"

namespace octet {

struct VerifyJob {
  std::filesystem::path float_model, candidate;
  std::optional<std::filesystem::path> data;  // none: synthetic samples
  SampleOptions samples = {.limit = 8};       // of the data
  SyntheticOptions synthetic;
  unsigned threads = 1;
  double latency_seconds = 1;                          // 0: no timing
  double sample_seconds = 20;                          // after this no further sample is begun
  std::uint64_t float_bytes = 0, candidate_bytes = 0;  // with external data; 0: the files' own sizes
  std::uint64_t memory_limit = 0;                      // 0: what the machine has left
  bool integers = false;                               // look which operators the runtime computes in integers
  std::vector<std::string> probe;                      // values between the candidate's nodes to look at in one run
};

struct VerifyResult {
  // False when nothing can be said about the candidate against the float model; `why` says what stood in the way.
  // `loads` is still true where the candidate was seen to load. With `verified` true, `why` says what else is missing.
  bool verified = false;
  std::string why;

  bool loads = false, runs = false;  // the candidate, optimizations on
  std::string error;                 // why it does not
  std::string plain_error;           // why it does not with optimizations off; they are no longer compared then
  std::string runtime;               // version
  bool synthetic = false;
  std::string samples_description;
  std::size_t samples = 0;

  // The candidate as it is used (optimizations on) against the float model as it is written (off).
  std::vector<OutputDrift> drift;
  double worst_sqnr_db = kSqnrEqual;
  // The candidate optimized against itself plain: far apart means the runtime rewrites it into something else.
  std::vector<OutputDrift> consistency;
  double consistency_sqnr_db = kSqnrEqual;
  bool finite = true;
  std::optional<Accuracy> accuracy;  // of both, where the samples' folder has labels that fit
  std::string accuracy_why_not;      // why labels were of no use

  struct Latency {
    LatencyStats baseline, candidate;  // both optimized, interleaved
    Speedup speedup;
  };
  std::optional<Latency> latency;

  std::optional<IntegerShare> integers;  // where VerifyJob::integers asks

  ProbedValues probed;  // those of VerifyJob::probe that are tensors

  double seconds = 0;
  std::uint64_t peak_bytes = 0;  // of the process that verified
};

// Where the runtime writes what it makes of a candidate, and taking that away again, whoever was to do it.
std::filesystem::path optimized_beside(const std::filesystem::path& model);
void remove_optimized(const VerifyJob& job);

// In this process. Throws Error(kData), Error(kRead) or Error(kUsage) for samples and options that do not fit;
// everything the models do wrong is in the result.
VerifyResult verify(const VerifyJob& job);

// In a process of its own (`octet __verify`). A crash or a timeout there is a result that is not verified.
VerifyResult verify_in_child(const VerifyJob& job, double timeout_seconds = 600,
                             const std::filesystem::path& executable = "/proc/self/exe");

inline constexpr const char* kVerifyCommand = "__verify";
// What main runs for kVerifyCommand: a job on standard input, a result or an error on standard output. Returns the
// status.
int verify_child_main();

nlohmann::json to_json(const VerifyJob& job);
VerifyJob verify_job_from_json(const nlohmann::json& json);
nlohmann::json to_json(const VerifyResult& result);
VerifyResult verify_result_from_json(const nlohmann::json& json);

}  // namespace octet
