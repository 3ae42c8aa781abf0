import { z } from 'zod'

import { ImpactRequest } from '../../../impact/impact-request.js'
import { ImpactResult } from '../../../impact/impact-result.js'
import type { ImpactRuns } from '../../../impact/impact-runs.js'
import { ShadowView } from '../../../impact/shadow-view.js'
import { AppError } from '../../../errors/app-error.js'
import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import type { BodyLimits, BodyReader } from '../../input/body-reader.js'
import { textOf } from '../../input/path-parameter.js'
import { readJsonBody } from '../../input/read-json-body.js'
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
const BUNDLE_TYPES = ['application/gzip', 'application/vnd.openpolicyagent.bundles']
const BundleQuery = z.strictObject({
  name: z.string().optional().describe('Name of a bundle in the result, such as a branch.'),
  against: z.string().optional().describe('`serving` by default, or a revision that is stored.'),
  over: z.string().optional().describe('`decisions` (default), `pipelines`, or both joined by a comma.'),
  since: z.string().optional().describe('Earliest decision.'),
  until: z.string().optional().describe('Latest decision, exclusive.'),
  application: z.string().optional(),
  limit: z.coerce.number().optional().describe('Maximum inputs, the newest decisions first.'),
})
type BundleQuery = z.output<typeof BundleQuery>

/** Reads a request as JSON, or a bundle whose other members are in the query. */
const impactBody: BodyReader<BodyLimits, (query: BundleQuery) => ImpactRequest> = {
  description: 'The comparison as JSON, or the bundle itself with the other members in the query.',
  schema: ImpactRequest,
  binaryTypes: BUNDLE_TYPES,
  read: async (exchange, { maxBodyBytes }) => {
    const [type = ''] = (exchange.header('content-type') ?? '').toLowerCase().split(';')
    if (BUNDLE_TYPES.includes(type.trim())) {
      const bundle = await exchange.readBytes(maxBodyBytes)
      return (query) => requestForBundle(bundle, query)
    }
    const request = await readJsonBody(exchange, ImpactRequest, maxBodyBytes)
    return (query) => {
      if (Object.values(query).every((value) => value === undefined)) return request
      throw new AppError('invalid', `with JSON, ${Object.keys(query).join(', ')} must be in the body`)
    }
  },
}

function requestForBundle(bundle: Buffer, { name, over, ...rest }: BundleQuery): ImpactRequest {
  if (bundle[0] !== GZIP[0] || bundle[1] !== GZIP[1])
    throw new AppError('invalid', 'the body is no bundle: it must be a tar archive that gzip compressed')
  const written = {
    policies: { bundle: '', ...(name !== undefined && { name }) },
    ...(over !== undefined && { over: over.split(',') }),
    ...rest,
  }
  const request = readBySchema(ImpactRequest, written, { name: 'the query', code: 'invalid_parameter' })
  return { ...request, policies: { ...request.policies, archive: bundle } }
}

/** The first bytes of a gzip file (RFC 1952). */
const GZIP = [0x1f, 0x8b] as const
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
    query: BundleQuery,
    body: impactBody,
    answers: {
      202: {
        ...json('The run. Poll it until its state is done or failed.', Run),
        headers: { Location: 'URL of the run.' },
      },
      503: { description: 'Another comparison is running.' },
    },
    answer: ({ body, query }, { runs }) => {
      const run = runs.start(body(query))
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
