// The style sheet of the report, apart from that of its charts.
#pragma once

namespace oneprobe::cli {

inline constexpr const char* report_style = R"css(
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f5f6f8; --ink: #1c1e21; --soft: #50555c; --line: #dfe2e6; --link: #00619a;
  --good: #00704f; --good-ground: #dff3ec; --noted: #8a5a00; --noted-ground: #fbeed2;
  --bad: #a4262c; --bad-ground: #fbe3e1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181c; --raised: #1e2126; --ink: #e8eaed; --soft: #aab0b8; --line: #33373d; --link: #7cc0f0;
    --good: #6fdcb8; --good-ground: #12362c; --noted: #f2c464; --noted-ground: #3b2d10;
    --bad: #ff9c94; --bad-ground: #45191a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
main, header, footer { max-width: 52rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 3rem; }
h1, h2, h3 { font-family: Charter, "Bitstream Charter", Georgia, "DejaVu Serif", serif; line-height: 1.2; }
h1 { font-size: 2.3rem; margin: 0 0 .8rem; }
h2 { font-size: 1.65rem; margin: 4rem 0 .3rem; padding-top: 1.2rem; border-top: 3px solid var(--ink); }
h3 { font-size: 1.25rem; margin: 3rem 0 .7rem; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 3px; }
.lede { font-size: 1.12rem; }
.soft, .authors { color: var(--soft); }
.authors { margin: 0 0 .8rem; }
.id {
  font: 600 .78rem ui-monospace, "DejaVu Sans Mono", monospace; color: var(--soft); margin-right: .6rem;
  white-space: nowrap;
}
h3 .id { display: block; margin-bottom: .25rem; }
code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--raised); padding: .1em .3em; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: .8rem; margin: 1.6rem 0 .8rem; padding: 0; }
.tiles div { background: var(--raised); padding: .8rem 1rem; border-radius: 6px; }
.tiles dt { font-size: .85rem; color: var(--soft); line-height: 1.3; }
.tiles dd { margin: 0; font-size: 1.9rem; font-weight: 600; line-height: 1.25; }
.tiles .good dd { color: var(--good); } .tiles .noted dd { color: var(--noted); } .tiles .bad dd { color: var(--bad); }
.share { display: flex; height: 8px; border-radius: 4px; overflow: hidden; gap: 2px; margin-bottom: 1.6rem; }
.share .good { background: var(--good); } .share .noted { background: var(--noted); }
.share .bad { background: var(--bad); }
.contents ol { list-style: none; margin: .2rem 0 1.2rem; padding: 0; }
.contents li { display: flex; gap: .8rem; align-items: baseline; padding: .12rem 0; }
.contents .tally { margin-left: auto; white-space: nowrap; font-size: .88rem; }
.contents .id { flex: 0 0 9.6rem; margin: 0; }
sub, sup { font-size: .75em; line-height: 0; }
.contents h4 { margin: 1rem 0 .1rem; }
.good { color: var(--good); } .noted { color: var(--noted); } .bad { color: var(--bad); }
.claim { border-left: 3px solid var(--line); margin: 0 0 1.2rem; padding: .1rem 0 .1rem 1rem; color: var(--soft); }
.claim b, .found b { display: block; font-size: .78rem; letter-spacing: .05em; text-transform: uppercase; }
.found { background: var(--raised); padding: .8rem 1rem; border-radius: 6px; margin: 1.2rem 0; }
.found p { margin: .2rem 0 .4rem; }
figure { margin: 1.2rem 0; }
figcaption { color: var(--soft); font-size: .85rem; }
svg.chart { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .36rem .55rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; padding-left: 0; min-width: 13rem; }
th:last-child, td:last-child { text-align: left; padding-right: 0; }
td.wide { white-space: normal; }
td.words { white-space: normal; min-width: 7rem; }
tr.source td { color: var(--soft); font-weight: 600; padding-top: .9rem; }
.remark { color: var(--soft); font-size: .85rem; line-height: 1.4; display: block; }
.badge { border-radius: 4px; padding: .08rem .45rem; font-size: .84rem; display: inline-block; }
.badge.good { background: var(--good-ground); } .badge.noted { background: var(--noted-ground); }
.badge.bad { background: var(--bad-ground); white-space: normal; }
details { margin: 1rem 0; }
summary { cursor: pointer; color: var(--link); }
footer { border-top: 1px solid var(--line); margin-top: 4rem; padding-top: 1.2rem; padding-bottom: 4rem; }
footer dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0; }
footer dt { color: var(--soft); } footer dd { margin: 0; }
@media (max-width: 40rem) {
  .tiles { grid-template-columns: repeat(2, 1fr); }
  h1 { font-size: 1.8rem; }
}
@media print { details > * { display: block; } h3, figure { break-inside: avoid; } }
)css";

}  // namespace oneprobe::cli
