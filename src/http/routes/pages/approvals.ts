import { z } from 'zod'

import { listRuns } from '../../../analysis/runs/analysis-operations.js'
import { executionTimeline } from '../../../audit/execution-timeline.js'
import { queryDecisions } from '../../../decisions/query-decisions.js'
import { AppError, toAppError } from '../../../errors/app-error.js'
import type { ErrorKind } from '../../../errors/app-error.js'
import { readExecutionFacts } from '../../../events/execution-facts.js'
import { collectInstance } from '../../../gates/instances/instance-view.js'
import { requireInstance } from '../../../gates/instances/find-or-raise.js'
import { listInstances } from '../../../gates/instances/list-instances.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import type { GateInstance } from '../../../store/ports/gate-instance.js'
import { hasRole } from '../../exchange/caller-of.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { Lines, formBody } from '../../input/form-body.js'
import { requirePathNumber, numberOf, textOf } from '../../input/path-parameter.js'
import { approvalPage, withdrawPage } from '../../pages/approval-page.js'
import type { LastApproved, RefusedAttempt } from '../../pages/approval-page.js'
import { approvalsPage } from '../../pages/approvals-page.js'
import type { ApprovalFilter } from '../../pages/approvals-page.js'
import { goTo } from '../../pages/answer-page.js'
import type { ListedDecisions } from '../../pages/decision-table.js'
import type { ShownTimeline } from '../../pages/execution-page.js'
import { PEOPLE } from '../../pages/layout.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { INSTANCE_STATES, MAX_SEARCH } from '../gates/gate-answers.js'
import { MAX_COMMENT, committersFor, reviewByCaller } from '../gates/review-by-caller.js'
import { reviewerOf } from './home.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const MAX_LISTED = 50
const MAX_LATEST = 10
const MAX_DECISIONS = 20
const MAX_RUNS = 5
const MAX_NAME = 100
const WHAT = 'approval gate instance'

const Comment = Lines.max(MAX_COMMENT).default('')
const Decision = z.object({
  action: z.enum(['approve', 'reject', 'cancel', 'keep']),
  comment: Comment,
  person: z.string().trim().max(MAX_NAME).optional(),
  confirm: z.literal('yes').optional(),
})
/** An empty field of a filter form is no filter. */
const emptyIsAbsent = (value: unknown): unknown => (value === '' ? undefined : value)
const ListQuery = z.looseObject({
  status: z.preprocess(emptyIsAbsent, z.enum([...INSTANCE_STATES, 'all']).default('activated')),
  search: z.string().trim().max(MAX_SEARCH).default(''),
  application: z.string().trim().max(MAX_SEARCH).default(''),
  mine: z.enum(['true', '']).default(''),
  gate: z.preprocess(
    emptyIsAbsent,
    z.coerce.number().int().min(1).optional().describe('The number of a gate.'),
  ),
  cursor: z.string().optional().describe("Cursor of the next page, from the page's link."),
})
/** Numbers in the plugins' path. The instance comes later in the URL. */
const PLUGIN_PATH = {
  application: textOf('The number of the application.'),
  service: textOf('The number of the pipeline.'),
  gate: textOf('The number of the gate.'),
}
const VIEW = { ...PAGE, method: 'GET', roles: PEOPLE } as const
const { route } = routesOf<PageRoutesDeps>()

