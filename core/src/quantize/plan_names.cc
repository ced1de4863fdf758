// The spelling of every enumeration, the same in options, JSON, the WASM interface and the page.
#include <array>
#include <utility>

#include "octet/plan.h"

namespace octet {
namespace {

template <class T, std::size_t N>
using Names = std::array<std::pair<T, std::string_view>, N>;

constexpr Names<Mode, 2> kModes{{{Mode::kDynamic, "dynamic"}, {Mode::kWeights, "weights"}}};
constexpr Names<Target, 5> kTargets{{{Target::kX64, "x64"},
                                     {Target::kX64NoVnni, "x64-novnni"},
                                     {Target::kArm64, "arm64"},
                                     {Target::kWasm, "wasm"},
                                     {Target::kAny, "any"}}};
constexpr Names<WeightType, 6> kTypes{{{WeightType::kInt4, "qint4"},
                                       {WeightType::kUint4, "quint4"},
                                       {WeightType::kInt8, "qint8"},
                                       {WeightType::kUint8, "quint8"},
                                       {WeightType::kInt16, "qint16"},
                                       {WeightType::kUint16, "quint16"}}};
constexpr Names<Action, 3> kActions{
    {{Action::kKeep, "keep"}, {Action::kWeights, "weights"}, {Action::kDynamic, "dynamic"}}};
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
std::string_view name_of(WeightType type) { return spell(kTypes, type); }
std::string_view name_of(Action action) { return spell(kActions, action); }
std::string_view name_of(Form form) { return spell(kForms, form); }
std::optional<Mode> mode_from(std::string_view name) { return read(kModes, name); }
std::optional<Target> target_from(std::string_view name) { return read(kTargets, name); }
std::optional<WeightType> weight_type_from(std::string_view name) { return read(kTypes, name); }
std::optional<Action> action_from(std::string_view name) { return read(kActions, name); }
std::optional<Form> form_from(std::string_view name) { return read(kForms, name); }

}  // namespace octet
