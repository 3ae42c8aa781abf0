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
import { decisionTable } from './decision-table.js'
import type { ListedDecisions } from './decision-table.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { clock, facts, jsonBlock, toneOfState, unsentTexts, wordOfState } from './parts.js'
import { notice } from './sign-in-page.js'

/** What happened in an execution, and whether there is more. */
export type ShownTimeline = Pick<Timeline, 'entries' | 'isTruncated'>

/** All that is known of an instance of a gate. */
export interface ShownApproval extends WholeInstance {
  /** Undefined where decisions are not kept. */
  readonly decisions: ListedDecisions | undefined
  readonly timeline: ShownTimeline
  /** A decision of the viewer that was refused. */
  readonly attempt?: RefusedAttempt | undefined
}

/** What a person sent, and why it was refused. */
export interface RefusedAttempt {
  readonly problem: string
  readonly comment: string
  readonly person: string
}

/** What the viewer may do. */
export interface ApprovalViewer extends Viewer {
  readonly mayDecide: boolean
  /** Whether nobody is asked who they are, so that a person says it. */
  readonly entersName: boolean
}

const MAX_COMMENT = 4000
const MAX_ITEMS = 100

/** One instance of a gate: what is asked, what speaks for and against it, and where a person decides. */
export function approvalPage(shown: ShownApproval, viewer: ApprovalViewer): PageContent {
  const { instance, gate, counted, evidence, decisions, timeline, callbacks, attempt } = shown
  const { id, gateName, state, comment } = instance
  const body = html`<h1>${gateName}</h1>
    ${attempt === undefined ? '' : notice(attempt.problem)}
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
          ['waits until', isOpen(state) ? clock(instance.expiresMs) : ''],
          ['approvals', gate === undefined ? undefined : `${counted.length} of ${gate.approvals}`],
          ['who may approve', gate && whoMayApprove(gate)],
          ['policy that decides', gate?.policy],
          ['left to people', instance.policyProblem],
        ])}
      </div>
    </section>
    ${isOpen(state) ? decisionForm(shown, viewer) : unsentTexts(attempt?.comment ? [['comment', attempt.comment]] : [])}
    ${evidenceSection(evidence, instance.work !== undefined)}
    ${
      decisions === undefined
        ? ''
        : html`<h2>Policy answers</h2>
            ${decisionTable(decisions, viewer.prefix, `tidegate decisions list --execution '${instance.executionId}'`)}`
    }
    ${reviewTable(shown)} ${timelineTable(timeline, instance.executionId)} ${callbackTable(callbacks)}
    <h2>What triggered it</h2>
    <details>
      <summary>the request, without secrets</summary>
      ${jsonBlock(shown.request ?? null)}
    </details>`
  return { title: `${gateName}, approval ${id}`, body }
}

function whoMayApprove({ approvers: { users, groups } }: Gate): string {
  if (users.length + groups.length === 0) return 'everyone with the role approver'
  return [...users, ...groups.map((group) => `the group ${group}`)].join(', ')
}

/** Nothing is decided by opening a page: only by sending this. */
function decisionForm({ instance: { id }, gate, attempt }: ShownApproval, viewer: ApprovalViewer): Html {
  if (!viewer.mayDecide) return html`<p class="soft">You can view this, but only approvers can decide.</p>`
  return html`<form method="post" action="${viewer.prefix}/ui/approvals/${id}">
    ${tokenField(viewer)} ${viewer.entersName ? nameField(gate, attempt?.person ?? '') : ''}
    <label for="comment">Comment</label>
    <textarea id="comment" name="comment" maxlength="${MAX_COMMENT}">${attempt?.comment ?? ''}</textarea>
    <button class="good" name="action" value="approve">Approve</button>
    <button class="bad" name="action" value="reject">Reject</button>
    <button name="action" value="cancel">Cancel it</button>
  </form>`
}

function nameField(gate: Gate | undefined, person: string): Html {
  const hint =
    gate !== undefined && gate.approvals > 1 ? ' (needed to approve: this gate counts different people)' : ''
  return html`<label for="person">Your name${hint}</label>
    <input id="person" name="person" maxlength="100" value="${person}" />`
}

function evidenceSection(evidence: readonly Evidence[], isPending: boolean): Html {
  const none = isPending ? 'It is being fetched: load the page again.' : 'None was asked for.'
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
        >${account === null ? 'no account is configured' : `by ${account}`}, ${clock(fetchedAt)}</span
      >
    </header>
    ${error === undefined ? '' : html`<p>${error}</p>`}
    ${output.slice(0, MAX_ITEMS).map((item) => facts(Object.entries(item)))}
    ${more > 0 ? html`<p class="soft">and ${more} more</p>` : ''}
  </section>`
}

function reviewTable({ reviews, counted }: ShownApproval): Html {
  if (reviews.length === 0) return html``
  return html`<h2>Decisions of people</h2>
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
                ${review.action === 'approve' && !counted.includes(review) ? 'counts no more' : ''}
              </td>
              <td class="quote">${review.comment}</td>
            </tr>`,
        )}
      </table>
    </div>`
}

function timelineTable({ entries, isTruncated }: ShownTimeline, executionId: string): Html {
  if (entries.length === 0) return html``
  return html`<h2>The execution, in the order of time</h2>
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
    ${isTruncated ? html`<p class="soft">The first ${entries.length} entries. The rest: <code>tidegate audit search --execution '${executionId}'</code></p>` : ''}`
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
