/** Styles of reports for desktop, phone, dark mode and print. They load nothing. */
export const REPORT_STYLES = `
:root { color-scheme: light dark; --ink: #1a1d21; --soft: #5c6570; --line: #d5dae0; --paper: #fff; --card: #f6f8fa;
  --baseline: #4c78a8; --canary: #d1771a; --good: #1a7f37; --bad: #c1242f; --doubt: #9a6700; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #98a2ad; --line: #363c44; --paper: #15181c;
  --card: #1d2126; --baseline: #7fb0e0; --canary: #f0a04b; --good: #4ac26b; --bad: #ff7b72; --doubt: #d4a72c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; font: 16px/1.45 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 0;
  overflow-wrap: anywhere; }
p { margin: .3rem 0; } .soft, .none { color: var(--soft); font-size: .9rem; }
.verdict { display: flex; gap: 1rem; align-items: center; flex-wrap: wrap; padding: 1rem; margin: 1rem 0;
  border: 1px solid var(--line); border-left: 8px solid var(--soft); border-radius: 6px; background: var(--card); }
.verdict.good { border-left-color: var(--good); } .verdict.bad { border-left-color: var(--bad); }
.verdict.doubt { border-left-color: var(--doubt); }
.score { font-size: 2.2rem; font-weight: 700; font-variant-numeric: tabular-nums; } .verdict div { flex: 1 1 16rem; min-width: 0; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: 0 .5em; border-radius: 1em; font-size: .8rem; font-weight: 600;
  border: 1px solid currentColor; white-space: nowrap; }
.badge.good { color: var(--good); } .badge.bad { color: var(--bad); } .badge.doubt { color: var(--doubt); }
.badge.soft { color: var(--soft); }
.card { padding: .8rem 1rem; margin: .8rem 0; border: 1px solid var(--line); border-radius: 6px; break-inside: avoid; }
.card header { display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; }
.charts { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); gap: 1rem; margin-top: .5rem; }
.charts > div { min-width: 0; }
@media (max-width: 44rem) { .charts { grid-template-columns: minmax(0, 1fr); } }
svg { width: 100%; height: auto; display: block; }
.grid, .axis { stroke: var(--line); } .zero { stroke: var(--soft); stroke-dasharray: 3 3; }
.tick { fill: var(--soft); font-size: 11px; } .tick.end { text-anchor: end; } .tick.middle { text-anchor: middle; }
.series { fill: none; stroke-width: 1.6; stroke-linecap: round; } .series.baseline, .median.baseline { stroke: var(--baseline); }
.series.unit { stroke-width: 0.8; opacity: 0.45; } .series.canary, .median.canary { stroke: var(--canary); } .median { stroke-width: 2; }
.alone.baseline { fill: var(--baseline); } .alone.canary { fill: var(--canary); }
.bar.baseline { fill: var(--baseline); opacity: .55; } .bar.canary { fill: var(--canary); opacity: .55; }
.margin { fill: var(--soft); opacity: .18; } .interval { stroke: var(--canary); stroke-width: 4; }
.estimate { fill: var(--canary); }
.key i { display: inline-block; width: 1.2em; height: .25em; vertical-align: middle; margin: 0 .3em 0 .8em; }
.key i.baseline { background: var(--baseline); } .key i.canary { background: var(--canary); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { unicode-bidi: isolate; } code, pre { font: .85rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; margin: .3rem 0; }
@media (max-width: 44rem) { .stacked tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .stacked tr:has(th) { display: none; } .stacked td { display: block; padding: .1rem 0; border: 0; }
  .stacked td.number { display: inline-block; margin-right: 1rem; }
  .stacked td.number::before { content: attr(data-label) ' '; color: var(--soft); }
  .intervals td { display: inline-block; margin-right: .8rem; } .intervals td:last-child { display: block; }
  .pairs tr { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 1rem; } .pairs tr:has(th) { display: none; }
  .pairs td:first-child { grid-column: 1 / -1; font-weight: 600; }
  .charts > div:first-child .tick { font-size: 17px; } .charts-alone .tick { font-size: 22px; } }
details { margin: .3rem 0; } summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
@media print { :root { font-size: 11px; } body { max-width: none; padding: 0; font-size: 1rem; } details:not([open]) > * { display: none; }
  .card, tr { break-inside: avoid; } }
`
