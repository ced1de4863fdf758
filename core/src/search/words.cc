#include "search/words.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "octet/measure.h"

namespace octet {

std::string decibels(double db) {
  if (db >= kSqnrEqual) return "equal";
  if (db <= -kSqnrEqual) return "not comparable";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f dB", db);
  return text;
}

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string shortest(double value) {
  std::string text = nlohmann::json(value).dump();
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace octet
