#include "octet/quantizer.h"

#include <algorithm>
#include <set>

#include "octet/error.h"
#include "quantize/accuracy.h"
#include "quantize/rules.h"
#include "quantize/weight_params.h"

namespace octet {

void check_options(const PlanOptions& options) {
  const int bits = bit_width(options.weight_type);
  const auto type = std::string(name_of(options.weight_type));
  const auto refuse = [](const std::string& where, const std::string& what, const std::string& next) {
    throw Error(ErrorCode::kUsage, where, what, next);
  };
  if (options.mode == Mode::kDynamic && bits != 8)
    refuse("--weight-type " + type, "dynamic mode computes with 8-bit weights",
           "use qint8 or quint8, or --mode weights");
  if (options.mode == Mode::kDynamic && options.block_size > 0)
    refuse("--block-size", "blocks are for weights-only storage", "add --mode weights");
  if (bits == 16 && options.block_size > 0) refuse("--block-size", "blocks hold 4 or 8 bits", "use qint8 or qint4");
  if (options.block_size != 0 &&
      (options.block_size < 16 || (options.block_size & (options.block_size - 1)) != 0 || options.block_size > 65536)) {
    refuse("--block-size " + std::to_string(options.block_size), "the block operator takes powers of two from 16",
           "use 32, 64 or 128");
  }
  const int activation_bits = bit_width(options.activation_type);
  const auto activation_type = std::string(name_of(options.activation_type));
  if (options.mode == Mode::kStatic && bits == 4)
    refuse("--weight-type " + type, "static mode computes with weights of 8 or 16 bits",
           "use qint8, or --mode weights");
  if (options.mode == Mode::kStatic && options.block_size > 0)
    refuse("--block-size", "blocks are for weights-only storage", "use --mode weights");
  if (activation_bits == 4)
    refuse("--activation-type " + activation_type, "activations take 8 or 16 bits", "use quint8");
  if (options.format == Format::kQOperator && (activation_bits != 8 || bits != 8))
    refuse("--format qoperator", "its operators know 8 bits only", "use --format qdq");
  if (!(options.percentile > 0 && options.percentile <= 100))
    refuse("--percentile", "must lie above 0 and up to 100", "use 99.9");
  if (!(options.smooth_quant >= 0 && options.smooth_quant <= 1))
    refuse("--smooth-quant", "must lie between 0 and 1", "use 0.5");
  if (options.mode != Mode::kStatic && (options.smooth_quant > 0 || options.bias_correction))
    refuse(options.bias_correction ? "--bias-correction" : "--smooth-quant", "it is for static mode",
           "add --calib DATA");
  if (options.reduce_range && bits != 8) refuse("--reduce-range", "it is for 8-bit weights", "leave it out");
}

Quantizer::Quantizer(Model model, const PlanOptions& options, const Plan* given, const Progress& progress)
    : options_(options) {
  check_options(options);
  facts_ = facts_of(model);
  select_nodes(model, options);
  const bool prepared = given ? given->prepared : options.prepare;
  passes_ = prepare_for_plan(model, prepared);
  normalized_ = std::move(model);
  if (given) change_model(normalized_, *given);
  plan_ = given ? *given : make_plan(normalized_, options, progress);
  plan_.prepared = prepared;
}

const std::string& Quantizer::fingerprint() const {
  if (fingerprint_.empty()) fingerprint_ = fingerprint_of(normalized_);
  return fingerprint_;
}

ShapeCoverage Quantizer::shapes() const {
  Model copy = normalized_.clone();
  return cover_shapes(copy);
}

std::vector<BlockInfo> Quantizer::blocks() const {
  Model copy = normalized_.clone();
  return list_blocks(copy);
}

Model Quantizer::apply(const Plan& plan) const {
  Model result = normalized_.clone();
  apply_plan(result, plan);
  return result;
}

}  // namespace octet
