import { z } from 'zod'

import type { PolicySource } from '../../../distribution/policy-source.js'
import type { SourceSet } from '../../../distribution/source-set.js'
import type { AppError } from '../../../errors/app-error.js'
import { locationNames, withPublicNames, type Policies, type PublicNames } from '../../../rego/index.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface PolicySourceRoutesDeps {
  readonly policies: Policies
  readonly sources: SourceSet
}

const Errors = z
  .array(z.looseObject({ message: z.string() }))
  .optional()
  .describe('Details of the problem.')
const Source = z.object({
  name: z.string(),
  revision: z.string().optional().describe('Revision that serves.'),
  digest: z.string().optional().describe('SHA-256 of the bundle that serves, in hex.'),
  activatedAt: Time.optional(),
  reachedAt: Time.optional().describe('Time of the last successful request.'),
  isStale: z.boolean(),
  problem: z.string().optional().describe('Why the last request failed, or the last bundle does not serve.'),
  errors: Errors,
})
const Answer = z.object({
  revision: z.string().describe('Revision of all policies.'),
  activatedAt: Time,
  staged: z
    .object({ revision: z.string(), since: Time, sharePercent: z.int() })
    .optional()
    .describe('The revision that answers a share of requests.'),
  pinned: z.string().optional().describe('The revision that serves until it is unpinned.'),
  problem: z.string().optional().describe('Why the last reload failed.'),
  errors: Errors,
  sources: z.array(Source),
  discovery: Source.optional().describe('The discovery bundle of the configuration of OPA.'),
})

const { route } = routesOf<PolicySourceRoutesDeps>()

/** `GET /policies/sources` and `POST /policies/refresh`. */
export const policySourceRoutes = [
  route({
    method: 'GET',
    path: '/policies/sources',
    roles: ['auditor'],
    handler: 'policies',
    summary: 'The revisions that serve and the sources they come from',
    answers: { 200: json('The sources.', Answer) },
    answer: (_, deps) => jsonAnswer(describeSources(deps)),
  }),
  route({
    method: 'POST',
    path: '/policies/refresh',
    roles: ['admin'],
    handler: 'policies',
    summary: 'Download and load the policies now',
    answers: { 200: json('The sources afterwards. Failures are shown as problems.', Answer) },
    answer: async ({ exchange }, deps) => {
      await deps.sources.refresh(exchange.callerName)
      return jsonAnswer(describeSources(deps))
    },
  }),
]

function describeSources({ policies, sources }: PolicySourceRoutesDeps): z.output<typeof Answer> {
  const { current, activatedAt, failure, staged } = policies
  const names = locationNames(policies.locations)
  return {
    revision: current.revision,
    activatedAt: activatedAt.toISOString(),
    ...(staged !== undefined && {
      staged: {
        ...{ revision: staged.snapshot.revision, since: staged.since.toISOString() },
        sharePercent: staged.sharePercent,
      },
    }),
    ...(policies.pinned !== undefined && { pinned: policies.pinned }),
    ...describeProblem(failure?.error, names),
    sources: sources.sources.map((source) => describeSource(source, names)),
    ...(sources.discovery !== undefined && { discovery: describeSource(sources.discovery, names) }),
  }
}

function describeSource(
  { name, serving, state, isStale }: PolicySource,
  names: PublicNames,
): z.output<typeof Source> {
  const problem = state.fetchError ?? state.activationError
  return {
    name,
    ...(serving !== undefined && {
      revision: serving.revision,
      digest: serving.digest,
      activatedAt: new Date(serving.activatedMs).toISOString(),
    }),
    ...(state.reachedMs !== undefined && { reachedAt: new Date(state.reachedMs).toISOString() }),
    isStale,
    ...describeProblem(problem, names),
  }
}

/** Returns an error without paths of the server. */
function describeProblem(
  error: AppError | undefined,
  names: PublicNames,
): Pick<z.output<typeof Source>, 'problem' | 'errors'> {
  if (error === undefined) return {}
  const { message, details } = withPublicNames(error, names)
  return { problem: message, ...(details.length > 0 && { errors: details.map((detail) => ({ ...detail })) }) }
}
