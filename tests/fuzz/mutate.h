// Hostile variants of models and plans, made from a seed: the same seed, the same variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "octet/plan.h"
#include "onnx/onnx_pb.h"

namespace octet::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(next() % limit); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class List>
  auto& pick(List& list) {
    return list[static_cast<int>(below(static_cast<std::size_t>(list.size())))];
  }

 private:
  std::uint64_t state_;
};

// ONNX text as a model whose undefined values are stored tensors of made-up content.
onnx::ModelProto seed_model(const std::string& text, int opset);

// Changes what a node, tensor, attribute, value or the model says, one to four times; the result is still protobuf.
void mutate_model(onnx::ModelProto& model, Random& random);

// Changes bytes: flips, overwrites, cuts, doubles.
void mutate_bytes(std::string& bytes, Random& random);

void mutate_plan(Plan& plan, Random& random);

}  // namespace octet::fuzz
