#include "engine/worker_crew.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace octet {

struct WorkerCrew::Impl {
  std::mutex mutex;
  std::condition_variable called, idle;
  const std::function<void(std::size_t)>* job = nullptr;
  std::size_t next = 0, count = 0;
  std::size_t working = 0;  // threads inside a job
  bool leaving = false;
  std::exception_ptr fault;
  std::vector<std::thread> threads;

  void work(std::unique_lock<std::mutex>& lock) {
    while (next < count) {
      const std::size_t mine = next++;
      const auto& call = *job;
      ++working;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        call(mine);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      --working;
      if (!thrown) continue;
      if (!fault) fault = thrown;
      next = count;  // nothing more is begun
    }
    if (working == 0) idle.notify_all();
  }

  void stand_by() {
    std::unique_lock lock(mutex);
    while (true) {
      called.wait(lock, [&] { return leaving || next < count; });
      if (leaving) return;
      work(lock);
    }
  }
};

WorkerCrew::WorkerCrew(unsigned threads) : impl_(std::make_unique<Impl>()) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 1; i < threads; ++i) impl_->threads.emplace_back([this] { impl_->stand_by(); });
}

WorkerCrew::~WorkerCrew() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->leaving = true;
  }
  impl_->called.notify_all();
  for (std::thread& thread : impl_->threads) thread.join();
}

void WorkerCrew::run(std::size_t count, const std::function<void(std::size_t)>& job) {
  std::unique_lock lock(impl_->mutex);
  impl_->job = &job;
  impl_->next = 0;
  impl_->count = count;
  impl_->fault = nullptr;
  if (count > 1) impl_->called.notify_all();
  impl_->work(lock);
  impl_->idle.wait(lock, [&] { return impl_->working == 0; });
  if (impl_->fault) std::rethrow_exception(impl_->fault);
}

}  // namespace octet
