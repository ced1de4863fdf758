// The ranges' JSON form: all that was learned, exactly, so that parts made apart can be merged later. A bin's counts
// stand in rows of one sign and exponent: [row, first bin, count, count, …].
#include <nlohmann/json.hpp>

#include "calibrate/exact_sum.h"
#include "calibrate/histogram.h"
#include "octet/error.h"
#include "octet/ranges.h"
#include "report/json_text.h"

namespace octet {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kMalformed, where, what, "make them with octet calibrate");
}

const Json& field(const Json& json, const char* name, const std::string& where) {
  const auto found = json.find(name);
  if (found == json.end()) fail(where, std::string("'") + name + "' is missing");
  return *found;
}

std::uint64_t count_of(const Json& json, const char* name, const std::string& where) {
  if (!json.is_number_unsigned()) fail(where, std::string("'") + name + "' holds something else than counts");
  return json.get<std::uint64_t>();
}

std::uint64_t count_field(const Json& json, const char* name, const std::string& where) {
  return count_of(field(json, name, where), name, where);
}

float float_field(const Json& json, const char* name, const std::string& where) {
  const Json& value = field(json, name, where);
  if (!value.is_number()) fail(where, std::string("'") + name + "' is no number");
  const double wide = value.get<double>();
  if (!(wide >= -3.5e38 && wide <= 3.5e38) || static_cast<double>(static_cast<float>(wide)) != wide)
    fail(where, std::string("'") + name + "' is no float32 number");
  return static_cast<float>(wide);
}

std::string text_field(const Json& json, const char* name, const std::string& where) {
  const Json& value = field(json, name, where);
  if (!value.is_string()) fail(where, std::string("'") + name + "' is no text");
  return value.get<std::string>();
}

const Json& list_field(const Json& json, const char* name, const std::string& where) {
  const Json& value = field(json, name, where);
  if (!value.is_array()) fail(where, std::string("'") + name + "' is no list");
  return value;
}

}  // namespace

class RangesJson {
 public:
  static Json write(const std::string& name, const Observation& observed) {
    Json rows = Json::array();
    for (const auto& [number, counts] : observed.histogram_.pages_) {
      std::size_t first = 0, end = counts.size();
      while (first < end && counts[first] == 0) ++first;
      while (end > first && counts[end - 1] == 0) --end;
      if (first == end) continue;
      Json row{number, first};
      for (std::size_t i = first; i < end; ++i) row.push_back(counts[i]);
      rows.push_back(std::move(row));
    }
    return {{"tensor", name},
            {"runs", observed.runs_},
            {"values", observed.values_},
            {"non_finite", observed.non_finite_},
            {"min", observed.min_},
            {"max", observed.max_},
            {"sum_of_mins", sum(observed.sum_of_mins_)},
            {"sum_of_maxs", sum(observed.sum_of_maxs_)},
            {"zeros", observed.histogram_.zeros_},
            {"rows", std::move(rows)}};
  }

  static Observation read(const Json& json, const std::string& where) {
    Observation observed;
    observed.runs_ = count_field(json, "runs", where);
    observed.values_ = count_field(json, "values", where);
    observed.non_finite_ = count_field(json, "non_finite", where);
    observed.min_ = float_field(json, "min", where);
    observed.max_ = float_field(json, "max", where);
    observed.sum_of_mins_ = read_sum(json, "sum_of_mins", where);
    observed.sum_of_maxs_ = read_sum(json, "sum_of_maxs", where);
    const std::uint64_t counted = read_rows(json, observed.histogram_, where);
    if (observed.values_ != counted) fail(where, "'values' is not the sum of 'zeros' and 'rows'");
    if (observed.runs_ > observed.values_ || (observed.runs_ == 0 && observed.values_ > 0))
      fail(where, "'runs' does not fit 'values'");
    if (observed.values_ == 0) {
      if (observed.min_ != 0 || observed.max_ != 0) fail(where, "'min' and 'max' are of no value");
      return observed;
    }
    const auto bins = observed.histogram_.bins();
    if (!(bins.front().low <= observed.min_ && observed.min_ <= bins.front().high))
      fail(where, "'min' does not fit 'rows'");
    if (!(bins.back().low <= observed.max_ && observed.max_ <= bins.back().high))
      fail(where, "'max' does not fit 'rows'");
    if (observed.min_ > observed.max_) fail(where, "'min' is above 'max'");
    return observed;
  }

