import { html } from 'hono/html'

import type { DecisionView } from '../../decisions/decision-view.js'
import type { InstancePage } from '../../gates/instances/list-instances.js'
import type { StoredRun } from '../../store/ports/analysis-store.js'
import { badge } from '../analysis-report/tone.js'
import { instanceLine } from './approval-lists.js'
import { answerOf, policyLink } from './decision-table.js'
import { PEOPLE } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { decisionPath, empty, link, moment, toneOfState, wordOfState } from './parts.js'
import { runLine } from './run-table.js'

/** State of a part of the service, as in `GET /health?plugins`. */
export interface PartState {
  readonly name: string
  readonly state: 'OK' | 'WARN' | 'NOT_READY'
  readonly message: string | undefined
}

/** What needs attention, whoever views it. */
export interface SharedHome {
  /** Number of all waiting approvals. */
  readonly waiting: number
  readonly denied: ShownDenied | undefined
  readonly runs: readonly StoredRun[]
  readonly parts: readonly PartState[]
}

export interface ShownHome extends SharedHome {
  readonly mine: InstancePage
  readonly nowMs: number
}

/** The latest denials, and their number up to `max`. */
export interface ShownDenied {
  readonly count: number
  readonly max: number
  readonly latest: readonly DecisionView[]
}

/** Renders the home page, which updates itself. */
export function homePage(shown: ShownHome, viewer: Viewer): PageContent {
  const body = html`<div class="row">
      <h1>Home</h1>
      <span class="soft" role="status" data-live-state></span>
    </div>
    <div class="panels" data-live="${viewer.prefix}/ui/home/events">${homePanels(shown, viewer)}</div>`
  return { title: 'Home', body, section: '/' }
}

/** Renders the part of the home page that changes: what the viewer's roles may open. */
export function homePanels(shown: ShownHome, viewer: Viewer): Html {
  const opensApprovals = PEOPLE.some((role) => viewer.roles.includes(role))
  return html`${opensApprovals ? waitingPanel(shown, viewer) : ''} ${deniedPanel(shown, viewer)}
  ${opensApprovals ? runPanel(shown, viewer) : ''} ${healthPanel(shown, viewer)}`
}

function panel(title: string, count: number | string, body: Html): Html {
  return html`<section class="panel">
    <h2>${title} <span class="count">(${count})</span></h2>
    ${body}
  </section>`
}

function waitingPanel({ mine, waiting, nowMs }: ShownHome, viewer: Viewer): Html {
  const others = waiting - mine.total
  const all = link(viewer.prefix, '/ui/approvals', `All waiting approvals (${waiting})`)
  if (!viewer.roles.includes('approver'))
    return panel(
      'Waiting approvals',
      waiting,
      waiting > 0 ? html`<p>${all}</p>` : empty('No approval waits.'),
    )
  return panel(
    'Waiting for me',
    mine.total,
    html`${
      mine.instances.length === 0
        ? empty('Nothing waits for you.')
        : html`<ul>
            ${mine.instances.map((instance) => html`<li>${instanceLine(instance, nowMs, viewer)}</li>`)}
          </ul>`
    }
    ${others > 0 || mine.total > mine.instances.length ? html`<p>${all}</p>` : ''}`,
  )
}

function deniedPanel({ denied }: ShownHome, viewer: Viewer): Html {
  const { prefix, roles } = viewer
  if (denied === undefined) {
    const how = html`Set <code>decisions.enabled</code> to true to see denials here.`
    return panel('Denied today', '–', empty('The decision log is disabled.', how))
  }
  const { count, max, latest } = denied
  const all = link(prefix, '/ui/decisions?outcome=deny&period=day', 'All denials of the last 24 hours')
  return panel(
    'Denied today',
    count > max ? `more than ${max}` : count,
    html`${
      latest.length === 0
        ? empty('No decision was denied in the last 24 hours.')
        : html`<ul>
            ${latest.map((decision) => html`<li>${denialLine(decision, viewer)}</li>`)}
          </ul>`
    }
    ${latest.length > 0 && roles.includes('auditor') ? html`<p>${all}</p>` : ''}`,
  )
}

function denialLine(decision: DecisionView, { prefix, roles }: Viewer): Html {
  const { decisionId, application, time } = decision
  const [reason = ''] = answerOf(decision).split('\n')
  const why = reason === '' ? 'denied without a reason' : reason
  return html`${roles.includes('auditor') ? link(prefix, decisionPath(decisionId), why) : why}
    <p class="soft">
      ${policyLink(decision, prefix)}${application === undefined ? '' : ` · ${application}`} · ${moment(time)}
    </p>`
}

function runPanel({ runs }: ShownHome, viewer: Viewer): Html {
  const how = html`They start with a verification stage, or on the page
  ${link(viewer.prefix, '/ui/analyses', 'Analyses')}.`
  return panel(
    'Running canaries',
    runs.length,
    runs.length === 0
      ? empty('No analysis is running.', how)
      : html`<ul>
          ${runs.map((run) => html`<li>${runLine(run, viewer)}</li>`)}
        </ul>`,
  )
}

function healthPanel({ parts }: ShownHome, { prefix, roles }: Viewer): Html {
  const unhealthy = parts.filter(({ state }) => state !== 'OK')
  return panel(
    'Unhealthy parts',
    unhealthy.length,
    html`${
      unhealthy.length === 0
        ? html`<p class="none">All ${parts.length} parts of the service are healthy.</p>`
        : partList(unhealthy)
    }
    ${roles.includes('auditor') ? html`<p>${link(prefix, '/ui/operations', 'Operations')}</p>` : ''}`,
  )
}

/** Renders parts of the service with their states. */
export function partList(parts: readonly PartState[]): Html {
  return html`<ul class="plain-list">
    ${parts.map(
      ({ name, state, message }) =>
        html`<li>
          <code>${name}</code> ${badge(wordOfState(state), toneOfState(state))}
          ${message === undefined ? '' : html`<p class="soft">${message}</p>`}
        </li>`,
    )}
  </ul>`
}
