// How a report looks: light or dark as the reader's system has it, from 360 pixels on. Colours of marks have at least
// 3:1 against the paper, of text 4.5:1; whose number a mark is, lightness tells too.
#pragma once

#include <string_view>

namespace octet {

inline constexpr std::string_view kReportStyle = R"(:root {
  color-scheme: light dark;
  --paper: #fbfbf9; --ink: #1b1f22; --faint: #596167; --line: #dfe2e1; --good: #0b6e69; --bad: #a8431b; --base: #7f898f;
  font: 100%/1.5 system-ui, sans-serif;
  font-variant-numeric: tabular-nums;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181a; --ink: #e6e9ea; --faint: #9ea9af; --line: #30373b; --good: #4fc1b9; --bad: #f0986b; --base: #87929a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { margin: 0.25rem 0 1rem; font-size: clamp(1.5rem, 4vw, 2.2rem); line-height: 1.25; text-wrap: balance; }
h2 { margin: 2.5rem 0 0.25rem; font-size: 1.3rem; }
h3 { margin: 1.5rem 0 0.25rem; font-size: 1.05rem; }
h1, h2, h3, p, li { overflow-wrap: anywhere; }
p, figure { margin: 0 0 0.75rem; }
.kicker, .setup { color: var(--faint); font-size: 0.9rem; }
.verdict { margin: 1rem 0; padding-left: 0.9rem; border-left: 4px solid var(--base); }
.verdict p { margin: 0; }
.verdict .why { color: var(--faint); }
.verdict ul { margin: 0.2rem 0 0; padding-left: 1.2rem; }
.ship { border-color: var(--good); }
.dont { border-color: var(--bad); }
h1.ship { color: var(--good); }
h1.dont { color: var(--bad); }
.charts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1.5rem 2rem; margin: 1rem 0;
}
figure { min-width: 0; }
figcaption { font-weight: 600; margin-bottom: 0.4rem; }
svg { display: block; width: 100%; max-width: 30rem; height: auto; overflow: visible; }
svg text {
  fill: var(--ink); font-size: 13px; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round;
}
svg .tick { fill: var(--faint); font-size: 12px; }
svg .number { font-weight: 600; }
svg .axis { stroke: var(--faint); }
svg .grid { stroke: var(--line); }
svg .mark { fill: var(--good); }
svg .dot { fill: var(--good); fill-opacity: 0.5; }
svg .band { fill: var(--good); fill-opacity: 0.18; }
svg .stroke { stroke: var(--good); stroke-width: 3px; }
svg .whisker { stroke: var(--good); stroke-width: 2px; }
svg .of-base .mark, svg .of-base .dot, svg .of-base .band { fill: var(--base); }
svg .of-base .stroke, svg .of-base .whisker { stroke: var(--base); }
svg .limit { stroke: var(--bad); stroke-dasharray: 4 3; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.87rem; }
th { text-align: left; font-weight: 500; }
thead th { color: var(--faint); font-weight: 400; vertical-align: bottom; }
td, th { padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody th { min-width: 7rem; max-width: 22rem; overflow-wrap: anywhere; }
td { white-space: nowrap; }
td:last-child { white-space: normal; min-width: 6rem; }
td.wide { min-width: 16rem; overflow-wrap: anywhere; }
summary { width: fit-content; padding: 0.3rem 0; color: var(--faint); font-size: 0.9rem; cursor: pointer; }
@media print { details { display: block; } }
)";

}  // namespace octet
