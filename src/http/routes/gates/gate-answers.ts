import { z } from 'zod'

import { Time } from '../../pipeline/answer-schemas.js'

/** Instance states in the API specification. */
const CONTRACT_STATES = ['not activated', 'activated', 'approved', 'rejected'] as const

/** Maximum length of a search text. */
export const MAX_SEARCH = 200

/** The states of an instance. */
export const INSTANCE_STATES = [
  'not_activated',
  'activated',
  'approved',
  'rejected',
  'canceled',
  'expired',
] as const

const Approvers = z.object({ users: z.array(z.string()), groups: z.array(z.string()) })

export const GateAnswer = z.looseObject({
  id: z.int(),
  name: z.string(),
  type: z.enum(['approval', 'policy', 'verification']).optional(),
  templates: z.object({ metric: z.string().optional(), log: z.string().optional() }).optional(),
  application: z.string().optional(),
  pipeline: z.string().optional(),
  stage: z.string().optional(),
  connectors: z.array(z.string()),
  approvers: Approvers,
  approvals: z.int(),
  triggererMayApprove: z.boolean(),
  commentRequired: z.boolean().optional(),
  eachGroup: z.boolean().optional(),
  committersMayApprove: z.boolean().optional(),
  reminders: z
    .object({
      afterMinutes: z.int().optional(),
      everyMinutes: z.int().optional(),
      beforeExpiryMinutes: z.int().optional(),
    })
    .optional(),
  timeToLiveMinutes: z.int(),
  policy: z.string().optional(),
  origin: z.enum(['configuration', 'api', 'stage']),
  isEnabled: z.boolean(),
  createdAt: Time,
  changedAt: Time,
})

/** A triggered instance in the API specification (2.1). */
export const TriggerAnswer = z.looseObject({
  id: z.int(),
  approvalGateId: z.int(),
  activatedTime: z.string(),
  approvalStatus: z.object({ status: z.enum(CONTRACT_STATES) }),
})

/** A triggered instance with the additional members that plugins read. */
export const PluginTriggerAnswer = TriggerAnswer.extend({
  approvalCallbackURL: z.string(),
  rejectionCallbackURL: z.string(),
  navigationalURL: z.string(),
})

export const InstanceAnswer = z.looseObject({
  id: z.int(),
  approvalGateId: z.int(),
  gateName: z.string(),
  application: z.string().optional(),
  executionId: z.string(),
  status: z.enum(INSTANCE_STATES),
  comment: z.string(),
  triggeredBy: z.string().optional(),
  createdAt: Time,
  activatedAt: Time.optional(),
  expiresAt: Time.optional(),
  decidedAt: Time.optional(),
  decidedBy: z.string().optional(),
  isEvidencePending: z.boolean(),
  policyProblem: z.string().optional().describe("Why the gate's policy did not decide and a person has to."),
})

const Review = z.looseObject({
  person: z.string(),
  action: z.enum(['approve', 'reject', 'cancel']),
  comment: z.string(),
  groups: z.array(z.string()).optional(),
  onBehalfOf: z.string().optional().describe('The person who delegated the rights.'),
  at: Time,
})

const Callback = z.looseObject({
  id: z.int(),
  url: z.string(),
  state: z.string(),
  attempts: z.int(),
  lastStatus: z.int().optional(),
  lastError: z.string().optional(),
  settledAt: Time.optional(),
})

export const InstanceDetailsAnswer = InstanceAnswer.extend({
  approvals: z.int(),
  approvalsNeeded: z.int().optional(),
  approvers: Approvers.optional(),
  rules: z
    .looseObject({
      eachGroup: z.boolean(),
      missingGroups: z.array(z.string()).describe('Groups that still need an approval.'),
      triggererMayApprove: z.boolean(),
      commentRequired: z.boolean(),
      committersMayApprove: z.boolean(),
      committers: z.array(z.string()).optional().describe('People who may not approve; absent if unknown.'),
    })
    .optional(),
  reviews: z.array(Review),
  request: z.unknown().optional(),
  evidence: z.unknown(),
  callbacks: z.array(Callback),
})

export const StatusAnswer = z.object({
  status: z.enum(CONTRACT_STATES),
  comment: z.string(),
})

/** An instance status with the state that only plugins know. */
export const PluginStatusAnswer = z.object({
  status: z.enum([...CONTRACT_STATES, 'canceled']),
  comment: z.string(),
})

/**
 * The response to a review. It is always 200, since the orchestrator retries anything else
 * immediately and forever.
 */
export const OrchestratorReviewAnswer = z.looseObject({
  id: z.int().optional(),
  status: z.enum([...CONTRACT_STATES, 'canceled', 'unknown']),
  comment: z.string(),
})
