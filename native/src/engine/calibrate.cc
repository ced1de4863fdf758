#include "engine/calibrate.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "engine/model_session.h"
#include "engine/shared_arena.h"
#include "engine/value_observer.h"
#include "engine/worker_crew.h"
#include "octet/error.h"
#include "octet/observe.h"
#include "octet/segments.h"

namespace octet {
namespace {

// Samples may be this much larger than what was planned for before the plan is made anew.
constexpr double kOverBudget = 1.25;
// Samples that run at once: the runtime spends several threads on one sample worse than one on each. More would part
// the memory too finely.
constexpr std::size_t kMostSideBySide = 4;
// Bytes that all of them may hold at once where single nodes make more than the budget.
constexpr std::uint64_t kMostUncut = std::uint64_t{128} << 20;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What sessions leave lies between other things and would stay with the process, beside what the next ones take.
void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// One of the samples that run side by side, and all that were in its place before.
struct Lane {
  explicit Lane(const ObservedValues& wanted) : observer(wanted) {}

  ValueObserver observer;
  std::unique_ptr<WorkerCrew> crew;               // for the values of one sample
  std::map<std::string, std::uint64_t> measured;  // how large each value got, in bytes
  double run_seconds = 0, observe_seconds = 0;
};

struct NumberedSample {
  std::uint64_t number = 0;  // of all, from 0
  std::string name;
  Sample values;
};

class CalibrationRun {
 public:
  CalibrationRun(const Model& prepared, const std::vector<std::string>& taps, SampleReader& samples,
                 const CalibrationOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency())),
        samples_(samples),
        count_(std::max<std::size_t>(samples.size(), 1)),
        segmented_(prepared, made_by_nodes(prepared, taps)) {
    const std::size_t lanes = std::min({std::size_t{threads_}, count_, kMostSideBySide});
    for (std::size_t i = 0; i < lanes; ++i) lanes_.push_back(std::make_unique<Lane>(wanted_));
    share_out();
    engine_.optimize = false;
    engine_.shared_arena = true;
    result_.ranges.model = options.fingerprint ? *options.fingerprint : fingerprint_of(prepared);
  }

  Calibration run() {
    if (const auto first = take_next()) run_first(*first);
    rethrow();
    if (taken_ == 0)
      throw Error(ErrorCode::kData, samples_.description(), "there is not one sample to learn ranges from",
                  "give some with --calib");
    while (!ended_) {
      const bool news = learn_sizes();
      if (std::exchange(too_large_, false) && news && !whole_) cut_again();
      fit_memory();
      WorkerCrew crew(static_cast<unsigned>(lanes_.size()));
      crew.run(lanes_.size(), [&](std::size_t i) {
        while (const auto sample = take_next()) {
          try {
            run_sample(*lanes_[i], *sample);
          } catch (...) {
            fail(sample->number);
          }
        }
      });
      rethrow();
    }
    return learned();
  }

 private:
  // The taps that are no inputs; those are set apart.
  std::vector<std::string> made_by_nodes(const Model& model, const std::vector<std::string>& taps) {
    std::set<std::string> inputs;
    for (const ValueInfo& input : inputs_of(model)) inputs.insert(input.name);
    std::vector<std::string> made;
    const auto add = [&](const std::string& tap) {
      auto& list = inputs.contains(tap) ? observed_inputs_ : made;
      if (std::find(list.begin(), list.end(), tap) == list.end()) list.push_back(tap);
    };
    for (const auto& tap : taps) add(tap);
    wanted_.taps.insert(taps.begin(), taps.end());
    for (const ChannelTap& tap : options_.channels) {
      add(tap.value);
      wanted_.axes[tap.value] = tap.axis;
    }
    return made;
  }

