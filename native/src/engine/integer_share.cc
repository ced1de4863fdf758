#include "engine/integer_share.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "data/mapped_file.h"
#include "octet/facts.h"
#include "octet/model.h"

namespace octet {
namespace {

constexpr std::array<std::string_view, 12> kIntegerProducts = {
    "QLinearConv",     "QLinearMatMul",         "QGemm",      "MatMulIntegerToFloat", "ConvInteger",
    "MatMulInteger",   "DynamicQuantizeMatMul", "QAttention", "DynamicQuantizeLSTM",  "QLinearConvTranspose",
    "NhwcConvInteger", "QOrderedMatMul"};
constexpr std::array<std::string_view, 14> kFloatProducts = {
    "Conv",      "FusedConv", "NhwcFusedConv", "ConvTranspose", "MatMul",    "FusedMatMul",        "Gemm",
    "FusedGemm", "LSTM",      "GRU",           "RNN",           "Attention", "MultiHeadAttention", "MatMulNBits"};
constexpr std::array<std::string_view, 3> kConversions = {"QuantizeLinear", "DequantizeLinear",
                                                          "DynamicQuantizeLinear"};

template <class List>
bool contains(const List& list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

template <class List>
int sum(const std::map<std::string, int>& counts, const List& list) {
  int total = 0;
  for (const auto& [op, count] : counts) total += contains(list, op) ? count : 0;
  return total;
}

}  // namespace

bool computes_in_integers(std::string_view op) { return contains(kIntegerProducts, op) || op.starts_with("QLinear"); }
bool converts(std::string_view op) { return contains(kConversions, op); }

int IntegerShare::integer_products() const { return sum(integer, kIntegerProducts); }
int IntegerShare::float_products() const { return sum(floating, kFloatProducts); }

IntegerShare integer_share(const std::filesystem::path& optimized) {
  Model model = load_model(open_file(optimized), optimized.filename().string(), external_beside(optimized));
  IntegerShare share;
  for (const auto& [name, count] : facts_of(model).operators) {
    const std::string op = name.substr(name.rfind('.') + 1);  // without the domain
    if (converts(op))
      share.conversions += count;
    else if (computes_in_integers(op))
      share.integer[op] += count;
    else if (contains(kFloatProducts, op))
      share.floating[op] += count;
  }
  return share;
}

}  // namespace octet
