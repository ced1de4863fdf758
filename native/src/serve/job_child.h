// The process that a job runs in (`octet __bench`, `octet __calibrate`): it tells how far it is, a JSON line at a time.
#pragma once

namespace octet {

inline constexpr const char* kBenchCommand = "__bench";
inline constexpr const char* kCalibrateCommand = "__calibrate";

// What main runs for them: {"request", "places"} on standard input, the result on standard output. Return the status.
int bench_child_main();
int calibrate_child_main();

}  // namespace octet
