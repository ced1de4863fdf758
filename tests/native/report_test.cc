// Reports read, merged and drawn: what comes from others stays text, ratios stay within one machine and runtime.
#include <gmock/gmock.h>

#include "error_of.h"
#include "octet/error.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/merge.h"
#include "report/report_page.h"

namespace octet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

json latency(double median) {
  return {{"runs", 3},        {"median_ms", median}, {"mean_ms", median}, {"min_ms", median},
          {"max_ms", median}, {"p90_ms", median},    {"stddev_ms", 0},    {"mad_ms", 0}};
}

json bench_row(const std::string& name, std::uint64_t bytes, double median, unsigned threads = 1) {
  return {{"name", name},
          {"model", "somewhere/" + name},
          {"threads", threads},
          {"file_bytes", bytes},
          {"load_ms", 1.0},
          {"latency", latency(median)},
          {"milliseconds", {median, median, median}},
          {"outliers", 0},
          {"samples_per_second", 10.0}};
}

json bench_report(const std::string& cpu, const std::vector<json>& rows) {
  json report = {
      {"octet_report", "bench"},
      {"octet", "1.2.3"},
      {"created", "2026-05-04T03:02:01Z"},
      {"runtime", "1.30.0"},
      {"environment", {{"cpu", cpu}, {"cores", 2}, {"features", {"AVX2"}}, {"governor", nullptr}, {"load", 0.5}}},
      {"warmup", 2},
      {"runs", 3},
      {"thresholds", {{"min_sqnr_db", 10}, {"min_smaller", 1.1}, {"slower", 0.95}, {"faster", 1.05}}},
      {"synthetic", false},
      {"samples_description", "8 samples from eval"},
      {"samples", 8},
      {"cut_short", false},
      {"rows", rows}};
  return report;
}

json candidate(const std::string& name, std::uint64_t bytes, double median, double ratio) {
  json row = bench_row(name, bytes, median);
  row["speedup"] = {{"ratio", ratio}, {"low", ratio * 0.9}, {"high", ratio * 1.1}};
  row["worst_sqnr_db"] = 33.0;
  row["drift"] = {{{"name", "y"},
                   {"comparable", true},
                   {"finite", true},
                   {"sqnr_db", 33.0},
                   {"cosine", 0.99},
                   {"max_abs_error", 0.1},
                   {"max_abs", 2.0},
                   {"elements", 10}}};
  row["verdict"] = {{"judgement", "ship"},
                    {"decided_by", "speed"},
                    {"sentence", "Ship it: 4× smaller, 2× faster here, 33 dB."},
                    {"why", ""},
                    {"next", json::array()}};
  return row;
}

Place place(const json& report, const std::string& file = "a.json") { return place_from_json(report, file); }

TEST(ReportHtml, NothingFromOutsideIsMarkup) {
  EXPECT_EQ(escaped("<script>\"'&"), "&lt;script&gt;&quot;&#39;&amp;");
  EXPECT_EQ(escaped(std::string("a\x1b\x00z", 4)), "a\uFFFD\uFFFDz");
  EXPECT_EQ(escaped("größer\n"), "größer\n");
  const std::string evil = "\"><script>alert(1)</script><img src=x onerror=y>.onnx";
  json row = candidate(evil, 100, 1, 2);
  row["verdict"] = {{"judgement", evil},
                    {"decided_by", evil},
                    {"sentence", evil},
                    {"why", evil},
                    {"next", {{{"code", evil}, {"text", evil}}}}};
  row["drift"][0]["name"] = evil;
  row["profile"] = {{"runs", 1},
                    {"run_ms", 1.0},
                    {"integer_share", 0.0},
                    {"operators", {{{"op", evil}, {"integers", false}, {"count", 1.0}, {"ms", 1.0}, {"share", 1.0}}}},
                    {"nodes", {{{"name", evil}, {"op", evil}, {"ms", 1.0}}}}};
  json failed = {{"name", evil}, {"model", evil}, {"threads", 1}, {"file_bytes", 7}, {"error", evil}};
  json report = bench_report(evil, {bench_row(evil, 400, 2), row, failed});
  for (const char* key : {"octet", "created", "runtime", "samples_description"}) report[key] = evil;
  const Place hostile = place(report, evil);
  for (const std::string& page : {report_page({hostile}), report_page({hostile, hostile})}) {
    EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    EXPECT_THAT(page, Not(HasSubstr("class=\"verdict \"")));
  }
}

