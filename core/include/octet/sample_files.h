// Files that hold samples: which of them belong together, and what their bytes say. Names and bytes are the caller's,
// nothing here opens a file; reading them is the same on every platform, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octet/image.h"
#include "octet/tensor.h"

namespace octet {

// What to take of many samples, and how.
struct SampleOptions {
  std::size_t limit = 0;                      // at most so many; 0: all
  std::optional<std::uint64_t> shuffle = {};  // seed of another order than that of names, before the limit counts
  ImageOptions image = {};                    // how pictures become tensors
  std::size_t shard = 1, shards = 1;          // of those, every shards-th from the shard-th on; counted from 1
};

// One array of numpy: .npy versions 1 to 3, C or Fortran order, either byte order; the result is row-major and
// little-endian. `name` is for messages. Throws Error(kData): object, structured, complex and text arrays, and lengths
// that do not add up.
Tensor parse_npy(std::span<const std::uint8_t> bytes, const std::string& name);

// The input that an entry of a .npz is for: "x" of "x.npy". Nothing for an entry that is no array.
std::optional<std::string> npz_key(std::string_view entry);
// An array of a .npz in messages: "FILE: 'KEY'".
std::string npz_array_name(const std::string& file, const std::string& key);

bool is_image_file(std::string_view name);  // .png, .jpg, .jpeg, .bmp, in either case

// Decodes, resizes (bilinear; where it gets smaller, over all pixels that one covers) and converts one picture. What
// the file says of orientation (EXIF) is not followed; 16-bit channels lose their lower half, alpha is dropped where
// the input has no place for it. Throws Error(kData) with `name`.
Tensor decode_image(std::span<const std::uint8_t> bytes, const std::string& name, const ImageInput& input,
                    const ImageOptions& options);

// How files are called in messages and reports.
struct SampleNaming {
  std::string all;        // the folder, or the file where there is one: "data/calib"
  std::string prefix;     // in front of the name of each: "data/calib/"
  bool one_file = false;  // no folder but this file was asked for
};

// Strips the folders that all of `files` are in, and gives what to call them then.
SampleNaming strip_common_folder(std::vector<std::string>& files);

// The samples among the files of a folder, given by their paths in it with '/' between folders: .npz (keys are input
// names; a single-input model accepts any single key), .npy (single-input models), TensorProto .pb (named, or single
// input); also the ONNX test-data layout (input_*.pb in the folder itself or in test_data_set_*, in input order;
// output_*.pb are ignored). For models with one input also pictures and little-endian float32 without a header (.raw,
// .bin), whose length gives the size that the model leaves open, if it is one. Files are taken in name order, other
// folders not entered; labels.json and other file kinds are ignored, pictures where there are arrays, raw numbers where
// there is either.
class SampleFiles {
 public:
  // Throws Error(kData) where no file is a sample, or the model takes no pictures and those are what there is;
  // Error(kUsage) for image options that the model cannot take.
  SampleFiles(const std::vector<std::string>& files, SampleNaming naming, std::vector<ValueInfo> inputs,
              SampleOptions options);

  std::size_t size() const { return order_.size(); }                     // samples taken
  std::size_t total() const { return samples_.size(); }                  // samples there are
  const std::optional<ImageInput>& picture() const { return picture_; }  // where the samples are pictures
  std::string description() const;  // for reports: "8 of 20 samples from data/calib"

  // Of the i-th sample taken. Throws Error(kUsage) where there is none.
  const std::string& name(std::size_t i) const;                // its file or folder, in messages
  std::string base_name(std::size_t i) const;                  // the last part of that
  std::size_t place(std::size_t i) const;                      // in the order of names, from 0
  const std::vector<std::size_t>& files(std::size_t i) const;  // places in the list that was given
  bool is_archive(std::size_t i) const;                        // a .npz, which is the caller's to unpack

  // The sample, as conform_sample() makes it. `bytes_of` gives a file of the list; each is asked for once, the next
  // after the one before was read. Throws Error(kData) or Error(kMalformed) naming the file, the input, what was found
  // and what is wanted.
  using BytesOf = std::function<std::vector<std::uint8_t>(std::size_t file)>;
  Sample read(std::size_t i, const BytesOf& bytes_of) const;
  Sample conform(std::size_t i, Sample arrays) const;  // arrays of a .npz by key

 private:
  enum class Kind { kArrays, kPictures, kRaw, kNone };  // in the order of their precedence
  struct Parts {
    std::string name;
    std::vector<std::size_t> files;
    bool by_position = false;  // the inputs of a test-data set, in input order
  };

  static Kind kind_of(std::string_view name);
  void group();
  const Parts& parts(std::size_t i) const;
  Sample read_tensors(const Parts& sample, const BytesOf& bytes_of) const;
  std::string full_name(std::size_t file) const { return naming_.prefix + files_[file]; }

  std::vector<std::string> files_;
  SampleNaming naming_;
  std::vector<ValueInfo> inputs_;
  SampleOptions options_;
  Kind kind_ = Kind::kNone;
  std::optional<ImageInput> picture_;
  std::vector<Parts> samples_;
  std::vector<std::size_t> order_;
};

}  // namespace octet
