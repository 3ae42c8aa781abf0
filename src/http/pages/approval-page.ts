import { html } from 'hono/html'

import type { Timeline } from '../../audit/execution-timeline.js'
import type { Evidence } from '../../gates/connectors/tool/connectors.js'
import type { Gate } from '../../store/ports/gate.js'
import { shownTrigger } from '../../gates/instances/instance-view.js'
import type { WholeInstance } from '../../gates/instances/instance-view.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { StoredMessage } from '../../store/ports/outbox-store.js'
import { shownUrl } from '../../lib/outbound/shown-url.js'
import { badge } from '../analysis-report/tone.js'
import { decisionTable } from './policy-page.js'
import type { ListedDecisions } from './policy-page.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { clock, facts, jsonBlock, toneOfState, unsentTexts, wordOfState } from './parts.js'
import { notice } from './sign-in-page.js'

/** Timeline of an execution. */
export type ShownTimeline = Pick<Timeline, 'entries' | 'isTruncated'>

/** A gate instance with its related data. */
export interface ShownApproval extends WholeInstance {
  /** Undefined if decisions are not stored. */
  readonly decisions: ListedDecisions | undefined
  readonly timeline: ShownTimeline
  /** A refused review by the viewer. */
  readonly attempt?: RefusedAttempt | undefined
}

/** A refused review: its input and the reason. */
export interface RefusedAttempt {
  readonly problem: string
  /** True if the instance changed after the viewer loaded the page. */
  readonly isConflict: boolean
  readonly comment: string
  readonly person: string
}

/** Permissions of the viewer. */
export interface ApprovalViewer extends Viewer {
  readonly mayDecide: boolean
  /** True if the service requires no credentials, so the viewer enters a name. */
  readonly entersName: boolean
}

const MAX_COMMENT = 4000
const MAX_ITEMS = 100

/** Renders a gate instance with its evidence and the review form. */
export function approvalPage(shown: ShownApproval, viewer: ApprovalViewer): PageContent {
  const { instance, gate, counted, evidence, decisions, timeline, callbacks, attempt } = shown
  const { id, gateName, state, comment } = instance
  const body = html`<h1>${gateName}</h1>
    ${attempt === undefined ? '' : notice(problemOf(attempt, shown))}
    <section class="verdict ${toneOfState(state)}">
      <div>
        ${badge(wordOfState(state), toneOfState(state))}
        ${comment === '' ? '' : html`<p class="quote">${comment}</p>`}
        ${facts([
          ['application', instance.application],
          ['execution', instance.executionId],
          ['triggered by', shownTrigger(instance)],
          ['decided by', instance.decidedBy],
          ['decided', clock(instance.decidedMs)],
          ['triggered', clock(instance.activatedMs)],
          ['expires', isOpen(state) ? clock(instance.expiresMs) : ''],
          ['approvals', gate === undefined ? undefined : `${counted.length} of ${gate.approvals}`],
          ['approvers', gate && whoMayApprove(gate)],
          ['deciding policy', gate?.policy],
          ['needs a person', instance.policyProblem],
        ])}
      </div>
    </section>
    ${isOpen(state) ? decisionForm(shown, viewer) : unsentTexts(attempt?.comment ? [['comment', attempt.comment]] : [])}
    ${evidenceSection(evidence, instance.work !== undefined)}
    ${
      decisions === undefined
        ? ''
        : html`<h2>Policy decisions</h2>
            ${decisionTable(decisions, viewer.prefix, `tidegate decisions list --execution '${instance.executionId}'`)}`
    }
    ${reviewTable(shown)} ${timelineTable(timeline, instance.executionId)} ${callbackTable(callbacks)}
    <h2>Trigger</h2>
    <details>
      <summary>request without secrets</summary>
      ${jsonBlock(shown.request ?? null)}
    </details>`
  return { title: `${gateName}, approval ${id}`, body }
}

/** Says who decided in the meantime, if the review came too late. */
function problemOf({ problem, isConflict }: RefusedAttempt, { instance }: ShownApproval): string {
  const { state, decidedBy, decidedMs } = instance
  if (!isConflict || isOpen(state)) return problem
  if (state === 'expired' || decidedBy === undefined) return `Already closed: ${wordOfState(state)}.`
  return `Already decided: ${decidedBy} ${wordOfState(state)} this at ${clock(decidedMs)}.`
}