TEST(ReportHtml, StandsAlone) {
  const std::string page = report_page({place(bench_report("cpu", {bench_row("f.onnx", 400, 2)}))});
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* outside : {"http:", "https:", "src=", "href=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(ReportChart, AxesBeginAtZeroAndOddNumbersDoNotBreakThem) {
  const std::string bars = bar_chart("Size", {{"float", "4 MB", 4, true}, {"int8", "1 MB", 1, false}});
  EXPECT_THAT(bars, HasSubstr("<rect class=\"mark\" x=\"0\" y=\"17.0\" width=\"336.0\""));
  EXPECT_THAT(bars, HasSubstr("width=\"84.0\""));  // a quarter
  EXPECT_THAT(bars, HasSubstr("<table>"));
  const double nan = std::numeric_limits<double>::quiet_NaN(), big = std::numeric_limits<double>::max();
  for (const double odd : {nan, big, -big, 0.0, 1e-300}) {
    for (const std::string& chart :
         {bar_chart("a", {{"n", "t", odd, false}}, "", odd, "limit"),
          times_chart("b", {{"n", {odd, 1, odd}, odd, false}}), times_chart("c", {{"n", {}, odd, true}}),
          ratio_chart("d", {{"n", odd, odd, odd}})}) {
      EXPECT_THAT(chart, Not(HasSubstr("=\"nan"))) << odd;
      EXPECT_THAT(chart, Not(HasSubstr("=\"inf"))) << odd;
      EXPECT_THAT(chart, Not(HasSubstr("=\"-"))) << odd;
    }
  }
}

TEST(ReportMerge, ModelsAreTheSameByBytesAndWhereThatIsNotEnoughByName) {
  const std::vector<Place> places = {
      place(bench_report("one", {bench_row("f.onnx", 400, 2), candidate("fast.onnx", 100, 1, 2)})),
      place(bench_report("two", {bench_row("f.onnx", 400, 4), candidate("same-bytes.onnx", 100, 3, 1.3),
                                 candidate("other.onnx", 101, 3, 1.3)}))};
  const auto rows = merged_rows(places);
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].name, "f.onnx");
  EXPECT_EQ(rows[1].name, "fast.onnx, also same-bytes.onnx");
  EXPECT_EQ(rows[1].cells[1]->latency->median_ms, 3);
  EXPECT_THAT(rows[2].cells, ElementsAre(nullptr, &places[1].rows[2]));

  const std::vector<Place> twins = {
      place(bench_report("one", {bench_row("f.onnx", 400, 2), bench_row("g.onnx", 400, 3)})),
      place(bench_report("two", {bench_row("g.onnx", 400, 4)}))};
  const auto apart = merged_rows(twins);
  ASSERT_THAT(apart, SizeIs(2));
  EXPECT_EQ(apart[0].cells[1], nullptr) << "two models of 400 bytes: the name decides";
  EXPECT_EQ(apart[1].cells[1]->latency->median_ms, 4);
}

TEST(ReportMerge, ThreadCountsAreRowsOfTheirOwn) {
  const std::vector<Place> places = {
      place(bench_report("one", {bench_row("f.onnx", 400, 2), bench_row("f.onnx", 400, 1, 4)})),
      place(bench_report("two", {bench_row("f.onnx", 400, 3), bench_row("f.onnx", 400, 2, 8)}))};
  const auto rows = merged_rows(places);
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[1].threads, 4u);
  EXPECT_EQ(rows[1].cells[1], nullptr);
  EXPECT_THAT(across_ratios(rows), SizeIs(1)) << "4 threads are not compared with 8";
}

TEST(ReportMerge, ARatioAcrossReportsSaysWhatElseDiffers) {
  const std::vector<Place> places = {place(bench_report("one", {bench_row("f.onnx", 400, 2)})),
                                     place(bench_report("two", {bench_row("f.onnx", 400, 4)})),
                                     place(bench_report("one", {bench_row("f.onnx", 400, 2)}))};
  const auto ratios = across_ratios(merged_rows(places));
  ASSERT_THAT(ratios, SizeIs(2));
  EXPECT_DOUBLE_EQ(ratios[0].ratio, 0.5);
  EXPECT_EQ(what_differs(places[1], places[0]), "another machine");
  EXPECT_EQ(what_differs(places[2], places[0]), "such a machine and the same runtime, in another run");
  Place other = places[2];
  other.runtime = "ONNX Runtime 1.31.0";
  EXPECT_EQ(what_differs(other, places[0]), "another runtime on such a machine");
  other.browser = true;
  EXPECT_THAT(what_differs(other, places[0]), HasSubstr("a browser against a native run"));
  const std::string page = report_page(places);
  EXPECT_THAT(page, HasSubstr("the runs were not made in turns"));
  EXPECT_THAT(page, HasSubstr("B against A"));
  const json merged = comparison_json(places);
  EXPECT_EQ(merged.at("octet_report"), "comparison");
  EXPECT_EQ(merged.at("across").at(0).at("differs"), "another machine");
}

TEST(ReportRead, WhatIsNoReportIsRefusedWithWhatIsMissing) {
  for (const json& document :
       {json(), json(3), json::array(), json::object(), json{{"rows", 1}}, json{{"octet_report", 3}}}) {
    const std::string message = error_of(ErrorCode::kMalformed, [&] { place(document, "x/odd.json"); });
    EXPECT_THAT(message, testing::StartsWith("x/odd.json: "));
    EXPECT_THAT(message, HasSubstr("octet bench --json"));
  }
  const json whole = bench_report("cpu", {bench_row("f.onnx", 400, 2), candidate("g.onnx", 100, 1, 2)});
  EXPECT_NO_THROW(place(whole));
  // Every value once left out and once of another type: an error or a report, never anything else.
  for (const json flat = whole.flatten(); const auto& entry : flat.items()) {
    for (const json& odd : {json(), json("text"), json(-1), json(1e300), json::array({1}), json::object()}) {
      json broken = whole;
      broken[json::json_pointer(entry.key())] = odd;
      try {
        report_page({place(broken)});
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kMalformed) << entry.key();
      }
    }
  }
}

TEST(ReportRead, BrowsersByTheirNames) {
  EXPECT_EQ(browser_name("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
                         "Chrome/126.0.0.0 Mobile Safari/537.36"),
            "Chrome 126 on Android");
  EXPECT_EQ(browser_name("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
                         "Chrome/125.0.0.0 Safari/537.36 Edg/125.0.0.0"),
            "Edge 125 on Windows");
  EXPECT_EQ(browser_name("Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0"),
            "Firefox 127 on Linux");
  EXPECT_EQ(browser_name("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
                         "Gecko) Version/17.5 Mobile/15E148 Safari/604.1"),
            "Safari 17 on iPhone");
  EXPECT_EQ(browser_name("node"), "node");
}

}  // namespace
}  // namespace octet
