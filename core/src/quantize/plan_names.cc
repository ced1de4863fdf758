// The spelling of every enumeration, the same in options, JSON, the WASM interface and the page.
#include <array>
#include <utility>

#include "octet/plan.h"

namespace octet {
namespace {

template <class T, std::size_t N>
using Names = std::array<std::pair<T, std::string_view>, N>;

constexpr Names<Mode, 3> kModes{{{Mode::kDynamic, "dynamic"}, {Mode::kStatic, "static"}, {Mode::kWeights, "weights"}}};
constexpr Names<Target, 5> kTargets{{{Target::kX64, "x64"},
                                     {Target::kX64NoVnni, "x64-novnni"},
                                     {Target::kArm64, "arm64"},
                                     {Target::kWasm, "wasm"},
                                     {Target::kAny, "any"}}};
constexpr Names<QuantType, 6> kTypes{{{QuantType::kInt4, "qint4"},
                                      {QuantType::kUint4, "quint4"},
                                      {QuantType::kInt8, "qint8"},
                                      {QuantType::kUint8, "quint8"},
                                      {QuantType::kInt16, "qint16"},
                                      {QuantType::kUint16, "quint16"}}};
constexpr Names<Action, 4> kActions{{{Action::kKeep, "keep"},
                                     {Action::kWeights, "weights"},
                                     {Action::kDynamic, "dynamic"},
                                     {Action::kStatic, "static"}}};
constexpr Names<Format, 2> kFormats{{{Format::kQdq, "qdq"}, {Format::kQOperator, "qoperator"}}};
constexpr Names<RangeMethod, 6> kMethods{{{RangeMethod::kMinMax, "minmax"},
                                          {RangeMethod::kAverage, "average"},
                                          {RangeMethod::kEntropy, "entropy"},
                                          {RangeMethod::kPercentile, "percentile"},
                                          {RangeMethod::kMse, "mse"},
                                          {RangeMethod::kBest, "best"}}};
constexpr Names<Form, 5> kForms{{{Form::kNone, "none"},
                                 {Form::kFold, "fold"},
                                 {Form::kDequantize, "dequantize"},
                                 {Form::kBlocks, "blocks"},
                                 {Form::kGather, "gather"}}};

template <class T, std::size_t N>
std::string_view spell(const Names<T, N>& names, T value) {
  for (const auto& [key, name] : names) {
    if (key == value) return name;
  }
  return {};
}

template <class T, std::size_t N>
std::optional<T> read(const Names<T, N>& names, std::string_view text) {
  for (const auto& [key, name] : names) {
    if (name == text) return key;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Mode mode) { return spell(kModes, mode); }
std::string_view name_of(Target target) { return spell(kTargets, target); }
std::string_view name_of(QuantType type) { return spell(kTypes, type); }
std::string_view name_of(Action action) { return spell(kActions, action); }
std::string_view name_of(Form form) { return spell(kForms, form); }
std::string_view name_of(Format format) { return spell(kFormats, format); }
std::string_view name_of(RangeMethod method) { return spell(kMethods, method); }
std::optional<Mode> mode_from(std::string_view name) { return read(kModes, name); }
std::optional<Target> target_from(std::string_view name) { return read(kTargets, name); }
std::optional<QuantType> quant_type_from(std::string_view name) { return read(kTypes, name); }
std::optional<Action> action_from(std::string_view name) { return read(kActions, name); }
std::optional<Form> form_from(std::string_view name) { return read(kForms, name); }
std::optional<Format> format_from(std::string_view name) { return read(kFormats, name); }
std::optional<RangeMethod> range_method_from(std::string_view name) { return read(kMethods, name); }

}  // namespace octet
