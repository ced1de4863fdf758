#include "engine/interleave.h"

#include <chrono>

#include "engine/environment.h"

namespace octet {

InterleaveResult time_interleaved(const std::vector<const Session*>& sessions, const std::vector<Sample>& samples,
                                  const InterleaveOptions& options) {
  refuse_to_time_in_emulator("timing");
  const auto start = std::chrono::steady_clock::now();
  const auto late = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return options.seconds > 0 && elapsed.count() > options.seconds;
  };
  InterleaveResult result;
  result.milliseconds.resize(sessions.size());
  for (std::size_t round = 0; round < options.warmup && !late(); ++round) {
    for (const Session* session : sessions) session->time_run(samples[round % samples.size()]);
  }
  for (std::size_t round = 0; round < options.runs; ++round) {
    if (round > 0 && late()) {
      result.cut_short = true;
      break;
    }
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      const std::size_t turn = (round + i) % sessions.size();
      result.milliseconds[turn].push_back(sessions[turn]->time_run(samples[round % samples.size()]));
    }
    if (options.progress) options.progress(round + 1);
  }
  return result;
}

}  // namespace octet
