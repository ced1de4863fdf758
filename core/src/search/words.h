// Figures as searches tell them in notes.
#pragma once

#include <cstddef>
#include <string>

namespace octet {

std::string decibels(double db);                                 // "38.1 dB", "equal", "not comparable"
std::string plural(std::size_t count, const std::string& word);  // "1 node", "2 nodes"
std::string shortest(double value);                              // as few digits as tell it apart: "0.5", "1"

}  // namespace octet
