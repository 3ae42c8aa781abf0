import { z } from 'zod'

import { executionTimeline } from '../../../audit/execution-timeline.js'
import { queryDecisions } from '../../../decisions/query-decisions.js'
import { AppError, toAppError } from '../../../errors/app-error.js'
import { collectInstance } from '../../../gates/instances/instance-view.js'
import { listInstances } from '../../../gates/instances/list-instances.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { formBody } from '../../input/form-body.js'
import { requirePathNumber, numberOf, textOf } from '../../input/path-parameter.js'
import { approvalPage } from '../../pages/approval-page.js'
import type { RefusedAttempt, ShownTimeline } from '../../pages/approval-page.js'
import { approvalsPage } from '../../pages/approvals-page.js'
import type { ApprovalFilter } from '../../pages/approvals-page.js'
import { goTo } from '../../pages/answer-page.js'
import type { ListedDecisions } from '../../pages/policy-page.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { INSTANCE_STATES, MAX_SEARCH } from '../gates/gate-answers.js'
import { MAX_COMMENT, reviewByCaller } from '../gates/review-by-caller.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const MAX_LISTED = 50
const MAX_LATEST = 10
const MAX_DECISIONS = 20
const MAX_NAME = 100
const WHAT = 'approval gate instance'

const Decision = z.object({
  action: z.enum(['approve', 'reject', 'cancel']),
  // Browsers count a line break as one character but send two.
  comment: z
    .string()
    .overwrite((text) => text.replaceAll('\r\n', '\n'))
    .max(MAX_COMMENT)
    .default(''),
  person: z.string().trim().max(MAX_NAME).optional(),
})
const ListQuery = z.looseObject({
  status: z.enum([...INSTANCE_STATES, 'all']).default('activated'),
  search: z.string().trim().max(MAX_SEARCH).default(''),
  gate: z.coerce.number().int().min(1).optional().describe('The number of a gate.'),
  cursor: z.string().optional().describe("Cursor of the next page, from the page's link."),
})
/** Numbers in the plugins' path. The instance comes later in the URL. */
const PLUGIN_PATH = {
  application: textOf('The number of the application.'),
  service: textOf('The number of the pipeline.'),
  gate: textOf('The number of the gate.'),
}
const VIEW = { ...PAGE, method: 'GET', roles: ['approver', 'auditor'] } as const
const { route } = routesOf<PageRoutesDeps>()

/** Pages of approvals: the list, one instance, and its review form. */
export const approvalPageRoutes = [
  route({
    ...VIEW,
    path: '/ui',
    summary: 'Waiting approvals, as a page',
    query: ListQuery,
    answer: ({ exchange, query }, deps) => answerList(exchange, query, deps),
  }),
  route({
    ...VIEW,
    path: '/ui/approvals/:id',
    summary: 'A gate instance, as a page',
    params: { id: numberOf(WHAT) },
    answer: ({ exchange, params: { id } }, deps) => answerInstance(exchange, id, deps),
  }),
  route({
    ...FORM,
    path: '/ui/approvals/:id',
    roles: ['approver'],
    summary: 'Review a gate instance, from the form of its page',
    params: { id: numberOf(WHAT) },
    body: formBody(Decision),
    answer: async ({ exchange, params: { id }, body: { action, comment, person = '' } }, deps) => {
      const claimedName = deps.browsers.requiresTokens || person === '' ? undefined : person
      try {
        await reviewByCaller(exchange, id, { action, comment, claimedName }, deps.gates)
      } catch (raw) {
        if (!(raw instanceof AppError) || (raw.kind !== 'forbidden' && raw.kind !== 'conflict')) throw raw
        exchange.failure = raw
        const attempt = { problem: raw.message, isConflict: raw.kind === 'conflict', comment, person }
        return await answerInstance(exchange, id, deps, { attempt, status: errorAnswer(raw).status })
      }
      return goTo(`${deps.page.prefix}/ui/approvals/${id}`)
    },
  }),
  route({
    ...VIEW,
    path: '/ui/plugin-isd/approval/:application/:service/:gate',
    summary: "The instances of a gate, as a page for the orchestrator's link",
    params: { ...PLUGIN_PATH, gate: numberOf('approval gate') },
    answer: ({ exchange, params: { gate } }, deps) =>
      answerList(exchange, { status: 'activated', search: '', gate }, deps),
  }),
  route({
    ...VIEW,
    path: '/ui/plugin-isd/approval/:application/:service/:gate/fromPlugin',
    summary: "A gate instance, as a page for the orchestrator's link",
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
  { status, search, gate, cursor }: ApprovalFilter & { readonly cursor?: string | undefined },
  deps: PageRoutesDeps,
): Promise<Response> {
  const { reader, now } = deps.gates
  const nowMs = now()
  const state = status === 'all' ? undefined : status
  const filter = { state, search: search === '' ? undefined : search, gateId: gate }
  const order = state !== undefined && isOpen(state) ? 'deadline' : 'newest'
  const page = await reader.run(listInstances, { ...filter, order, cursor, limit: MAX_LISTED, nowMs })
  const isHome = status === 'activated' && search === '' && cursor === undefined
  const latest = isHome
    ? await reader.run(listInstances, { gateId: gate, order: 'newest', limit: MAX_LATEST, nowMs })
    : undefined
  const shown = { filter: { status, search, gate }, page, isLater: cursor !== undefined, latest, nowMs }
  return showPage(approvalsPage(shown, viewerOf(exchange, deps)), exchange, deps)
}

interface InstanceAnswerOptions {
  readonly attempt?: RefusedAttempt
  readonly status?: number
}

async function answerInstance(
  exchange: Exchange,
  id: number,
  deps: PageRoutesDeps,
  { attempt, status }: InstanceAnswerOptions = {},
): Promise<Response> {
  const { lookups, now, approvers } = deps.gates
  const whole = await collectInstance(lookups, id, now(), approvers)
  const { executionId } = whole.instance
  const decisions = await decisionsOf(executionId, deps)
  const timeline = await timelineOf(executionId, deps)
  const { requiresTokens } = deps.browsers
  const { isAdmin, roles = [] } = exchange.caller
  const viewer = {
    ...viewerOf(exchange, deps),
    mayDecide: isAdmin || roles.includes('approver'),
    entersName: !requiresTokens,
  }
  const content = approvalPage({ ...whole, decisions, timeline, attempt }, viewer)
  return showPage(content, exchange, deps, status === undefined ? {} : { status })
}

async function decisionsOf(
  executionId: string,
  { decisions }: PageRoutesDeps,
): Promise<ListedDecisions | undefined> {
  if (decisions === undefined) return undefined
  const page = await queryDecisions(decisions, { executionId, limit: MAX_DECISIONS })
  return { decisions: page.decisions, hasMore: page.nextCursor !== undefined }
}

async function timelineOf(executionId: string, { timeline }: PageRoutesDeps): Promise<ShownTimeline> {
  try {
    return await executionTimeline(timeline, executionId)
  } catch (raw) {
    if (toAppError(raw).kind === 'not_found') return { entries: [], isTruncated: false }
    throw raw
  }
}
