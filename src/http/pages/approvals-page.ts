import { html } from 'hono/html'

import type { InstancePage } from '../../gates/instances/list-instances.js'
import { shownTrigger } from '../../gates/instances/instance-view.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance, InstanceState } from '../../store/ports/gate-instance.js'
import { badge } from '../analysis-report/tone.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { clock, timeLeft, toneOfState, wordOfState } from './parts.js'

/** Filter of the list: one state or all. */
export interface ApprovalFilter {
  readonly status: InstanceState | 'all'
  readonly search: string
  readonly gate?: number | undefined
}

export interface ShownApprovals {
  readonly filter: ApprovalFilter
  readonly page: InstancePage
  /** True if this is not the first page. */
  readonly isLater: boolean
  /** The latest instances in any state; undefined if the list is filtered. */
  readonly latest: InstancePage | undefined
  readonly nowMs: number
}

const STATES = ['activated', 'approved', 'rejected', 'canceled', 'expired', 'not_activated', 'all'] as const
const HOUR_MS = 3_600_000

/** Renders the selected instances, waiting ones by deadline, and the latest instances. */
export function approvalsPage(shown: ShownApprovals, viewer: Viewer): PageContent {
  const { filter, page, latest, nowMs } = shown
  const { instances, total } = page
  const isFiltered = filter.search !== '' || filter.gate !== undefined
  const body = html`<h1>Approvals</h1>
    ${filterForm(filter, viewer)}
    <h2>${headingOf(filter)} (${total})</h2>
    ${
      instances.length === 0
        ? html`<p class="none">
            ${isFiltered || shown.isLater ? 'No matching instances.' : 'No instances.'}
          </p>`
        : instanceTable(instances, nowMs, viewer)
    }
    ${pageLinks(shown, viewer)}
    ${
      latest === undefined
        ? ''
        : html`<h2>Latest</h2>
            ${latest.instances.length === 0 ? html`<p class="none">No gate was triggered yet.</p>` : instanceTable(latest.instances, nowMs, viewer)}
            ${latest.total > latest.instances.length ? html`<p><a href="${listPath({ status: 'all', search: '' }, viewer)}">All ${latest.total} instances</a></p>` : ''}`
    }`
  return { title: 'Approvals', body }
}

function headingOf({ status, gate }: ApprovalFilter): string {
  const words =
    status === 'activated'
      ? 'Waiting for a decision'
      : status === 'all'
        ? 'All instances'
        : wordOfState(status)
  const heading = words.charAt(0).toUpperCase() + words.slice(1)
  return gate === undefined ? heading : `${heading}, gate ${gate}`
}

/** A GET form, so that the page needs no script. */
function filterForm({ status, search, gate }: ApprovalFilter, { prefix }: Viewer): Html {
  return html`<form class="filter" method="get" action="${prefix}/ui" role="search">
    <div>
      <label for="search">Gate, application, execution or person</label>
      <input id="search" name="search" type="search" maxlength="200" value="${search}" />
    </div>
    <div>
      <label for="status">State</label>
      <select id="status" name="status">
        ${STATES.map(
          (state) =>
            html`<option value="${state}" ${state === status ? 'selected' : ''}>
              ${state === 'all' ? 'all' : wordOfState(state)}
            </option>`,
        )}
      </select>
    </div>
    ${gate === undefined ? '' : html`<input type="hidden" name="gate" value="${gate}" />`}
    <button>Show</button>
  </form>`
}

function pageLinks({ filter, page, isLater }: ShownApprovals, viewer: Viewer): Html {
  const { nextCursor, instances, total } = page
  const isFiltered = filter.search !== '' || filter.gate !== undefined || filter.status !== 'activated'
  return html`<p class="pages">
    ${isLater ? html`<a href="${listPath(filter, viewer)}">First page</a>` : ''}
    ${nextCursor === undefined ? '' : html`<a href="${listPath(filter, viewer, nextCursor)}">Next page</a>`}
    ${instances.length < total ? html`<span class="soft">${instances.length} of ${total} on this page</span>` : ''}
    ${isFiltered ? html`<a href="${viewer.prefix}/ui">All waiting</a>` : ''}
  </p>`
}

function listPath({ status, search, gate }: ApprovalFilter, { prefix }: Viewer, cursor?: string): string {
  const query = new URLSearchParams({ status })
  if (search !== '') query.set('search', search)
  if (gate !== undefined) query.set('gate', String(gate))
  if (cursor !== undefined) query.set('cursor', cursor)
  return `${prefix}/ui?${query.toString()}`
}

function instanceTable(instances: readonly GateInstance[], nowMs: number, { prefix }: Viewer): Html {
  return html`<div class="wide">
    <table class="stacked">
      <tr>
        <th>gate</th>
        <th>application</th>
        <th>execution</th>
        <th>state</th>
        <th>triggered</th>
        <th>expires or decided</th>
      </tr>
      ${instances.map(
        (instance) =>
          html`<tr>
            <td>
              <a href="${prefix}/ui/approvals/${instance.id}">${instance.gateName}, ${instance.id}</a>
            </td>
            <td data-label="application">${instance.application ?? ''}</td>
            <td data-label="execution"><code>${instance.executionId}</code></td>
            <td>
              ${badge(wordOfState(instance.state), toneOfState(instance.state))}
              ${
                isOpen(instance.state) && instance.policyProblem !== undefined
                  ? html`<span class="soft">needs a person: ${instance.policyProblem}</span>`
                  : ''
              }
            </td>
            <td data-label="triggered">
              ${clock(instance.activatedMs ?? instance.createdMs)}
              <span class="soft">${by(shownTrigger(instance))}</span>
            </td>
            <td data-label="${isOpen(instance.state) ? 'expires' : 'decided'}">${endOf(instance, nowMs)}</td>
          </tr>`,
      )}
    </table>
  </div>`
}

/** Renders the deadline of an open instance, or when and by whom it was decided. */
function endOf({ state, expiresMs, decidedMs, decidedBy }: GateInstance, nowMs: number): Html {
  if (!isOpen(state)) return html`${clock(decidedMs)} <span class="soft">${by(decidedBy)}</span>`
  const leftMs = expiresMs - nowMs
  const left = timeLeft(leftMs)
  return html`${clock(expiresMs)}
  ${leftMs < HOUR_MS ? badge(left, 'bad') : html`<span class="soft">${left}</span>`}`
}

function by(name: string | undefined): string {
  return name === undefined ? '' : `by ${name}`
}
