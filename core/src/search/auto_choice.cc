#include "search/auto_choice.h"

#include <algorithm>
#include <cstdio>

#include "search/words.h"

namespace octet {
namespace {

// Hardly slower: what less than this makes is not worth a larger file.
constexpr double kTie = 0.98;
// Hardly larger: what is nearer by as much as it likes may be so.
constexpr double kAsSmall = 1.01;

Speedup speed_of(const AutoCandidate& candidate) { return candidate.measured.speedup.value_or(Speedup{0, 0, 0}); }

std::string times(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f×", ratio);
  return text;
}

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

std::string percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", value);
  return text;
}

bool keeps_drift(const AutoCandidate& candidate, const AutoBudget& budget) {
  return candidate.is_float ? candidate.measured.runs : keeps_drift(candidate.measured, budget);
}

}  // namespace

bool keeps_drift(const Measurement& measured, const AutoBudget& budget) {
  if (!measured.runs) return false;
  return budget.max_drop ? measured.drop && *measured.drop <= *budget.max_drop : measured.sqnr_db >= budget.min_sqnr_db;
}

bool keeps_all(const AutoCandidate& candidate, const AutoBudget& budget) {
  return keeps_drift(candidate, budget) && (!budget.max_bytes || candidate.measured.bytes <= *budget.max_bytes) &&
         (!budget.min_speedup || speed_of(candidate).ratio >= *budget.min_speedup);
}

std::optional<std::size_t> choose(const std::vector<AutoCandidate>& candidates, const AutoBudget& budget) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (keeps_all(candidates[i], budget)) left.push_back(i);
  }
  if (left.empty()) return std::nullopt;
  const auto low = [&](std::size_t i) { return speed_of(candidates[i]).low; };
  const std::size_t fastest =
      *std::max_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return low(a) < low(b); });
  const Speedup best = speed_of(candidates[fastest]);
  std::erase_if(left, [&](std::size_t i) {
    const Speedup speed = speed_of(candidates[i]);
    return speed.high < best.low || speed.ratio < kTie * best.ratio;
  });
  const auto bytes = [&](std::size_t i) { return static_cast<double>(candidates[i].measured.bytes); };
  const double smallest = bytes(
      *std::min_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return bytes(a) < bytes(b); }));
  std::erase_if(left, [&](std::size_t i) { return bytes(i) > kAsSmall * smallest; });
  return *std::min_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    const AutoCandidate &one = candidates[a], &other = candidates[b];
    if (one.measured.sqnr_db != other.measured.sqnr_db) return one.measured.sqnr_db > other.measured.sqnr_db;
    return one.moved.size() < other.moved.size();
  });
}

std::vector<std::size_t> pareto_front(const std::vector<AutoCandidate>& candidates) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Measurement& one = candidates[i].measured;
    if (!one.runs) continue;
    bool outdone = false;
    for (std::size_t j = 0; j < candidates.size() && !outdone; ++j) {
      const Measurement& other = candidates[j].measured;
      if (j == i || !other.runs) continue;
      const double mine = speed_of(candidates[i]).ratio, theirs = speed_of(candidates[j]).ratio;
      const bool no_worse = other.bytes <= one.bytes && theirs >= mine && other.sqnr_db >= one.sqnr_db;
      const bool better = other.bytes < one.bytes || theirs > mine || other.sqnr_db > one.sqnr_db;
      outdone = no_worse && (better || j < i);
    }
    if (!outdone) front.push_back(i);
  }
  return front;
}

