import { html } from 'hono/html'

import type { GateInstance } from '../../store/ports/gate-instance.js'
import { badge } from '../analysis-report/tone.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { clock, toneOfState, wordOfState } from './parts.js'

export interface ShownApprovals {
  readonly waiting: readonly GateInstance[]
  readonly latest: readonly GateInstance[]
}

/** The instances that wait for a decision, and the latest of all. */
export function approvalsPage({ waiting, latest }: ShownApprovals, viewer: Viewer): PageContent {
  const body = html`<h1>Approvals</h1>
    <h2>Waiting for a decision</h2>
    ${waiting.length === 0 ? html`<p class="none">Nothing waits.</p>` : instanceTable(waiting, viewer)}
    <h2>Latest</h2>
    ${latest.length === 0 ? html`<p class="none">No gate was triggered yet.</p>` : instanceTable(latest, viewer)}`
  return { title: 'Approvals', body }
}

function instanceTable(instances: readonly GateInstance[], { prefix }: Viewer): Html {
  return html`<div class="wide">
    <table class="stacked">
      <tr>
        <th>gate</th>
        <th>application</th>
        <th>execution</th>
        <th>state</th>
        <th>triggered</th>
      </tr>
      ${instances.map(
        ({ id, gateName, application, executionId, state, activatedMs, createdMs }) =>
          html`<tr>
            <td><a href="${prefix}/ui/approvals/${id}">${gateName}, ${id}</a></td>
            <td>${application ?? ''}</td>
            <td><code>${executionId}</code></td>
            <td>${badge(wordOfState(state), toneOfState(state))}</td>
            <td>${clock(activatedMs ?? createdMs)}</td>
          </tr>`,
      )}
    </table>
  </div>`
}
