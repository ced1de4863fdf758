// Verification's JSON forms, and both ends of the process it runs in.
#include "engine/child_json.h"
#include "engine/measure_json.h"
#include "engine/verify.h"

namespace octet {
namespace {

using nlohmann::json;

VerifyResult not_verified(const VerifyJob& job, std::string why) {
  VerifyResult result;
  result.synthetic = !job.data.has_value();
  result.why = std::move(why);
  return result;
}

}  // namespace

json to_json(const VerifyJob& job) {
  json document = {{"float_model", job.float_model.string()},
                   {"candidate", job.candidate.string()},
                   {"synthetic", to_json(job.synthetic)},
                   {"samples", to_json(job.samples)},
                   {"threads", job.threads},
                   {"latency_seconds", job.latency_seconds},
                   {"sample_seconds", job.sample_seconds},
                   {"float_bytes", job.float_bytes},
                   {"candidate_bytes", job.candidate_bytes},
                   {"memory_limit", job.memory_limit},
                   {"integers", job.integers},
                   {"probe", job.probe}};
  if (job.data) document["data"] = job.data->string();
  return document;
}

VerifyJob verify_job_from_json(const json& document) {
  VerifyJob job;
  job.float_model = document.at("float_model").get<std::string>();
  job.candidate = document.at("candidate").get<std::string>();
  if (document.contains("data")) job.data = document.at("data").get<std::string>();
  job.synthetic = synthetic_from_json(document.at("synthetic"));
  job.samples = sample_options_from_json(document.at("samples"));
  document.at("threads").get_to(job.threads);
  document.at("latency_seconds").get_to(job.latency_seconds);
  document.at("sample_seconds").get_to(job.sample_seconds);
  document.at("float_bytes").get_to(job.float_bytes);
  document.at("candidate_bytes").get_to(job.candidate_bytes);
  document.at("memory_limit").get_to(job.memory_limit);
  document.at("integers").get_to(job.integers);
  document.at("probe").get_to(job.probe);
  return job;
}

json to_json(const VerifyResult& result) {
  json document = {{"verified", result.verified},
                   {"loads", result.loads},
                   {"runs", result.runs},
                   {"runtime", result.runtime},
                   {"synthetic", result.synthetic},
                   {"samples_description", result.samples_description},
                   {"samples", result.samples},
                   {"drift", drift_json(result.drift)},
                   {"worst_sqnr_db", number_json(result.worst_sqnr_db)},
                   {"consistency", drift_json(result.consistency)},
                   {"consistency_sqnr_db", number_json(result.consistency_sqnr_db)},
                   {"finite", result.finite},
                   {"seconds", result.seconds},
                   {"peak_bytes", result.peak_bytes}};
  for (const auto& [name, value] : result.probed)
    document["probed"][name] = {{"type", value.type}, {"rank", value.rank}};
  if (!result.why.empty()) document["why"] = result.why;
  if (!result.error.empty()) document["error"] = result.error;
  if (!result.plain_error.empty()) document["plain_error"] = result.plain_error;
  if (result.accuracy) {
    document["accuracy"] = {{"output", result.accuracy->output},
                            {"rows", result.accuracy->rows},
                            {"reference", result.accuracy->reference},
                            {"candidate", result.accuracy->candidate}};
  }
  if (!result.accuracy_why_not.empty()) document["accuracy_why_not"] = result.accuracy_why_not;
  if (result.integers) {
    document["integers"] = {{"integer", result.integers->integer},
                            {"float", result.integers->floating},
                            {"conversions", result.integers->conversions}};
  }
  if (result.latency) {
    document["latency"] = {{"baseline", latency_json(result.latency->baseline)},
                           {"candidate", latency_json(result.latency->candidate)},
                           {"speedup", speedup_json(result.latency->speedup)}};
  }
  return document;
}

VerifyResult verify_result_from_json(const json& document) {
  VerifyResult result;
  document.at("verified").get_to(result.verified);
  document.at("loads").get_to(result.loads);
  document.at("runs").get_to(result.runs);
  document.at("runtime").get_to(result.runtime);
  document.at("synthetic").get_to(result.synthetic);
  document.at("samples_description").get_to(result.samples_description);
  document.at("samples").get_to(result.samples);
  result.drift = drift_from_json(document.at("drift"));
  result.worst_sqnr_db = number_from_json(document.at("worst_sqnr_db"));
  result.consistency = drift_from_json(document.at("consistency"));
  result.consistency_sqnr_db = number_from_json(document.at("consistency_sqnr_db"));
  document.at("finite").get_to(result.finite);
  document.at("seconds").get_to(result.seconds);
  document.at("peak_bytes").get_to(result.peak_bytes);
  const json probed = document.value("probed", json::object());  // items() does not keep what it goes through
  for (const auto& [name, value] : probed.items())
    result.probed[name] = {value.at("type").get<int>(), value.at("rank").get<std::size_t>()};
  result.why = document.value("why", "");
  result.error = document.value("error", "");
  result.plain_error = document.value("plain_error", "");
  result.accuracy_why_not = document.value("accuracy_why_not", "");
  if (document.contains("accuracy")) {
    const json& accuracy = document.at("accuracy");
    result.accuracy = Accuracy{accuracy.at("output").get<std::string>(), accuracy.at("rows").get<std::uint64_t>(),
                               accuracy.at("reference").get<double>(), accuracy.at("candidate").get<double>()};
  }
  if (document.contains("integers")) {
    const json& integers = document.at("integers");
    result.integers =
        IntegerShare{integers.at("integer").get<std::map<std::string, int>>(),
                     integers.at("float").get<std::map<std::string, int>>(), integers.at("conversions").get<int>()};
  }
  if (document.contains("latency")) {
    const json& latency = document.at("latency");
    result.latency =
        VerifyResult::Latency{latency_from_json(latency.at("baseline")), latency_from_json(latency.at("candidate")),
                              speedup_from_json(latency.at("speedup"))};
  }
  return result;
}

VerifyResult verify_in_child(const VerifyJob& job, double timeout_seconds, const std::filesystem::path& executable) {
  const ChildAnswer answer = ask_child(kVerifyCommand, to_json(job), {"running both models", "the verifying process"},
                                       timeout_seconds, executable);
  remove_optimized(job);  // of a child that did not come to it
  if (answer.error) throw *answer.error;
  VerifyResult result;
  if (answer.result) {
    result = verify_result_from_json(*answer.result);
  } else {
    result = not_verified(job, answer.why_not);
    result.peak_bytes = answer.peak_bytes;
  }
  result.seconds = answer.seconds;  // what the user waits for
  return result;
}

int verify_child_main() {
  return answer_parent("verification", [](const json& job) { return to_json(verify(verify_job_from_json(job))); });
}

}  // namespace octet
