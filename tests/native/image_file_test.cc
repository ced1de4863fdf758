// Pictures and raw numbers as samples, from files written here.
#include <gmock/gmock.h>

#include "data/samples.h"
#include "error_of.h"
#include "picture_files.h"
#include "tiny_models.h"
#include "value_infos.h"

namespace octet {
namespace {

using fixtures::bmp;
using fixtures::png;
using fixtures::repeated;
using fixtures::value_info;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using tiny::Bytes;

TEST(PictureSamples, GiveWhatTheModelTakes) {
  const tiny::Folder folder;
  tiny::write(folder / "b.png", png(2, 2, 3, repeated({255, 0, 51}, 4)));
  tiny::write(folder / "a.bmp", bmp(4, 4, repeated({0, 255, 0}, 16)));
  tiny::write(folder / "labels.json", {'{', '}'});
  const auto reader = open_samples(folder.path, {value_info(kFloat, {1, 3, 1, 1})});
  EXPECT_EQ(reader->size(), 2u);
  EXPECT_THAT(to_float(reader->next()->at("x")), ElementsAre(0, 1, 0));
  EXPECT_EQ(reader->name(), "a.bmp");
  EXPECT_THAT(to_float(reader->next()->at("x")), ElementsAre(1, 0, 51 / 255.0f));
  EXPECT_FALSE(reader->next());
  EXPECT_THAT(reader->description(), HasSubstr("2 pictures from "));
  EXPECT_THAT(reader->description(), EndsWith("(rgb, nchw, 1x1 by stretch, scale 1/255)"));
  SampleOptions options;
  options.limit = 1;
  options.image.order = ImageOrder::kBgr;
  options.image.mean = {1};
  const auto one = open_samples(folder.path, {value_info(kFloat, {1, -1, -1, 3})}, options);
  EXPECT_THAT(one->description(), testing::StartsWith("1 of 2 pictures from "));
  EXPECT_EQ(one->next()->at("x").dims, (std::vector<std::int64_t>{1, 4, 4, 3}));
  EXPECT_FALSE(one->next());
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         open_samples(folder.path, {value_info(kFloat, {1, 7})});
                       }),
              HasSubstr("holds pictures, input 'x' is float32 [1,7]"));
}

TEST(PictureSamples, SayWhatCannotBeRead) {
  const tiny::Folder folder;
  error_of(ErrorCode::kRead, [&] { open_samples(folder / "none.png", {value_info(kFloat, {1, 3, 1, 1})}); });
  tiny::write(folder / "a.png", {1, 2, 3});
  const auto reader = open_samples(folder / "a.png", {value_info(kFloat, {1, 3, 1, 1})});
  EXPECT_THAT(error_of(ErrorCode::kData, [&] { reader->next(); }), HasSubstr("/a.png: is no readable picture"));
  std::filesystem::remove(folder / "a.png");
  EXPECT_THAT(error_of(ErrorCode::kRead, [&] { open_samples(folder / "a.png", {})->next(); }), HasSubstr("/a.png"));
}

TEST(PictureSamples, StandBackBehindArrays) {
  const tiny::Folder folder;
  tiny::write(folder / "a.png", png(1, 1, 3, {1, 2, 3}));
  tiny::write(folder / "a.raw", tiny::floats({1}, {5}).bytes);
  EXPECT_EQ(open_samples(folder.path, {value_info(kFloat, {1, 3, 1, 1})})->description().substr(0, 9), "1 picture");
  tiny::write(folder / "a.pb", {});
  EXPECT_EQ(open_samples(folder.path, {value_info(kFloat, {1, 3, 1, 1})})->description().substr(0, 8), "1 sample");
}

TEST(RawSamples, TakeTheirShapeFromTheModel) {
  const tiny::Folder folder;
  tiny::write(folder / "a.raw", tiny::floats({6}, {1, 2, 3, 4, 5, 6}).bytes);
  tiny::write(folder / "b.bin", tiny::floats({6}, {6, 5, 4, 3, 2, 1}).bytes);
  const auto reader = open_samples(folder.path, {value_info(kFloat, {1, 2, -1})});
  const auto first = reader->next();
  EXPECT_THAT(first->at("x").dims, ElementsAre(1, 2, 3));
  EXPECT_THAT(to_float(first->at("x")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(reader->next()->at("x").dims, first->at("x").dims);
  const auto double_input = open_samples(folder / "a.raw", {value_info(kDouble, {3, 2})})->next();
  EXPECT_EQ(double_input->at("x").type, kDouble);

  const auto refuse = [&](const ValueInfo& info) {
    return error_of(ErrorCode::kData, [&] { open_samples(folder / "a.raw", {info})->next(); });
  };
  EXPECT_THAT(refuse(value_info(kFloat, {1, 4})),
              EndsWith("a.raw: holds 24 bytes, input 'x' is float32 [1,4]: 16 bytes of float32"));
  EXPECT_THAT(refuse(value_info(kFloat, {4, -1})), HasSubstr("a multiple of 16 bytes"));
  EXPECT_THAT(refuse(value_info(kFloat, {-1, -1})), HasSubstr("at most one open size"));
  EXPECT_THAT(refuse(value_info(kInt64, {6})), HasSubstr("not every value survives"));
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         open_samples(folder / "a.raw", {value_info(kFloat, {6}), value_info(kFloat, {6})})->next();
                       }),
              HasSubstr("raw numbers fill one input, the model has 2"));
}

TEST(SampleOptions, ShuffleKeepsNamesAndPlaces) {
  const tiny::Folder folder;
  for (int i = 0; i < 8; ++i)
    tiny::write(folder / (std::to_string(i) + ".raw"), tiny::floats({1}, {static_cast<float>(i)}).bytes);
  SampleOptions options;
  options.limit = 5;
  options.shuffle = 3;
  const auto reader = open_samples(folder.path, {value_info(kFloat, {1})}, options);
  std::vector<float> values;
  while (const auto sample = reader->next()) {
    values.push_back(to_float(sample->at("x")).front());
    EXPECT_EQ(reader->place(), static_cast<std::size_t>(values.back()));
    EXPECT_EQ(reader->name(), std::to_string(reader->place()) + ".raw");
  }
  EXPECT_EQ(values.size(), 5u);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  EXPECT_THAT(reader->description(), EndsWith(", shuffled with seed 3"));
  reader->rewind();
  EXPECT_THAT(to_float(reader->next()->at("x")), ElementsAre(values.front()));
}

TEST(SampleOptions, SurviveJson) {
  SampleOptions options;
  options.limit = 7;
  options.shuffle = 0xffffffffffffffffu;
  options.image.size = ImageSize{3, 4};
  options.image.deviation = {0.229};
  const auto document = to_json(options);
  EXPECT_EQ(to_json(sample_options_from_json(nlohmann::json::parse(document.dump()))), document);
  EXPECT_EQ(sample_options_from_json(document).image.deviation, options.image.deviation);
  EXPECT_FALSE(sample_options_from_json(to_json(SampleOptions{})).shuffle);
}

}  // namespace
}  // namespace octet