std::string why_unmet(const std::vector<AutoCandidate>& candidates, const AutoBudget& budget) {
  if (candidates.empty() || choose(candidates, budget)) return {};
  const AutoCandidate *smallest = nullptr, *fastest = nullptr;
  for (const AutoCandidate& candidate : candidates) {
    if (!keeps_drift(candidate, budget)) continue;
    if (!smallest || candidate.measured.bytes < smallest->measured.bytes) smallest = &candidate;
    if (!fastest || speed_of(candidate).ratio > speed_of(*fastest).ratio) fastest = &candidate;
  }
  if (!smallest) return "nothing that was tried runs within " + budget_words(budget);
  std::string why;
  const auto say = [&](const std::string& text) { why += (why.empty() ? "" : "; ") + text; };
  if (budget.max_bytes && smallest->measured.bytes > *budget.max_bytes)
    say("the smallest within " + budget_words(budget) + " is " + smallest->what + " with " +
        megabytes(smallest->measured.bytes));
  if (budget.min_speedup && speed_of(*fastest).ratio < *budget.min_speedup)
    say("the fastest within " + budget_words(budget) + " is " + fastest->what + " with " +
        times(speed_of(*fastest).ratio));
  return why.empty() ? "no candidate is both small and fast enough" : why;
}

std::string figures_of(const Measurement& measured) {
  if (!measured.runs) return "does not run (" + measured.error + ")";
  std::string text = decibels(measured.sqnr_db);
  if (measured.samples > 1 && measured.highest_db > measured.lowest_db)
    text += " (samples " + decibels(measured.lowest_db) + " to " + decibels(measured.highest_db) + ")";
  if (measured.drop) text += ", " + percent(*measured.drop) + " fewer right";
  if (measured.speedup)
    text += ", " + times(measured.speedup->ratio) + " (" + times(measured.speedup->low) + " to " +
            times(measured.speedup->high) + ")";
  return text + ", " + megabytes(measured.bytes);
}

std::string budget_words(const AutoBudget& budget) {
  return budget.max_drop ? percent(*budget.max_drop) + " of right answers lost" : decibels(budget.min_sqnr_db);
}

std::string reason_for(const AutoCandidate& chosen, const std::vector<AutoCandidate>& candidates,
                       const AutoBudget& budget) {
  const Speedup speed = speed_of(chosen);
  if (chosen.is_float) {
    const bool integers = std::any_of(candidates.begin(), candidates.end(), [&](const AutoCandidate& candidate) {
      return !candidate.is_float && keeps_drift(candidate, budget);
    });
    return integers ? "float: what keeps " + budget_words(budget) + " in fewer bits is slower here"
                    : "float: nothing in fewer bits keeps " + budget_words(budget);
  }
  if (speed.low > 1) return "the fastest that keeps " + budget_words(budget);
  return "nothing that keeps " + budget_words(budget) +
         " is faster than float beyond the noise: this is the smallest that is not slower";
}

std::vector<std::string> account_of_moved(const AutoCandidate& chosen, const AutoCandidate* whole,
                                          const std::vector<Sensitivity>& sensitivities) {
  constexpr std::size_t kShown = 12;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < chosen.moved.size(); ++i) {
    if (i == kShown) {
      lines.push_back("out of integers: " + std::to_string(chosen.moved.size() - kShown) + " more");
      break;
    }
    const std::string& node = chosen.moved[i];
    const auto entry = std::find_if(chosen.plan.nodes.begin(), chosen.plan.nodes.end(),
                                    [&](const NodePlan& one) { return one.node == node; });
    std::string line = "out of integers: " + node;
    if (entry != chosen.plan.nodes.end()) line += " (" + std::string(name_of(entry->action)) + ")";
    const auto known = std::find_if(sensitivities.begin(), sensitivities.end(), [&](const Sensitivity& one) {
      return one.nodes.size() == 1 && one.nodes[0] == node;
    });
    if (known != sensitivities.end()) {
      line += ": alone in integers " + decibels(known->alone_db);
      if (known->without_db) line += ", all others " + decibels(*known->without_db);
    }
    lines.push_back(line);
  }
  if (whole && whole != &chosen && !chosen.moved.empty()) {
    lines.push_back("that brings " + decibels(whole->measured.sqnr_db) + " to " + decibels(chosen.measured.sqnr_db) +
                    " and costs: speed " + times(speed_of(*whole).ratio) + " to " + times(speed_of(chosen).ratio) +
                    ", size " + megabytes(whole->measured.bytes) + " to " + megabytes(chosen.measured.bytes));
  }
  return lines;
}

}  // namespace octet
