import { REPORT_STYLES } from '../analysis-report/styles.js'

/** Styles of all pages, including those of reports. One string, since the CSP contains its hash. */
export const PAGE_STYLES = `${REPORT_STYLES}
:root { --link: #1f5f9e; } @media screen and (prefers-color-scheme: dark) { :root { --link: #8fbcec; } }
.top { display: flex; gap: .4rem 1.2rem; align-items: center; flex-wrap: wrap; padding-bottom: .6rem; margin-bottom: 1rem;
  border-bottom: 1px solid var(--line); } .top strong { font-size: 1.05rem; } .top .who { margin-left: auto; display: flex; gap: .6rem; align-items: center; }
nav { display: flex; flex-wrap: wrap; gap: 0 .2rem; flex: 1 1 20rem; } nav a { padding: .45rem .55rem; border-radius: 6px; text-decoration: none; }
nav a:hover { text-decoration: underline; } nav a[aria-current] { color: var(--ink); font-weight: 700; box-shadow: inset 0 -3px var(--canary); border-radius: 6px 6px 0 0; }
.hidden { position: absolute; left: -100rem; } .skip { position: absolute; left: -100rem; } .skip:focus { position: static; display: inline-block; margin-bottom: .5rem; } main:focus { outline: none; }
a { color: var(--link); } label { display: block; font-weight: 600; margin: .8rem 0 .2rem; }
input, textarea, select { width: 100%; padding: .5rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 6px; } textarea { min-height: 5rem; resize: vertical; }
.filter { display: flex; gap: .4rem 1rem; align-items: end; flex-wrap: wrap; margin: .6rem 0; } .filter div { flex: 1 1 9rem; }
.filter div:first-child { flex-grow: 2; } @media (max-width: 44rem) { .filter div:first-child { flex-basis: 100%; } } .filter button { margin: 0; } .pages { display: flex; gap: .3rem 1.2rem; flex-wrap: wrap; margin: .6rem 0; }
textarea.code { font: .85rem/1.4 ui-monospace, monospace; min-height: 18rem; }
button, a.button { padding: .5rem 1rem; margin: .6rem .5rem 0 0; font: inherit; font-weight: 600; color: inherit; cursor: pointer;
  background: var(--card); border: 2px solid var(--soft); border-radius: 6px; min-height: 2.75rem; }
a.button { display: inline-block; text-decoration: none; } button.good { border-color: var(--good); color: var(--good); } button.bad { border-color: var(--bad); color: var(--bad); }
button.plain { margin: 0; min-height: 0; padding: .2rem .6rem; font-weight: 400; border-width: 1px; font-size: .9rem; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible, summary:focus-visible {
  outline: 3px solid var(--canary); outline-offset: 2px; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
dd.rich { white-space: normal; } input, select { min-height: 2.75rem; }
@media (max-width: 44rem) { nav { order: 3; flex-basis: 100%; margin-left: -.55rem; } }
@media (max-width: 30rem) { dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: .4rem; }
  button, a.button { width: 100%; margin-right: 0; text-align: center; } button.plain { width: auto; } }
@media (max-width: 44rem) { .stacked td[data-label]:not(.number, :empty)::before { content: attr(data-label) ': '; color: var(--soft); } }
body { overflow-wrap: anywhere; } th { overflow-wrap: normal; } td { min-width: 6rem; } td.number { min-width: 0; } pre { padding: .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; margin-top: 1rem; align-items: start; }
.panels .card { margin: 0; min-width: 0; } .panel { padding: .2rem 1rem .8rem; border: 1px solid var(--line); border-radius: 6px; min-width: 0; } .panel h2 { margin: .6rem 0 .3rem; }
.panel ul, .plain-list { list-style: none; margin: 0; padding: 0; } .panel li, .plain-list li { padding: .45rem 0; border-top: 1px solid var(--line); } .panel li:first-child, .plain-list li:first-child { border-top: 0; }
.panel li p { margin: .1rem 0 0; } .count { font-variant-numeric: tabular-nums; } ul { padding-left: 1.2rem; } time { white-space: nowrap; }
.tree, .tree ul { list-style: none; margin: 0; padding: 0; font: .85rem/1.6 ui-monospace, monospace; } .tree ul { padding-left: 1.1rem; border-left: 1px solid var(--line); margin-left: .3rem; }
.tree summary { color: var(--ink); font-size: inherit; } .tree .key { color: var(--link); } .tree .text { white-space: pre-wrap; }
.code { overflow-x: auto; counter-reset: line; } .rego .word { color: var(--link); font-weight: 600; } .rego .text { color: var(--good); } .rego .note { color: var(--soft); font-style: italic; }
.numbered .line { display: block; counter-increment: line; padding-left: 3.4em; text-indent: -3.4em; } .numbered .line::before { content: counter(line); display: inline-block; width: 2.5em; margin-right: .9em; text-align: right; text-indent: 0; color: var(--soft); user-select: none; }
.key i.covered { background: var(--good); } .key i.uncovered { background: var(--bad); } .line.covered { box-shadow: inset 4px 0 var(--good); } .line.uncovered { box-shadow: inset 4px 0 var(--bad); background: color-mix(in srgb, var(--bad) 9%, transparent); }
.trend { width: 8rem; height: 1.6rem; display: inline-block; vertical-align: middle; } .trend rect { fill: var(--bad); } .trend line { stroke: var(--line); }
.lane { fill: var(--card); stroke: var(--line); } .mark.good { fill: var(--good); } .mark.bad { fill: var(--bad); } .mark.doubt { fill: var(--doubt); } .mark.soft { fill: var(--soft); }
.picture text { fill: var(--ink); font: 13px system-ui, sans-serif; } .picture .tick { fill: var(--soft); font-size: 11px; }
@media (max-width: 44rem) { .picture text { font-size: 34px; } .picture .tick { font-size: 30px; } .picture .mark { r: 16px; } }
footer { margin-top: 2.5rem; } .added { color: var(--good); } .removed { color: var(--bad); }
.row { display: flex; gap: .4rem 1rem; flex-wrap: wrap; align-items: center; } .row form { margin: 0; } hr { border: 0; border-top: 1px solid var(--line); margin: 1.5rem 0; }
@media (min-width: 60rem) { body:has(.bench) { max-width: 100rem; } .bench { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1.5rem; align-items: start; }
  .bench .results { order: 2; } .bench .results > :first-child { margin-top: .8rem; } }
@media print { .top, .skip, form.filter, .pages, button, form { display: none; } a { color: inherit; text-decoration: none; } }
.verdict h2 { margin-top: 0; } .narrow { max-width: 30rem; margin: 2rem auto; } .quote { white-space: pre-wrap; overflow-wrap: anywhere; }
`
