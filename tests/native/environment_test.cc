// What a report says of the machine, from text as systems give it.
#include "engine/environment.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "engine/interleave.h"
#include "error_of.h"
#include "tiny_models.h"

namespace octet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kIntel =
    "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 167\nmodel name\t: Intel(R) Xeon(R) Processor\n"
    "flags\t\t: fpu sse4_2 avx avx2 avx512f avx512dq avx_vnni avx512_vnni\nvmx flags\t: vnmi\n\n"
    "processor\t: 1\nmodel name\t: another\nflags\t\t: fpu\n";
constexpr const char* kArm =
    "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm aes asimdhp asimddp i8mm\n"
    "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n";

TEST(EnvironmentText, NamesTheProcessor) {
  EXPECT_EQ(cpu_name(kIntel), "Intel(R) Xeon(R) Processor");
  EXPECT_EQ(cpu_name(kArm), "CPU implementer 0x41, part 0xd0c");
  EXPECT_EQ(cpu_name("processor\t: 0\nHardware\t: BCM2835"), "BCM2835");
  EXPECT_EQ(cpu_name("model name\nno colon"), "");
  EXPECT_EQ(cpu_name(""), "");
}

TEST(EnvironmentText, FeaturesAreWholeWordsOfTheFirstProcessor) {
  EXPECT_THAT(cpu_features(kIntel), ElementsAre("AVX2", "AVX-512", "AVX VNNI", "AVX-512 VNNI"));
  EXPECT_THAT(cpu_features(kArm), ElementsAre("NEON", "NEON dot product", "NEON INT8 matrices"));
  EXPECT_THAT(cpu_features("flags\t: avx512fp16 xavx2 avx"), IsEmpty());
  EXPECT_THAT(cpu_features("flags\t: avx2"), ElementsAre("AVX2"));
  EXPECT_THAT(cpu_features(""), IsEmpty());
}

TEST(EnvironmentText, LoadIsThatOfTheLastMinute) {
  EXPECT_EQ(load_average("0.52 0.58 0.59 1/467 12345\n"), 0.52);
  EXPECT_EQ(load_average(""), std::nullopt);
  EXPECT_EQ(load_average("none"), std::nullopt);
}

TEST(EnvironmentText, AnEmulatorIsSeenByTheProgramThatReallyRuns) {
  EXPECT_EQ(emulator_of("arm64", kArm, "/opt/octet", "/usr/bin/qemu-aarch64"), "qemu-aarch64");
  EXPECT_EQ(emulator_of("x64", kIntel, "/opt/octet", "/usr/bin/qemu-x86_64"), "qemu-x86_64");
  EXPECT_EQ(emulator_of("x64", kIntel, "/opt/octet", "/opt/octet"), "");
  EXPECT_EQ(emulator_of("x64", "", "", "/opt/octet"), "");
}

TEST(EnvironmentText, AnEmulatorIsSeenByTheProcessorOfAnotherKind) {
  EXPECT_EQ(cpu_architecture(kIntel), "x64");
  EXPECT_EQ(cpu_architecture(kArm), "arm64");
  EXPECT_EQ(cpu_architecture("processor\t: 0\nisa\t\t: rv64imafdc\n"), "");
  EXPECT_EQ(emulator_of("arm64", kIntel, "", ""), "an emulator");
  EXPECT_EQ(emulator_of("x64", kArm, "/opt/octet", "/opt/octet"), "an emulator");
  EXPECT_EQ(emulator_of("arm64", kArm, "", ""), "");
  EXPECT_EQ(emulator_of("arm64", "", "", ""), "");
  EXPECT_EQ(emulator_of("", kArm, "", ""), "");
}

// The arm64 stage of scripts/test runs this in qemu, where OCTET_EMULATOR is set; nothing else sets it.
TEST(Emulator, IsNamedWhereThereIsOneAndRefusesToTime) {
  const Environment here = this_environment();
  if (std::getenv("OCTET_EMULATOR") == nullptr) {
    EXPECT_EQ(emulator(), "");
    EXPECT_NO_THROW(refuse_to_time_in_emulator("bench"));
    EXPECT_FALSE(to_json(here).contains("emulator"));
    return;
  }
  EXPECT_THAT(emulator(), StartsWith("qemu-"));
  EXPECT_THAT(to_text(here), HasSubstr("emulated by qemu-"));
  EXPECT_EQ(to_json(here)["emulator"], emulator());
  EXPECT_THAT(error_of(ErrorCode::kUsage, [] { refuse_to_time_in_emulator("bench"); }), StartsWith("bench: "));
  EXPECT_THAT(error_of(ErrorCode::kUsage, [] { time_interleaved({}, {}, {}); }), HasSubstr("emulator"));
}

TEST(EnvironmentText, GovernorsAreToldOnceEach) {
  const tiny::Folder folder;
  const auto write = [&](const std::string& core, const std::string& governor) {
    std::filesystem::create_directories(folder / core / "cpufreq");
    std::ofstream(folder / core / "cpufreq" / "scaling_governor") << governor << "\n";
  };
  EXPECT_EQ(governors_in(folder.path, 4), "");
  write("cpu0", "schedutil");
  write("cpu1", "schedutil");
  EXPECT_EQ(governors_in(folder.path, 4), "schedutil");
  write("cpu3", "performance");
  EXPECT_EQ(governors_in(folder.path, 4), "performance/schedutil");
  EXPECT_EQ(governors_in(folder.path, 3), "schedutil");
}

TEST(EnvironmentText, SaysWhatIsNotKnown) {
  Environment known{"A processor", 2, {"AVX2"}, "powersave", 0.25, {}};
  EXPECT_EQ(to_text(known), "A processor, 2 cores, AVX2, load 0.2, governor powersave");
  EXPECT_EQ(to_json(known)["governor"], "powersave");
  EXPECT_EQ(to_text(Environment{}), "unknown processor, 1 core, governor unknown");
  EXPECT_TRUE(to_json(Environment{})["governor"].is_null());
  EXPECT_TRUE(to_json(Environment{})["load"].is_null());
  EXPECT_GE(this_environment().cores, 1U);
  EXPECT_FALSE(this_environment().cpu.empty());
}

}  // namespace
}  // namespace octet
