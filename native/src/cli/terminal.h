// What people see: aligned tables, sizes in words, and a progress line once something takes longer than a second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

std::string format_bytes(std::uint64_t bytes);  // "12.15 MB", megabytes of 10^6
std::string format_db(double db);               // "38.1 dB", "equal", "not finite"
std::string format_times(double ratio);         // "2.1×"
std::string format_ms(double ms);

}  // namespace octet
