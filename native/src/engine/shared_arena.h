// One memory for the values of several sessions that run in turn or side by side: what one is done with serves the
// next. From the C library's heap each would leave pieces too small for the other's values, and the process would grow.
#pragma once

namespace octet {

// Sessions made with EngineOptions::shared_arena while one of these is there use it; they and their values must be gone
// before the last of these goes, and the memory with it.
class SharedArena {
 public:
  SharedArena();  // opens the runtime; throws Error(kRun) as that does
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
};

}  // namespace octet
