// A verdict for people.
#pragma once

#include <string>

#include "octet/verdict.h"

namespace octet {

// The sentence, and below it, where it does not say to ship, why ("why: …") and what to try ("try: …").
std::string verdict_lines(const Verdict& verdict, const Explanation& explanation);

}  // namespace octet