/** Pages of approvals: the list, one instance, and its review form. */
export const approvalPageRoutes = [
  route({
    ...VIEW,
    path: '/ui/approvals',
    summary: 'Approvals, as a page: by default all that wait',
    query: ListQuery,
    answer: ({ exchange, query: { mine, ...query } }, deps) =>
      answerList(exchange, { ...query, isMine: mine === 'true' }, deps),
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
    answer: async ({ exchange, params: { id }, body }, deps) => {
      const { action, comment, person = '', confirm } = body
      if (action === 'keep') return await answerInstance(exchange, id, deps, { comment })
      if (action === 'cancel' && confirm === undefined) {
        const instance = await requireInstance(deps.gates.lookups.gates, id)
        return showPage(withdrawPage(instance, { comment, person }, viewerOf(exchange, deps)), exchange, deps)
      }
      const claimedName = deps.browsers.requiresTokens || person === '' ? undefined : person
      try {
        await reviewByCaller(exchange, id, { action, comment, claimedName }, deps.gates)
      } catch (raw) {
        if (!(raw instanceof AppError) || !SHOWN_ON_FORM.includes(raw.kind)) throw raw
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
      answerList(exchange, { status: 'activated', search: '', application: '', isMine: false, gate }, deps),
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

/** Errors of a review that its form shows, with what was typed. */
const SHOWN_ON_FORM: readonly ErrorKind[] = ['forbidden', 'conflict', 'invalid', 'unavailable']

async function answerList(
  exchange: Exchange,
  filter: ApprovalFilter & { readonly cursor?: string | undefined },
  deps: PageRoutesDeps,
): Promise<Response> {
  const { status, search, application, isMine, gate, cursor } = filter
  const { reader, now } = deps.gates
  const nowMs = now()
  const state = status === 'all' ? undefined : status
  const query = {
    state,
    search: search === '' ? undefined : search,
    application: application === '' ? undefined : application,
    gateId: gate,
    awaits: isMine && state === 'activated' ? reviewerOf(exchange, deps) : undefined,
  }
  const order = state !== undefined && isOpen(state) ? 'deadline' : 'newest'
  const page = await reader.run(listInstances, { ...query, order, cursor, limit: MAX_LISTED, nowMs })
  const isUnfiltered = search === '' && application === '' && !isMine
  const isFirst = status === 'activated' && isUnfiltered && cursor === undefined
  const latest = isFirst
    ? await reader.run(listInstances, { gateId: gate, order: 'newest', limit: MAX_LATEST, nowMs })
    : undefined
  return showPage(
    approvalsPage({ filter, page, cursor, latest, nowMs }, viewerOf(exchange, deps)),
    exchange,
    deps,
  )
}

interface InstanceAnswerOptions {
  readonly attempt?: RefusedAttempt
  readonly status?: number
  /** Text of the comment field. */
  readonly comment?: string
}

async function answerInstance(
  exchange: Exchange,
  id: number,
  deps: PageRoutesDeps,
  { attempt, status, comment }: InstanceAnswerOptions = {},
): Promise<Response> {
  const { lookups, now, approvers, reader } = deps.gates
  const nowMs = now()
  const whole = await collectInstance(lookups, id, nowMs, approvers, await committersFor(id, deps.gates))
  const { executionId } = whole.instance
  const [decisions, timeline, subject, lastApproved, runs] = await Promise.all([
    decisionsOf(executionId, deps),
    timelineOf(executionId, deps),
    reader.run(readExecutionFacts, executionId),
    lastApprovedBefore(whole.instance, nowMs, deps),
    deps.analysis.reader.run(listRuns, { executionId, limit: MAX_RUNS }),
  ])
  const viewer = {
    ...viewerOf(exchange, deps),
    mayDecide: hasRole(exchange.caller, 'approver'),
    entersName: !deps.browsers.requiresTokens,
  }
  const shown = { ...whole, nowMs, subject, lastApproved, runs, decisions, timeline, attempt, comment }
  return showPage(approvalPage(shown, viewer), exchange, deps, status === undefined ? {} : { status })
}

/** Returns the latest approved instance of the same gate for an earlier execution. */
async function lastApprovedBefore(
  { id, gateId, executionId }: GateInstance,
  nowMs: number,
  { gates: { reader } }: PageRoutesDeps,
): Promise<LastApproved | undefined> {
  const query = { gateId, state: 'approved', order: 'newest', nowMs, limit: MAX_LATEST } as const
  const { instances } = await reader.run(listInstances, { ...query, cursor: String(id) })
  const instance = instances.find((each) => each.executionId !== executionId)
  return instance && { instance, subject: await reader.run(readExecutionFacts, instance.executionId) }
}

/** Returns the newest decisions about an execution. */
export async function decisionsOf(
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
    if (toAppError(raw).kind === 'not_found') return { executionId, entries: [], isTruncated: false }
    throw raw
  }
}
