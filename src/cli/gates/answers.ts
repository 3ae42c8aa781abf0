import { z } from 'zod'

import { wrongUse } from '../session/session.js'
import { AppError } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import type { ServiceClient } from '../session/service-client.js'

/** Responses about gates, as far as commands show them. */
export const GateAnswer = z.looseObject({
  id: z.number(),
  name: z.string(),
  application: z.string().optional(),
  approvals: z.number(),
  policy: z.string().optional(),
  origin: z.string(),
  isEnabled: z.boolean(),
})
export type GateAnswer = z.output<typeof GateAnswer>

export const InstanceAnswer = z.looseObject({
  id: z.number(),
  approvalGateId: z.number(),
  gateName: z.string(),
  application: z.string().optional(),
  executionId: z.string(),
  status: z.string(),
  comment: z.string(),
  triggeredBy: z.string().optional(),
  createdAt: z.string(),
  expiresAt: z.string(),
  decidedAt: z.string().optional(),
  decidedBy: z.string().optional(),
  isEvidencePending: z.boolean(),
  policyProblem: z.string().optional(),
})
export type InstanceAnswer = z.output<typeof InstanceAnswer>

export const ReviewAnswer = z.looseObject({
  ...InstanceAnswer.shape,
  approvals: z.number(),
  approvalsNeeded: z.number(),
})

const Review = z.looseObject({ person: z.string(), action: z.string(), comment: z.string(), at: z.string() })
const Evidence = z.looseObject({
  connectorType: z.string(),
  account: z.string().nullable(),
  state: z.string(),
  output: z.array(z.record(z.string(), z.unknown())),
  error: z.string().optional(),
})
const Callback = z.looseObject({
  id: z.number(),
  url: z.string(),
  state: z.string(),
  attempts: z.number(),
  lastError: z.string().optional(),
})

export const DetailsAnswer = z.looseObject({
  ...InstanceAnswer.shape,
  approvals: z.number(),
  approvalsNeeded: z.number(),
  reviews: z.array(Review),
  evidence: z.array(Evidence),
  callbacks: z.array(Callback),
})
export type DetailsAnswer = z.output<typeof DetailsAnswer>

export const GatesAnswer = z.object({ gates: z.array(GateAnswer) })

/** Returns the path of an instance. Raises `invalid` unless the id is a number. */
export function instancePath(id: string): string {
  if (/^\d+$/.test(id)) return `/approvalGateInstances/${id}`
  throw wrongUse(`an instance must be a number, not "${id}"`)
}

/** Maximum names in an error about an unknown gate. */
const MAX_NAMED = 10

/**
 * Returns the number of a gate given by number or name. Raises `not_found` with a suggestion, and
 * `conflict` if several gates have the name.
 */
export async function findGate(client: ServiceClient, written: string): Promise<string> {
  if (/^\d+$/.test(written)) return written
  const { gates } = await client.request(GatesAnswer, { path: '/approvalGates' })
  const named = gates.filter(({ name }) => name === written)
  const [found, other] = named
  if (found === undefined)
    throw new AppError('not_found', `no gate is called '${written}'${hint(written, gates)}`)
  if (other === undefined) return String(found.id)
  throw new AppError(
    'conflict',
    `several gates are called '${written}'; use a number: ${named.map(({ id }) => id).join(', ')}`,
  )
}

function hint(written: string, gates: readonly GateAnswer[]): string {
  const names = [...new Set(gates.map(({ name }) => name))]
  const nearest = nearestName(written, names)
  if (nearest !== undefined) return `, did you mean ${nearest}?`
  if (names.length === 0) return ': no gates are declared'
  return names.length > MAX_NAMED
    ? `; list all ${names.length} with tidegate gates list`
    : `; there are ${names.join(', ')}`
}
