// The part of a page that one report gets.
#pragma once

#include <string>

#include "report/place.h"

namespace octet {

std::string threads_text(unsigned threads);  // "1 thread"

// Verdicts, charts of size, latency, speedup and drift, the table of all figures, outputs, profiles. `verdict_said`:
// the sentence of the only verdict stands above already.
std::string place_section(const Place& place, bool verdict_said);

}  // namespace octet
