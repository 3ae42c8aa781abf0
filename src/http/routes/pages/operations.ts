import { z } from 'zod'
import { html } from 'hono/html'

import { countMessages, resendMessage, showMessages } from '../../../outbox/outbox-operations.js'
import { actorOf } from '../../exchange/caller-of.js'
import { formBody } from '../../input/form-body.js'
import { numberOf } from '../../input/path-parameter.js'
import { goTo } from '../../pages/answer-page.js'
import { tokenField } from '../../pages/layout.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { statesOf } from '../about/health.js'
import { fleetInstances } from '../policies/fleet.js'
import { fleetLine } from './fleet.js'
import { shownStage } from './policies.js'
import { stageSection } from '../../pages/stage-section.js'
import type { ShownStage } from '../../pages/stage-section.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import type { ShownMessage } from '../../../outbox/outbox-operations.js'
import { shownTarget } from '../../../outbox/message-labels.js'
import type { OutboxState } from '../../../store/ports/outbox-store.js'
import type { SuspendedWork } from '../../../lib/work-attempts.js'
import type { FleetInstance } from '../../../distribution/fleet.js'
import { badge } from '../../analysis-report/tone.js'
import { partList } from '../../pages/home-page.js'
import type { PartState } from '../../pages/home-page.js'
import { jsonTree } from '../../pages/json-tree.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { filterForm, pager, table } from '../../pages/lists.js'
import { empty, executionLink, facts, link, moment, toneOfState, wordOfState } from '../../pages/parts.js'

const STATES = ['', 'pending', 'given_up', 'delivered'] as const
const PATH = '/ui/operations'
const MAX_LISTED = 50
const MAX_NAME = 1000
const Name = z.string().min(1).max(MAX_NAME)
const { route } = routesOf<PageRoutesDeps>()

/** The page about the service. */
export const operationPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: ['auditor'],
    summary: 'Health, fleet, outbox, background work and configuration, as a page',
    query: z.looseObject({
      state: z.enum(['pending', 'delivered', 'given_up', '']).default(''),
      cursor: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional(),
    }),
    answer: async ({ exchange, query: { state, cursor } }, deps) => {
      const { outbox, health, backgroundWork, policies, version, config, fleet } = deps
      const [messages, counts, instances] = await Promise.all([
        outbox.reader.run(showMessages, {
          state: state === '' ? undefined : state,
          beforeId: cursor === undefined ? undefined : Number(cursor),
          limit: MAX_LISTED,
        }),
        outbox.reader.run(countMessages, null),
        fleetInstances(fleet),
      ])
      const last = messages.length < MAX_LISTED ? undefined : messages.at(-1)
      const shown = {
        ...{ version, revision: policies.current.revision, parts: statesOf(health) },
        ...{ state, messages, counts, instances, cursor, nextCursor: last && String(last.id) },
        suspended: backgroundWork.suspended(),
        stage: shownStage(deps),
        config: exchange.caller.isAdmin ? config() : undefined,
      }
      return showPage(operationsPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: `${PATH}/outbox/:id/resend`,
    roles: ['admin'],
    summary: 'Send a message of the outbox again, from its page',
    params: { id: numberOf('message in the outbox') },
    body: formBody(z.object({})),
    answer: async ({ exchange, params: { id } }, { outbox, page }) => {
      await outbox.writer.run(resendMessage, { id, ...actorOf(exchange, outbox) })
      outbox.wake()
      return goTo(`${page.prefix}${PATH}`)
    },
  }),
  route({
    ...FORM,
    path: `${PATH}/work/resume`,
    roles: ['admin'],
    summary: 'Resume suspended work, from its page',
    body: formBody(z.object({ kind: Name, key: Name })),
    answer: async ({ exchange, body }, { backgroundWork, page }) => {
      await backgroundWork.resume(body, actorOf(exchange, backgroundWork))
      return goTo(`${page.prefix}${PATH}`)
    },
  }),
]

interface ShownOperations {
  readonly version: string
  readonly revision: string
  readonly parts: readonly PartState[]
  readonly instances: readonly FleetInstance[]
  readonly state: OutboxState | ''
  readonly messages: readonly ShownMessage[]
  readonly counts: Readonly<Record<OutboxState, number>>
  readonly cursor: string | undefined
  readonly nextCursor: string | undefined
  readonly suspended: readonly SuspendedWork[]
  readonly stage: ShownStage | undefined
  /** The effective configuration without secrets; undefined for viewers who are not admins. */
  readonly config: object | undefined
}

