// Reports as one HTML page: verdicts, charts and tables of each, and where there are several one comparison first.
#pragma once

#include <string>
#include <vector>

#include "report/place.h"

namespace octet {

std::string report_page(const std::vector<Place>& places);

}  // namespace octet
