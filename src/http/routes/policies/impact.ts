import { z } from 'zod'

import { ImpactRequest } from '../../../impact/impact-request.js'
import { ImpactResult } from '../../../impact/impact-result.js'
import type { ImpactRuns } from '../../../impact/impact-runs.js'
import { ShadowView } from '../../../impact/shadow-view.js'
import { AppError } from '../../../errors/app-error.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody } from '../../input/body-reader.js'
import type { BodyLimits } from '../../input/body-reader.js'
import { textOf } from '../../input/path-parameter.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface ImpactRoutesDeps extends BodyLimits {
  /** Absent without `policies.shadow`. */
  readonly shadow: (() => ShadowView) | undefined
  readonly runs: Pick<ImpactRuns, 'start' | 'get' | 'list' | 'remove'>
}

const Run = z.object({
  impactId: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  startedAt: Time,
  endedAt: Time.optional(),
  progress: z.object({
    phase: z.enum(['compiling', 'evaluating']),
    seen: z.int().describe('Number of inputs so far.'),
    flips: z.int(),
  }),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      errors: z.array(z.looseObject({ code: z.string(), message: z.string() })),
    })
    .optional()
    .describe('Why the run failed, such as a candidate that does not compile.'),
})
const RunWithResult = Run.extend({
  result: ImpactResult.optional().describe('Present if the state is done.'),
})
const ID = { impactId: textOf('Id from the response of POST /policies/impact.') }
const COMMON = { roles: ['author', 'auditor'], handler: 'policy_impact' } as const
const { route } = routesOf<ImpactRoutesDeps>()

/** Comparisons of a candidate with the policies that serve. */
export const impactRoutes = [
  route({
    ...COMMON,
    method: 'POST',
    path: '/policies/impact',
    summary: 'Start comparing policies with those that serve, over stored decisions and pipelines',
    body: jsonBody(ImpactRequest),
    answers: {
      202: {
        ...json('The run. Poll it until its state is done or failed.', Run),
        headers: { Location: 'URL of the run.' },
      },
      503: { description: 'Another comparison is running.' },
    },
    answer: ({ body }, { runs }) => {
      const run = runs.start(body)
      return jsonAnswer(run, 202, { Location: `/policies/impact/${run.impactId}` })
    },
  }),
  route({
    ...COMMON,
    method: 'GET',
    path: '/policies/impact',
    summary: 'The latest comparisons, without their results',
    answers: { 200: json('The runs, newest first.', z.object({ runs: z.array(Run) })) },
    answer: (_, { runs }) => jsonAnswer({ runs: runs.list() }),
  }),
  route({
    ...COMMON,
    method: 'GET',
    path: '/policies/impact/:impactId',
    summary: 'A comparison with its progress and result',
    params: ID,
    answers: { 200: json('The run.', RunWithResult) },
    answer: ({ params }, { runs }) => jsonAnswer(runs.get(params.impactId)),
  }),
  route({
    ...COMMON,
    method: 'DELETE',
    path: '/policies/impact/:impactId',
    summary: 'Stop a comparison and forget its result',
    params: ID,
    answers: { 200: json('It is removed.', z.object({ removed: z.string() })) },
    answer: async ({ params: { impactId } }, { runs }) => {
      await runs.remove(impactId)
      return jsonAnswer({ removed: impactId })
    },
  }),
  route({
    ...COMMON,
    method: 'GET',
    path: '/policies/shadow',
    summary: 'Decisions that the shadow of the policies would have made differently',
    answers: {
      200: json('The comparison so far.', ShadowView),
      404: { description: 'No shadow is configured.' },
    },
    answer: (_, { shadow }) => {
      if (shadow !== undefined) return jsonAnswer(shadow())
      throw new AppError('not_found', 'No shadow is configured. Set policies.shadow.directories or bundles.')
    },
  }),
]