function whoMayApprove({ approvers: { users, groups } }: Gate): string {
  if (users.length + groups.length === 0) return 'anyone with the role approver'
  return [...users, ...groups.map((group) => `group ${group}`)].join(', ')
}

/** Renders the review form. Only submitting it decides anything. */
function decisionForm({ instance: { id }, gate, attempt }: ShownApproval, viewer: ApprovalViewer): Html {
  if (!viewer.mayDecide) return html`<p class="soft">You can view this, but only approvers can decide.</p>`
  return html`<form method="post" action="${viewer.prefix}/ui/approvals/${id}">
    ${tokenField(viewer)} ${viewer.entersName ? nameField(gate, attempt?.person ?? '') : ''}
    <label for="comment">Comment</label>
    <textarea id="comment" name="comment" maxlength="${MAX_COMMENT}">${attempt?.comment ?? ''}</textarea>
    <button class="good" name="action" value="approve">Approve</button>
    <button class="bad" name="action" value="reject">Reject</button>
    <button name="action" value="cancel">Cancel instance</button>
  </form>`
}

function nameField(gate: Gate | undefined, person: string): Html {
  const hint =
    gate !== undefined && gate.approvals > 1
      ? ' (required to approve: this gate counts different people)'
      : ''
  return html`<label for="person">Your name${hint}</label>
    <input id="person" name="person" maxlength="100" value="${person}" />`
}

function evidenceSection(evidence: readonly Evidence[], isPending: boolean): Html {
  const none = isPending ? 'Evidence is being fetched. Reload the page.' : 'No evidence was requested.'
  return html`<h2>Evidence</h2>
    ${evidence.length === 0 ? html`<p class="none">${none}</p>` : evidence.map(evidenceCard)}`
}

function evidenceCard({ connectorType, account, state, fetchedAt, output, error }: Evidence): Html {
  const more = output.length - MAX_ITEMS
  return html`<section class="card">
    <header>
      <h3>${connectorType}</h3>
      ${badge(wordOfState(state), toneOfState(state))}
      <span class="soft"
        >${account === null ? 'no account configured' : `by ${account}`}, ${clock(fetchedAt)}</span
      >
    </header>
    ${error === undefined ? '' : html`<p>${error}</p>`}
    ${output.slice(0, MAX_ITEMS).map((item) => facts(Object.entries(item)))}
    ${more > 0 ? html`<p class="soft">${more} more</p>` : ''}
  </section>`
}

function reviewTable({ reviews, counted }: ShownApproval): Html {
  if (reviews.length === 0) return html``
  return html`<h2>Reviews</h2>
    <div class="wide">
      <table class="stacked">
        <tr>
          <th>when</th>
          <th>who</th>
          <th>what</th>
          <th>comment</th>
        </tr>
        ${reviews.map(
          (review) =>
            html`<tr>
              <td>${clock(review.timeMs)}</td>
              <td>${review.person}</td>
              <td>
                ${badge(review.action, toneOfState(review.action))}
                ${review.action === 'approve' && !counted.includes(review) ? 'no longer counted' : ''}
              </td>
              <td class="quote">${review.comment}</td>
            </tr>`,
        )}
      </table>
    </div>`
}

function timelineTable({ entries, isTruncated }: ShownTimeline, executionId: string): Html {
  if (entries.length === 0) return html``
  return html`<h2>Timeline of the execution</h2>
    <div class="wide">
      <table class="stacked">
        <tr>
          <th>when</th>
          <th>what</th>
          <th>stage</th>
          <th>who</th>
          <th>status</th>
        </tr>
        ${entries.map(
          ({ at, kind, stage, user, status }) =>
            html`<tr>
              <td>${clock(Date.parse(at))}</td>
              <td><code>${kind}</code></td>
              <td>${stage ?? ''}</td>
              <td>${user ?? ''}</td>
              <td>${status ?? ''}</td>
            </tr>`,
        )}
      </table>
    </div>
    ${isTruncated ? html`<p class="soft">Showing the first ${entries.length} entries. List all: <code>tidegate audit search --execution '${executionId}'</code></p>` : ''}`
}

function callbackTable(callbacks: readonly StoredMessage[]): Html {
  if (callbacks.length === 0) return html``
  return html`<h2>Callbacks</h2>
    ${callbacks.map(({ url, state, attempts, lastError }) =>
      facts([
        ['to', shownUrl(url)],
        ['state', wordOfState(state)],
        ['attempts', attempts],
        ['last error', lastError],
      ]),
    )}`
}
