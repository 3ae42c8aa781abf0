import { z } from 'zod'

import { executionTimeline } from '../../../audit/execution-timeline.js'
import type { TimelineEntry } from '../../../audit/execution-timeline.js'
import { queryDecisions } from '../../../decisions/query-decisions.js'
import { toAppError } from '../../../errors/app-error.js'
import { asOf, collectInstance } from '../../../gates/instances/instance-view.js'
import { listInstances } from '../../../gates/instances/list-instances.js'
import type { InstanceFilter } from '../../../store/ports/gate-store.js'
import type { GateInstance } from '../../../store/ports/gate-instance.js'
import type { Exchange } from '../../exchange/exchange.js'
import { formBody } from '../../input/form-body.js'
import { requirePathNumber } from '../../input/path-number.js'
import { numberOf, textOf } from '../../input/path-parameter.js'
import { approvalPage } from '../../pages/approval-page.js'
import { approvalsPage } from '../../pages/approvals-page.js'
import { goTo } from '../../pages/answer-page.js'
import type { ListedDecisions } from '../../pages/decision-table.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { MAX_COMMENT, reviewByCaller } from '../gates/review-by-caller.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-routes-deps.js'

const MAX_LISTED = 50
const MAX_DECISIONS = 20
const MAX_NAME = 100
const WHAT = 'approval gate instance'

const Decision = z.object({
  action: z.enum(['approve', 'reject', 'cancel']),
  comment: z.string().max(MAX_COMMENT).default(''),
  person: z.string().trim().max(MAX_NAME).optional(),
})
/** Numbers that the plugins put into the path; the instance is named behind it. */
const PLUGIN_PATH = {
  application: textOf('The number of the application.'),
  service: textOf('The number of the pipeline.'),
  gate: textOf('The number of the gate.'),
}
const VIEW = { ...PAGE, method: 'GET', roles: ['approver', 'auditor'] } as const
const { route } = routesOf<PageRoutesDeps>()

/** The approvals: what waits, one of them with all that speaks for and against it, and deciding. */
export const approvalPageRoutes = [
  route({
    ...VIEW,
    path: '/ui',
    summary: 'What waits for a decision, as a page',
    answer: ({ exchange }, deps) => answerList(exchange, {}, deps),
  }),
  route({
    ...VIEW,
    path: '/ui/approvals/:id',
    summary: 'One instance of an approval gate, as a page',
    params: { id: numberOf(WHAT) },
    answer: ({ exchange, params: { id } }, deps) => answerInstance(exchange, id, deps),
  }),
  route({
    ...FORM,
    path: '/ui/approvals/:id',
    roles: ['approver'],
    summary: 'Decide on an instance of an approval gate, by the form of its page',
    params: { id: numberOf(WHAT) },
    body: formBody(Decision),
    answer: async ({ exchange, params: { id }, body: { action, comment, person } }, deps) => {
      const claimedName = deps.browsers.asksForTokens || person === '' ? undefined : person
      await reviewByCaller(exchange, id, { action, comment, claimedName }, deps.gates)
      return goTo(`${deps.page.prefix}/ui/approvals/${id}`)
    },
  }),
  route({
    ...VIEW,
    path: '/ui/plugin-isd/approval/:application/:service/:gate',
    summary: 'The instances of an approval gate, as a page that the orchestrator links to',
    params: { ...PLUGIN_PATH, gate: numberOf('approval gate') },
    answer: ({ exchange, params: { gate } }, deps) => answerList(exchange, { gateId: gate }, deps),
  }),
  route({
    ...VIEW,
    path: '/ui/plugin-isd/approval/:application/:service/:gate/fromPlugin',
    summary: 'One instance of an approval gate, as a page that the orchestrator links to',
    params: PLUGIN_PATH,
    query: z.looseObject({
      instanceId: z.string().optional().describe('The number of the instance.'),
    }),
    answer: ({ exchange, query: { instanceId } }, deps) =>
      answerInstance(exchange, requirePathNumber(instanceId, WHAT), deps),
  }),
]

async function answerList(
  exchange: Exchange,
  filter: Pick<InstanceFilter, 'gateId'>,
  deps: PageRoutesDeps,
): Promise<Response> {
  const { reader, now } = deps.gates
  const list = async (state?: 'activated'): Promise<readonly GateInstance[]> => {
    const { instances } = await reader.run(listInstances, { ...filter, state, limit: MAX_LISTED })
    return instances.map((instance) => asOf(instance, now()))
  }
  const waiting = (await list('activated')).filter(({ state }) => state === 'activated')
  return showPage(approvalsPage({ waiting, latest: await list() }, viewerOf(exchange, deps)), exchange, deps)
}

async function answerInstance(exchange: Exchange, id: number, deps: PageRoutesDeps): Promise<Response> {
  const { lookups, now, approvers } = deps.gates
  const whole = await collectInstance(lookups, id, now(), approvers)
  const { executionId } = whole.instance
  const decisions = await decisionsOf(executionId, deps)
  const timeline = await timelineOf(executionId, deps)
  const { asksForTokens } = deps.browsers
  const { isAdmin, roles = [] } = exchange.caller
  const viewer = {
    ...viewerOf(exchange, deps),
    mayDecide: isAdmin || roles.includes('approver'),
    saysName: !asksForTokens,
  }
  return showPage(approvalPage({ ...whole, decisions, timeline }, viewer), exchange, deps)
}

async function decisionsOf(
  executionId: string,
  { decisions }: PageRoutesDeps,
): Promise<ListedDecisions | undefined> {
  if (decisions === undefined) return undefined
  const page = await queryDecisions(decisions, { executionId, limit: MAX_DECISIONS })
  return { decisions: page.decisions, hasMore: page.nextCursor !== undefined }
}

async function timelineOf(
  executionId: string,
  { timeline }: PageRoutesDeps,
): Promise<readonly TimelineEntry[]> {
  try {
    return (await executionTimeline(timeline, executionId)).entries
  } catch (raw) {
    if (toAppError(raw).kind === 'not_found') return []
    throw raw
  }
}
