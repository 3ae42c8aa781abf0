import { z } from 'zod'

import { cancelRun, listRuns } from '../../../analysis/runs/analysis-operations.js'
import { giveFeedback } from '../../../analysis/runs/feedback.js'
import { readRegistration } from '../../../analysis/runs/definitions/registration.js'
import { registerCanary } from '../../../analysis/runs/register-canary.js'
import {
  showIntervalData,
  showIntervalReport,
  showRun,
  summariseRun,
} from '../../../analysis/runs/show-run.js'
import { JUDGEMENTS } from '../../../store/ports/analysis-store.js'
import { actorOf } from '../../exchange/caller-of.js'
import { JSON_TYPE } from '../../exchange/exchange.js'
import { jsonAnswer, jsonTextAnswer } from '../../exchange/json-answer.js'
import { jsonBody, registrationBody } from '../../input/body-reader.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { numberOf } from '../../input/path-parameter.js'
import { AfterNumber, NextNumber, json, nextNumber, pageSize } from '../../pipeline/answer-schemas.js'
import { writtenName, writtenText } from '../../../lib/validation/written-text.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { ReportAnswer, RUN_STATES, RunAnswer, RunDetailsAnswer } from './analysis-answers.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'
import { definitionRoutes, READERS } from './definitions.js'
import { PICTURE, reportPage, reportPicture, reportRoutes } from './reports.js'

const DEFAULT_PAGE = 50
const MAX_PAGE = 500

const ListQuery = z.strictObject({
  application: z.string().optional(),
  executionId: z.string().optional(),
  state: z
    .string()
    .toUpperCase()
    .pipe(z.enum(RUN_STATES))
    .optional()
    .describe(`One of ${RUN_STATES.join(', ')}, in any letter case.`),
  ...TimeRange,
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterNumber,
})
const IntervalNumber = z.coerce.number().int().min(1).optional()
const DataQuery = z.strictObject({
  interval: IntervalNumber.describe('Number of the interval; the last by default.'),
  look: IntervalNumber.describe('Former name of `interval`.'),
})
const MAX_COMMENT = 2000
const MAX_NAMED = 100
export const FeedbackBody = z.strictObject({
  judgement: z.enum(JUDGEMENTS).describe('Whether the verdict was right, a false alarm, or missed a change.'),
  metrics: z
    .array(writtenName(MAX_COMMENT))
    .max(MAX_NAMED)
    .default([])
    .describe('The metrics that it is about; those that caused the verdict by default.'),
  comment: writtenText(MAX_COMMENT).optional(),
})
const RUN = { id: numberOf('analysis') }
const READ = { method: 'GET', roles: READERS, handler: 'analysis' } as const
const CHANGE = { method: 'POST', roles: ['admin'], handler: 'analysis' } as const
const { route } = routesOf<AnalysisRoutesDeps>()

