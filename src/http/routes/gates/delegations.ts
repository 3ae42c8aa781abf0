import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { giveDelegation, listDelegations, revokeDelegation } from '../../../gates/instances/delegations.js'
import { readIsoTime } from '../../../lib/clocks/iso-time.js'
import { writtenName, writtenText } from '../../../lib/validation/written-text.js'
import type { Delegation } from '../../../store/ports/gate-instance.js'
import { actorOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody } from '../../input/body-reader.js'
import { numberOf } from '../../input/path-parameter.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'

const MAX_NAME = 1000
const MAX_REASON = 1000
/** The longest time for which rights are given. */
export const MAX_DAYS = 90
const MS_PER_DAY = 86_400_000

export const DelegationBody = z.strictObject({
  to: writtenName(MAX_NAME).trim().min(1).describe('The person who gets your rights as an approver.'),
  until: z
    .string()
    .describe(`The end: a date or an ISO 8601 time, in UTC by default, at most ${MAX_DAYS} days ahead.`),
  reason: writtenText(MAX_REASON).trim().default(''),
})
const DelegationAnswer = z.object({
  id: z.int(),
  from: z.string(),
  to: z.string(),
  reason: z.string(),
  since: Time,
  until: Time,
})
const { route } = routesOf<GateRoutesDeps>()

/** Rights of approvers, given to other people until an end. */
export const delegationRoutes = [
  route({
    method: 'GET',
    path: '/delegations',
    roles: ['approver', 'auditor'],
    handler: 'delegations',
    summary: 'Delegations that have not ended, by their ends',
    answers: { 200: json('All delegations.', z.object({ delegations: z.array(DelegationAnswer) })) },
    answer: async (_, { reader, now }) => {
      const delegations = await reader.run(listDelegations, { nowMs: now() })
      return jsonAnswer({ delegations: delegations.map(delegationView) })
    },
  }),
  route({
    method: 'POST',
    path: '/delegations',
    roles: ['approver'],
    handler: 'delegations',
    summary: 'Give your rights as an approver to another person until an end',
    body: jsonBody(DelegationBody),
    answers: {
      201: json('The delegation.', DelegationAnswer),
      409: { description: 'You have given too many delegations.' },
    },
    answer: async ({ exchange, body }, deps) =>
      jsonAnswer(delegationView(await delegateByCaller(exchange, body, deps)), 201),
  }),
  route({
    method: 'DELETE',
    path: '/delegations/:id',
    roles: ['approver'],
    handler: 'delegations',
    summary: 'Revoke a delegation that you gave or got',
    params: { id: numberOf('delegation') },
    answers: { 200: json('The delegation, which has ended.', DelegationAnswer) },
    answer: async ({ exchange, params: { id } }, deps) =>
      jsonAnswer(delegationView(await revokeByCaller(exchange, id, deps))),
  }),
]

/**
 * Gives the caller's rights to another person. Raises `invalid` for an end that is wrong, and
 * `forbidden` for a caller without a name.
 */
export async function delegateByCaller(
  exchange: Exchange,
  { to, until, reason }: z.output<typeof DelegationBody>,
  deps: GateRoutesDeps,
): Promise<Delegation> {
  const { tokenName: user, groups = [] } = exchange.caller
  if (user === undefined)
    throw new AppError('forbidden', 'Delegations need a sign-in: configure auth.tokens or auth.oidc.', {
      code: 'name_required',
    })
  const actor = { ...actorOf(exchange, deps), user }
  const untilMs = /^\d{4}-/.test(until) ? readIsoTime(until, 'utc') : Number.NaN
  const isSoon = untilMs > actor.nowMs && untilMs <= actor.nowMs + MAX_DAYS * MS_PER_DAY
  if (!isSoon)
    throw new AppError(
      'invalid',
      `until: must be a date such as 2027-01-31 or an ISO 8601 time, in the future and at most ${MAX_DAYS} days ahead`,
    )
  return await deps.writer.run(giveDelegation, { to, groups, reason, untilMs, actor })
}

/** Ends a delegation. Raises as `revokeDelegation`. */
export async function revokeByCaller(
  exchange: Exchange,
  id: number,
  deps: GateRoutesDeps,
): Promise<Delegation> {
  const mayRevokeAny = exchange.caller.isAdmin
  return await deps.writer.run(revokeDelegation, { id, mayRevokeAny, actor: actorOf(exchange, deps) })
}

function delegationView({ id, from, to, reason, createdMs, untilMs }: Delegation): object {
  return {
    ...{ id, from, to, reason },
    since: new Date(createdMs).toISOString(),
    until: new Date(untilMs).toISOString(),
  }
}
