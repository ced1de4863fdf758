// The fuzzed work, for libFuzzer's entry point and for the plain driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "octet/model.h"

namespace octet::fuzz {

enum class Outcome { kDone, kRefused };

// Runs some work that may end in an octet::Error, in one line and not blaming Octet. Everything else gets out.
Outcome guarded(const std::function<void()>& work);

// Saves to nowhere.
void write(const Model& model);

// A model file's whole way.
Outcome run(std::span<const std::uint8_t> bytes);

}  // namespace octet::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
