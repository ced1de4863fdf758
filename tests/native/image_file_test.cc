// Pictures and raw numbers as samples, from files written here.
#include "data/image_file.h"

#include <gmock/gmock.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

#include "data/samples.h"
#include "error_of.h"
#include "tiny_models.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using tiny::Bytes;

void append(void* to, void* data, int size) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  static_cast<Bytes*>(to)->insert(static_cast<Bytes*>(to)->end(), bytes, bytes + size);
}

Bytes png(int width, int height, int channels, const Bytes& pixels) {
  Bytes file;
  EXPECT_TRUE(stbi_write_png_to_func(append, &file, width, height, channels, pixels.data(), width * channels));
  return file;
}

Bytes bmp(int width, int height, const Bytes& pixels) {
  Bytes file;
  EXPECT_TRUE(stbi_write_bmp_to_func(append, &file, width, height, 3, pixels.data()));
  return file;
}

Bytes jpeg(int width, int height, const Bytes& pixels) {
  Bytes file;
  EXPECT_TRUE(stbi_write_jpg_to_func(append, &file, width, height, 3, pixels.data(), 95));
  return file;
}

Bytes repeated(const Bytes& pixel, int times) {
  Bytes all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), pixel.begin(), pixel.end());
  return all;
}

ValueInfo input(int type, std::vector<std::int64_t> dims) {
  ValueInfo info;
  info.name = "x";
  info.type = type;
  info.symbols.resize(dims.size());
  info.dims = std::move(dims);
  return info;
}

Bytes pixels_of(const std::filesystem::path& path, std::vector<std::int64_t> dims, const ImageOptions& options = {}) {
  return read_image(path, image_input({input(kUint8, std::move(dims))}, options, "test"), options).bytes;
}

TEST(ImageFile, KnowsItsKinds) {
  for (const char* name : {"a.png", "a.PNG", "b.c.jpg", "a.jpeg", "a.Jpg", "a.bmp"}) EXPECT_TRUE(is_image_file(name));
  for (const char* name : {"a.gif", "png", "a.png.txt", "a"}) EXPECT_FALSE(is_image_file(name));
}

TEST(ImageFile, DecodesWithoutLoss) {
  const tiny::Folder folder;
  const Bytes pixels{1, 2, 3, 40, 50, 60, 7, 8, 9, 200, 210, 220, 13, 14, 15, 255, 0, 128};
  tiny::write(folder / "a.png", png(3, 2, 3, pixels));
  tiny::write(folder / "a.bmp", bmp(3, 2, pixels));
  for (const char* name : {"a.png", "a.bmp"}) {
    EXPECT_EQ(pixels_of(folder / name, {1, 2, 3, 3}, {.layout = ImageLayout::kNhwc}), pixels) << name;
    EXPECT_THAT(pixels_of(folder / name, {3, -1, -1}),
                ElementsAre(1, 40, 7, 200, 13, 255, 2, 50, 8, 210, 14, 0, 3, 60, 9, 220, 15, 128))
        << name;
  }
}

TEST(ImageFile, TurnsGrayIntoColorsAndBack) {
  const tiny::Folder folder;
  tiny::write(folder / "gray.png", png(2, 1, 1, {10, 250}));
  EXPECT_THAT(pixels_of(folder / "gray.png", {1, -1, -1, 3}), ElementsAre(10, 10, 10, 250, 250, 250));
  tiny::write(folder / "color.png", png(2, 1, 3, {9, 9, 9, 255, 0, 0}));
  EXPECT_THAT(pixels_of(folder / "color.png", {1, 1, -1, -1}), ElementsAre(9, 76)) << "0.3 of red";
  tiny::write(folder / "alpha.png", png(1, 1, 4, {1, 2, 3, 4}));
  EXPECT_THAT(pixels_of(folder / "alpha.png", {3, -1, -1}), ElementsAre(1, 2, 3));
  EXPECT_THAT(pixels_of(folder / "alpha.png", {4, -1, -1}), ElementsAre(1, 2, 3, 4));
}

TEST(ImageFile, DecodesJpegNearly) {
  const tiny::Folder folder;
  tiny::write(folder / "a.JPG", jpeg(16, 8, repeated({200, 100, 50}, 16 * 8)));
  const Bytes read = pixels_of(folder / "a.JPG", {1, 8, 16, 3});
  ASSERT_EQ(read.size(), 16u * 8 * 3);
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_NEAR(read[i], (std::array{200, 100, 50})[i % 3], 3) << i;
}

TEST(ImageFile, ResizesOverAllPixelsThatOneCovers) {
  const tiny::Folder folder;
  // Halves: left black, right white, with a stripe that plain sampling would miss or overstate.
  Bytes pixels;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 8; ++column) pixels.push_back(column < 4 ? 0 : 255);
  }
  tiny::write(folder / "a.png", png(8, 4, 1, pixels));
  const Bytes small = pixels_of(folder / "a.png", {1, 1, 1, 2});
  EXPECT_LT(small[0], 64);
  EXPECT_EQ(small[0] + small[1], 255) << "symmetric";
  EXPECT_THAT(pixels_of(folder / "a.png", {1, 1, 2, 2}, {.fit = ImageFit::kCrop}),
              ElementsAre(small[0], small[1], small[0], small[1]))
      << "the middle is black and white alike";
  const Bytes padded = pixels_of(folder / "a.png", {1, 1, 8, 8}, {.fit = ImageFit::kPad});
  EXPECT_EQ(Bytes(padded.begin(), padded.begin() + 16), Bytes(16));
  EXPECT_EQ(Bytes(padded.begin() + 16, padded.end() - 16), pixels);
  EXPECT_EQ(Bytes(padded.end() - 16, padded.end()), Bytes(16));
  EXPECT_EQ(pixels_of(folder / "a.png", {1, 1, -1, -1}), pixels) << "nothing to resize";
}

