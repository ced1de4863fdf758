// What the automatic search tries, stage by stage.
#include "octet/floor_search.h"
#include "search/auto_run.h"
#include "search/expected_noise.h"
#include "search/plan_edits.h"
#include "search/words.h"

namespace octet {
namespace {

// How often the chosen one is timed for longer, and another may turn out to be it.
constexpr int kMostConfirmed = 4;
// Of the time, what the first of two bases may take.
constexpr double kFirstShare = 0.5;
constexpr const char* kFolded = "weights only, folded";

}  // namespace

void AutoSearch::Impl::step() {
  switch (stage) {
    case Stage::kAnchors:
      return anchors();
    case Stage::kMethods:
      return methods();
    case Stage::kValues:
      return values();
    case Stage::kCorrections:
      return corrections();
    case Stage::kBiases:
      return biases();
    case Stage::kFirstDrop:
      return drop_from(0);
    case Stage::kSecondDrop:
      return drop_from(1);
    case Stage::kWide:
      return widen();
    case Stage::kWeights:
      return drop_weights();
    case Stage::kJoin:
      return join();
    case Stage::kLoneProducts:
      return lone_products_out();
    case Stage::kScales:
      return fewer_scales();
    case Stage::kConfirm:
      return confirm();
    case Stage::kDone:
      return;
  }
}

void AutoSearch::Impl::anchors() {
  // First what can always be had.
  Base* plain = base_of("float");
  if (!plain) {
    plain = &add_base("float", given.copy());
    plain->plan = all_float(std::move(plain->plan));
  }
  time_plan(*plain, "float, prepared", plain->plan, {}, true);
  if (Base* base = planned("static", Mode::kStatic, Action::kStatic)) whole(*base);
  if (Base* base = planned("dynamic", Mode::kDynamic, Action::kDynamic)) whole(*base);
  Base* weights = planned("weights only", Mode::kWeights, Action::kWeights);
  if (weights) {
    whole(*weights);
    Plan folded = weights->plan;
    if (!fold_matrices(folded, "the fused kernel may be slower").empty()) time_plan(*weights, kFolded, folded);
  }
  if (budget.max_bytes) shrink();
}

// Fewer bits only where 8 are too many.
void AutoSearch::Impl::shrink() {
  const bool fits = std::any_of(candidates.begin(), candidates.end(), [&](const AutoCandidate& candidate) {
    return candidate.measured.runs && candidate.measured.bytes <= *budget.max_bytes;
  });
  if (fits) return;
  Base* base = base_of("weights in 4 bits");
  if (!base) {
    PlanOptions changed = options;
    changed.mode = Mode::kWeights;
    changed.weight_type = QuantType::kInt4;
    base = &add_base("weights in 4 bits", given.planned_as(changed));
  }
  whole(*base);
}

// The base that is nearest first: it needs the fewest looks, and what comes of it may settle the other.
void AutoSearch::Impl::drop_from(std::size_t turn) {
  if (!drop_order) {
    drop_order.emplace();
    for (Base* base : {best_static(), base_of("dynamic")}) {
      if (base) drop_order->push_back(base->name);
    }
    std::stable_sort(drop_order->begin(), drop_order->end(), [&](const std::string& a, const std::string& b) {
      return candidates[*base_of(a)->whole].measured.sqnr_db > candidates[*base_of(b)->whole].measured.sqnr_db;
    });
  }
  if (turn >= drop_order->size()) return;
  // Time is left for the other.
  if (turn + 1 < drop_order->size()) share = kFirstShare;
  drop(base_of((*drop_order)[turn]));
  share = kSearchShare;
}

// What nodes become that leave integers: stored as they run fastest, where all of them together would be near enough.
DropSearch::Level AutoSearch::Impl::first_level(const Base& base) {
  const Base* weights = base_of("weights only");
  if (!weights || weights == &base) return DropSearch::Level::kFloat;
  const auto folded =
      std::find_if(candidates.begin(), candidates.end(), [](const AutoCandidate& one) { return one.what == kFolded; });
  const Measurement& stored = candidates[*weights->whole].measured;
  if (folded != candidates.end() && keeps_drift(folded->measured, budget) &&
      !(keeps(weights) && stored.speedup->ratio > folded->measured.speedup->ratio))
    return DropSearch::Level::kFolded;
  return keeps(weights) ? DropSearch::Level::kStored : DropSearch::Level::kFloat;
}

DropSearch::Guide AutoSearch::Impl::guide(const Base& base) const {
  const auto ranges = learned.find(base.quantizer.fingerprint());
  if (ranges == learned.end()) return {{}, base.quantizer.blocks()};
  return {ExpectedNoise(base.quantizer, base.plan, ranges->second->ranges).of_nodes(), base.quantizer.blocks()};
}

// Takes nodes out of a base that is fast and too far off, until it is near enough.
void AutoSearch::Impl::drop(Base* base) {
  if (!base) return;
  whole(*base);
  const AutoCandidate& all = candidates[*base->whole];
  if (keeps_drift(all.measured, budget)) return;
  const Speedup speed = all.measured.speedup.value_or(Speedup{});
  // Decided once: what comes of it counts among the best from then on.
  if (!base->worth) base->worth = !all.measured.runs || speed.high >= std::max(1.0, low_of_best());
  if (!*base->worth) {
    skipped.insert(base->name);
    return;
  }
  if (!base->drop)
    base->drop =
        std::make_unique<DropSearch>(base->plan, budget.min_sqnr_db, first_level(*base), guide(*base), hooks(*base));
  base->drop->run();
  if (base->drop->reached() && !active_nodes(base->drop->plan()).empty()) {  // else that is the float model
    const auto moved = base->drop->moved();
    time_plan(*base, base->what + ", " + plural(moved.size(), "node") + " out of integers", base->drop->plan(), moved);
    if (const auto mixed = base->drop->mixed())
      time_plan(*base, base->what + ", " + plural(moved.size(), "node") + " in other forms", *mixed, moved);
    // More nodes, but no island of floats between integers.
    for (const auto end : {DropSearch::End::kFirst, DropSearch::End::kLast}) {
      const auto out = base->drop->end_out(end);
      if (out.empty()) continue;
      const std::string which = end == DropSearch::End::kFirst ? ", first " : ", last ";
      time_plan(*base, base->what + which + plural(out.size(), "node") + " out of integers", base->drop->without(out),
                out);
    }
  }
}

// Activations of 16 bits are near, and slow where the runtime has no kernel for them: only where 8 bits gave nothing.
void AutoSearch::Impl::widen() {
  if (!base_of("static")) return;
  if (!wide_wanted) wide_wanted = low_of_best() <= 1 && !late();
  if (!*wide_wanted) return;
  if (Base* wide = planned("static, 16-bit activations", Mode::kStatic, Action::kStatic, QuantType::kUint16))
    whole(*wide);
}

// Only where nothing else came of it: its one gain is the file.
void AutoSearch::Impl::drop_weights() {
  if (!float_wins) {
    const auto best = choose(candidates, budget);
    float_wins = best && candidates[*best].is_float;
  }
  if (*float_wins) drop(base_of("weights only"));
}

// What static mode has no integers for may find its ranges while it runs: recurrent layers, matrices without a chain.
void AutoSearch::Impl::join() {
  const Base* dynamic = base_of("dynamic");
  if (!dynamic) return;
  if (!joined_to) {
    std::vector<AutoCandidate> fixed;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Base& base = *bases[candidates[i].base];
      if (&base != base_of("static") && &base != base_of(kCorrected) && &base != base_of(kBiasesCorrected)) continue;
      fixed.push_back(candidates[i]);
      places.push_back(i);
    }
    const auto best = choose(fixed, budget);
    joined_to = best && !late() ? static_cast<int>(places[*best]) : -1;
  }
  if (*joined_to < 0) return;
  const AutoCandidate fixed = candidates[static_cast<std::size_t>(*joined_to)];
  const Base& base = *bases[fixed.base];
  Plan plan = fixed.plan;
  const auto taken = take_dynamic(plan, dynamic->plan, fixed.moved);
  if (taken.empty() || !keeps_drift(ask(base.quantizer, plan, Effort::kDrift), budget)) return;
  time_plan(base, fixed.what + ", " + plural(taken.size(), "more node") + " dynamic", plan, fixed.moved);
}

