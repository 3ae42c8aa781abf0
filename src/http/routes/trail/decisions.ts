import { z } from 'zod'

import { findDecision, queryDecisions } from '../../../decisions/query-decisions.js'
import type { DecisionQueryDeps } from '../../../decisions/query-decisions.js'
import { AppError } from '../../../errors/app-error.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { textOf } from '../../input/path-parameter.js'
import { AfterText, NextPage, Time, json, pageSize } from '../../pipeline/answer-schemas.js'
import { withoutDataRoute } from '../../../rego/index.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** Absent when decisions are not kept. */
export type DecisionRoutesDeps = KeptDecisions | undefined

/** The decision log, and where several services share it, this one's own part of it. */
export interface KeptDecisions extends DecisionQueryDeps {
  readonly own?: DecisionQueryDeps | undefined
}

const MAX_PAGE = 500
const DEFAULT_PAGE = 50
const OUTCOMES = ['allow', 'deny', 'defined', 'undefined', 'error'] as const

const OwnQuery = z.strictObject({
  own: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'Where several services share a database: only what this one decided, from its own file, which needs no database.',
    ),
})
const PageQuery = z.strictObject({
  path: z
    .string()
    .transform(withoutDataRoute)
    .optional()
    .describe('The path that was asked; all below it where it ends in a slash.'),
  package: z
    .string()
    .optional()
    .describe(
      'The exact name of a package that denied, as `packages` of a decision has it: `static.wait_time`. Packages that allowed are not recorded.',
    ),
  outcome: z.enum(OUTCOMES).optional(),
  application: z.string().optional(),
  executionId: z.string().optional(),
  inputs: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `input` and `ndBuiltinCache`, which the page leaves out otherwise.'),
  ...TimeRange,
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterText,
  ...OwnQuery.shape,
})

const Decision = z.looseObject({
  decisionId: z.string(),
  time: Time,
  kind: z.enum(['static', 'data', 'default', 'runtime', 'query']),
  path: z.string(),
  revision: z.string(),
  outcome: z.enum(OUTCOMES),
  application: z.string().optional(),
  executionId: z.string().optional(),
  caller: z.string().optional(),
  replica: z.string().optional().describe('The service that decided, where several share the log.'),
  durationMs: z.number(),
  requestId: z.string().optional(),
  input: z.unknown().optional(),
  inputPrefix: z.string().optional(),
  inputBytes: z.int().optional(),
  inputTruncated: z.boolean().optional(),
  result: z.unknown().optional(),
  resultPrefix: z.string().optional(),
  ndBuiltinCache: z.unknown().optional(),
  packages: z
    .array(
      z.union([
        z.object({ package: z.string(), deny: z.array(z.string()), denyLeftOut: z.int().optional() }),
        z.object({ packagesLeftOut: z.int() }),
      ]),
    )
    .optional()
    .describe(
      'Each package that denies, with what it says; beyond decisions.maxResultBytes by name, with how many texts were left out, and last how many packages were.',
    ),
  error: z.string().optional(),
})

const { route } = routesOf<DecisionRoutesDeps>()

/** `GET /decisions` pages through the decision log, newest first and without inputs; `GET /decisions/{id}` shows one decision whole. */
export const decisionRoutes = [
  route({
    method: 'GET',
    path: '/decisions',
    roles: ['auditor'],
    handler: 'decisions',
    summary: 'The decision log, newest first',
    query: PageQuery,
    answers: {
      200: json('A page.', z.object({ decisions: z.array(Decision), ...NextPage })),
      404: { description: 'Decisions are not kept.' },
    },
    answer: async ({ query: { since, until, from, to, own, ...query } }, deps) => {
      const asked = { ...query, ...rangeOf({ since, until, from, to }) }
      return jsonAnswer(await fromLog(deps, own, (log) => queryDecisions(log, asked)))
    },
  }),
  route({
    method: 'GET',
    path: '/decisions/:decisionId',
    roles: ['auditor'],
    handler: 'decisions',
    summary: 'One decision',
    params: { decisionId: textOf('The id that the decision was answered with.') },
    query: OwnQuery,
    answers: { 200: json('The decision.', Decision) },
    answer: async ({ params, query: { own } }, deps) =>
      jsonAnswer(await fromLog(deps, own, (log) => findDecision(log, params.decisionId))),
  }),
]

/** Asks the log of all services, or that of this one; where the first is away, the error names the other. */
async function fromLog<T>(
  deps: DecisionRoutesDeps,
  own: 'true' | 'false' | undefined,
  read: (log: DecisionQueryDeps) => Promise<T>,
): Promise<T> {
  if (deps === undefined) {
    throw new AppError('not_found', 'decisions are not kept: set decisions.enabled to true', {
      code: 'not_found',
    })
  }
  if (deps.own === undefined) return await read(deps)
  if (own === 'true') return await read(deps.own)
  try {
    return await read(deps)
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind !== 'unavailable') throw raw
    const message = `${raw.message}; own=true shows what this service alone decided`
    throw new AppError('unavailable', message, { code: raw.code, cause: raw })
  }
}
