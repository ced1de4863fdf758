#include "engine/shared_arena.h"

#include <mutex>

#include "engine/ort_library.h"
#include "octet/error.h"

namespace octet {
namespace {

// The runtime knows one arena per kind of memory.
std::mutex mutex;
int users = 0;

Ort::MemoryInfo memory() { return Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault); }

}  // namespace

SharedArena::SharedArena() {
  const OrtLibrary& library = ort_library();
  const std::lock_guard lock(mutex);
  if (users++ > 0) return;
  try {
    // Grows by doubling, so that samples that grow bit by bit leave little behind that is too small.
    constexpr int kNextPowerOfTwo = 0, kFirstBytes = 1 << 20, kRuntimeDecides = -1;
    library.env->CreateAndRegisterAllocator(memory(), Ort::ArenaCfg(0, kNextPowerOfTwo, kFirstBytes, kRuntimeDecides));
  } catch (const std::exception& exception) {
    --users;
    throw Error(ErrorCode::kRun, "ONNX Runtime", std::string("it makes no arena: ") + exception.what());
  }
}

SharedArena::~SharedArena() {
  const std::lock_guard lock(mutex);
  if (--users > 0) return;
  // A destructor has nobody to tell; what stays is memory.
  Ort::GetApi().ReleaseStatus(Ort::GetApi().UnregisterAllocator(*ort_library().env, memory()));
}

}  // namespace octet
