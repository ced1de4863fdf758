// The runtime's trace: a list of events with a beginning ("ts") and a length ("dur") in microseconds, of category
// "Node" for nodes, of which NAME_kernel_time is the work itself, and "Session" with "model_run" for whole runs.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/integer_share.h"
#include "engine/profile.h"
#include "octet/error.h"

namespace octet {
namespace {

using nlohmann::json;

constexpr std::string_view kKernel = "_kernel_time";

struct Event {
  double begin = 0, length = 0, own = 0;  // own: without the events inside it
  std::string name, op;
  bool integers = false;
  double end() const { return begin + length; }
};

bool eight_bits(std::string_view type) { return type == "int8" || type == "uint8"; }

// "input_type_shape": [{"uint8": [1, 3, 8, 8]}, …], of the inputs that are tensors.
bool first_input_in_8_bits(const json& arguments) {
  const auto types = arguments.find("input_type_shape");
  if (types == arguments.end() || !types->is_array() || types->empty() || !types->front().is_object()) return false;
  const json& first = types->front();
  return !first.empty() && eight_bits(first.begin().key());
}

Event node_event(const json& entry, std::string_view name) {
  Event event{entry.at("ts").get<double>(), entry.at("dur").get<double>(), 0, {}, {}, false};
  event.own = event.length;
  event.name = name.substr(0, name.size() - kKernel.size());
  const json& arguments = entry.at("args");
  event.op = arguments.at("op_name").get<std::string>();
  const bool carries = !converts(event.op) && event.op != "Cast" && first_input_in_8_bits(arguments);
  event.integers = computes_in_integers(event.op) || carries;
  return event;
}

// Nodes of a graph inside a node lie within its time.
void take_inner_times_out(std::vector<Event>& events) {
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  std::vector<Event*> around;
  for (Event& event : events) {
    while (!around.empty() && around.back()->end() <= event.begin) around.pop_back();
    if (!around.empty() && event.end() <= around.back()->end())
      around.back()->own = std::max(0.0, around.back()->own - event.length);
    around.push_back(&event);
  }
}

// A mean of a few runs would be that of whatever else the machine did.
void keep_faster_half(std::vector<Event>& runs) {
  std::sort(runs.begin(), runs.end(), [](const Event& a, const Event& b) { return a.length < b.length; });
  runs.resize((runs.size() + 1) / 2);
}

template <class List>
void longest_first(List& list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.ms > b.ms; });
}

Profile summed(const std::vector<Event>& events, const std::vector<Event>& runs) {
  Profile profile;
  profile.runs = runs.size();
  const auto count = static_cast<double>(runs.size());
  std::map<std::pair<std::string, bool>, Profile::Operator> operators;
  std::map<std::pair<std::string, std::string>, double> nodes;
  double total = 0, integer = 0;
  for (const Event& event : events) {
    const double ms = event.own / 1000 / count;
    Profile::Operator& row = operators[{event.op, event.integers}];
    row.count += 1 / count;
    row.ms += ms;
    nodes[{event.name, event.op}] += ms;
    total += ms;
    if (event.integers) integer += ms;
  }
  for (auto& [key, row] : operators) {
    row.op = key.first;
    row.integers = key.second;
    row.share = total > 0 ? row.ms / total : 0;
    profile.operators.push_back(std::move(row));
  }
  for (const auto& [key, ms] : nodes) profile.nodes.push_back({key.first, key.second, ms});
  longest_first(profile.operators);
  longest_first(profile.nodes);
  if (profile.nodes.size() > kProfiledNodes) profile.nodes.resize(kProfiledNodes);
  profile.integer_share = total > 0 ? integer / total : 0;
  for (const Event& run : runs) profile.run_ms += run.length / 1000 / count;
  return profile;
}

}  // namespace

Profile profile_from_trace(std::string_view trace, std::size_t warmup) {
  std::vector<Event> nodes, runs;
  try {
    const json document = json::parse(trace);
    for (const json& entry : document) {
      const auto name = entry.at("name").get<std::string>();
      const auto category = entry.at("cat").get<std::string>();
      if (category == "Node" && name.ends_with(kKernel)) nodes.push_back(node_event(entry, name));
      if (category == "Session" && name == "model_run")
        runs.push_back({entry.at("ts").get<double>(), entry.at("dur").get<double>(), 0, {}, {}, false});
    }
  } catch (const json::exception&) {
    throw Error(ErrorCode::kRun, "profile", "the runtime's profile is not in the form that is known");
  }
  std::sort(runs.begin(), runs.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  if (runs.size() <= warmup) throw Error(ErrorCode::kRun, "profile", "the runtime's profile has no complete run");
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(warmup));
  keep_faster_half(runs);
  std::erase_if(nodes, [&](const Event& event) {
    return std::none_of(runs.begin(), runs.end(),
                        [&](const Event& run) { return run.begin <= event.begin && event.begin < run.end(); });
  });
  take_inner_times_out(nodes);
  return summed(nodes, runs);
}

}  // namespace octet
