// What people see: aligned tables, sizes in words, and a progress line once something takes longer than a second.
#pragma once

#include <string>
#include <vector>

#include "report/format.h"

namespace octet {

class Terminal {
 public:
  // Shows "stage 42 %, 20 s left" on stderr when that is a terminal and a second has passed since the first call. The
  // time left goes by how long the stage has taken so far.
  static void progress(const std::string& stage, double fraction);
  static void clear_progress();
};

// Columns aligned by the widest cell; the first left, the others right unless `left` names them.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left_columns = 1);

}  // namespace octet