  // Memory and threads among the lanes. They share the sessions, each of which has its caller and threads beside.
  void share_out() {
    const auto lanes = static_cast<unsigned>(lanes_.size());
    budget_ = std::max<std::uint64_t>(1, options_.memory_budget / lanes);
    engine_.threads = threads_ - lanes + 1;
    for (const auto& lane : lanes_) lane->crew = std::make_unique<WorkerCrew>(threads_ / lanes);
  }

  // What one node makes can be larger than a lane's part of the memory, however the model is cut. Then fewer samples
  // run at once.
  void fit_memory() {
    std::uint64_t alive = 1;
    for (const Segment& segment : segmented_.segments()) alive = std::max(alive, size_of(segment));
    const std::size_t fitting = std::max<std::size_t>(1, std::max(options_.memory_budget, kMostUncut) / alive);
    if (fitting >= lanes_.size()) return;
    while (lanes_.size() > fitting) close_lane();
    share_out();
    cut_again();
  }

  // What is alive at the end of a segment.
  template <class Look>
  static void for_values_of(const Segment& segment, const Look& look) {
    for (const auto* names : {&segment.inputs, &segment.outputs}) {
      for (const auto& name : *names) look(name);
    }
  }

  // As far as sizes are known.
  std::uint64_t size_of(const Segment& segment) const {
    std::uint64_t bytes = 0;
    for_values_of(segment, [&](const std::string& name) {
      const auto size = sizes_.find(name);
      if (size != sizes_.end()) bytes += size->second;
    });
    return bytes;
  }

  // Nothing at the end, after a fault, and while the model has to be cut anew.
  std::optional<NumberedSample> take_next() {
    const std::lock_guard reading(reader_mutex_);
    if (stopped()) return std::nullopt;
    try {
      if (auto values = samples_.next()) return NumberedSample{taken_++, samples_.name(), std::move(*values)};
    } catch (...) {
      fail(taken_);
      return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    return std::nullopt;
  }

  bool stopped() {
    const std::lock_guard lock(mutex_);
    return ended_ || too_large_ || fault_;
  }

  // Of several samples that fail side by side the first is told of: the one that would have ended them in turn.
  void fail(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (fault_ && fault_number_ < number) return;
    fault_ = std::current_exception();
    fault_number_ = number;
  }

  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }

  // What inference says where segments meet can be wrong: where the first sample does not run through them it is run
  // through the whole model, and so are all others.
  void run_first(const NumberedSample& sample) {
    std::map<std::string, std::vector<std::int64_t>> dims;
    for (const auto& [name, tensor] : sample.values) dims[name] = tensor.dims;
    sizes_ = segmented_.estimate(dims);
    cut();
    Lane& lane = *lanes_.front();
    try {
      run_sample(lane, sample);
    } catch (const Error& fault) {
      if (segmented_.segments().size() < 2) throw;
      whole_ = true;
      done_ = 0;
      lane.observer.forget();
      cut();
      run_sample(lane, sample);
    }
  }

  void run_sample(Lane& lane, const NumberedSample& sample) {
    LiveValues values;
    for (const auto& [name, tensor] : sample.values) values.lend(name, tensor);
    lane.observer.begin_sample(sample.number, sample.name);
    observe(lane, values, observed_inputs_);
    bool too_large = false;
    for (std::size_t i = 0; i < segmented_.segments().size(); ++i) {
      const Segment& segment = segmented_.segments()[i];
      const auto start = Clock::now();
      try {
        sessions_[i].run(values);
      } catch (const Error& fault) {
        throw Error(fault.code(), sample.name.empty() ? fault.where() : sample.name, fault.problem(), fault.next());
      }
      lane.run_seconds += seconds_since(start);
      const auto planned = static_cast<double>(std::max(budget_, size_of(segment)));
      too_large = static_cast<double>(measure(lane, values, segment)) > kOverBudget * planned || too_large;
      observe(lane, values, segment.observed);
      for (const auto& name : segment.dropped) values.drop(name);
      end_segment();
    }
    if (!too_large) return;
    const std::lock_guard lock(mutex_);
    too_large_ = true;
  }

