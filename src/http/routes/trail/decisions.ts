import { z } from 'zod'

import { findDecision, findStoredDecision, queryDecisions } from '../../../decisions/query-decisions.js'
import type { DecisionQueryDeps } from '../../../decisions/query-decisions.js'
import type { ExplainDecision } from '../../../explain/explain-decision.js'
import { AppError } from '../../../errors/app-error.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { textOf } from '../../input/path-parameter.js'
import { AfterText, NextPage, Time, WarningAnswer, json, pageSize } from '../../pipeline/answer-schemas.js'
import { EXPLAIN_MODES, withoutDataRoute } from '../../../rego/index.js'
import { Explanation } from './explanation-schema.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** Absent if decisions are not stored. */
export type DecisionRoutesDeps = KeptDecisions | undefined

/** The decision log, and this service's own part of a shared log. */
export interface KeptDecisions extends DecisionQueryDeps {
  readonly own?: DecisionQueryDeps | undefined
  readonly explain?: ExplainDecision | undefined
}

const MAX_PAGE = 500
const DEFAULT_PAGE = 50
const OUTCOMES = ['allow', 'deny', 'defined', 'undefined', 'error'] as const

const OwnQuery = z.strictObject({
  own: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'If several services share a database: only decisions of this service, read from its own file without the database.',
    ),
})
const PageQuery = z.strictObject({
  path: z
    .string()
    .transform(withoutDataRoute)
    .optional()
    .describe('Requested path; with a trailing slash, everything below it.'),
  package: z
    .string()
    .optional()
    .describe(
      'Exact name of a package that denied or warned, as in `packages` of a decision: `static.wait_time`. Other packages are not recorded.',
    ),
  rule: z
    .string()
    .optional()
    .describe(
      'Only denials that a rule may have given: its name (`deny`), or file and line as in `packages` (`static/wait_time.rego:10`).',
    ),
  outcome: z.enum(OUTCOMES).optional(),
  application: z.string().optional(),
  executionId: z.string().optional(),
  inputs: z.enum(['true', 'false']).optional().describe('Includes `input` and `ndBuiltinCache`.'),
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
  replica: z.string().optional().describe('The service that decided, if several share the log.'),
  durationMs: z.number(),
  requestId: z.string().optional(),
  traceId: z.string().optional().describe('Trace of the request (W3C Trace Context).'),
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
        z.object({
          package: z.string(),
          deny: z.array(z.string()),
          denyLeftOut: z.int().optional(),
          rules: z
            .array(z.object({ rule: z.string(), file: z.string(), row: z.int(), deny: z.array(z.string()) }))
            .optional()
            .describe(
              'Rules that may have given the reasons: those with such a text, else all of the package. Found when the log is read; absent if the policies of the revision are not stored.',
            ),
          warnings: z.array(WarningAnswer.omit({ package: true })).optional(),
          warningsLeftOut: z.int().optional(),
        }),
        z.object({ packagesLeftOut: z.int() }),
      ]),
    )
    .optional()
    .describe(
      'Each package that denied or warned with its reasons. Beyond decisions.maxResultBytes only names and the number of omitted reasons, and last the number of omitted packages.',
    ),
  error: z.string().optional(),
})

const WhyQuery = z.strictObject({
  explain: z
    .enum(EXPLAIN_MODES)
    .optional()
    .describe('`notes` for rules that fired, `fails` for those that did not, `full` (default) for both.'),
  package: z
    .string()
    .optional()
    .describe(
      'Only this package: `static.wait_time`. By default those that denied or warned if the decision is a denial, else all that were evaluated.',
    ),
  ...OwnQuery.shape,
})

const { route } = routesOf<DecisionRoutesDeps>()

/**
 * `GET /decisions` pages through the log, newest first and without inputs; `GET /decisions/{id}`
 * returns a whole decision.
 */
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
      404: { description: 'The decision log is disabled.' },
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
    params: { decisionId: textOf('Id from the response of the decision.') },
    query: OwnQuery,
    answers: { 200: json('The decision.', Decision) },
    answer: async ({ params, query: { own } }, deps) =>
      jsonAnswer(await fromLog(deps, own, (log) => findDecision(log, params.decisionId))),
  }),
  route({
    method: 'GET',
    path: '/decisions/:decisionId/why',
    roles: ['auditor'],
    handler: 'decisions',
    summary: 'Why a decision was made: the rules that fired, and the first failed condition of the others',
    params: { decisionId: textOf('Id from the response of the decision.') },
    query: WhyQuery,
    answers: {
      200: json('The explanation.', Explanation),
      404: { description: 'Neither the decision nor the policies of its revision are stored.' },
      409: { description: 'The stored input, data or Rego is incomplete.' },
    },
    answer: async ({ params, query: { own, explain = 'full', package: name } }, deps) => {
      const decision = await fromLog(deps, own, (log) => findStoredDecision(log, params.decisionId))
      if (deps?.explain === undefined) throw new AppError('not_found', 'Decisions are not explained here.')
      return jsonAnswer(await deps.explain(decision, { mode: explain, package: name }))
    },
  }),
]

/**
 * Reads the shared log, or this service's own. If the shared log is unavailable, the error suggests
 * `own=true`.
 */
async function fromLog<T>(
  deps: DecisionRoutesDeps,
  own: 'true' | 'false' | undefined,
  read: (log: DecisionQueryDeps) => Promise<T>,
): Promise<T> {
  if (deps === undefined) {
    throw new AppError('not_found', 'The decision log is disabled. Set decisions.enabled to true.', {
      code: 'not_found',
    })
  }
  if (deps.own === undefined) return await read(deps)
  if (own === 'true') return await read(deps.own)
  try {
    return await read(deps)
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind !== 'unavailable') throw raw
    const message = `${raw.message}; own=true reads the decisions of this service alone`
    throw new AppError('unavailable', message, { code: raw.code, cause: raw })
  }
}
