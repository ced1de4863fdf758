// Figures in words, the same in tables of the terminal and in pages.
#pragma once

#include <cstdint>
#include <string>

namespace octet {

std::string format_bytes(std::uint64_t bytes);  // "12.15 MB", megabytes of 10^6
std::string format_db(double db);               // "38.1 dB", "equal", "not comparable"
std::string format_times(double ratio);         // "2.10×"
std::string format_ms(double ms);

}  // namespace octet
