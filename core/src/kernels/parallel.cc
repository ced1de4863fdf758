#include "kernels/parallel.h"

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
#define OCTET_HAVE_THREADS 0
#else
#define OCTET_HAVE_THREADS 1
#endif

#if OCTET_HAVE_THREADS
#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>
#endif

namespace octet {

bool have_threads() { return OCTET_HAVE_THREADS != 0; }

#if OCTET_HAVE_THREADS
namespace {

class Run {
 public:
  Run(std::size_t count, const std::function<void(std::size_t)>& task) : count_(count), task_(task) {}

  // Takes tasks until there are none left.
  void work() {
    for (;;) {
      const std::size_t index = next_.fetch_add(1);
      if (index >= count_) return;
      try {
        task_(index);
      } catch (...) {
        next_.store(count_);
        const std::lock_guard lock(mutex_);
        if (index < failed_index_) {
          failed_index_ = index;
          failure_ = std::current_exception();
        }
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t count_;
  const std::function<void(std::size_t)>& task_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t failed_index_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure_;
};

}  // namespace

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task) {
  Run run(count, task);
  std::vector<std::thread> helpers;
  const std::size_t wanted = std::min<std::size_t>(threads, count);
  helpers.reserve(wanted);
  for (std::size_t i = 1; i < wanted; ++i) {
    try {
      helpers.emplace_back([&run] { run.work(); });
    } catch (const std::system_error&) {
      break;  // the system has no more threads to give: the ones there are do the work
    }
  }
  run.work();
  for (std::thread& helper : helpers) helper.join();
  run.rethrow();
}
#else
void parallel_for(std::size_t count, unsigned /*threads*/, const std::function<void(std::size_t)>& task) {
  for (std::size_t i = 0; i < count; ++i) task(i);
}
#endif

}  // namespace octet
