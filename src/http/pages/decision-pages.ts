import { html } from 'hono/html'

import type { DecisionPage } from '../../decisions/query-decisions.js'
import type { DecisionView } from '../../decisions/decision-view.js'
import type { DecisionOutcome } from '../../store/ports/decision-store.js'
import type { AnswerAgain } from '../policy/evaluate-again.js'
import { badge } from '../analysis-report/tone.js'
import { answerOf, decisionTable, policyLink } from './decision-table.js'
import { jsonTree } from './json-tree.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { filterForm, pager, periodField } from './lists.js'
import type { Period } from './lists.js'
import { duration, empty, executionLink, facts, link, moment, shownValue, toneOfState } from './parts.js'
import { JsonText } from '../../lib/json/text/json-text.js'
import { notice } from './sign-in-page.js'

/** Filter of the list of decisions; empty members match all. */
export interface DecisionPageFilter {
  readonly package: string
  readonly path: string
  readonly application: string
  readonly executionId: string
  readonly outcome: DecisionOutcome | ''
  readonly period: Period
}

export interface ShownDecisions {
  readonly filter: DecisionPageFilter
  /** Undefined if decisions are not stored. */
  readonly page: DecisionPage | undefined
  readonly cursor: string | undefined
  /** Loaded packages, as suggestions. */
  readonly packages: readonly string[]
}

const PATH = '/ui/decisions'
const OUTCOMES = ['', 'deny', 'allow', 'error', 'undefined', 'defined'] as const

/** Renders the decision log with its filters. */
export function decisionsPage(shown: ShownDecisions, viewer: Viewer): PageContent {
  const { filter, page, cursor, packages } = shown
  const form = filterForm(
    PATH,
    [
      { name: 'package', label: 'Denying package', value: filter.package, suggestions: packages },
      { name: 'path', label: 'Path', value: filter.path },
      { name: 'application', label: 'Application', value: filter.application },
      { name: 'executionId', label: 'Execution', value: filter.executionId },
      {
        name: 'outcome',
        label: 'Outcome',
        value: filter.outcome,
        options: OUTCOMES.map((each) => [each, each === '' ? 'any' : each]),
      },
      periodField(filter.period),
    ],
    viewer,
  )
  const body = html`<h1>Decisions</h1>
    ${form} ${page === undefined ? disabledLog() : listOf(page, shown, viewer)}
    ${page === undefined ? '' : pager({ path: PATH, query: { ...filter }, cursor, nextCursor: page.nextCursor }, viewer)}`
  return { title: 'Decisions', body, section: PATH }
}

/** Renders what to do if decisions are not stored. */
export function disabledLog(): Html {
  return empty('The decision log is disabled.', html`Set <code>decisions.enabled</code> to true.`)
}

function listOf({ decisions }: DecisionPage, { filter, cursor }: ShownDecisions, viewer: Viewer): Html {
  if (decisions.length > 0) return decisionTable({ decisions, hasMore: false }, viewer, {})
  const isFiltered = cursor !== undefined || Object.values(filter).some((value) => value !== '')
  return isFiltered
    ? empty('No matching decisions.', link(viewer.prefix, PATH, 'Show all'))
    : empty('No decisions yet.', html`Send one to <code>POST /v1/data/PATH</code>.`)
}

export interface ShownDecision {
  readonly decision: DecisionView
  /** The answer of the current policies, or why there is none. */
  readonly again?: AnswerAgain | string | undefined
}

