// Files of octet serve: those of the page that it shows, those that clients send.
#include <gmock/gmock.h>

#include <fstream>

#include "error_of.h"
#include "serve/page_files.h"
#include "serve/temporary_folder.h"
#include "serve/uploads.h"

namespace octet {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::size_t files_below(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) count += entry.is_regular_file() ? 1 : 0;
  return count;
}

TEST(PageFiles, StayInTheFolder) {
  const TemporaryFolder place;
  const fs::path page = place.path() / "page";
  for (const char* name : {"page/index.html", "page/a/b.js", "page/.hidden", "secret", "page2/index.html"})
    write(place.path() / name, name);
  fs::create_symlink(page / "a/b.js", page / "inside.js");
  fs::create_symlink(place.path() / "secret", page / "outside");
  fs::create_directory_symlink(place.path() / "page2", page / "folder");
  const fs::path real = fs::canonical(page);
  EXPECT_EQ(page_file(page, "/"), real / "index.html");
  EXPECT_EQ(page_file(page, "/a/b.js"), real / "a/b.js");
  EXPECT_EQ(page_file(page, "/inside.js"), real / "a/b.js");
  for (const std::string address :
       {"", "index.html", "/a", "/a/", "/no", "/.hidden", "/../secret", "/a/../../secret", "/a/../index.html",
        "//index.html", "/./index.html", "/outside", "/folder/index.html", "/../page2/index.html", "//etc/passwd"})
    EXPECT_FALSE(page_file(page, address)) << address;
  EXPECT_FALSE(page_file(page, std::string("/index.html\0.js", 15)));
  EXPECT_FALSE(page_file(page, "/" + std::string(5000, 'x')));
  EXPECT_FALSE(page_file(place.path() / "none", "/"));
  check_page(page);
  EXPECT_THAT(error_of(ErrorCode::kRead, [&] { check_page(place.path()); }), testing::HasSubstr("npm --prefix web"));
}

TEST(PageFiles, HaveTypes) {
  EXPECT_STREQ(media_type("a.wasm"), "application/wasm");
  EXPECT_STREQ(media_type("x/a.mjs"), "text/javascript; charset=utf-8");
  EXPECT_STREQ(media_type("noextension"), "application/octet-stream");
  EXPECT_STREQ(media_type("a.onnx"), "application/octet-stream");
}

TEST(TemporaryFolder, IsPrivateAndGoes) {
  fs::path path;
  {
    const TemporaryFolder folder;
    const TemporaryFolder other;  // does not take the first for one that was left behind
    path = folder.path();
    EXPECT_NE(path, other.path());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    write(path / "a/b", "c");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Uploads, KeepWhatIsWhole) {
  const TemporaryFolder folder;
  Uploads uploads(folder.path(), 10);
  {
    const auto file = uploads.begin("a", 4);
    EXPECT_TRUE(file->write("ab"));
    EXPECT_TRUE(file->write("cd"));
    EXPECT_FALSE(file->write("e"));
    EXPECT_FALSE(uploads.has("a"));
    EXPECT_TRUE(file->commit());
  }
  EXPECT_TRUE(uploads.has("a"));
  {
    const auto file = uploads.begin("a", 4);
    EXPECT_TRUE(file->write("abc"));
    EXPECT_FALSE(file->commit());
  }
  uploads.begin("b", 6);
  EXPECT_EQ(files_below(folder.path()), 1u);
  EXPECT_EQ(fs::file_size(uploads.folder() / "a"), 4u);
}

TEST(Uploads, AreBoundedTogether) {
  const TemporaryFolder folder;
  Uploads uploads(folder.path(), 10);
  const auto put = [&](const char* name, const std::string& text) {
    const auto file = uploads.begin(name, text.size());
    EXPECT_TRUE(file->write(text) && file->commit());
  };
  put("a", "123456");
  EXPECT_THAT(error_of(ErrorCode::kWrite, [&] { put("b", "12345"); }), testing::HasSubstr("--max-mb"));
  EXPECT_THAT(error_of(ErrorCode::kWrite, [&] { uploads.begin("b", ~std::uint64_t{0}); }), testing::HasSubstr("fit"));
  put("b", "1234");
  EXPECT_TRUE(uploads.remove("a"));
  EXPECT_FALSE(uploads.remove("a"));
  put("b", "123456");  // beside the one that it replaces
  put("a", "1234");
  EXPECT_EQ(files_below(folder.path()), 2u);
  const auto one = uploads.begin("c", 0);
  EXPECT_TRUE(one->commit());
}

TEST(Uploads, AreGatheredForAJob) {
  const TemporaryFolder folder;
  Uploads uploads(folder.path(), 10);
  for (const char* name : {"a", "b", "c"}) {
    const auto file = uploads.begin(name, 1);
    EXPECT_TRUE(file->write("x") && file->commit());
  }
  fs::path path;
  {
    const auto gathered = uploads.gather({"a", "c", "a"});
    path = *gathered;
    EXPECT_EQ(files_below(path), 2u);
    EXPECT_TRUE(uploads.remove("a"));
    EXPECT_TRUE(fs::exists(path / "a"));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(uploads.has("c"));
  EXPECT_THAT(error_of(ErrorCode::kRead, [&] { uploads.gather({"c", "a"}); }), testing::HasSubstr("a: "));
}

}  // namespace
}  // namespace octet