 private:
  static Json sum(const ExactSum& sum) {
    for (const std::int64_t limb : sum.limbs_) {
      if (limb != 0) return sum.limbs_;
    }
    return Json::array();
  }

  static ExactSum read_sum(const Json& json, const char* name, const std::string& where) {
    const Json& limbs = list_field(json, name, where);
    if (!limbs.empty() && limbs.size() != kSumLimbs) fail(where, std::string("'") + name + "' is of another length");
    ExactSum sum;
    for (const Json& limb : limbs) {
      const bool last = sum.limbs_.size() + 1 == kSumLimbs;
      const std::int64_t low = last ? -(std::int64_t{1} << 53) : 0, high = last ? std::int64_t{1} << 53 : 0xFFFFFFFF;
      const bool fits = limb.is_number_integer() &&
                        (!limb.is_number_unsigned() || limb.get<std::uint64_t>() < 1ull << 63) &&
                        limb.get<std::int64_t>() >= low && limb.get<std::int64_t>() <= high;
      if (!fits) fail(where, std::string("'") + name + "' holds a number out of range");
      sum.limbs_.push_back(limb.get<std::int64_t>());
    }
    return sum;
  }

  // How many values there are.
  static std::uint64_t read_rows(const Json& json, Histogram& histogram, const std::string& where) {
    std::uint64_t all = histogram.zeros_ = count_field(json, "zeros", where);
    std::uint64_t next = 0;  // rows ascend
    for (const Json& row : list_field(json, "rows", where)) {
      if (!row.is_array() || row.size() < 3) fail(where, "'rows' holds something else than rows of counts");
      const std::uint64_t number = count_of(row[0], "rows", where), first = count_of(row[1], "rows", where);
      // Exponents of all ones are NaN and infinity.
      if (number >= kPages || number % (kPages / 2) == kPages / 2 - 1 || number < next)
        fail(where, "'rows' holds a row that is none, or out of order");
      if (first >= kBinsPerPage || row.size() - 2 > kBinsPerPage - first)
        fail(where, "'rows' holds a row that is too long");
      next = number + 1;
      auto& page = histogram.pages_[static_cast<std::uint32_t>(number)];
      page.resize(kBinsPerPage);
      for (std::size_t i = 2; i < row.size(); ++i) {
        const std::uint64_t count = page[first + i - 2] = count_of(row[i], "rows", where);
        if (__builtin_add_overflow(all, count, &all)) fail(where, "'rows' counts more values than there can be");
      }
      if (page[first] == 0 || page[first + row.size() - 3] == 0) fail(where, "'rows' holds a row with empty ends");
    }
    return all;
  }
};

std::string ranges_to_json(const Ranges& ranges) {
  const Json head{{"octet_ranges", 1}, {"model", ranges.model}, {"samples", ranges.samples}};
  // One line per tensor.
  std::string text = json_text(head);
  text.pop_back();
  text += ",\"tensors\":[";
  for (const auto& [name, observed] : ranges.tensors) {
    text += text.back() == '[' ? "\n" : ",\n";
    text += json_text(RangesJson::write(name, observed));
  }
  return text + "\n]}\n";
}

Ranges ranges_from_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& fault) {
    fail("ranges", "no JSON at byte " + std::to_string(fault.byte));
  } catch (const Json::exception&) {
    fail("ranges", "a number in it is out of range");
  }
  const std::string where = "ranges";
  if (!json.is_object() || json.value("octet_ranges", Json()) != 1)
    fail(where, "these are no Octet ranges of version 1");
  Ranges ranges;
  ranges.model = text_field(json, "model", where);
  ranges.samples = count_field(json, "samples", where);
  for (const Json& entry : list_field(json, "tensors", where)) {
    if (!entry.is_object()) fail(where, "an entry of 'tensors' is no object");
    const std::string name = text_field(entry, "tensor", "ranges: an entry of 'tensors'");
    const auto [place, added] = ranges.tensors.emplace(name, Observation());
    if (!added) fail(where, "tensor '" + name + "' is there twice");
    place->second = RangesJson::read(entry, "ranges: tensor '" + name + "'");
  }
  return ranges;
}

}  // namespace octet
