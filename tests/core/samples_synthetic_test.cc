// Inputs made up are the same bytes on every platform: these hashes hold natively and in WebAssembly.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "octet/dtype.h"
#include "octet/synthetic.h"
#include "value_infos.h"

namespace octet {
namespace {

using fixtures::value_info;

std::uint64_t hash_of(const Tensor& tensor) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::uint8_t byte : tensor.bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

TEST(SyntheticInputs, AreTheSameBytesEverywhere) {
  SyntheticOptions options;
  options.fixed = {{"alpha", "0.1"}};
  const SyntheticInputs inputs({value_info("image", kFloat, {1, 3, 8, 8}), value_info("input_ids", kInt64, {1, 16}),
                                value_info("half", kFloat16, {2, 9}), value_info("alpha", kFloat, {1})},
                               options, std::nullopt);
  const Sample first = inputs.sample(0), second = inputs.sample(1);
  EXPECT_EQ(hash_of(first.at("image")), 0xf012338d0e6abd45u);
  EXPECT_EQ(hash_of(second.at("image")), 0x49c01f6448fe8cc2u);
  EXPECT_EQ(hash_of(first.at("input_ids")), 0xdd27a285b565c0b4u);
  EXPECT_EQ(hash_of(first.at("half")), 0x47cb729053a05d5au);
  EXPECT_EQ(hash_of(first.at("alpha")), 0x848a69dce2401057u);
}

TEST(ElementTypes, AreFoundByTheirNames) {
  for (int type = kFloat; type <= kInt4; ++type) {
    if (dtype_size(type) == 0) continue;
    EXPECT_EQ(dtype_from(dtype_name(type)), type);
  }
  EXPECT_EQ(dtype_from("float32"), kFloat);
  EXPECT_EQ(dtype_from("complex64"), kUndefined);
}

}  // namespace
}  // namespace octet
