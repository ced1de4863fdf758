// What is known of a tensor and of all: merging, the JSON form, what binds it to a model.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "calibrate_values.h"
#include "graph_pictures.h"
#include "octet/error.h"

namespace octet {
namespace {

using pictures::message_of;
using test::observed;
using testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(CalibrateObservation, CountsWhatItSaw) {
  Observation seen;
  EXPECT_FALSE(seen.seen());
  seen.add({});
  EXPECT_FALSE(seen.seen());
  EXPECT_EQ(seen.average().high, 0);
  seen.add(std::vector<float>{kNan, kInf, -kInf});
  EXPECT_FALSE(seen.seen());
  EXPECT_EQ(seen.non_finite(), 3u);
  seen.add(std::vector<float>{kNan, 2.0f, -1.0f});
  seen.add(std::vector<float>{5.0f});
  EXPECT_TRUE(seen.seen());
  EXPECT_EQ(seen.runs(), 2u);
  EXPECT_EQ(seen.values(), 3u);
  EXPECT_EQ(seen.histogram().count(), 3u);
  EXPECT_EQ(seen.non_finite(), 4u);
  EXPECT_EQ(seen.min_max().low, -1);
  EXPECT_EQ(seen.min_max().high, 5);
  EXPECT_EQ(seen.average().low, 2);
  EXPECT_EQ(seen.average().high, 3.5);
}

// A range starts at what is there, not at zero.
TEST(CalibrateObservation, OneSidedAndConstant) {
  EXPECT_EQ(observed({3, 4}).min_max().low, 3);
  EXPECT_EQ(observed({-3, -4}).min_max().high, -3);
  const Observation constant = observed(std::vector<float>(20000, 0.1f));
  EXPECT_EQ(constant.min_max().low, 0.1f);
  EXPECT_EQ(constant.min_max().high, 0.1f);
  EXPECT_EQ(constant.average().low, 0.1f);
  EXPECT_EQ(observed({-0.0f}).min_max().low, 0);
}

// Samples of a tensor named "t" and of one that some samples leave empty.
Ranges ranges_over(const std::vector<std::uint64_t>& samples) {
  Ranges ranges;
  ranges.model = "m";
  Observation &t = ranges.tensors["t"], &sparse = ranges.tensors["sparse \"name\"\n"];
  for (const std::uint64_t sample : samples) {
    t.add(test::mixed_floats(sample, 50 + 3000 * (sample % 4)));
    sparse.add(sample % 2 ? test::unit_floats(sample, 10, 1e-30f) : std::vector<float>{});
    ++ranges.samples;
  }
  return ranges;
}

TEST(CalibrateRanges, PartsInAnyOrderEqualTheWhole) {
  const std::string whole = ranges_to_json(ranges_over({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ranges_to_json(ranges_over({6, 3, 1, 2, 5, 4})), whole);
  const std::vector<Ranges> parts = {ranges_over({2, 6}), ranges_over({4}), ranges_over({1, 3, 5}), ranges_over({})};
  std::vector<std::size_t> order = {0, 1, 2, 3};
  do {
    Ranges merged;
    for (const std::size_t i : order) merged.merge(ranges_from_json(ranges_to_json(parts[i])));
    ASSERT_EQ(ranges_to_json(merged), whole);
    Ranges pairs = parts[order[0]], others = parts[order[2]];
    pairs.merge(parts[order[1]]);
    others.merge(parts[order[3]]);
    pairs.merge(others);
    ASSERT_EQ(ranges_to_json(pairs), whole);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(CalibrateRanges, OnlyWhatBelongsTogetherMerges) {
  Ranges ranges = ranges_over({1}), other = ranges_over({2});
  other.model = "n";
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { ranges.merge(other); }), HasSubstr("another model"));
  other = ranges_over({2});
  other.tensors["more"];
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { ranges.merge(other); }), HasSubstr("tensor 'more'"));
  EXPECT_THAT(message_of(ErrorCode::kUsage, [&] { other.merge(ranges); }), HasSubstr("tensor 'more'"));
  EXPECT_EQ(ranges_to_json(ranges), ranges_to_json(ranges_over({1})));  // untouched by what failed
}

TEST(CalibrateRanges, JsonComesBackAsItWas) {
  for (const auto& ranges : {Ranges(), ranges_over({}), ranges_over({1}), ranges_over({1, 2, 3})}) {
    const std::string text = ranges_to_json(ranges);
    const Ranges back = ranges_from_json(text);
    EXPECT_EQ(ranges_to_json(back), text);
    for (const auto& [name, seen] : ranges.tensors) {
      const Observation& found = back.tensors.at(name);
      EXPECT_EQ(found.min_max().low, seen.min_max().low);
      EXPECT_EQ(found.min_max().high, seen.min_max().high);
      EXPECT_EQ(found.average().low, seen.average().low);
      EXPECT_EQ(found.histogram().count(), seen.histogram().count());
    }
  }
}

// Every field of a sound file gone, and of every other kind: refused by name, or without effect, but never a crash.
TEST(CalibrateRanges, HostileJson) {
  using Json = nlohmann::ordered_json;
  const Json sound = Json::parse(ranges_to_json(ranges_over({1, 2})));
  const auto refusal = [](const Json& json) {
    try {
      ranges_from_json(json.dump());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMalformed);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(sound), "");
  const std::vector<Json> odd = {nullptr,
                                 true,
                                 -1,
                                 0.5,
                                 1e300,
                                 "x",
                                 Json::array(),
                                 Json::object(),
                                 18446744073709551615u,
                                 {1},
                                 {{1}},
                                 {-1, 2, 3},
                                 {{0, 0, 1}, {0, 0, 1}},
                                 {{255, 0, 1}},
                                 {{512, 0, 1}},
                                 {{1, 127, 1, 1}},
                                 {{1, 0, 0}},
                                 {{1, 0, 18446744073709551615u, 1}},
                                 {{1, 0, 1.5}}};
  for (const char* name : {"octet_ranges", "model", "samples", "tensors"}) {
    Json without = sound;
    without.erase(name);
    EXPECT_THAT(refusal(without), HasSubstr(std::string(name) == "octet_ranges" ? "Octet ranges" : name));
    for (const Json& value : odd) {
      Json other = sound;
      other[name] = value;
      const std::string said = refusal(other);
      const bool harmless = (value == "x" && name == std::string("model")) ||
                            (value.is_number_unsigned() && name == std::string("samples")) ||
                            (value == Json::array() && name == std::string("tensors"));
      EXPECT_EQ(said.empty(), harmless) << name << " " << value << ": " << said;
    }
  }
  for (const auto& [name, kept] : sound["tensors"][1].items()) {
    Json without = sound;
    without["tensors"][1].erase(name);
    EXPECT_THAT(refusal(without), HasSubstr("'" + name + "'"));
    for (const Json& value : odd) {
      Json other = sound;
      other["tensors"][1][name] = value;
      const std::string said = refusal(other);
      const bool harmless = (value == "x" && name == "tensor") ||
                            (value.is_number_unsigned() && name == "non_finite") ||
                            (value == Json::array() && name.starts_with("sum_"));
      EXPECT_EQ(said.empty(), harmless) << name << " " << value << ": " << said;
    }
  }
  for (const auto& [limb, value] : std::vector<std::pair<int, std::int64_t>>{{0, -1}, {0, 1LL << 32}, {9, 1LL << 54}}) {
    Json other = sound;
    other["tensors"][1]["sum_of_mins"][limb] = value;
    EXPECT_THAT(refusal(other), HasSubstr("'sum_of_mins' holds a number out of range"));
  }
  Json twice = sound;
  twice["tensors"].push_back(sound["tensors"][0]);
  EXPECT_THAT(refusal(twice), HasSubstr("is there twice"));
  for (const char* text : {"", "{", "[]", "1", "{\"octet_ranges\":1e999}", "\xff"})
    EXPECT_THAT(message_of(ErrorCode::kMalformed, [&] { ranges_from_json(text); }), HasSubstr("ranges")) << text;
}

// Single bytes changed: refused, or ranges that every method can still read.
TEST(CalibrateRanges, DamagedJson) {
  const std::string sound = ranges_to_json(ranges_over({1, 2}));
  test::SplitMix random(6);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string text = sound;
    for (std::uint64_t n = random.next() % 3 + 1; n > 0; --n)
      text[random.next() % text.size()] = "0123456789-.,[]{}e\"x"[random.next() % 20];
    try {
      Ranges ranges = ranges_from_json(text);
      ++accepted;
      ranges.merge(Ranges(ranges));
      for (const auto& [name, seen] : ranges.tensors) {
        const Interval range = choose_range(seen, {RangeMethod::kPercentile}).range;
        EXPECT_LE(range.low, range.high);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kMalformed);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(accepted, 10);
}

TEST(CalibrateFingerprint, IsOfWhatTheModelComputes) {
  const char* text = "g (float[n,32] x) => (float[n,48] y) <float[32,48] w> { [m] y = MatMul(x, w) }";
  const auto proto = pictures::proto_of(text);
  const std::string own = fingerprint_of(fixtures::load(proto));
  EXPECT_EQ(own.size(), 32u);
  EXPECT_EQ(own, fingerprint_of(fixtures::load(proto)));
  const auto changed = [&](const std::function<void(onnx::ModelProto&)>& change) {
    auto other = proto;
    change(other);
    return fingerprint_of(fixtures::load(other)) != own;
  };
  EXPECT_TRUE(changed([](auto& m) { m.mutable_graph()->mutable_initializer(0)->set_float_data(700, 1); }));
  EXPECT_TRUE(changed([](auto& m) { m.mutable_graph()->mutable_node(0)->set_op_type("Mul"); }));
  EXPECT_TRUE(changed([](auto& m) { m.mutable_graph()->mutable_node(0)->set_name("other"); }));
  EXPECT_TRUE(changed([](auto& m) { m.mutable_opset_import(0)->set_version(18); }));
  EXPECT_FALSE(changed([](auto& m) { m.set_producer_name("another"); }));
  EXPECT_FALSE(changed([](auto& m) { m.mutable_graph()->mutable_node(0)->set_doc_string("traced at line 3"); }));
}

// Typed or raw, inside or beside the file, small or large: the same bytes, the same fingerprint.
TEST(CalibrateFingerprint, DoesNotDependOnWhereWeightsAre) {
  auto proto = pictures::proto_of(
      "g (float[n,32] x) => (float[n,32] y) <float[32,32] w, float[4,8] small> { a = MatMul(x, w) b = Reshape(small, "
      "s) y "
      "= Add(a, b) }");
  auto* shape = proto.mutable_graph()->add_initializer();
  shape->set_name("s");
  shape->set_data_type(onnx::TensorProto::INT64);
  shape->add_dims(1);
  shape->add_int64_data(32);
  const std::string own = fingerprint_of(fixtures::load(proto));
  fixtures::Folder folder;
  auto raw = proto, outside = proto;
  for (int i = 0; i < proto.graph().initializer_size(); ++i) {
    const auto& typed = proto.graph().initializer(i);
    const bool whole = typed.data_type() == onnx::TensorProto::INT64;
    const fixtures::Bytes bytes = [&] {
      fixtures::Bytes b(static_cast<std::size_t>(whole ? 8 * typed.int64_data_size() : 4 * typed.float_data_size()));
      std::memcpy(b.data(), whole ? static_cast<const void*>(typed.int64_data().data()) : typed.float_data().data(),
                  b.size());
      return b;
    }();
    auto *in = raw.mutable_graph()->mutable_initializer(i), *out = outside.mutable_graph()->mutable_initializer(i);
    for (auto* tensor : {in, out}) tensor->clear_float_data(), tensor->clear_int64_data();
    in->set_raw_data(bytes.data(), bytes.size());
    out->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* location = out->add_external_data();
    location->set_key("location");
    location->set_value(typed.name() + ".bin");
    folder.files[typed.name() + ".bin"] = bytes;
  }
  EXPECT_EQ(fingerprint_of(fixtures::load(raw)), own);
  EXPECT_EQ(fingerprint_of(fixtures::load(outside, folder.opener())), own);
  const Model loaded = fixtures::load(proto);
  EXPECT_EQ(fingerprint_of(fixtures::load(fixtures::save(loaded))), own);
}

}  // namespace
}  // namespace octet
