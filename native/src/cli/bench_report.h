// What bench tells people; for programs there is to_json(BenchResult).
#pragma once

#include <string>

#include "engine/bench.h"

namespace octet {

std::string bench_report_text(const BenchResult& result);

}  // namespace octet