  void observe(Lane& lane, const LiveValues& values, const std::vector<std::string>& names) const {
    if (!options_.observe) return;
    const auto start = Clock::now();
    lane.observer.observe(values, names, *lane.crew);
    lane.observe_seconds += seconds_since(start);
  }

  // As they are.
  static std::uint64_t measure(Lane& lane, const LiveValues& values, const Segment& segment) {
    std::uint64_t alive = 0;
    for_values_of(segment, [&](const std::string& name) {
      const auto view = values.view(name);
      if (!view) return;
      alive += view->bytes.size();
      auto& size = lane.measured[name];
      size = std::max<std::uint64_t>(size, view->bytes.size());
    });
    return alive;
  }

  void end_segment() {
    const std::lock_guard lock(mutex_);
    done_ += 1.0 / static_cast<double>(segmented_.segments().size());
    if (options_.progress) options_.progress(std::min(1.0, done_ / static_cast<double>(count_)));
  }

  void cut() {
    segmented_.cut(sizes_, whole_ ? std::numeric_limits<std::uint64_t>::max() : budget_);
    if (!sessions_.empty()) {
      sessions_.clear();
      give_back_memory();
    }
    for (std::size_t i = 0; i < segmented_.segments().size(); ++i)
      sessions_.push_back(open_session(segmented_.model_of(i), engine_));
  }

  // What was measured is truer than what was expected. Whether it says anything new.
  bool learn_sizes() {
    const auto planned = sizes_;
    for (const auto& lane : lanes_) learn_sizes(*lane);
    for (const auto& [name, size] : measured_) sizes_[name] = size;
    return sizes_ != planned;
  }
  void learn_sizes(const Lane& lane) {
    for (const auto& [name, size] : lane.measured) measured_[name] = std::max(measured_[name], size);
  }

  void cut_again() {
    try {
      cut();
    } catch (const Error&) {
      whole_ = true;
      cut();
    }
  }

  // The last lane is not used any more; what it saw stays.
  void close_lane() {
    const Lane& lane = *lanes_.back();
    lane.observer.add_to(result_.ranges, result_.channels, non_finite_);
    result_.run_seconds += lane.run_seconds;
    result_.observe_seconds += lane.observe_seconds;
    learn_sizes(lane);
    lanes_.pop_back();
  }

  Calibration learned() {
    result_.ranges.samples = taken_;
    result_.side_by_side = lanes_.size();
    while (!lanes_.empty()) close_lane();
    result_.notes = non_finite_.notes(result_.ranges);
    result_.segments = segmented_.segments().size();
    return std::move(result_);
  }

  const CalibrationOptions& options_;
  const unsigned threads_;
  SampleReader& samples_;
  const std::size_t count_;  // of samples, as the reader has it
  std::vector<std::string> observed_inputs_;
  ObservedValues wanted_;
  SegmentedModel segmented_;
  SharedArena arena_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::uint64_t budget_ = 0;  // bytes, of each lane
  EngineOptions engine_;
  std::vector<Session> sessions_;  // one for each segment, for all lanes
  bool whole_ = false;             // no cuts: the segments did not load
  // In bytes, of each value: the largest there was, and what is planned with, as far as that is known.
  std::map<std::string, std::uint64_t> measured_, sizes_;
  NonFinite non_finite_;
  Calibration result_;

  std::mutex reader_mutex_;  // of the samples; taken before the other
  std::uint64_t taken_ = 0;

  std::mutex mutex_;  // of what follows
  bool ended_ = false, too_large_ = false;
  std::exception_ptr fault_;
  std::uint64_t fault_number_ = 0;
  double done_ = 0;  // samples
};

}  // namespace

Calibration run_calibration(const Model& prepared, const std::vector<std::string>& taps, SampleReader& samples,
                            const CalibrationOptions& options) {
  return CalibrationRun(prepared, taps, samples, options).run();
}

}  // namespace octet
