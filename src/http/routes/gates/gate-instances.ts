import { z } from 'zod'

import type { Role } from '../../../config/sections/roles.js'
import { AppError } from '../../../errors/app-error.js'
import { requireInstance } from '../../../gates/instances/find-or-raise.js'
import { asOf, instanceDetails, instanceView } from '../../../gates/instances/instance-view.js'
import { listInstances } from '../../../gates/instances/list-instances.js'
import type { Reviewed } from '../../../gates/reviewing/review-instance.js'
import { contractStatus } from '../../../gates/instances/status-words.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { jsonBody } from '../../input/body-reader.js'
import { numberOf, requirePathNumber } from '../../input/path-parameter.js'
import { AfterText, NextNumber, json, nextNumber, pageSize } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import {
  INSTANCE_STATES,
  InstanceAnswer,
  InstanceDetailsAnswer,
  MAX_SEARCH,
  StatusAnswer,
} from './gate-answers.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { MAX_COMMENT, committersFor, personOf, reviewByCaller } from './review-by-caller.js'
import { orchestratorReviewRoute } from './orchestrator-review.js'

const READERS: readonly Role[] = ['orchestrator', 'approver', 'auditor']
const DEFAULT_PAGE = 50
const MAX_PAGE = 500

const ListQuery = z.strictObject({
  gate: z.coerce.number().int().min(1).optional().describe('Number of a gate.'),
  application: z.string().optional(),
  executionId: z.string().optional(),
  execution: z.string().optional().meta({ deprecated: true, description: 'Former name of `executionId`.' }),
  status: z.enum(INSTANCE_STATES).optional(),
  search: z
    .string()
    .max(MAX_SEARCH)
    .optional()
    .describe(
      'Part of the name of the gate, application, execution or triggering user, case-insensitive; or the number of an instance.',
    ),
  order: z
    .enum(['newest', 'deadline'])
    .default('newest')
    .describe('`deadline` lists the earliest expiry first; requires `status=activated` or `not_activated`.'),
  mine: z
    .enum(['true', 'false'])
    .optional()
    .describe("Only instances that wait for the caller's approval; requires `status=activated`."),
  ...TimeRange,
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterText,
})
const ReviewBody = z.strictObject({
  action: z.enum(['approve', 'reject', 'cancel']),
  comment: z.string().max(MAX_COMMENT).default(''),
})

const FromPluginQuery = z.looseObject({
  instanceId: z.string().optional().describe('The number of the instance.'),
})
const WHAT = 'approval gate instance'
const INSTANCE = { id: numberOf(WHAT) }
const READ = { method: 'GET', roles: READERS, handler: 'gate_instances' } as const
const DETAILS = { 200: json('The instance with its related data.', InstanceDetailsAnswer) }
const { route } = routesOf<GateRoutesDeps>()

/**
 * `/approvalGateInstances`: lists, details, reviews, and the status in the API specification (4.3).
 */
export const gateInstanceRoutes = [
  route({
    ...READ,
    path: '/approvalGateInstances',
    summary: 'Gate instances, newest first or by deadline',
    query: ListQuery,
    answers: {
      200: json(
        'A page.',
        z.object({
          instances: z.array(InstanceAnswer),
          total: z.int().describe('Number of matches on all pages.'),
          ...NextNumber,
        }),
      ),
    },
    answer: async ({ exchange, query }, deps) => jsonAnswer(await list(exchange, query, deps)),
  }),
  route({
    ...READ,
    path: '/approvalGateInstances/fromPlugin',
    summary: "One instance, for the plugins' link",
    query: FromPluginQuery,
    answers: { ...DETAILS, 404: { description: 'Instance not found.' } },
    answer: ({ query }, deps) => answerDetails(requirePathNumber(query.instanceId, WHAT), deps),
  }),
  route({
    ...READ,
    path: '/approvalGateInstances/:id',
    summary: 'One instance',
    params: INSTANCE,
    answers: DETAILS,
    answer: ({ params }, deps) => answerDetails(params.id, deps),
  }),
  route({
    ...READ,
    path: '/approvalGateInstances/:id/status',
    handler: 'gates.status',
    isPolled: true,
    summary: 'Status of an instance',
    params: INSTANCE,
    answers: { 200: json('The status.', StatusAnswer) },
    answer: async ({ params }, { lookups, acknowledge, now }) => {
      const instance = await requireInstance(lookups.gates, params.id)
      await acknowledge(instance, now())
      const { state, comment } = asOf(instance, now())
      return jsonAnswer({ status: contractStatus(state), comment })
    },
  }),
  route({
    method: 'PUT',
    path: '/approvalGateInstances/:id/review',
    roles: ['approver'],
    handler: 'gates.review',
    summary: 'Approve, reject or cancel an instance',
    params: INSTANCE,
    body: jsonBody(ReviewBody),
    answers: {
      200: json('The instance.', InstanceAnswer.extend({ approvals: z.int(), approvalsNeeded: z.int() })),
      409: { description: 'The instance is closed, or this person has already decided.' },
    },
    answer: async ({ exchange, params, body }, deps) =>
      jsonAnswer(reviewView(await reviewByCaller(exchange, params.id, body, deps))),
  }),
  orchestratorReviewRoute('/approvalGateInstances/:id/spinnakerReview'),
]

async function answerDetails(id: number, deps: GateRoutesDeps): Promise<Response> {
  const { lookups, now, approvers } = deps
  return jsonAnswer(await instanceDetails(lookups, id, now(), approvers, await committersFor(id, deps)))
}

async function list(
  exchange: Exchange,
  {
    gate: gateId,
    application,
    execution,
    executionId = execution,
    status,
    mine,
    ...query
  }: z.output<typeof ListQuery>,
  deps: GateRoutesDeps,
): Promise<object> {
  const { reader, now } = deps
  const { search, order, limit, cursor } = query
  if (mine === 'true' && status !== 'activated') {
    throw new AppError('invalid', 'mine=true: only for status=activated')
  }
  const awaits = mine === 'true' ? personOf(exchange) : undefined
  const filter = { gateId, application, executionId, state: status, search, awaits, ...rangeOf(query) }
  const page = await reader.run(listInstances, { ...filter, order, cursor, limit, nowMs: now() })
  return {
    instances: page.instances.map(instanceView),
    total: page.total,
    ...nextNumber(page.nextCursor),
  }
}

function reviewView({ instance, approvals, approvalsNeeded }: Reviewed): object {
  return Object.assign(instanceView(instance), { approvals, approvalsNeeded })
}
