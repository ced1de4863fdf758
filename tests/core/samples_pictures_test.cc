// Pictures as tensors, from the bytes of files: the same bytes on every platform.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "octet/error.h"
#include "octet/sample_files.h"
#include "picture_files.h"
#include "value_infos.h"

namespace octet {
namespace {

using fixtures::bmp;
using fixtures::jpeg;
using fixtures::png;
using fixtures::repeated;
using fixtures::value_info;
using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = fixtures::PictureBytes;

Bytes pixels_of(const Bytes& file, std::vector<std::int64_t> dims, const ImageOptions& options = {},
                int type = kUint8) {
  return decode_image(file, "a.png", image_input({value_info(type, std::move(dims))}, options, "test"), options).bytes;
}

TEST(ImageFile, KnowsItsKinds) {
  for (const char* name : {"a.png", "a.PNG", "b.c.jpg", "a.jpeg", "a.Jpg", "a.bmp"}) EXPECT_TRUE(is_image_file(name));
  for (const char* name : {"a.gif", "png", "a.png.txt", "a", "a.png/b"}) EXPECT_FALSE(is_image_file(name));
}

TEST(ImageFile, DecodesWithoutLoss) {
  const Bytes pixels{1, 2, 3, 40, 50, 60, 7, 8, 9, 200, 210, 220, 13, 14, 15, 255, 0, 128};
  for (const Bytes& file : {png(3, 2, 3, pixels), bmp(3, 2, pixels)}) {
    EXPECT_EQ(pixels_of(file, {1, 2, 3, 3}, {.layout = ImageLayout::kNhwc}), pixels);
    EXPECT_THAT(pixels_of(file, {3, -1, -1}),
                ElementsAre(1, 40, 7, 200, 13, 255, 2, 50, 8, 210, 14, 0, 3, 60, 9, 220, 15, 128));
  }
}

TEST(ImageFile, TurnsGrayIntoColorsAndBack) {
  EXPECT_THAT(pixels_of(png(2, 1, 1, {10, 250}), {1, -1, -1, 3}), ElementsAre(10, 10, 10, 250, 250, 250));
  EXPECT_THAT(pixels_of(png(2, 1, 3, {9, 9, 9, 255, 0, 0}), {1, 1, -1, -1}), ElementsAre(9, 76)) << "0.3 of red";
  const Bytes alpha = png(1, 1, 4, {1, 2, 3, 4});
  EXPECT_THAT(pixels_of(alpha, {3, -1, -1}), ElementsAre(1, 2, 3));
  EXPECT_THAT(pixels_of(alpha, {4, -1, -1}), ElementsAre(1, 2, 3, 4));
}

TEST(ImageFile, DecodesJpegNearly) {
  const Bytes read = pixels_of(jpeg(16, 8, repeated({200, 100, 50}, 16 * 8)), {1, 8, 16, 3});
  ASSERT_EQ(read.size(), 16u * 8 * 3);
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_NEAR(read[i], (std::array{200, 100, 50})[i % 3], 3) << i;
}

TEST(ImageFile, ResizesOverAllPixelsThatOneCovers) {
  // Halves: left black, right white, with a stripe that plain sampling would miss or overstate.
  Bytes pixels;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 8; ++column) pixels.push_back(column < 4 ? 0 : 255);
  }
  const Bytes file = png(8, 4, 1, pixels);
  const Bytes small = pixels_of(file, {1, 1, 1, 2});
  EXPECT_LT(small[0], 64);
  EXPECT_EQ(small[0] + small[1], 255) << "symmetric";
  EXPECT_THAT(pixels_of(file, {1, 1, 2, 2}, {.fit = ImageFit::kCrop}),
              ElementsAre(small[0], small[1], small[0], small[1]))
      << "the middle is black and white alike";
  const Bytes padded = pixels_of(file, {1, 1, 8, 8}, {.fit = ImageFit::kPad});
  EXPECT_EQ(Bytes(padded.begin(), padded.begin() + 16), Bytes(16));
  EXPECT_EQ(Bytes(padded.begin() + 16, padded.end() - 16), pixels);
  EXPECT_EQ(Bytes(padded.end() - 16, padded.end()), Bytes(16));
  EXPECT_EQ(pixels_of(file, {1, 1, -1, -1}), pixels) << "nothing to resize";
}

