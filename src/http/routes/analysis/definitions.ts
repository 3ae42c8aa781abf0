import { z } from 'zod'

import type { Role } from '../../../config/sections/roles.js'
import {
  deleteDefinition,
  findDefinition,
  listDefinitions,
  undefinedAnalysis,
} from '../../../analysis/runs/analysis-operations.js'
import { defineAnalysis } from '../../../analysis/runs/define-analysis.js'
import { listPrecision } from '../../../analysis/runs/feedback.js'
import { shownDocument } from '../../../analysis/runs/show-run.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { documentBody, jsonBody } from '../../input/body-reader.js'
import { textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { ReportAnswer } from './analysis-answers.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'

/** Roles that may read analyses. */
export const READERS: readonly Role[] = ['orchestrator', 'approver', 'auditor']
const APPLICATION = { application: textOf('The name of the application.') }
const Definition = z.looseObject({})
const MAX_MINUTES = 1440
const ScopeValues = z.record(z.string(), z.string()).default({})
const TryBody = z.strictObject({
  minutes: z
    .number()
    .int()
    .min(3)
    .max(MAX_MINUTES)
    .default(60)
    .describe('Length in minutes of the time range.'),
  until: z.iso.datetime({ offset: true }).optional().describe('End of the time range; now by default.'),
  judge: z
    .boolean()
    .default(false)
    .describe('Whether to judge the data as an analysis would. The verdict is not stored.'),
  definition: Definition.optional().describe('A definition to try instead of the stored one.'),
  baseline: ScopeValues.describe('Scope values of the baseline.'),
  canary: ScopeValues.describe('Scope values of the canary.'),
})
const MAX_DAYS = 400
const MAX_WINDOWS = 24
const BacktestBody = z.strictObject({
  daysAgo: z.number().int().min(1).max(MAX_DAYS).default(1).describe('How many days ago the day began.'),
  windows: z
    .number()
    .int()
    .min(1)
    .max(MAX_WINDOWS)
    .default(4)
    .describe('Maximum number of windows, each as long as an analysis.'),
  baseline: ScopeValues.describe('Scope values of the baseline.'),
})
const Outcomes = z.object({ judged: z.int(), failed: z.int(), reviews: z.int() })
const Backtest = z.object({
  application: z.string(),
  window: z.object({ startMs: z.number(), endMs: z.number() }),
  windows: z.int(),
  judge: z.string(),
  lifetimeMinutes: z.number(),
  verdicts: z.object({ Success: z.int(), Review: z.int(), Fail: z.int() }),
  metrics: z.array(
    z.object({
      target: z.string(),
      name: z.string(),
      pairings: z.array(z.string()),
      unchanged: Outcomes,
      changes: z.record(z.string(), Outcomes),
      detectable: z.array(z.number()),
      margin: z.number().nullable(),
      problems: z.array(z.string()),
    }),
  ),
})
const Judgements = { right: z.int(), falseAlarms: z.int(), missed: z.int() }
const Precision = z.object({
  application: z.string(),
  ...Judgements,
  metrics: z.array(z.object({ metric: z.string(), ...Judgements, precision: z.number().nullable() })),
})
const Tried = z.object({
  application: z.string(),
  window: z.object({ startMs: z.number(), endMs: z.number() }),
  warnings: z.array(z.string()),
  report: ReportAnswer.optional().describe('The report of the judge, if it was requested.'),
  targets: z.array(
    z.object({
      name: z.string(),
      metrics: z.array(z.looseObject({})),
      logs: z.looseObject({}).optional(),
      checks: z.array(z.looseObject({})).optional(),
    }),
  ),
})
const { route } = routesOf<AnalysisRoutesDeps>()

/** `/analysis/applications`, the definitions of analyses. */
export const definitionRoutes = [
  route({
    method: 'GET',
    path: '/analysis/applications',
    roles: READERS,
    handler: 'analysis',
    summary: 'All analysis definitions',
    answers: {
      200: json(
        'The definitions.',
        z.object({ applications: z.array(z.looseObject({ definition: Definition })) }),
      ),
    },
    answer: async (_, { reader }) => {
      const definitions = await reader.run(listDefinitions, null)
      return jsonAnswer({
        applications: definitions.map(({ definition, ...about }) => ({
          ...about,
          definition: shownDocument(definition),
        })),
      })
    },
  }),
  route({
    method: 'GET',
    path: '/analysis/applications/:application',
    roles: READERS,
    handler: 'analysis',
    summary: 'The analysis definition of an application',
    params: APPLICATION,
    answers: { 200: json('The definition.', Definition) },
    answer: async ({ params: { application } }, { reader }) => {
      const found = await reader.run(findDefinition, application)
      if (found === undefined) throw undefinedAnalysis(application)
      return jsonAnswer(shownDocument(found.definition))
    },
  }),
  route({
    method: 'PUT',
    path: '/analysis/applications/:application',
    roles: ['admin'],
    handler: 'analysis',
    summary: 'Define the analysis of an application',
    params: APPLICATION,
    body: documentBody('the definition'),
    answers: { 200: json('The definition, with warnings.', Definition) },
    answer: async ({ exchange, params: { application }, body: { document } }, deps) => {
      const request = { application, document, origin: 'api' } as const
      const { definition, warnings } = await defineAnalysis(deps, request, actorOf(exchange, deps))
      return jsonAnswer({ ...definition, ...(warnings.length > 0 && { warnings }) })
    },
  }),
  route({
    method: 'POST',
    path: '/analysis/applications/:application/try',
    roles: ['admin'],
    handler: 'analysis',
    summary: 'Run all queries of a definition, and judge the results, without storing anything',
    params: APPLICATION,
    body: jsonBody(TryBody),
    answers: { 200: json('The results of the queries.', Tried) },
    answer: async ({ exchange, params: { application }, body }, deps) => {
      const { minutes, until, judge, definition, ...scopes } = body
      const { judged, ...tried } = await deps.trials.try({
        ...{ application, definition, minutes, scopes, judges: judge },
        untilMs: until === undefined ? undefined : Date.parse(until),
        ...actorOf(exchange, deps),
      })
      return jsonAnswer({ ...tried, ...(judged && { report: judged.report }) })
    },
  }),
  route({
    method: 'GET',
    path: '/analysis/applications/:application/feedback',
    roles: READERS,
    handler: 'analysis',
    summary: 'How often the verdicts of an application were right, by metric',
    params: APPLICATION,
    answers: { 200: json('Counts of judgements.', Precision) },
    answer: async ({ params: { application } }, { reader }) =>
      jsonAnswer(await reader.run(listPrecision, application)),
  }),
  route({
    method: 'POST',
    path: '/analysis/applications/:application/backtest',
    roles: ['admin'],
    handler: 'analysis',
    summary: 'Judge one past day of the baseline against itself, unchanged and changed',
    params: APPLICATION,
    body: jsonBody(BacktestBody),
    answers: {
      200: json('The outcomes of the metrics.', Backtest),
      409: { description: 'The definition has no metrics.' },
    },
    answer: async ({ exchange, params: { application }, body: { baseline, ...day } }, deps) => {
      const scopes = { baseline, canary: {} }
      return jsonAnswer(
        await deps.trials.backtest({ application, scopes, ...day, ...actorOf(exchange, deps) }),
      )
    },
  }),
  route({
    method: 'DELETE',
    path: '/analysis/applications/:application',
    roles: ['admin'],
    handler: 'analysis',
    summary: 'Delete a definition',
    params: APPLICATION,
    answers: {
      200: json('It is gone.', z.object({ application: z.string(), deleted: z.literal(true) })),
      409: { description: 'A configuration file defines the application.' },
    },
    answer: async ({ exchange, params: { application } }, deps) => {
      await deps.writer.run(deleteDefinition, { application, actor: actorOf(exchange, deps) })
      return jsonAnswer({ application, deleted: true })
    },
  }),
]
