import { z } from 'zod'

import { wrongUse } from '../session/session.js'

/** The answers of the service about gates, as far as commands show them. */
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

/** Where the service has an instance. Raises `invalid` for what is no number. */
export function instancePath(id: string): string {
  if (/^\d+$/.test(id)) return `/approvalGateInstances/${id}`
  throw wrongUse(`an instance is named by its number, not "${id}"`)
}