TEST(ImageFile, RefusesWhatIsNoPicture) {
  const auto refuse = [&](const Bytes& bytes) -> std::string {
    try {
      pixels_of(bytes, {3, -1, -1});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  };
  EXPECT_THAT(refuse({}), HasSubstr("a.png: is no readable picture"));
  EXPECT_THAT(refuse({'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0, 0, 0}), HasSubstr("no readable picture"));
  const Bytes whole = png(3, 2, 3, Bytes(18, 7));
  for (std::size_t size = 0; size + 16 < whole.size(); ++size)
    refuse(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
  Bytes huge = whole;  // 8195 x 32514
  huge[18] = 0x20, huge[22] = 0x7f;
  EXPECT_THAT(refuse(huge), HasSubstr("too large to decode"));
}

// 19 x 13 pixels, slopes and edges in all three colors.
constexpr const char* kPng =
    "89504e470d0a1a0a0000000d49484452000000130000000d0802000000c4eec2700000016e4944415478da8dd1b16a145118c5f133ec3d2c"
    "c3e5b02cc3300cc338ac53a4da6649936a11246560512c254d828d8db010b64908c282d824a4d92695d8e80ba4d8bc80c8fa02124b3b4d4a"
    "e1039bfd84a0e0c2ad2efc39f7c74d0028813a106fd535a5a6984b500feadf2833e5a6624b255441f56735a681a9dd094c2313b00312ec82"
    "299846a6b87ffe711358fd6062ec18f9705dc6af94b167ec6f330373b0f8c4d25819ab5d36600556578143f866f41214d803fbd14bb0042b"
    "7018d98003b045e078e4e517768da9313ef2f29a993137164f588263b0fec8c63830b6078193bf9c317a0966e0042ce27ab3866fc6e4c1e3"
    "5f4a4c1d13f7d4855228be974c3d537f5f199443c5854a5365aa5fa98106507b1a38ddd83905ebb5532d02e7cfbd7ce7ce97eb727eeece63"
    "7fed893bcf0217ff73e6ee5cdc778e5eff71cedc3973e75b77be70e7a53b9f052e37702efd3fddc96f085cbdf1f2c89d0b2f0fddf981dfc1"
    "15583f6563fc69bc5bfe0600836578cf392ecc0000000049454e44ae426082";

constexpr const char* kJpeg =
    "ffd8ffe000104a46494600010100000100010000ffdb004300140e0f120f0d14121012171514181e32211e1c1c1e3d2c2e243249404c4b47"
    "404645505a736250556d5645466488656d777b8182814e608d978c7d96737e817cffdb0043011517171e1a1e3b21213b7c5346537c7c7c7c"
    "7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7cffc0001108000d001303"
    "012200021101031101ffc400160001010100000000000000000000000000050004ffc4002510000201030205050000000000000000000102"
    "030004111221132231419105325381a1ffc4001501010100000000000000000000000000000203ffc4002011000103040203000000000000"
    "0000000001000231030411f022813391d1ffda000c03010002110311003f00c507a5c683943b1f8d50e4fd9a4a02225658400cbb65882d19"
    "ce3da339a3adaf75291c08829d880a01f34d5ac42e635452533d892cbdba83d6ad5d840e71bb1d094e831c3c8b269862e436d752e9db5aa8"
    "c1fdaa8b13acc3892440bb6e74b151e06d55136c33ca7af8a2ebdb9c9c1df6bfffd9";

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
  return bytes;
}

// FNV-1a.
std::string digest(const Bytes& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

// What is computed from these pictures on one platform is computed on all of them: numbers calibrated in a page are
// those of the command line.
struct Golden {
  const char* what;
  const char* options;
  std::vector<std::int64_t> dims;
  int type;
  const char *png, *jpeg;
};

TEST(ImageFile, GivesTheSameBytesOnEveryPlatform) {
  const Golden golden[] = {
      {"as it is", "{}", {1, 3, -1, -1}, kUint8, "95d28cbd8aa03dd6", "8102e7d499f445fa"},
      {"smaller, stretched", "{}", {1, 3, 7, 5}, kUint8, "7e63933b9aea477e", "414afd7d1b9f02e9"},
      {"larger, stretched", "{}", {1, 31, 43, 3}, kUint8, "4c7eb5c7995a7e75", "b8cf75d61c67d0c6"},
      {"smaller, cropped", R"({"image_fit": "crop"})", {1, 3, 8, 8}, kUint8, "716b3fd2dbdbcab0", "2cf01f62f476b936"},
      {"larger, cropped", R"({"image_fit": "crop"})", {1, 3, 29, 23}, kUint8, "a059ade384905956", "8422c4afc7a28555"},
      {"smaller, padded", R"({"image_fit": "pad"})", {1, 3, 10, 10}, kUint8, "53b6ae3c89d1366f", "44c665efcbdc503b"},
      {"gray", R"({"image_fit": "crop"})", {1, 1, 9, 12}, kUint8, "d0ab4787b7b5a8bf", "0174ff4d0d5c4510"},
      {"normalized",
       R"({"image_fit": "crop", "image_order": "bgr", "image_mean": [0.485, 0.456, 0.406],
           "image_std": [0.229, 0.224, 0.225]})",
       {1, 3, 8, 8},
       kFloat,
       "5caa7f34b60383fe",
       "7c7f19b024874762"},
  };
  for (const Golden& wanted : golden) {
    const ImageOptions options = image_options_from_json(wanted.options);
    EXPECT_EQ(digest(pixels_of(from_hex(kPng), wanted.dims, options, wanted.type)), wanted.png) << wanted.what;
    EXPECT_EQ(digest(pixels_of(from_hex(kJpeg), wanted.dims, options, wanted.type)), wanted.jpeg) << wanted.what;
  }
}

}  // namespace
}  // namespace octet
