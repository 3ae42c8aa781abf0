import { html } from 'hono/html'

import { coveragePercent } from '../../rego/index.js'
import type { FileCoverage, OpaTest } from '../../rego/index.js'
import { badge } from '../analysis-report/tone.js'
import type { PackageCost } from '../metrics/package-costs.js'
import type { ListedDecisions } from './decision-table.js'
import { tokenField } from './layout.js'
import type { Html, Viewer } from './layout.js'
import { table } from './lists.js'
import { duration, empty } from './parts.js'
import { problemNotice } from './sign-in-page.js'
import type { ShownProblem } from './sign-in-page.js'

/** What the evaluation of a package takes. */
export interface ShownCost {
  /** Undefined if it was not measured since the start. */
  readonly measured: PackageCost | undefined
  /** Durations of the latest decisions at the path, in milliseconds. */
  readonly durationsMs: readonly number[]
}

/** The result of running tests, or of evaluating decisions again. */
export type PolicyResult =
  | { readonly kind: 'tests'; readonly tests: readonly OpaTest[]; readonly coverage: readonly FileCoverage[] }
  | { readonly kind: 'coverage'; readonly decisions: number; readonly coverage: readonly FileCoverage[] }
  | ShownProblem

interface ShownTests {
  /** Undefined if decisions are not stored. */
  readonly decisions: ListedDecisions | undefined
  readonly result: PolicyResult | undefined
}

/** Formats the measured cost. */
export function costText({ measured }: ShownCost): string {
  if (measured === undefined) return 'not measured since the start (every 16th decision is)'
  const { share, mean, p99AtMost, evaluations } = measured
  const most = p99AtMost === undefined ? 'more than ten million' : `at most ${p99AtMost.toLocaleString('en')}`
  const steps = Math.round(mean).toLocaleString('en')
  const measuredCount = `${evaluations} ${evaluations === 1 ? 'evaluation' : 'evaluations'} measured`
  return `${steps} steps (loops, calls, built-ins) on average, 99 % take ${most}; ${percent(share)} of the steps of all packages (${measuredCount})`
}

function percent(share: number): string {
  return share > 0 && share < 0.001 ? 'less than 0.1 %' : `${Number((share * 100).toFixed(1))} %`
}

/** Fewer decisions have no 99th percentile. */
const MIN_FOR_PERCENTILE = 100

/** Formats the durations of decisions. */
export function durationText(durationsMs: readonly number[]): string {
  if (durationsMs.length === 0) return ''
  const sorted = durationsMs.toSorted((a, b) => a - b)
  const mean = sorted.reduce((sum, each) => sum + each, 0) / sorted.length
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0
  const high =
    sorted.length < MIN_FOR_PERCENTILE
      ? `${duration(sorted.at(-1) ?? 0)} at most`
      : `99th percentile ${duration(p99)}`
  return `${duration(mean)} on average, ${high} (the latest ${sorted.length} at this path)`
}

/** Renders the buttons for tests and coverage with the result of the last one. */
export function testSection({ decisions, result }: ShownTests, path: string, viewer: Viewer): Html {
  return html`<h2 id="tests">Tests and coverage</h2>
    <form method="post" action="${viewer.prefix}${path}#tests" class="row">
      ${tokenField(viewer)}
      <button name="action" value="tests">Run the tests</button>
      ${
        decisions !== undefined && viewer.roles.includes('auditor')
          ? html`<button name="action" value="coverage">Coverage by the latest decisions</button>`
          : ''
      }
    </form>
    ${result === undefined ? '' : resultOf(result)}`
}

function resultOf(result: PolicyResult): Html {
  if (result.kind === 'problem') return problemNotice(result)
  if (result.kind === 'coverage')
    return result.decisions === 0
      ? empty('No stored decision of this package has a complete input.')
      : html`<div class="verdict" role="status">
          <div>
            ${coverageText(result.coverage)} by the latest ${result.decisions} decisions with an input.
            ${linkToSource()}
          </div>
        </div>`
  const { tests, coverage } = result
  if (tests.length === 0)
    return empty(
      'No test concerns this package.',
      html`Add rules named <code>test_…</code> to a file that ends in <code>_test.rego</code>, next to the
        policy.`,
    )
  const passed = tests.filter(({ outcome }) => outcome === 'pass').length
  const tone = passed === tests.length ? 'good' : 'bad'
  return html`<div class="verdict ${tone}" role="status">
      <div>
        <strong>${passed} of ${tests.length} tests pass.</strong>
        ${coverage.length === 0 ? '' : html`${coverageText(coverage)} by the passing tests. ${linkToSource()}`}
      </div>
    </div>
    ${table(failedFirst(tests), [
      {
        head: 'outcome',
        cell: ({ outcome }) =>
          badge(outcome, outcome === 'pass' ? 'good' : outcome === 'skip' ? 'soft' : 'bad'),
        isPlain: true,
      },
      { head: 'test', cell: testCell, isPlain: true },
    ])}`
}

function failedFirst(tests: readonly OpaTest[]): readonly OpaTest[] {
  const order = ({ outcome }: OpaTest): number => (outcome === 'pass' ? 2 : outcome === 'skip' ? 1 : 0)
  return tests.toSorted((one, other) => order(one) - order(other))
}

function linkToSource(): Html {
  return html`<a href="#source">Show the lines</a>`
}

function testCell({ package: name, name: test, file, row, notes, values = [] }: OpaTest): Html {
  const lines = [...notes, ...values.map((each) => `${each.file}:${each.row}: ${each.text}`)]
  return html`<code>${name}.${test}</code>
    <span class="soft">${file}:${row}</span>
    ${lines.length === 0 ? '' : html`<pre tabindex="0">${lines.join('\n')}</pre>`}`
}

function coverageText(coverage: readonly FileCoverage[]): string {
  const covered = coverage.reduce((sum, file) => sum + file.covered.length, 0)
  const all = covered + coverage.reduce((sum, file) => sum + file.uncovered.length, 0)
  return `${covered} of ${all} lines (${coveragePercent(coverage)} %) are evaluated`
}