// A product alone between float nodes may cost more in conversions than its integers gain.
void AutoSearch::Impl::lone_products_out() {
  refine([](Plan& plan, std::vector<std::string>& moved) -> std::string {
    const auto lone = lone_products(plan);
    for (const std::string& node : lone) {
      to_weights(plan, node, true, "alone between float nodes, its conversions cost more than its integers gain");
      moved.push_back(node);
    }
    return lone.empty() || active_nodes(plan).empty() ? "" : plural(lone.size(), "lone product") + " as well";
  });
}

// Fewer scales are a smaller file, and no slower.
void AutoSearch::Impl::fewer_scales() {
  refine([](Plan& plan, std::vector<std::string>&) -> std::string {
    const std::size_t shared = share_scales(plan);
    return shared == 0 ? "" : plural(shared, "weight") + " with one scale";
  });
}

// A change of the best, which says what it did; "" for nothing. Once per stage: it adds to what the best is chosen
// from.
void AutoSearch::Impl::refine(const std::function<std::string(Plan&, std::vector<std::string>&)>& change) {
  const auto best = choose(candidates, budget);
  if (!best || candidates[*best].is_float) return;
  const AutoCandidate chosen = candidates[*best];
  const Base& base = *bases[chosen.base];
  Plan plan = chosen.plan;
  auto moved = chosen.moved;
  const std::string what = change(plan, moved);
  if (what.empty() || late() || !keeps_drift(ask(base.quantizer, plan, Effort::kDrift), budget)) return;
  time_plan(base, chosen.what + ", " + what, plan, moved);
}

// One that may be faster and was timed in a noisy moment gets the same chance as the best.
void AutoSearch::Impl::confirm() {
  for (int i = 0; i < kMostConfirmed; ++i) {
    const auto best = choose(candidates, budget);
    if (!best) return;
    const auto ratio = [&](std::size_t at) { return candidates[at].measured.speedup.value_or(Speedup{}).ratio; };
    std::size_t next = *best;
    for (std::size_t at = 0; candidates[*best].confirmed && at < candidates.size(); ++at) {
      if (!candidates[at].confirmed && keeps_all(candidates[at], budget) && ratio(at) > ratio(next)) next = at;
    }
    AutoCandidate& contender = candidates[next];
    if (contender.confirmed) return;
    engine.tell("timing the best for longer", 0, 1);
    contender.measured = ask(bases[contender.base]->quantizer, contender.plan, Effort::kConfirm);
    contender.confirmed = true;
    commit();
  }
}

}  // namespace octet
