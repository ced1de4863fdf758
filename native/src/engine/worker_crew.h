// Threads that wait for work: started once, so that short jobs again and again cost no start.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace octet {

class WorkerCrew {
 public:
  explicit WorkerCrew(unsigned threads);  // the caller of run() is one of them; 0: as many as the machine has
  ~WorkerCrew();
  WorkerCrew(const WorkerCrew&) = delete;
  WorkerCrew& operator=(const WorkerCrew&) = delete;

  // Calls job(0) … job(count - 1), each once, on any of the threads, starting in that order; returns when all are done.
  // Throws what the first of them threw. One call at a time.
  void run(std::size_t count, const std::function<void(std::size_t)>& job);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace octet
