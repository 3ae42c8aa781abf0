import { z } from 'zod'

import { Time } from '../../pipeline/answer-schemas.js'

/** The words of the contract for how an instance stands. */
const CONTRACT_STATES = ['not activated', 'activated', 'approved', 'rejected'] as const

/** The states of an instance. */
export const INSTANCE_STATES = [
  'not_activated',
  'activated',
  'approved',
  'rejected',
  'canceled',
  'expired',
] as const

export const GateAnswer = z.looseObject({
  id: z.int(),
  name: z.string(),
  origin: z.enum(['configuration', 'api']),
  isEnabled: z.boolean(),
  approvals: z.int(),
  timeToLiveMinutes: z.int(),
  createdAt: Time,
  changedAt: Time,
})

/** What the contract says of an instance that was triggered (2.1). */
export const TriggerAnswer = z.looseObject({
  id: z.int(),
  approvalGateId: z.int(),
  activatedTime: z.string(),
  approvalStatus: z.object({ status: z.enum(CONTRACT_STATES) }),
})

/** The same with what the plugins read besides. */
export const PluginTriggerAnswer = TriggerAnswer.extend({
  approvalCallbackURL: z.string(),
  rejectionCallbackURL: z.string(),
  navigationalURL: z.string(),
})

export const InstanceAnswer = z.looseObject({
  id: z.int(),
  approvalGateId: z.int(),
  gateName: z.string(),
  executionId: z.string(),
  status: z.enum(INSTANCE_STATES),
  comment: z.string(),
  createdAt: Time,
  isEvidencePending: z.boolean(),
})

export const InstanceDetailsAnswer = InstanceAnswer.extend({
  reviews: z.array(z.looseObject({ at: Time })),
  evidence: z.unknown(),
  callbacks: z.array(z.looseObject({ id: z.int(), url: z.string(), state: z.string() })),
})

export const StatusAnswer = z.object({
  status: z.enum(CONTRACT_STATES),
  comment: z.string(),
})

/** With the word that the plugins alone know. */
export const PluginStatusAnswer = z.object({
  status: z.enum([...CONTRACT_STATES, 'canceled']),
  comment: z.string(),
})

/** A status whatever happened: anything but 200 is asked again at once and without end. */
export const OrchestratorReviewAnswer = z.looseObject({
  status: z.enum([...CONTRACT_STATES, 'canceled', 'unknown']),
  comment: z.string(),
})