/** Renders the state of the service, its outbox and its configuration. */
function operationsPage(shown: ShownOperations, viewer: Viewer): PageContent {
  const { version, revision, parts, instances, suspended, config } = shown
  const body = html`<h1>Operations</h1>
    ${facts([
      ['version', version],
      ['policies', html`<code>${revision}</code>`],
    ])}
    ${stageSection(shown.stage, viewer)}
    <h2>Health</h2>
    ${partList(parts)}
    <h2>Fleet</h2>
    <p class="row">
      <span>${fleetLine(instances)}</span> ${link(viewer.prefix, '/ui/fleet', 'All instances')}
    </p>
    ${outboxSection(shown, viewer)}
    <h2>Background work</h2>
    ${
      suspended.length === 0
        ? html`<p class="none">No work is suspended.</p>`
        : html`<ul class="plain-list">
            ${suspended.map((work) => html`<li>${suspendedWork(work, viewer)}</li>`)}
          </ul>`
    }
    <h2>Effective configuration</h2>
    ${config === undefined ? html`<p class="none">Only admins can view the configuration.</p>` : jsonTree(config, 1)}`
  return { title: 'Operations', body, section: PATH }
}

function outboxSection(shown: ShownOperations, viewer: Viewer): Html {
  const { state, messages, counts, cursor, nextCursor } = shown
  const position = { path: PATH, query: { state }, cursor, nextCursor }
  return html`<h2>Outbox</h2>
    <p class="soft">${counts.pending} pending, ${counts.given_up} given up, ${counts.delivered} delivered</p>
    ${filterForm(
      PATH,
      [
        {
          name: 'state',
          label: 'State',
          value: state,
          options: STATES.map((each) => [each, each === '' ? 'any' : wordOfState(each)]),
        },
      ],
      viewer,
    )}
    ${messages.length === 0 ? empty('No message.', 'Callbacks and notifications appear here.') : messageTable(messages, viewer)}
    ${pager(position, viewer)}`
}

function messageTable(messages: readonly ShownMessage[], viewer: Viewer): Html {
  return table(messages, [
    { head: 'message', cell: ({ id }) => id },
    { head: 'topic', cell: ({ topic }) => html`<code>${topic}</code>` },
    { head: 'to', cell: shownTarget },
    { head: 'created', cell: ({ createdMs }) => moment(createdMs) },
    {
      head: 'execution',
      cell: ({ executionId }) => (executionId === undefined ? '' : executionLink(viewer.prefix, executionId)),
    },
    { head: 'state', cell: messageState, isPlain: true },
    { head: 'action', cell: (message) => resendForm(message, viewer), isPlain: true },
  ])
}

function messageState({ state, attempts, lastError, lastStatus }: ShownMessage): Html {
  const last = lastError ?? (lastStatus === undefined ? '' : `status ${lastStatus}`)
  return html`${badge(wordOfState(state), toneOfState(state))}
    <span class="soft">${attempts} attempts${last === '' ? '' : `, last: ${last}`}</span>`
}

function resendForm({ id, state }: ShownMessage, viewer: Viewer): Html {
  if (state === 'pending' || !viewer.roles.includes('admin')) return html``
  return html`<form method="post" action="${viewer.prefix}${PATH}/outbox/${id}/resend">
    ${tokenField(viewer)}
    <button class="plain">Send again<span class="hidden"> message ${id}</span></button>
  </form>`
}

function suspendedWork({ kind, key, reason }: SuspendedWork, viewer: Viewer): Html {
  return html`<code>${kind} ${key}</code>
    <p class="soft">${reason}</p>
    ${
      viewer.roles.includes('admin')
        ? html`<form method="post" action="${viewer.prefix}${PATH}/work/resume">
            ${tokenField(viewer)}
            <input type="hidden" name="kind" value="${kind}" />
            <input type="hidden" name="key" value="${key}" />
            <button class="plain">Resume</button>
          </form>`
        : ''
    }`
}
