// Which of the measured candidates is the one, and how that is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "octet/auto_search.h"

namespace octet {

bool keeps_drift(const Measurement& measured, const AutoBudget& budget);
// What else is asked for, too.
bool keeps_all(const AutoCandidate& candidate, const AutoBudget& budget);

// The fastest that keeps the budget by the low end of its interval; of those hardly slower, whose intervals overlap,
// the smallest; of those hardly larger the nearest, then the one with the fewest changes.
std::optional<std::size_t> choose(const std::vector<AutoCandidate>& candidates, const AutoBudget& budget);

// Those that no other outdoes in size, speed and drift together.
std::vector<std::size_t> pareto_front(const std::vector<AutoCandidate>& candidates);

// Why none keeps to it; empty where one does.
std::string why_unmet(const std::vector<AutoCandidate>& candidates, const AutoBudget& budget);

std::string figures_of(const Measurement& measured);  // "28.9 dB, 1.9× (1.8 to 2.0), 3.2 MB"
std::string budget_words(const AutoBudget& budget);
// Why this one, in a sentence.
std::string reason_for(const AutoCandidate& chosen, const std::vector<AutoCandidate>& candidates,
                       const AutoBudget& budget);
// Which nodes are out of integers, what that costs and what it brings. `whole`: the candidate with all of them in.
std::vector<std::string> account_of_moved(const AutoCandidate& chosen, const AutoCandidate* whole,
                                          const std::vector<Sensitivity>& sensitivities);

}  // namespace octet
