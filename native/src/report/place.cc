#include "report/place.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/environment.h"
#include "engine/measure_json.h"
#include "octet/error.h"

namespace octet {
namespace {

using nlohmann::json;

constexpr const char* kWanted =
    "give what octet bench --json or octet quantize --json writes, or a JSON report of the page";

template <class Value>
std::optional<Value> optional_at(const json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || found->is_null()) return std::nullopt;
  return found->get<Value>();
}

std::string text_at(const json& entry, const char* key) { return optional_at<std::string>(entry, key).value_or(""); }

std::string base_name(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

std::string count_text(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void read_verdict(const json& verdict, PlaceRow& row) {
  row.judgement = verdict.at("judgement").get<std::string>();
  row.sentence = verdict.at("sentence").get<std::string>();
  row.why = text_at(verdict, "why");
  for (const json& advice : verdict.value("next", json::array()))
    row.next.push_back({advice.at("code").get<std::string>(), advice.at("text").get<std::string>()});
}

Profile profile_from_json(const json& document) {
  Profile profile;
  profile.why_not = text_at(document, "error");
  if (!profile.why_not.empty()) return profile;
  document.at("runs").get_to(profile.runs);
  document.at("run_ms").get_to(profile.run_ms);
  document.at("integer_share").get_to(profile.integer_share);
  for (const json& entry : document.at("operators")) {
    profile.operators.push_back({entry.at("op").get<std::string>(), entry.at("integers").get<bool>(),
                                 entry.at("count").get<double>(), entry.at("ms").get<double>(),
                                 entry.at("share").get<double>()});
  }
  for (const json& entry : document.at("nodes"))
    profile.nodes.push_back(
        {entry.at("name").get<std::string>(), entry.at("op").get<std::string>(), entry.at("ms").get<double>()});
  return profile;
}

void read_drift(const json& entry, PlaceRow& row) {
  if (!entry.contains("drift") || entry.at("drift").empty()) return;
  row.drift = drift_from_json(entry.at("drift"));
  row.sqnr_db = number_from_json(entry.at("worst_sqnr_db"));
}

std::string machine_text(const json& environment) {
  Environment machine;
  machine.cpu = environment.at("cpu").get<std::string>();
  environment.at("cores").get_to(machine.cores);
  environment.at("features").get_to(machine.features);
  machine.governor = text_at(environment, "governor");
  machine.load = optional_at<double>(environment, "load");
  return to_text(machine);
}

PlaceRow bench_row(const json& entry) {
  PlaceRow row;
  row.name =
      entry.contains("name") ? entry.at("name").get<std::string>() : base_name(entry.at("model").get<std::string>());
  entry.at("threads").get_to(row.threads);
  entry.at("file_bytes").get_to(row.bytes);
  row.error = text_at(entry, "error");
  if (!row.error.empty()) return row;
  entry.at("milliseconds").get_to(row.milliseconds);
  row.latency = latency_from_json(entry.at("latency"));
  row.outliers = optional_at<std::uint64_t>(entry, "outliers");
  row.memory_bytes = optional_at<std::uint64_t>(entry, "peak_memory_bytes");
  row.load_ms = optional_at<double>(entry, "load_ms");
  row.samples_per_second = optional_at<double>(entry, "samples_per_second");
  row.tokens_per_second = optional_at<double>(entry, "tokens_per_second");
  if (entry.contains("speedup")) row.speedup = speedup_from_json(entry.at("speedup"));
  read_drift(entry, row);
  if (entry.contains("verdict")) read_verdict(entry.at("verdict"), row);
  if (entry.contains("profile")) row.profile = profile_from_json(entry.at("profile"));
  return row;
}

Place from_bench(const json& document) {
  Place place;
  place.machine = machine_text(document.at("environment"));
  place.runtime = "ONNX Runtime " + document.at("runtime").get<std::string>();
  place.created = text_at(document, "created");
  place.min_sqnr_db = document.at("thresholds").at("min_sqnr_db").get<double>();
  place.setup = fmt::format("{}; {} warm-up and {} timed runs each, interleaved",
                            document.at("samples_description").get<std::string>(),
                            document.at("warmup").get<std::size_t>(), document.at("runs").get<std::size_t>());
  if (document.value("synthetic", false)) place.notes.emplace_back("The samples are made up: their drift says little.");
  if (document.value("cut_short", false))
    place.notes.emplace_back("Fewer runs were made than asked for: the time was up.");
  std::optional<unsigned> threads;
  for (const json& entry : document.at("rows")) {
    PlaceRow row = bench_row(entry);
    row.base = threads != row.threads;  // the first of each number of threads
    threads = row.threads;
    place.rows.push_back(std::move(row));
  }
  return place;
}

// The float model and the one made of it, from a pair of figures.
void add_pair(Place& place, const PlaceRow& base, const PlaceRow& made) {
  place.rows.push_back(base);
  place.rows.back().base = true;
  place.rows.push_back(made);
}

std::pair<PlaceRow, PlaceRow> pair_of(const json& document) {
  PlaceRow base, made;
  base.name = base_name(document.at("input").get<std::string>());
  made.name = base_name(document.at("output").get<std::string>());
  document.at("sizes").at("input_bytes").get_to(base.bytes);
  document.at("sizes").at("output_bytes").get_to(made.bytes);
  return {std::move(base), std::move(made)};
}

Place from_quantize(const json& document) {
  Place place;
  auto [base, made] = pair_of(document);
  const json& verify = document.at("verify");
  place.machine = document.contains("environment") ? machine_text(document.at("environment")) : "a machine not named";
  place.runtime = verify.contains("runtime") ? "ONNX Runtime " + verify.at("runtime").get<std::string>() : "not run";
  place.setup = text_at(verify, "samples_description");
  place.min_sqnr_db = document.value("min_sqnr_db", place.min_sqnr_db);
  if (!verify.at("verified").get<bool>()) place.notes.push_back("Not verified: " + text_at(verify, "why"));
  if (verify.value("synthetic", false)) place.notes.emplace_back("The samples are made up: their drift says little.");
  read_verdict(document.at("verdict"), made);
  read_drift(verify, made);
  if (verify.contains("latency")) {
    const json& latency = verify.at("latency");
    base.latency = latency_from_json(latency.at("baseline"));
    made.latency = latency_from_json(latency.at("candidate"));
    made.speedup = speedup_from_json(latency.at("speedup"));
    place.setup += fmt::format("; {} timed runs each, interleaved", made.latency->runs);
  }
  add_pair(place, base, made);
  return place;
}

Place from_page(const json& document) {
  Place place;
  place.browser = true;
  place.created = text_at(document, "created");
  const auto [base, made] = pair_of(document);
  const json& comparison = document.at("comparison");
  if (comparison.is_null()) {
    place.machine = "a browser not named";
    place.runtime = "not run";
    place.notes.push_back("Not verified: " + text_at(document, "not_verified"));
    add_pair(place, base, made);
    return place;
  }
  const json& environment = comparison.at("environment");
  place.machine = fmt::format("{}, {}", browser_name(environment.at("agent").get<std::string>()),
                              count_text(environment.at("cores").get<std::size_t>(), "core"));
  place.runtime = "onnxruntime-web " + environment.at("runtime").get<std::string>();
  if (const std::string note = text_at(environment, "threads_note"); !note.empty()) place.notes.push_back(note);
  const json& samples = comparison.at("samples");
  place.setup = samples.at("description").get<std::string>() + "; interleaved";
  if (samples.value("synthetic", false)) place.notes.emplace_back("The samples are made up: their drift says little.");
  bool first = true;
  for (const json& timed : comparison.at("latency_by_threads")) {
    PlaceRow reference = base, candidate = made;
    reference.threads = candidate.threads = timed.at("threads").get<unsigned>();
    timed.at("reference_ms").get_to(reference.milliseconds);
    timed.at("candidate_ms").get_to(candidate.milliseconds);
    reference.latency = latency_from_json(timed.at("baseline"));
    candidate.latency = latency_from_json(timed.at("candidate"));
    candidate.speedup = speedup_from_json(timed.at("speedup"));
    if (std::exchange(first, false)) {  // drift and verdict are those of the first
      reference.load_ms = optional_at<double>(comparison.at("load_ms"), "reference");
      candidate.load_ms = optional_at<double>(comparison.at("load_ms"), "candidate");
      read_drift(comparison, candidate);
      read_verdict(comparison.at("verdict"), candidate);
    }
    add_pair(place, reference, candidate);
  }
  if (place.rows.empty()) add_pair(place, base, made);
  return place;
}

}  // namespace

Place place_from_json(const json& document, const std::string& file) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::kMalformed, file, what, kWanted); };
  Place place;
  try {
    if (!document.is_object()) refuse("is no report of Octet");
    if (document.value("octet_report", json()) == "bench" || document.contains("rows"))
      place = from_bench(document);
    else if (document.contains("verify") && document.contains("sizes"))
      place = from_quantize(document);
    else if (document.contains("comparison") && document.contains("sizes"))
      place = from_page(document);
    else
      refuse("is no report of Octet that holds measurements");
    if (place.rows.empty()) refuse("holds no model");
    place.octet = text_at(document, "octet");
  } catch (const json::exception& fault) {
    const std::string words = fault.what();  // "[json.exception.…] what"
    const std::size_t end = words.find("] ");
    refuse("is not a whole report: " + (end == std::string::npos ? words : words.substr(end + 2)));
  }
  place.file = base_name(file);
  return place;
}

}  // namespace octet
