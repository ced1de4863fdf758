#include "cli/verdict_lines.h"

namespace octet {

std::string verdict_lines(const Verdict& verdict, const Explanation& explanation) {
  std::string text = verdict.sentence + "\n";
  if (verdict.judgement == Judgement::kShip) return text;
  if (!explanation.why.empty()) text += "why: " + explanation.why + "\n";
  for (const Advice& advice : explanation.next) text += "try: " + advice.text + "\n";
  return text;
}

}  // namespace octet
