// What one report tells of one machine and runtime, whichever program wrote it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/profile.h"
#include "octet/measure.h"
#include "octet/verdict.h"

namespace octet {

// One model with one number of threads.
struct PlaceRow {
  std::string name;
  std::uint64_t bytes = 0;
  unsigned threads = 1;
  bool base = false;                 // the model that speedups are against
  std::string error;                 // it did not run; only what stands above is known then
  std::vector<double> milliseconds;  // single runs, where the report has them
  std::optional<LatencyStats> latency;
  std::optional<std::uint64_t> outliers, memory_bytes;
  std::optional<double> load_ms, samples_per_second, tokens_per_second, sqnr_db;
  std::optional<Speedup> speedup;
  std::vector<OutputDrift> drift;
  std::string judgement, sentence, why;  // empty: there is no verdict
  std::vector<Advice> next;
  std::optional<Profile> profile;
};

struct Place {
  std::string file;  // the report's, without folders
  std::string machine, runtime;
  bool browser = false;
  std::string octet, created;  // version, time; empty: not told
  std::string setup;           // samples, warm-up, runs
  double min_sqnr_db = 10;
  std::vector<std::string> notes;
  std::vector<PlaceRow> rows;
};

// A report of `octet bench --json`, `octet quantize --json` or the page. Throws Error(kMalformed) naming the file for
// anything else, and what is missing of it.
Place place_from_json(const nlohmann::json& document, const std::string& file);

// "Chrome 126 on Android" of what a browser calls itself; the whole where it is none of the known ones.
std::string browser_name(const std::string& agent);

}  // namespace octet