/** Renders one decision with its reasons and input. */
export function decisionPage({ decision, again }: ShownDecision, viewer: Viewer): PageContent {
  const { decisionId, outcome, error, packages, input, inputPrefix, ndBuiltinCache } = decision
  const { prefix } = viewer
  const body = html`<h1>Decision</h1>
    <section class="verdict ${toneOfState(outcome)}">
      <div>
        ${badge(outcome, toneOfState(outcome))}
        ${error === undefined ? '' : html`<p>${shownValue(error)}</p>`}
        ${facts([
          ['policy', policyLink(decision, prefix)],
          ['kind', decision.kind],
          ['application', decision.application],
          ['execution', decision.executionId && executionLink(prefix, decision.executionId)],
          ['caller', decision.caller],
          ['decided', moment(decision.time)],
          ['took', duration(decision.durationMs)],
          ['revision', html`<code>${decision.revision}</code>`],
          ['replica', decision.replica],
          ['request', decision.requestId],
          ['trace', decision.traceId],
          ['id', html`<code>${decisionId}</code>`],
        ])}
      </div>
    </section>
    <h2>${packages === undefined ? 'Result' : 'Reasons'}</h2>
    ${packages === undefined ? resultOf(decision) : reasons(packages.text, prefix)}
    ${again === undefined ? '' : answerAgain(again, decision)}
    <p>${link(prefix, `${PATH}/${encodeURIComponent(decisionId)}/why`, 'Why: its rules and conditions')}</p>
    <form method="post" action="${prefix}${PATH}/${encodeURIComponent(decisionId)}/again">
      ${tokenField(viewer)}
      <button>Evaluate again with the current policies</button>
    </form>
    <p class="soft">
      This uses the stored input and the time of the decision. Nothing is recorded.
      ${link(prefix, `/ui/playground?decision=${encodeURIComponent(decisionId)}`, 'Try a change in the playground')}
    </p>
    <h2>Input</h2>
    ${
      input === undefined
        ? html`<p class="none">
              ${inputPrefix === undefined ? 'No input was stored.' : 'The input was stored in part:'}
            </p>
            ${inputPrefix === undefined ? '' : html`<pre tabindex="0">${shownValue(inputPrefix)}</pre>`}`
        : jsonTree(JSON.parse(input.text))
    }
    ${
      ndBuiltinCache === undefined
        ? ''
        : html`<h2>Results of nondeterministic built-ins</h2>
            ${jsonTree(JSON.parse(ndBuiltinCache.text))}`
    }`
  return { title: `Decision ${decisionId}`, body, section: PATH }
}

function resultOf({ result, resultPrefix, error }: DecisionView): Html {
  if (result !== undefined) return jsonTree(JSON.parse(result.text))
  if (resultPrefix !== undefined) return html`<pre tabindex="0">${shownValue(resultPrefix)}</pre>`
  return html`<p class="none">
    ${error === undefined ? 'The document was undefined.' : 'The decision failed.'}
  </p>`
}

/** A package of a decision. The last may only count those left out. */
interface StoredReasons {
  readonly package?: string
  readonly deny?: readonly string[]
  readonly denyLeftOut?: number
  readonly packagesLeftOut?: number
}

const MAX_REASONS = 200

function reasons(text: string, prefix: string): Html {
  const packages = JSON.parse(text) as readonly StoredReasons[]
  return html`${packages.map(({ package: name, deny = [], denyLeftOut = 0, packagesLeftOut }) => {
    if (name === undefined) return html`<p class="soft">and ${packagesLeftOut ?? 0} more packages</p>`
    const more = denyLeftOut + Math.max(0, deny.length - MAX_REASONS)
    const policy = `/ui/policies/${name.split('.').map(encodeURIComponent).join('/')}`
    return html`<section class="card">
      <header><h3>${link(prefix, policy, name)}</h3></header>
      <ul>
        ${deny.slice(0, MAX_REASONS).map((reason) => html`<li class="quote">${shownValue(reason)}</li>`)}
      </ul>
      ${more > 0 ? html`<p class="soft">and ${more} more reasons</p>` : ''}
    </section>`
  })}`
}

function answerAgain(again: AnswerAgain | string, decision: DecisionView): Html {
  if (typeof again === 'string') return notice(again)
  const { outcome, result, error, revision } = again
  const before = answerOf(decision)
  const now = error ?? (result === undefined ? '' : answerOf({ ...decision, result: new JsonText(result) }))
  const isSame = outcome === decision.outcome && before === now
  return html`<section class="verdict ${toneOfState(outcome)}" role="status">
    <div>
      <strong>With the current policies: </strong>${badge(outcome, toneOfState(outcome))}
      <p>${isSame ? 'The answer is the same.' : `It was ${decision.outcome} at the time.`}</p>
      <p class="quote">${now}</p>
      <p class="soft">
        revision
        <code>${revision}</code
        >${revision === decision.revision ? ', as at the time' : ', another one than at the time'}
      </p>
    </div>
  </section>`
}