TEST(ImageFile, RefusesWhatIsNoPicture) {
  const tiny::Folder folder;
  const auto refuse = [&](const Bytes& bytes) {
    tiny::write(folder / "a.png", bytes);
    return error_of(ErrorCode::kData, [&] { pixels_of(folder / "a.png", {3, -1, -1}); });
  };
  EXPECT_THAT(refuse({}), HasSubstr("a.png: is no readable picture"));
  EXPECT_THAT(refuse({'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0, 0, 0}), HasSubstr("no readable picture"));
  const Bytes whole = png(3, 2, 3, Bytes(18, 7));
  for (std::size_t size = 0; size + 16 < whole.size(); ++size)
    refuse(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
  Bytes huge = whole;  // 8195 x 32514
  huge[18] = 0x20, huge[22] = 0x7f;
  EXPECT_THAT(refuse(huge), HasSubstr("too large to decode"));
  error_of(ErrorCode::kRead, [&] { pixels_of(folder / "none.png", {3, -1, -1}); });
}

TEST(PictureSamples, GiveWhatTheModelTakes) {
  const tiny::Folder folder;
  tiny::write(folder / "b.png", png(2, 2, 3, repeated({255, 0, 51}, 4)));
  tiny::write(folder / "a.bmp", bmp(4, 4, repeated({0, 255, 0}, 16)));
  tiny::write(folder / "labels.json", {'{', '}'});
  const auto reader = open_samples(folder.path, {input(kFloat, {1, 3, 1, 1})});
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
  const auto one = open_samples(folder.path, {input(kFloat, {1, -1, -1, 3})}, options);
  EXPECT_THAT(one->description(), testing::StartsWith("1 of 2 pictures from "));
  EXPECT_EQ(one->next()->at("x").dims, (std::vector<std::int64_t>{1, 4, 4, 3}));
  EXPECT_FALSE(one->next());
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         open_samples(folder.path, {input(kFloat, {1, 7})});
                       }),
              HasSubstr("holds pictures, input 'x' is float32 [1,7]"));
}

TEST(PictureSamples, StandBackBehindArrays) {
  const tiny::Folder folder;
  tiny::write(folder / "a.png", png(1, 1, 3, {1, 2, 3}));
  tiny::write(folder / "a.raw", tiny::floats({1}, {5}).bytes);
  EXPECT_EQ(open_samples(folder.path, {input(kFloat, {1, 3, 1, 1})})->description().substr(0, 9), "1 picture");
  tiny::write(folder / "a.pb", {});
  EXPECT_EQ(open_samples(folder.path, {input(kFloat, {1, 3, 1, 1})})->description().substr(0, 8), "1 sample");
}

TEST(RawSamples, TakeTheirShapeFromTheModel) {
  const tiny::Folder folder;
  tiny::write(folder / "a.raw", tiny::floats({6}, {1, 2, 3, 4, 5, 6}).bytes);
  tiny::write(folder / "b.bin", tiny::floats({6}, {6, 5, 4, 3, 2, 1}).bytes);
  const auto reader = open_samples(folder.path, {input(kFloat, {1, 2, -1})});
  const auto first = reader->next();
  EXPECT_THAT(first->at("x").dims, ElementsAre(1, 2, 3));
  EXPECT_THAT(to_float(first->at("x")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(reader->next()->at("x").dims, first->at("x").dims);
  const auto double_input = open_samples(folder / "a.raw", {input(kDouble, {3, 2})})->next();
  EXPECT_EQ(double_input->at("x").type, kDouble);

  const auto refuse = [&](const ValueInfo& info) {
    return error_of(ErrorCode::kData, [&] { open_samples(folder / "a.raw", {info})->next(); });
  };
  EXPECT_THAT(refuse(input(kFloat, {1, 4})),
              EndsWith("a.raw: holds 24 bytes, input 'x' is float32 [1,4]: 16 bytes of float32"));
  EXPECT_THAT(refuse(input(kFloat, {4, -1})), HasSubstr("a multiple of 16 bytes"));
  EXPECT_THAT(refuse(input(kFloat, {-1, -1})), HasSubstr("at most one open size"));
  EXPECT_THAT(refuse(input(kInt64, {6})), HasSubstr("not every value survives"));
  EXPECT_THAT(error_of(ErrorCode::kData,
                       [&] {
                         open_samples(folder / "a.raw", {input(kFloat, {6}), input(kFloat, {6})})->next();
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
  const auto reader = open_samples(folder.path, {input(kFloat, {1})}, options);
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
