import { html } from 'hono/html'

import type { DecisionView } from '../../decisions/decision-view.js'
import { badge } from '../analysis-report/tone.js'
import type { Html } from './layout.js'
import { clock, shownValue, toneOfState } from './parts.js'

/** The newest decisions of a list, and whether the log has more. */
export interface ListedDecisions {
  readonly decisions: readonly DecisionView[]
  readonly hasMore: boolean
}

/** Decisions of policies, each with what it answered. Where the log has more, the page names the command that lists them. */
export function decisionTable(
  { decisions, hasMore }: ListedDecisions,
  prefix: string,
  listAll: string,
): Html {
  if (decisions.length === 0) return html`<p class="none">No decisions yet.</p>`
  return html`<div class="wide">
      <table class="stacked">
        <tr>
          <th>when</th>
          <th>policy</th>
          <th>outcome</th>
          <th>what it answered</th>
        </tr>
        ${decisions.map(
          (decision) =>
            html`<tr>
              <td>${clock(Date.parse(decision.time))}</td>
              <td>${pathOf(decision, prefix)}</td>
              <td>${badge(decision.outcome, toneOfState(decision.outcome))}</td>
              <td class="quote">${probeServer(decision)}</td>
            </tr>`,
        )}
      </table>
    </div>
    ${hasMore ? html`<p class="soft">The newest ${decisions.length}. All of them: <code>${listAll}</code></p>` : ''}`
}

/** A link to the policy; the path of a verdict over all static policies is that of no policy. */
function pathOf({ kind, path }: DecisionView, prefix: string): Html {
  const name = html`<code>${path}</code>`
  return kind === 'static' ? name : html`<a href="${prefix}/ui/policies/${linkPath(path)}">${name}</a>`
}

/** Each segment escaped, so that no path leads elsewhere. */
export function linkPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function probeServer({ error, result, resultPrefix }: DecisionView): string {
  if (error !== undefined) return error
  const text = result?.text ?? resultPrefix
  if (text === undefined) return ''
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.map(shownValue).join('\n') : shownValue(value)
  } catch {
    return shownValue(text)
  }
}
