// Files as ByteSource and ByteSink: mapped for reading; written to a temporary name beside the target and renamed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "octet/byte_io.h"

namespace octet {

// Throws Error(kRead) naming the file. Empty files are fine. Pages already read are given back as reading goes on, so
// that the process does not grow with the file.
std::shared_ptr<ByteSource> open_file(const std::filesystem::path& path);

// Opens external data inside the folder of `model`, following no link or name out of it. Where `model` is itself a
// link, the folder it leads to is as good: download caches keep a model and its data as links into one store.
OpenExternal external_beside(const std::filesystem::path& model);

// A file that appears under its name only after commit(); the destructor, and Ctrl-C, remove what was not committed.
// A device or pipe (/dev/null, /dev/stdout) is written in place.
class OutputFile final : public ByteSink {
 public:
  // Throws Error(kWrite) when `path` exists and `force` is false, when its folder is missing, or on any I/O fault.
  OutputFile(std::filesystem::path path, bool force);
  ~OutputFile() override;
  void append(std::span<const std::uint8_t> bytes) override;
  void flush();  // what was appended can then be read under temporary()
  void commit();
  const std::filesystem::path& temporary() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A path in the system's folder for temporary files that nothing has, and nobody guesses.
std::filesystem::path scratch_path(const std::string& stem);

// A file that someone else writes, for as long as this lives: the destructor, and Ctrl-C, remove it.
class ScratchFile {
 public:
  explicit ScratchFile(std::filesystem::path path);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  void* slot_;
};

// Removes uncommitted outputs when SIGINT or SIGTERM ends the process. Called once by main.
void remove_outputs_on_signal();

// A small file whole. Throws Error(kRead).
std::string read_text_file(const std::filesystem::path& path);

}  // namespace octet