const runRoutes = [
  route({
    ...READ,
    path: '/analysis',
    summary: 'Analyses, newest first',
    query: ListQuery,
    answers: { 200: json('A page.', z.object({ runs: z.array(RunAnswer), ...NextNumber })) },
    answer: async ({ query: { application, executionId, state, limit, cursor, ...range } }, { reader }) => {
      const filter = { application, executionId, state, limit, beforeId: cursor, ...rangeOf(range) }
      const runs = await reader.run(listRuns, filter)
      const last = runs.length < limit ? undefined : runs.at(-1)
      return jsonAnswer({ runs: runs.map(summariseRun), ...nextNumber(last?.id) })
    },
  }),
  route({
    ...CHANGE,
    path: '/analysis',
    summary: 'Start an analysis',
    body: registrationBody,
    answers: {
      201: {
        ...json('Its number.', z.object({ id: z.int() })),
        headers: { Location: 'URL of the analysis.' },
      },
      409: { description: 'No analysis is defined for the application.' },
    },
    answer: async ({ exchange, body }, deps) => {
      const { id } = await registerCanary(deps, readRegistration(body), actorOf(exchange, deps))
      return jsonAnswer({ id }, 201, { Location: `/analysis/${id}` })
    },
  }),
  route({
    ...READ,
    path: '/analysis/:id',
    summary: 'One analysis, as JSON or HTML',
    params: RUN,
    answers: {
      200: { ...json('The analysis.', RunDetailsAnswer), types: ['application/json', 'text/html'] },
    },
    answer: async ({ params: { id }, prefers }, deps) => {
      if (prefers('application/json', 'text/html') === 'text/html') return await reportPage(deps, id)
      return jsonTextAnswer(await deps.reader.run(showRun, id))
    },
  }),
  route({
    ...READ,
    path: '/analysis/:id/chart.png',
    summary: 'Verdict, reason and chart of an analysis as a picture for chat',
    params: RUN,
    answers: PICTURE,
    answer: ({ params: { id } }, deps) => reportPicture(deps, id),
  }),
  route({
    ...READ,
    path: '/analysis/:id/intervals/:interval',
    summary: 'The report of one interval',
    params: { ...RUN, interval: numberOf('interval') },
    answers: { 200: json('The report.', ReportAnswer) },
    answer: async ({ params }, { reader }) => jsonTextAnswer(await reader.run(showIntervalReport, params)),
  }),
  route({
    ...READ,
    path: '/analysis/:id/looks/:look',
    summary: 'The report of one interval, at its former path',
    params: { ...RUN, look: numberOf('interval') },
    answers: { 200: json('The report.', ReportAnswer) },
    answer: async ({ params: { id, look } }, { reader }) =>
      jsonTextAnswer(await reader.run(showIntervalReport, { id, interval: look })),
  }),
  route({
    ...READ,
    path: '/analysis/:id/data',
    summary: 'The data of an interval, except for log lines',
    params: RUN,
    query: DataQuery,
    answers: { 200: json('The data, gzipped.', z.looseObject({})) },
    answer: ({ params, query }, deps) => fetchedData(deps, params.id, query, 'data'),
  }),
  route({
    ...READ,
    path: '/analysis/:id/lines',
    summary: 'The log lines of an interval',
    params: RUN,
    query: DataQuery,
    answers: { 200: json('The lines of each log, gzipped.', z.array(z.unknown())) },
    answer: ({ params, query }, deps) => fetchedData(deps, params.id, query, 'lines'),
  }),
  route({
    ...CHANGE,
    path: '/analysis/:id/feedback',
    roles: ['approver'],
    summary: 'Say whether the verdict of an analysis was right',
    params: RUN,
    body: jsonBody(FeedbackBody),
    answers: {
      200: json('The analysis.', RunAnswer),
      409: { description: 'It has no final verdict, or none that can be wrong in this way.' },
    },
    answer: async ({ exchange, params: { id }, body }, deps) =>
      jsonAnswer(
        summariseRun(await giveFeedback(deps, { comment: undefined, ...body, id }, actorOf(exchange, deps))),
      ),
  }),
  route({
    ...CHANGE,
    path: '/analysis/:id/cancel',
    summary: 'Cancel an analysis',
    params: RUN,
    answers: { 200: json('The analysis.', RunAnswer) },
    answer: async ({ exchange, params: { id } }, deps) => {
      const run = await deps.writer.run(cancelRun, { id, actor: actorOf(exchange, deps) })
      deps.forget(id)
      return jsonAnswer(summariseRun(run))
    },
  }),
]

/**
 * Analyses for people and the command line: definitions, runs, reports, and the data for a replay.
 */
export const analysisRoutes = [...reportRoutes, ...definitionRoutes, ...runRoutes]

/** Sent gzipped as stored, since decompressing it would block decisions. */
async function fetchedData(
  { reader }: AnalysisRoutesDeps,
  id: number,
  { look, interval = look }: z.infer<typeof DataQuery>,
  part: 'data' | 'lines',
): Promise<Response> {
  const packed = await reader.run(showIntervalData, { id, interval, part })
  return new Response(Buffer.from(packed), {
    headers: { 'Content-Type': JSON_TYPE, 'Content-Encoding': 'gzip', 'Cache-Control': 'no-store' },
  })
}
