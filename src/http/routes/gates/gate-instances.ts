import { Hono } from 'hono'
import { z } from 'zod'

import type { Role } from '../../../config/sections/auth.js'
import { requireInstance } from '../../../gates/instances/find-or-raise.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import { asOf, instanceDetails, instanceView } from '../../../gates/instances/instance-view.js'
import { listInstances } from '../../../gates/instances/list-instances.js'
import { refusedReview } from '../../../gates/reviewing/refused-review.js'
import { reviewInstance } from '../../../gates/reviewing/review-instance.js'
import { contractStatus } from '../../../gates/instances/status-words.js'
import type { AppEnv, Exchange } from '../../exchange/exchange.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { claimedUser, personOf } from './person-of.js'
import { makeTakeOrchestratorReview } from './take-orchestrator-review.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { parseQuery } from '../../input/parse-query.js'
import { requirePathNumber } from '../../input/path-number.js'
import { readJsonBody } from '../../input/read-json-body.js'

const READERS: readonly Role[] = ['orchestrator', 'approver', 'auditor']
const DEFAULT_PAGE = 50
const MAX_PAGE = 500
const MAX_COMMENT = 4000

const ListQuery = z.strictObject({
  gate: z.coerce.number().int().optional(),
  application: z.string().optional(),
  execution: z.string().optional(),
  status: z.enum(['not_activated', 'activated', 'approved', 'rejected', 'canceled', 'expired']).optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
  cursor: z.coerce.number().int().min(1).optional(),
})
const ReviewBody = z.strictObject({
  action: z.enum(['approve', 'reject', 'cancel']),
  comment: z.string().max(MAX_COMMENT).default(''),
})

/** `/approvalGateInstances`: the status as the contract writes it (4.3), reviews, and what people read before they decide. */
export function gateInstanceRoutes(authenticate: Authenticate, deps: GateRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const { writer, reader, lookups, now } = deps
  const takeReview = makeTakeOrchestratorReview(authenticate, deps)
  const enter = (exchange: Exchange, handler: string, roles: readonly Role[]): Exchange => {
    exchange.handler = handler
    authenticate(exchange, roles)
    return exchange
  }
  app.get('/', async (c) => {
    enter(c.env.exchange, 'gate_instances', READERS)
    const { gate, execution, status, cursor, ...rest } = parseQuery(ListQuery, c.req.query())
    const filter = { ...rest, gateId: gate, executionId: execution, state: status, beforeId: cursor }
    const { instances, nextBeforeId } = await reader.run(listInstances, filter)
    return jsonAnswer({
      instances: instances.map((instance) => instanceView(asOf(instance, now()))),
      ...(nextBeforeId !== undefined && { next: String(nextBeforeId) }),
    })
  })
  // Where the plugins' link to an instance leads.
  app.get('/fromPlugin', async (c) => {
    enter(c.env.exchange, 'gate_instances', READERS)
    return jsonAnswer(await instanceDetails(lookups, instanceIdOf(c.req.query('instanceId')), now()))
  })
  app.get('/:id', async (c) => {
    enter(c.env.exchange, 'gate_instances', READERS)
    return jsonAnswer(await instanceDetails(lookups, instanceIdOf(c.req.param('id')), now()))
  })
  app.get('/:id/status', async (c) => {
    enter(c.env.exchange, 'gates.status', READERS)
    const instance = await requireInstance(lookups.gates, instanceIdOf(c.req.param('id')))
    await deps.acknowledge(instance, now())
    const { state, comment } = asOf(instance, now())
    return jsonAnswer({ status: contractStatus(state), comment })
  })
  app.put('/:id/review', async (c) => {
    const exchange = enter(c.env.exchange, 'gates.review', ['approver'])
    return jsonAnswer(await review(exchange, instanceIdOf(c.req.param('id')), deps))
  })
  app.put('/:id/spinnakerReview', async (c) => {
    c.env.exchange.handler = 'gates.cancel'
    return jsonAnswer(await takeReview(c.env.exchange, c.req.param('id')))
  })
  async function review(
    exchange: Exchange,
    instanceId: number,
    { maxBodyBytes }: GateRoutesDeps,
  ): Promise<object> {
    const decision = await readJsonBody(exchange, ReviewBody, maxBodyBytes)
    const { name: person, groups } = personOf(exchange, deps)
    const attempt = { ...decision, person, groups, timeMs: now() }
    const { origin } = callerOf(exchange)
    const request = { instanceId, attempt, claimedUser: claimedUser(exchange), origin }
    const reviewed = await writer.run(reviewInstance, request)
    const { instance, refusal, approvals, approvalsNeeded } = reviewed
    if (!isOpen(instance.state)) deps.closed()
    if (refusal !== undefined) throw refusedReview(instance, refusal, person)
    return { ...instanceView(instance), approvals, approvalsNeeded }
  }
  return app
}

function instanceIdOf(text: string | undefined): number {
  return requirePathNumber(text, 'approval gate instance')
}
