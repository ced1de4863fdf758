#include "engine/calibrate.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "engine/model_session.h"
#include "engine/worker_crew.h"
#include "octet/dtype.h"
#include "octet/error.h"
#include "octet/observe.h"
#include "octet/segments.h"

namespace octet {
namespace {

// Samples may be this much larger than what was planned for before the plan is made anew.
constexpr double kOverBudget = 1.25;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What sessions leave lies between other things and would stay with the process, beside what the next ones take.
void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class CalibrationRun {
 public:
  CalibrationRun(const Model& prepared, const std::vector<std::string>& taps, const CalibrationOptions& options)
      : options_(options), segmented_(prepared, made_by_nodes(prepared, taps)), crew_(options.threads) {
    engine_.optimize = false;
    engine_.threads = options.threads;
    engine_.give_back = true;
    result_.ranges.model = options.fingerprint ? *options.fingerprint : fingerprint_of(prepared);
  }

  Calibration run(SampleReader& samples) {
    const std::size_t count = samples.size();
    while (std::optional<Sample> sample = samples.next()) {
      sample_name_ = samples.name();
      non_finite_.begin_sample(sample_name_);
      const double done = static_cast<double>(result_.ranges.samples);
      take(*sample, [&](double part) {
        if (options_.progress)
          options_.progress(std::min(1.0, (done + part) / static_cast<double>(std::max<std::size_t>(count, 1))));
      });
      ++result_.ranges.samples;
    }
    if (result_.ranges.samples == 0)
      throw Error(ErrorCode::kData, samples.description(), "there is not one sample to learn ranges from",
                  "give some with --calib");
    result_.notes = non_finite_.notes(result_.ranges);
    result_.segments = segmented_.segments().size();
    return std::move(result_);
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
    taps_.insert(taps.begin(), taps.end());
    for (const ChannelTap& tap : options_.channels) {
      add(tap.value);
      axes_[tap.value] = tap.axis;
    }
    return made;
  }

  // What inference says where segments meet can be wrong: the first sample that does not run through them is run
  // through the whole model.
  template <class Tell>
  void take(const Sample& sample, const Tell& tell) {
    try {
      run_sample(sample, tell);
    } catch (const Error& fault) {
      if (result_.ranges.samples > 0 || whole_ || segmented_.segments().size() < 2) throw;
      whole_ = true;
      result_.ranges.tensors.clear();
      result_.channels.clear();
      non_finite_.clear();
      cut();
      run_sample(sample, tell);
    }
  }

  template <class Tell>
  void run_sample(const Sample& sample, const Tell& tell) {
    if (sizes_.empty()) {
      std::map<std::string, std::vector<std::int64_t>> dims;
      for (const auto& [name, tensor] : sample) dims[name] = tensor.dims;
      sizes_ = segmented_.estimate(dims);
      cut();
    }
    LiveValues values;
    for (const auto& [name, tensor] : sample) values.lend(name, tensor);
    observe(values, observed_inputs_);
    bool too_large = false;
    for (std::size_t i = 0; i < segmented_.segments().size(); ++i) {
      const Segment& segment = segmented_.segments()[i];
      const auto start = Clock::now();
      try {
        sessions_[i].run(values);
      } catch (const Error& fault) {
        throw Error(fault.code(), sample_name_.empty() ? fault.where() : sample_name_, fault.problem(), fault.next());
      }
      result_.run_seconds += seconds_since(start);
      too_large = measure(values, segment) > kOverBudget * static_cast<double>(options_.memory_budget) || too_large;
      observe(values, segment.observed);
      for (const auto& name : segment.dropped) values.drop(name);
      tell(static_cast<double>(i + 1) / static_cast<double>(segmented_.segments().size()));
    }
    if (too_large && !whole_) cut_finer();
  }

  void cut() {
    segmented_.cut(sizes_, whole_ ? std::numeric_limits<std::uint64_t>::max() : options_.memory_budget);
    if (!sessions_.empty()) {
      sessions_.clear();
      give_back_memory();
    }
    for (std::size_t i = 0; i < segmented_.segments().size(); ++i)
      sessions_.push_back(open_session(segmented_.model_of(i), engine_));
  }

  // Bytes alive at the end of a segment; remembers how large each value got.
  double measure(const LiveValues& values, const Segment& segment) {
    double alive = 0;
    for (const auto* names : {&segment.inputs, &segment.outputs}) {
      for (const auto& name : *names) {
        const auto view = values.view(name);
        if (!view) continue;
        alive += static_cast<double>(view->bytes.size());
        auto& size = measured_[name];
        size = std::max<std::uint64_t>(size, view->bytes.size());
      }
    }
    return alive;
  }

  void cut_finer() {
    const auto planned = sizes_;
    for (const auto& [name, size] : measured_) sizes_[name] = size;
    if (sizes_ == planned) return;
    try {
      cut();
    } catch (const Error&) {
      whole_ = true;
      cut();
    }
  }

  void observe(const LiveValues& values, const std::vector<std::string>& names) {
    if (!options_.observe) return;
    const auto start = Clock::now();
    struct Job {
      const std::string* name;
      TensorView view;
      Observation* observation;  // null: no tap
      std::uint64_t before;
      ChannelObservation* channels;  // null: as a whole only
      int axis;
    };
    std::vector<Job> jobs;
    for (const auto& name : names) {
      auto view = values.view(name);
      if (!view || !is_float_type(view->type)) continue;
      Observation* observation = taps_.contains(name) ? &result_.ranges.tensors[name] : nullptr;
      const auto axis = axes_.find(name);
      const bool apart = axis != axes_.end();
      jobs.push_back({&name, std::move(*view), observation, observation ? observation->non_finite() : 0,
                      apart ? &result_.channels[name] : nullptr, apart ? axis->second : 0});
    }
    // Large ones first, so that threads end together.
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& a, const Job& b) { return a.view.bytes.size() > b.view.bytes.size(); });
    crew_.run(jobs.size(), [&](std::size_t i) {
      const Job& job = jobs[i];
      with_floats(job.view, [&](std::span<const float> floats) {
        if (job.observation) job.observation->add(floats);
        if (job.channels) job.channels->add(floats, job.view.dims, job.axis);
      });
    });
    for (const Job& job : jobs) {
      if (job.observation && job.observation->non_finite() != job.before) non_finite_.add(*job.name);
    }
    result_.observe_seconds += seconds_since(start);
  }

  template <class Take>
  static void with_floats(const TensorView& view, const Take& take) {
    if (view.type == kFloat) {
      take({reinterpret_cast<const float*>(view.bytes.data()), view.bytes.size() / sizeof(float)});
    } else {
      const std::vector<float> values = to_float({view.type, view.dims, {view.bytes.begin(), view.bytes.end()}});
      take(values);
    }
  }

  const CalibrationOptions& options_;
  std::vector<std::string> observed_inputs_;
  std::set<std::string> taps_;
  std::map<std::string, int> axes_;  // of the values observed by channels
  SegmentedModel segmented_;
  WorkerCrew crew_;
  EngineOptions engine_;
  std::vector<Session> sessions_;  // one for each segment
  bool whole_ = false;             // no cuts: the segments did not load
  std::map<std::string, std::uint64_t> sizes_, measured_;
  NonFinite non_finite_;
  std::string sample_name_;
  Calibration result_;
};

}  // namespace

Calibration run_calibration(const Model& prepared, const std::vector<std::string>& taps, SampleReader& samples,
                            const CalibrationOptions& options) {
  return CalibrationRun(prepared, taps, options).run(samples);
}

}  // namespace octet
