import { html } from 'hono/html'

import { shownTrigger } from '../../gates/instances/instance-view.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { badge } from '../analysis-report/tone.js'
import type { Html, Viewer } from './layout.js'
import { table } from './lists.js'
import { executionLink, moment, personText, timeLeft, toneOfState, wordOfState } from './parts.js'

const HOUR_MS = 3_600_000

/** Renders gate instances as a table. */
export function instanceTable(instances: readonly GateInstance[], nowMs: number, { prefix }: Viewer): Html {
  return table(instances, [
    {
      head: 'gate',
      cell: ({ id, gateName }) => html`<a href="${prefix}/ui/approvals/${id}">${gateName}, ${id}</a>`,
      isPlain: true,
    },
    { head: 'application', cell: ({ application = '' }) => application },
    { head: 'execution', cell: ({ executionId }) => executionLink(prefix, executionId) },
    { head: 'state', cell: stateOf, isPlain: true },
    {
      head: 'triggered',
      cell: (instance) =>
        html`${moment(instance.activatedMs ?? instance.createdMs)}
          <span class="soft">${by(shownTrigger(instance))}</span>`,
    },
    { head: 'expires or decided', cell: (instance) => endOf(instance, nowMs) },
  ])
}

function stateOf({ state, policyProblem }: GateInstance): Html {
  return html`${badge(wordOfState(state), toneOfState(state))}
  ${isOpen(state) && policyProblem !== undefined ? html`<span class="soft">needs a person: ${policyProblem}</span>` : ''}`
}

/** Renders a gate instance in two lines. */
export function instanceLine(instance: GateInstance, nowMs: number, { prefix }: Viewer): Html {
  const { id, gateName, application, executionId, state } = instance
  return html`<a href="${prefix}/ui/approvals/${id}">${gateName}, ${id}</a>
    ${isOpen(state) ? '' : badge(wordOfState(state), toneOfState(state))}
    <p class="soft">
      ${application === undefined ? '' : html`${application} · `}${executionLink(prefix, executionId)} ·
      ${isOpen(state) ? 'expires' : ''} ${endOf(instance, nowMs)}
    </p>`
}

/** Renders the deadline of an open instance, or when and by whom it was decided. */
function endOf({ state, expiresMs, decidedMs, decidedBy }: GateInstance, nowMs: number): Html {
  if (!isOpen(state)) return html`${moment(decidedMs)} <span class="soft">${by(decidedBy)}</span>`
  const leftMs = expiresMs - nowMs
  const left = timeLeft(leftMs)
  return html`${moment(expiresMs)}
  ${leftMs < HOUR_MS ? badge(left, 'bad') : html`<span class="soft">(${left})</span>`}`
}

function by(name: string | undefined): string {
  return name === undefined ? '' : `by ${personText(name)}`
}
