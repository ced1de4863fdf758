// Pictures as tensors: which shape a model wants, where a picture goes in it, and the values of its pixels.
#include "octet/image.h"

#include <gmock/gmock.h>

#include <array>

#include "octet/error.h"
#include "value_infos.h"

namespace octet {
namespace {

using fixtures::value_info;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

template <class Call>
std::string refused(ErrorCode code, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

ImageInput wanted(std::vector<std::int64_t> dims, const std::string& options = "{}", int type = kFloat) {
  return image_input({value_info(type, std::move(dims))}, image_options_from_json(options), "pictures");
}

TEST(ImageOptions, SurviveJson) {
  const std::string json =
      R"({"image_size":[320,240],"image_layout":"nhwc","image_mean":[0.5,0.25,0.125],"image_std":[2.0],)"
      R"("image_scale":1.0,"image_order":"bgr","image_fit":"pad"})";
  EXPECT_EQ(image_options_to_json(image_options_from_json(json)), json);
  const ImageOptions short_forms =
      image_options_from_json(R"({"image_size":"320x240","image_mean":"0.5,0.25,0.125","image_std":2})");
  EXPECT_EQ(short_forms.size, (ImageSize{320, 240}));
  EXPECT_THAT(short_forms.mean, ElementsAre(0.5, 0.25, 0.125));
  EXPECT_THAT(short_forms.deviation, ElementsAre(2.0));
}

TEST(ImageOptions, NameWhatDoesNotFit) {
  const auto refuse = [](const std::string& json) {
    return refused(ErrorCode::kUsage, [&] { image_options_from_json(json); });
  };
  for (const char* size : {"\"224\"", "\"224x\"", "\"x224\"", "\"0x4\"", "\"-4x4\"", "\"4x4x4\"", "\"99999x4\"", "[4]",
                           "4", "\" 4x4\"", "[4.5,4]"})
    EXPECT_THAT(refuse(std::string("{\"image_size\":") + size + "}"), HasSubstr("as 224x224")) << size;
  EXPECT_THAT(refuse(R"({"image_std":[1,0,1]})"), HasSubstr("image_std"));
  EXPECT_THAT(refuse(R"({"image_mean":[1,2]})"), HasSubstr("one for each channel"));
  EXPECT_THAT(refuse(R"({"image_mean":"a"})"), HasSubstr("image_mean"));
  EXPECT_THAT(refuse(R"({"image_scale":"1/255"})"), HasSubstr("image_scale"));
  EXPECT_THAT(refuse(R"({"image_layout":"chw"})"), HasSubstr("nchw or nhwc"));
  EXPECT_THAT(refuse(R"({"image_fit":"fill"})"), HasSubstr("stretch, crop or pad"));
  EXPECT_THAT(refuse(R"({"mean":0})"), HasSubstr("image_mean"));
  EXPECT_THAT(refuse("[]"), HasSubstr("no JSON object"));
}

TEST(ImageInput, FindsLayoutChannelsAndSizeInTheShape) {
  struct Case {
    std::vector<std::int64_t> dims;
    ImageLayout layout;
    int channels;
    std::optional<std::int64_t> width, height;
  };
  const std::vector<Case> cases = {
      {{1, 3, 240, 320}, ImageLayout::kNchw, 3, 320, 240},
      {{-1, 240, 320, 3}, ImageLayout::kNhwc, 3, 320, 240},
      {{1, 1, 28, 28}, ImageLayout::kNchw, 1, 28, 28},
      {{1, 28, 28, 1}, ImageLayout::kNhwc, 1, 28, 28},
      {{1, 4, 8, 9}, ImageLayout::kNchw, 4, 9, 8},
      {{3, 5, 7}, ImageLayout::kNchw, 3, 7, 5},
      {{5, 7, 3}, ImageLayout::kNhwc, 3, 7, 5},
      {{1, 3, -1, 64}, ImageLayout::kNchw, 3, 64, {}},
      {{-1, -1, -1, -1}, ImageLayout::kNchw, 3, {}, {}},
      {{1, 64, 64, -1}, ImageLayout::kNhwc, 3, 64, 64},
      {{}, ImageLayout::kNchw, 3, {}, {}},
  };
  for (const Case& expected : cases) {
    const ImageInput input = wanted(expected.dims);
    EXPECT_EQ(input.layout, expected.layout) << testing::PrintToString(expected.dims);
    EXPECT_EQ(input.channels, expected.channels) << testing::PrintToString(expected.dims);
    EXPECT_EQ(input.width, expected.width) << testing::PrintToString(expected.dims);
    EXPECT_EQ(input.height, expected.height) << testing::PrintToString(expected.dims);
  }
  EXPECT_EQ(wanted({-1, -1, -1, -1}, R"({"image_layout":"nhwc","image_size":"8x6"})").layout, ImageLayout::kNhwc);
  EXPECT_EQ(wanted({1, 3, -1, -1}, R"({"image_size":"8x6"})").height, 6);
}

TEST(ImageInput, SaysWhyNoPictureFits) {
  const auto refuse = [](std::vector<std::int64_t> dims, int type = kFloat) {
    return refused(ErrorCode::kData, [&] { wanted(dims, "{}", type); });
  };
  EXPECT_THAT(refuse({1, 128}), HasSubstr("float32 [1,128]: a picture has 3 axes"));
  EXPECT_THAT(refuse({-1, 28, 28}), HasSubstr("no axis of 1, 3 or 4 channels"));
  EXPECT_THAT(refuse({1, 16, 24, 24}), HasSubstr("float32 [1,16,24,24]: no axis of 1, 3 or 4 channels"));
  EXPECT_THAT(refuse({8, 3, 24, 24}), HasSubstr("several at once"));
  EXPECT_THAT(refuse({1, 3, 24, 24, 24}), HasSubstr("3 axes"));
  EXPECT_THAT(refuse({1, 3, 24, 24}, kBool), HasSubstr("takes no pixels"));
  EXPECT_THAT(refused(ErrorCode::kData,
                      [] {
                        image_input({value_info(kFloat, {1, 3, 4, 4}), value_info(kInt64, {1})}, {}, "pictures");
                      }),
              HasSubstr("pictures: a picture fills one input, the model has 2: 'x', 'x'; put all inputs"));
  EXPECT_THAT(refused(ErrorCode::kUsage,
                      [] {
                        wanted({1, 3, 24, 24}, R"({"image_size":"32x32"})");
                      }),
              HasSubstr("--image-size: the size is fixed: input 'x' is float32 [1,3,24,24]"));
  EXPECT_THAT(refused(ErrorCode::kUsage,
                      [] {
                        wanted({1, 1, 24, 24}, R"({"image_mean":[1,2,3]})");
                      }),
              HasSubstr("--image-mean: 3 numbers for 1 channel"));
  EXPECT_THAT(refused(ErrorCode::kUsage,
                      [] {
                        wanted({1, 3, 24, 24}, R"({"image_scale":1})", kUint8);
                      }),
              HasSubstr("pixels go in as they are"));
}

TEST(ImageFrame, StretchesCropsAndPads) {
  const ImageInput square = wanted({1, 3, 100, 100});
  const auto numbers = [&](ImageSize picture, ImageFit fit) {
    const ImageFrame f = frame_of(picture, square, fit);
    EXPECT_EQ(f.size, (ImageSize{100, 100}));
    return std::array{f.crop_left,    f.crop_top,      f.crop.width, f.crop.height,
                      f.scaled.width, f.scaled.height, f.left,       f.top};
  };
  EXPECT_THAT(numbers({400, 200}, ImageFit::kStretch), ElementsAre(0, 0, 400, 200, 100, 100, 0, 0));
  EXPECT_THAT(numbers({400, 200}, ImageFit::kCrop), ElementsAre(100, 0, 200, 200, 100, 100, 0, 0));
  EXPECT_THAT(numbers({200, 401}, ImageFit::kCrop), ElementsAre(0, 100, 200, 200, 100, 100, 0, 0));
  EXPECT_THAT(numbers({400, 200}, ImageFit::kPad), ElementsAre(0, 0, 400, 200, 100, 50, 0, 25));
  EXPECT_THAT(numbers({30, 40}, ImageFit::kPad), ElementsAre(0, 0, 30, 40, 75, 100, 12, 0));
  EXPECT_THAT(numbers({16000, 1}, ImageFit::kPad), ElementsAre(0, 0, 16000, 1, 100, 1, 0, 49));
  EXPECT_THAT(numbers({1, 16000}, ImageFit::kCrop), ElementsAre(0, 7999, 1, 1, 100, 100, 0, 0));
  const ImageFrame own = frame_of({31, 17}, wanted({1, 3, -1, -1}), ImageFit::kCrop);
  EXPECT_EQ(own.size, (ImageSize{31, 17}));
  EXPECT_EQ(own.crop, own.scaled);
}

// Two pixels beside each other.
const Pixels kTwo{{2, 1}, 3, {0, 51, 255, 10, 20, 30}};

TEST(Pixels, BecomeFloatsByOneFormula) {
  const auto floats = [](const std::vector<std::int64_t>& dims, const std::string& options) {
    const Tensor tensor = tensor_from_pixels(kTwo, wanted(dims, options), image_options_from_json(options));
    EXPECT_EQ(tensor.dims.size(), dims.size());
    return to_float(tensor);
  };
  const auto unit = [](int pixel) { return static_cast<float>(pixel / 255.0); };
  EXPECT_THAT(floats({1, 3, 1, 2}, "{}"),
              ElementsAreArray({unit(0), unit(10), unit(51), unit(20), unit(255), unit(30)}));
  EXPECT_THAT(floats({1, 1, 2, 3}, R"({"image_layout":"nhwc"})"),
              ElementsAreArray({unit(0), unit(51), unit(255), unit(10), unit(20), unit(30)}));
  EXPECT_THAT(floats({3, 1, 2}, R"({"image_order":"bgr","image_scale":1})"), ElementsAre(255, 30, 51, 20, 0, 10));
  // The numbers stand in the order of channels as the model takes them: blue first here.
  EXPECT_THAT(floats({3, 1, 2}, R"({"image_order":"bgr","image_scale":1,"image_mean":[255,51,0],"image_std":[1,2,4]})"),
              ElementsAre(0, -225, 0, -15.5f, 0, 2.5f));
}

TEST(Pixels, KeepTheirValuesAsIntegersAndRoundToHalves) {
  const ImageOptions last{.layout = ImageLayout::kNhwc};
  const Tensor bytes =
      tensor_from_pixels(kTwo, image_input({value_info(kUint8, {1, 1, 2, 3})}, last, "pictures"), last);
  EXPECT_EQ(bytes.type, kUint8);
  EXPECT_THAT(bytes.dims, ElementsAre(1, 1, 2, 3));
  EXPECT_EQ(bytes.bytes, kTwo.bytes);
  EXPECT_THAT(to_float(tensor_from_pixels(kTwo, wanted({1, 3, 1, 2}, "{}", kInt64), {})),
              ElementsAre(0, 10, 51, 20, 255, 30));
  const Tensor half = tensor_from_pixels(kTwo, wanted({1, 3, 1, 2}, "{}", kFloat16), {});
  EXPECT_EQ(half.bytes.size(), 12u);
  EXPECT_EQ(half.bytes[8] | half.bytes[9] << 8, 0x3c00) << "255 is one";
  const Pixels gray{{2, 2}, 1, {1, 2, 3, 4}};
  const Tensor plain = tensor_from_pixels(gray, wanted({1, 2, 2}, "{}", kUint8), {});
  EXPECT_THAT(plain.dims, ElementsAre(1, 2, 2));
  EXPECT_EQ(plain.bytes, gray.bytes);
}

TEST(ImageInput, IsDescribedInALine) {
  const auto line = [](std::vector<std::int64_t> dims, const std::string& options, int type = kFloat) {
    return describe(wanted(std::move(dims), options, type), image_options_from_json(options));
  };
  EXPECT_EQ(line({1, 3, 224, 224}, "{}"), "rgb, nchw, 224x224 by stretch, scale 1/255");
  EXPECT_EQ(line({1, 28, 28, 1}, "{}", kUint8), "gray, nhwc, 28x28 by stretch, pixels as they are");
  EXPECT_EQ(line({1, 3, -1, -1}, R"({"image_size":"8x6","image_fit":"crop","image_order":"bgr","image_scale":1,)"
                                 R"("image_mean":[0.485,0.5,1],"image_std":2})"),
            "bgr, nchw, 8x6 by crop, scale 1, mean 0.485,0.5,1, std 2");
  EXPECT_THAT(line({1, 3, -1, -1}, "{}"), HasSubstr("own size"));
}

}  // namespace
}  // namespace octet
