// One sentence for every outcome, edge cases of the figures included.
#include "octet/verdict.h"

#include <gmock/gmock.h>

#include <limits>

namespace octet {
namespace {

VerdictInput good() {
  VerdictInput input;
  input.float_bytes = 4000;
  input.output_bytes = 1000;
  input.speedup = Speedup{2, 1.9, 2.1};
  input.sqnr_db = 33;
  return input;
}

void expect(const VerdictInput& input, Judgement judgement, const std::string& sentence) {
  const Verdict verdict = judge(input);
  EXPECT_EQ(verdict.sentence, sentence);
  EXPECT_EQ(static_cast<int>(verdict.judgement), static_cast<int>(judgement)) << verdict.sentence;
}

TEST(Verdict, ShipsWhatIsSmallerAndNear) {
  expect(good(), Judgement::kShip, "Ship it: 4× smaller, 2× faster here, 33 dB.");
}

TEST(Verdict, EqualOutputsAreCalledEqual) {
  VerdictInput input = good();
  input.sqnr_db = kSqnrEqual;
  expect(input, Judgement::kShip, "Ship it: 4× smaller, 2× faster here, outputs equal.");
}

TEST(Verdict, NoiseIsNoDifference) {
  VerdictInput input = good();
  input.speedup = Speedup{1.02, 0.97, 1.06};
  expect(input, Judgement::kShip, "Ship it: 4× smaller, as fast as before here, 33 dB.");
  input.speedup = Speedup{1.1, 0.8, 1.4};
  EXPECT_EQ(static_cast<int>(judge(input).judgement), static_cast<int>(Judgement::kCannotTell));
  EXPECT_THAT(judge(input).sentence, testing::HasSubstr("lost in noise (0.8× to 1.4×)"));
}

TEST(Verdict, SlowerIsCalledSlower) {
  VerdictInput input = good();
  input.speedup = Speedup{0.5, 0.45, 0.55};
  expect(input, Judgement::kDont,
         "Smaller but slower: 4× smaller, 2× slower here, 33 dB. Ship it only where size matters more than time.");
}

TEST(Verdict, DriftOutweighsEverything) {
  VerdictInput input = good();
  input.sqnr_db = 4.2;
  expect(input, Judgement::kDont, "Don't ship it: 4× smaller, 2× faster here, 4.2 dB. Outputs drifted below 10 dB.");
  input.sqnr_db = -12.4;
  expect(input, Judgement::kDont, "Don't ship it: 4× smaller, 2× faster here, -12 dB. Outputs drifted below 10 dB.");
}

TEST(Verdict, DriftOnMadeUpInputsIsSaidButNotHeldAgainstIt) {
  VerdictInput input = good();
  input.synthetic = true;
  expect(input, Judgement::kCannotTell,
         "Promising: 4× smaller, 2× faster here, 33 dB on synthetic inputs. Check it on real samples.");
  input.sqnr_db = 3;
  expect(input, Judgement::kCannotTell,
         "Far off on made-up inputs: 4× smaller, 2× faster here, 3 dB on synthetic inputs. Check it on real "
         "samples.");
}

TEST(Verdict, OutputsThatAreNoNumbersAreNeverShipped) {
  for (const double sqnr :
       {-kSqnrEqual, std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    for (const bool synthetic : {false, true}) {
      VerdictInput input = good();
      input.sqnr_db = sqnr;
      input.synthetic = synthetic;
      expect(input, Judgement::kDont,
             "Don't ship it: 4× smaller, 2× faster here, outputs not finite or nothing like before.");
    }
  }
}

TEST(Verdict, WhatGainsNothingIsNotWorthIt) {
  VerdictInput input = good();
  input.speedup = Speedup{1, 0.99, 1.01};
  input.output_bytes = 4000;
  expect(input, Judgement::kDont, "Don't bother: 1× smaller, as fast as before here, 33 dB.");
  input.output_bytes = 8000;
  expect(input, Judgement::kDont, "Don't bother: 2× larger, as fast as before here, 33 dB.");
  input.speedup = Speedup{2, 1.9, 2.1};
  expect(input, Judgement::kShip, "Ship it: 2× larger, 2× faster here, 33 dB.");
}

TEST(Verdict, WhatWasNotMeasuredIsSaid) {
  VerdictInput input = good();
  input.speedup.reset();
  expect(input, Judgement::kCannotTell, "Not verified: 4× smaller, speed not measured, 33 dB.");
  input.sqnr_db.reset();
  expect(input, Judgement::kCannotTell, "Not verified: 4× smaller, speed not measured.");
  input.sqnr_db = 3;
  expect(input, Judgement::kDont, "Don't ship it: 4× smaller, speed not measured, 3 dB. Outputs drifted below 10 dB.");
}

TEST(Verdict, SizesThatAreNotKnownAreNotMadeUp) {
  VerdictInput input = good();
  input.output_bytes = 0;
  expect(input, Judgement::kCannotTell, "Not verified: size not measured, 2× faster here, 33 dB.");
  input.output_bytes = 1000;
  input.float_bytes = 0;
  expect(input, Judgement::kCannotTell, "Not verified: size not measured, 2× faster here, 33 dB.");
}

}  // namespace
}  // namespace octet
