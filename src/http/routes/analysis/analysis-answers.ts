import { z } from 'zod'

import { JUDGEMENTS } from '../../../store/ports/analysis-store.js'
import { Time } from '../../pipeline/answer-schemas.js'

export const RUN_STATES = ['RUNNING', 'COMPLETED', 'CANCELLED'] as const
const Verdict = z.enum(['Success', 'Review', 'Fail'])

/** A run in a list. */
export const RunAnswer = z.looseObject({
  id: z.int(),
  application: z.string(),
  executionId: z.string().optional(),
  owner: z.string().optional(),
  state: z.enum(RUN_STATES),
  score: z.number().optional(),
  unscored: z.string().optional().describe('Why the score says nothing.'),
  verdict: Verdict.optional(),
  message: z.string(),
  errors: z.array(z.string()),
  intervalCount: z.int(),
  intervalsDone: z.int(),
  looks: z.int().describe('Former name of `intervalCount`.'),
  looksDone: z.int().describe('Former name of `intervalsDone`.'),
  startedAt: Time,
  nextIntervalAt: Time.optional(),
  nextLookAt: Time.optional().describe('Former name of `nextIntervalAt`.'),
  finishedAt: Time.optional(),
  feedback: z
    .looseObject({ judgement: z.enum(JUDGEMENTS), metrics: z.array(z.string()), at: Time })
    .optional(),
})

/** A run with its plan, its intervals and the last report. */
export const RunDetailsAnswer = RunAnswer.extend({
  plan: z.looseObject({}),
  intervals: z.array(
    z.looseObject({ interval: z.int(), at: Time, score: z.number(), verdict: Verdict, reason: z.string() }),
  ),
  report: z.looseObject({}).optional(),
})

/** The report of one interval. */
export const ReportAnswer = z.looseObject({ score: z.number(), verdict: Verdict, reason: z.string() })

/** The status that the orchestrator polls. Errors have all members, too. */
export const CanaryStatusAnswer = z.looseObject({
  id: z.string(),
  application: z.string(),
  services: z.array(z.string()),
  status: z.object({ complete: z.boolean(), status: z.enum(RUN_STATES) }),
  canaryResult: z.looseObject({
    canaryReportURL: z.string(),
    verificationUrl: z.string().optional(),
    overallScore: z.number(),
    overallResult: Verdict,
    intervalNo: z.int(),
    isLastRun: z.boolean(),
    message: z.string(),
    errors: z.array(z.string()),
  }),
  canaryConfig: z.looseObject({}),
})
