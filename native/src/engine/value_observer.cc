#include "engine/value_observer.h"

#include <algorithm>

#include "octet/dtype.h"
#include "octet/tensor.h"

namespace octet {
namespace {

template <class Take>
void with_floats(const TensorView& view, const Take& take) {
  if (view.type == kFloat) {
    take({reinterpret_cast<const float*>(view.bytes.data()), view.bytes.size() / sizeof(float)});
  } else {
    const std::vector<float> values = to_float({view.type, view.dims, {view.bytes.begin(), view.bytes.end()}});
    take(values);
  }
}

template <class Observed>
void add_all(const std::map<std::string, Observed>& from, std::map<std::string, Observed>& into) {
  for (const auto& [name, observed] : from) into[name].merge(observed);
}

}  // namespace

void ValueObserver::observe(const LiveValues& values, const std::vector<std::string>& names, WorkerCrew& crew) {
  struct Job {
    const std::string* name;
    TensorView view;
    Observation* observation;  // null: not as a whole
    std::uint64_t before;
    ChannelObservation* channels;  // null: as a whole only
    int axis;
  };
  std::vector<Job> jobs;
  for (const auto& name : names) {
    auto view = values.view(name);
    if (!view || !is_float_type(view->type)) continue;
    Observation* observation = wanted_.taps.contains(name) ? &tensors_[name] : nullptr;
    const auto axis = wanted_.axes.find(name);
    const bool apart = axis != wanted_.axes.end();
    jobs.push_back({&name, std::move(*view), observation, observation ? observation->non_finite() : 0,
                    apart ? &channels_[name] : nullptr, apart ? axis->second : 0});
  }
  // Large ones first, so that threads end together.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.view.bytes.size() > b.view.bytes.size(); });
  crew.run(jobs.size(), [&](std::size_t i) {
    const Job& job = jobs[i];
    with_floats(job.view, [&](std::span<const float> floats) {
      if (job.observation) job.observation->add(floats);
      if (job.channels) job.channels->add(floats, job.view.dims, job.axis);
    });
  });
  for (const Job& job : jobs) {
    if (job.observation && job.observation->non_finite() != job.before) non_finite_.add(*job.name);
  }
}

void ValueObserver::forget() {
  tensors_.clear();
  channels_.clear();
  non_finite_.clear();
}

void ValueObserver::add_to(Ranges& ranges, ChannelObservations& channels, NonFinite& non_finite) const {
  add_all(tensors_, ranges.tensors);
  add_all(channels_, channels);
  non_finite.merge(non_finite_);
}

}  // namespace octet
