import { html } from 'hono/html'

import type { DecisionView } from '../../decisions/decision-view.js'
import { badge } from '../analysis-report/tone.js'
import type { Html, Viewer } from './layout.js'
import { table, withQuery } from './lists.js'
import { decisionPath, executionLink, link, moment, shownValue, toneOfState } from './parts.js'

/** The newest decisions of a list, and whether the log has more. */
export interface ListedDecisions {
  readonly decisions: readonly DecisionView[]
  readonly hasMore: boolean
}

/** Filter of the page that lists all of them. */
export type DecisionLink = Readonly<Record<string, string>>

/** Renders decisions with their results. If the log has more, it links to the page with all. */
export function decisionTable(
  { decisions, hasMore }: ListedDecisions,
  viewer: Viewer,
  all: DecisionLink,
): Html {
  if (decisions.length === 0) return html`<p class="none">No decisions yet.</p>`
  const { prefix, roles } = viewer
  return html`${table(decisions, [
    {
      head: 'when',
      cell: ({ time, decisionId }) =>
        roles.includes('auditor') ? link(prefix, decisionPath(decisionId), moment(time)) : moment(time),
    },
    { head: 'policy', cell: (decision) => policyLink(decision, prefix) },
    { head: 'application', cell: ({ application = '' }) => application },
    ...(all['executionId'] === undefined
      ? [
          {
            head: 'execution',
            cell: ({ executionId }: DecisionView) =>
              executionId === undefined ? '' : executionLink(prefix, executionId),
          },
        ]
      : []),
    { head: 'outcome', cell: ({ outcome }) => badge(outcome, toneOfState(outcome)) },
    { head: 'result', cell: answerOf, isQuote: true },
  ])}
  ${
    hasMore
      ? html`<p class="soft">
          Showing the newest ${decisions.length}.
          ${roles.includes('auditor') ? link(prefix, withQuery('/ui/decisions', all), 'List all') : ''}
        </p>`
      : ''
  }`
}

/** Links to the policy. A static verdict has no policy of its own. */
export function policyLink({ kind, path }: Pick<DecisionView, 'kind' | 'path'>, prefix: string): Html {
  const name = html`<code>${path}</code>`
  return kind === 'static' || path === ''
    ? name
    : html`<a href="${prefix}/ui/policies/${linkPath(path)}">${name}</a>`
}

/** Escapes each segment, so that a path cannot lead elsewhere. */
export function linkPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

const MAX_LINES = 20

/** Returns the reasons or the result of a decision as text, one reason in a line. */
export function answerOf({ error, result, resultPrefix }: DecisionView): string {
  if (error !== undefined) return shownValue(error)
  const text = result?.text ?? resultPrefix
  if (text === undefined) return ''
  try {
    const value: unknown = JSON.parse(text)
    if (!Array.isArray(value)) return shownValue(value)
    const more = value.length - MAX_LINES
    return [...value.slice(0, MAX_LINES).map(shownValue), ...(more > 0 ? [`and ${more} more`] : [])].join(
      '\n',
    )
  } catch {
    return shownValue(text)
  }
}
