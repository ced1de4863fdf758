// What a model is, before anything is done to it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "octet/model.h"

namespace octet {

struct ValueFacts {
  std::string name, type, shape;     // shape as text: "[batch, 3, 224, 224]", "?" when unknown
  std::vector<std::string> symbols;  // names of its dimensions that have one
};

struct TensorFacts {
  std::string name, type, shape;
  std::uint64_t bytes = 0;
};

struct ModelFacts {
  std::string name, producer;
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  // by domain; "" is written ai.onnx
  std::uint64_t file_bytes = 0, parameters = 0, float_bytes = 0, stored_bytes = 0;
  int nodes = 0, subgraphs = 0, functions = 0;
  bool quantized_already = false;        // has integer operators or Q/DQ
  std::map<std::string, int> operators;  // "domain.Op" unless standard
  std::vector<ValueFacts> inputs, outputs;
  std::map<std::string, std::int64_t> index_bounds;  // integer inputs that index a stored table, with its length
  std::vector<TensorFacts> largest;                  // stored tensors by size, at most 20
};

ModelFacts facts_of(Model& model);
std::string facts_to_json(const ModelFacts& facts);

}  // namespace octet
