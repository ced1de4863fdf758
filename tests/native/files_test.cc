// Mapped inputs, external data and outputs that are renamed into place.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "data/mapped_file.h"
#include "error_of.h"
#include "tiny_models.h"

namespace octet {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

tiny::Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(MappedFile, ReadsAndViews) {
  const tiny::Folder folder;
  tiny::write(folder / "a", bytes_of("0123456789"));
  const auto file = open_file(folder / "a");
  EXPECT_EQ(file->size(), 10u);
  EXPECT_TRUE(file->concurrent());
  tiny::Bytes part(3);
  file->read(7, part);
  EXPECT_EQ(part, bytes_of("789"));
  EXPECT_EQ(file->view(2, 3)[0], '2');
  EXPECT_TRUE(file->view(8, 3).empty());
  EXPECT_TRUE(file->view(~std::uint64_t{0}, 2).empty());
  error_of(ErrorCode::kRead, [&] { file->read(8, part); });
}

TEST(MappedFile, GivesPagesBackAndStillReads) {
  const tiny::Folder folder;
  constexpr std::size_t kSize = std::size_t{64} << 20;
  tiny::Bytes bytes(kSize);
  for (std::size_t i = 0; i < kSize; i += 4096) bytes[i] = static_cast<std::uint8_t>(i >> 12);
  tiny::write(folder / "big", bytes);
  const auto file = open_file(folder / "big");
  const auto first = file->view(0, kSize / 2);
  const auto second = file->view(kSize / 2, kSize / 2);  // passes the limit: drops what was seen
  for (std::size_t i = 0; i < kSize / 2; i += 4096) {
    ASSERT_EQ(first[i], bytes[i]);
    ASSERT_EQ(second[i], bytes[kSize / 2 + i]);
  }
}

TEST(MappedFile, OpensEmptyFilesAndNamesMissingOnes) {
  const tiny::Folder folder;
  tiny::write(folder / "empty", {});
  EXPECT_EQ(open_file(folder / "empty")->size(), 0u);
  open_file(folder / "empty")->read(0, {});
  EXPECT_THAT(error_of(ErrorCode::kRead, [&] { open_file(folder / "none"); }), HasSubstr("none"));
  EXPECT_THAT(error_of(ErrorCode::kRead, [&] { open_file(folder.path); }), HasSubstr("is a folder"));
  error_of(ErrorCode::kRead, [] { open_file("/dev/null"); });
}

TEST(ExternalData, StaysInTheFolder) {
  const tiny::Folder folder;
  fs::create_directories(folder / "model/deep");
  tiny::write(folder / "secret", bytes_of("secret"));
  tiny::write(folder / "model/m.onnx", {});
  tiny::write(folder / "model/w.bin", bytes_of("weights"));
  tiny::write(folder / "model/deep/w.bin", bytes_of("deeper"));
  fs::create_symlink(folder / "secret", folder / "model/link");
  fs::create_symlink(folder.path, folder / "model/up");
  fs::create_symlink("w.bin", folder / "model/near");
  const OpenExternal open = external_beside(folder / "model/m.onnx");
  EXPECT_EQ(open("w.bin")->size(), 7u);
  EXPECT_EQ(open("./w.bin")->size(), 7u);
  EXPECT_EQ(open("deep/w.bin")->size(), 6u);
  EXPECT_EQ(open("near")->size(), 7u);
  for (const std::string name :
       {"../secret", "deep/../../secret", "link", "up/secret", "", "..", "/etc/hostname", "none"}) {
    SCOPED_TRACE(name);
    error_of(ErrorCode::kRead, [&] { open(name); });
  }
  error_of(ErrorCode::kRead, [&] { open(std::string("w.bin\0x", 7)); });
  error_of(ErrorCode::kRead, [&] { open((folder / "secret").string()); });
}

TEST(ExternalData, FollowsADownloadCache) {
  const tiny::Folder folder;
  fs::create_directories(folder / "blobs");
  fs::create_directories(folder / "snapshot");
  tiny::write(folder / "blobs/1111", {});
  tiny::write(folder / "blobs/2222", bytes_of("weights"));
  fs::create_symlink("../blobs/1111", folder / "snapshot/m.onnx");
  fs::create_symlink("../blobs/2222", folder / "snapshot/m.onnx_data");
  EXPECT_EQ(external_beside(folder / "snapshot/m.onnx")("m.onnx_data")->size(), 7u);
}

TEST(OutputFile, AppearsOnlyAfterCommit) {
  const tiny::Folder folder;
  {
    OutputFile file(folder / "out", false);
    file.append(bytes_of("abc"));
    EXPECT_FALSE(fs::exists(folder / "out"));
    EXPECT_THAT(file.temporary().filename().string(), testing::MatchesRegex("\\.out\\.[0-9a-f]+\\.tmp"));
    file.append(tiny::Bytes(std::size_t{1} << 20, 'x'));
    file.append(bytes_of("z"));
    file.commit();
  }
  const std::string written = content(folder / "out");
  EXPECT_EQ(written.size(), (std::size_t{1} << 20) + 4);
  EXPECT_EQ(written.substr(0, 4) + written.back(), "abcxz");
  EXPECT_EQ(entries_in(folder.path), 1u);
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  const tiny::Folder folder;
  { OutputFile(folder / "out", false).append(bytes_of("abc")); }
  EXPECT_EQ(entries_in(folder.path), 0u);
}

TEST(OutputFile, RefusesWhatExistsUnlessForced) {
  const tiny::Folder folder;
  tiny::write(folder / "out", bytes_of("old"));
  EXPECT_THAT(error_of(ErrorCode::kWrite, [&] { OutputFile(folder / "out", false); }), HasSubstr("--force"));
  {
    OutputFile file(folder / "out", true);
    file.append(bytes_of("new"));
    EXPECT_EQ(content(folder / "out"), "old");
    file.commit();
  }
  EXPECT_EQ(content(folder / "out"), "new");
}

TEST(OutputFile, RefusesWhatAppearedMeanwhile) {
  const tiny::Folder folder;
  {
    OutputFile file(folder / "out", false);
    tiny::write(folder / "out", bytes_of("other"));
    EXPECT_THAT(error_of(ErrorCode::kWrite, [&] { file.commit(); }), HasSubstr("exists already"));
  }
  EXPECT_EQ(content(folder / "out"), "other");
  EXPECT_EQ(entries_in(folder.path), 1u);
}

TEST(OutputFile, SaysWhatIsWrongWithThePlace) {
  const tiny::Folder folder;
  EXPECT_THAT(error_of(ErrorCode::kWrite, [&] { OutputFile(folder / "no/out", false); }), HasSubstr("does not exist"));
  EXPECT_THAT(error_of(ErrorCode::kWrite, [&] { OutputFile(folder.path, true); }), HasSubstr("is a folder"));
  error_of(ErrorCode::kWrite, [] { OutputFile("", false); });
}

TEST(OutputFile, WritesDevicesInPlace) {
  OutputFile file("/dev/null", false);
  file.append(bytes_of("abc"));
  file.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, IsRemovedWhenASignalEndsTheProcess) {
  const tiny::Folder folder;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    remove_outputs_on_signal();
    OutputFile file(folder / "out", false);
    file.append(bytes_of("abc"));
    std::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(entries_in(folder.path), 0u);
}

}  // namespace
}  // namespace octet
