import { Hono } from 'hono'
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { z } from 'zod'

import {
  cancelRun,
  deleteDefinition,
  findDefinition,
  findRun,
  listDefinitions,
  listRuns,
  undefinedAnalysis,
} from '../../../analysis/runs/analysis-operations.js'
import { defineAnalysis } from '../../../analysis/runs/define-analysis.js'
import { readRegistration } from '../../../analysis/runs/definitions/registration.js'
import { registerCanary } from '../../../analysis/runs/register-canary.js'
import {
  shownDocument,
  showLookData,
  showLookReport,
  showRun,
  summariseRun,
} from '../../../analysis/runs/show-run.js'
import type { AppEnv } from '../../exchange/exchange.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { actorOf } from '../../exchange/caller-of.js'
import { renderRun } from '../../analysis-report/report-page.js'
import { jsonAnswer, jsonTextAnswer } from '../../exchange/json-answer.js'
import { parseQuery } from '../../input/parse-query.js'
import { requirePathNumber } from '../../input/path-number.js'
import { readSentDocument, readSentRegistration } from '../../input/read-document.js'
import { JSON_TYPE } from '../../exchange/exchange.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'

const DEFAULT_PAGE = 50
const MAX_PAGE = 500

const ListQuery = z.strictObject({
  application: z.string().optional(),
  executionId: z.string().optional(),
  state: z
    .string()
    .toUpperCase()
    .pipe(z.enum(['RUNNING', 'COMPLETED', 'CANCELLED']))
    .optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
  cursor: z.coerce.number().int().min(1).optional(),
})

/** The page needs nothing but its own style, and its link must not travel on. */
const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}

const DataQuery = z.strictObject({ look: z.coerce.number().int().min(1).optional() })

/** Analyses for people and for the command line: definitions, runs, reports and the data that a replay needs. */
export function analysisRoutes(authenticate: Authenticate, deps: AnalysisRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  // Before the check of tokens: whoever holds the link may read this one report.
  app.get('/report/:id/:token', (c) => linkedReport(c, deps))
  app.get('/report/:id/:token/:service', (c) => linkedReport(c, deps))
  app.use(async (c, next) => {
    c.env.exchange.handler = 'analysis'
    const roles =
      c.req.method === 'GET' ? (['orchestrator', 'approver', 'auditor'] as const) : (['admin'] as const)
    authenticate(c.env.exchange, roles)
    await next()
  })
  addDefinitionRoutes(app, deps)
  app.get('/', async (c) => {
    const { cursor, ...filter } = parseQuery(ListQuery, c.req.query())
    const runs = await deps.reader.run(listRuns, { ...filter, beforeId: cursor })
    const last = runs.length < filter.limit ? undefined : runs.at(-1)
    return jsonAnswer({ runs: runs.map(summariseRun), ...(last && { next: String(last.id) }) })
  })
  app.post('/', async (c) => {
    const registration = readRegistration(await readSentRegistration(c.env.exchange, deps.maxBodyBytes))
    const { id } = await registerCanary(deps, registration, actorOf(c.env.exchange, deps))
    return jsonAnswer({ id }, 201, { Location: `/analysis/${id}` })
  })
  app.get('/:id', async (c) => {
    const id = runIdOf(c.req.param('id'))
    const wantsPage = accepts(c, {
      header: 'Accept',
      supports: ['application/json', 'text/html'],
      default: 'application/json',
    })
    if (wantsPage === 'text/html') return reportPage(deps, id)
    return jsonTextAnswer(await deps.reader.run(showRun, id))
  })
  app.get('/:id/looks/:look', async (c) => {
    const id = runIdOf(c.req.param('id'))
    const look = requirePathNumber(c.req.param('look'), 'look')
    return jsonTextAnswer(await deps.reader.run(showLookReport, { id, look }))
  })
  app.get('/:id/data', (c) => lookData(deps, c.req.param('id'), c.req.query(), 'data'))
  app.get('/:id/lines', (c) => lookData(deps, c.req.param('id'), c.req.query(), 'lines'))
  app.post('/:id/cancel', async (c) => {
    const id = runIdOf(c.req.param('id'))
    const run = await deps.writer.run(cancelRun, { id, actor: actorOf(c.env.exchange, deps) })
    deps.forget(id)
    return jsonAnswer(summariseRun(run))
  })
  return app
}

function addDefinitionRoutes(app: Hono<AppEnv>, deps: AnalysisRoutesDeps): void {
  app.get('/applications', async () => {
    const definitions = await deps.reader.run(listDefinitions, null)
    return jsonAnswer({
      applications: definitions.map(({ definition, ...about }) => ({
        ...about,
        definition: shownDocument(definition),
      })),
    })
  })
  app.get('/applications/:application', async (c) => {
    const application = c.req.param('application')
    const found = await deps.reader.run(findDefinition, application)
    if (found === undefined) throw undefinedAnalysis(application)
    return jsonAnswer(shownDocument(found.definition))
  })
  app.put('/applications/:application', async (c) => {
    const { document } = await readSentDocument(c.env.exchange, deps.maxBodyBytes, 'the definition')
    const actor = actorOf(c.env.exchange, deps)
    const application = c.req.param('application')
    const request = { application, document, origin: 'api' } as const
    const { definition, warnings } = await defineAnalysis(deps, request, actor)
    return jsonAnswer({ ...definition, ...(warnings.length > 0 && { warnings }) })
  })
  app.delete('/applications/:application', async (c) => {
    const application = c.req.param('application')
    await deps.writer.run(deleteDefinition, { application, actor: actorOf(c.env.exchange, deps) })
    return jsonAnswer({ application, deleted: true })
  })
}

/** Sent as it is stored: unpacking it here would only hold decisions up. */
async function lookData(
  deps: AnalysisRoutesDeps,
  id: string,
  query: Readonly<Record<string, string>>,
  part: 'data' | 'lines',
): Promise<Response> {
  const { look } = parseQuery(DataQuery, query)
  const packed = await deps.reader.run(showLookData, { id: runIdOf(id), look, part })
  return new Response(Buffer.from(packed), {
    headers: { 'Content-Type': JSON_TYPE, 'Content-Encoding': 'gzip' },
  })
}

async function linkedReport(c: Context<AppEnv>, deps: AnalysisRoutesDeps): Promise<Response> {
  c.env.exchange.handler = 'analysis'
  const id = runIdOf(c.req.param('id'))
  const run = await deps.reader.run(findRun, id)
  deps.reportLinks.check(run, c.req.param('token') ?? '', deps.now())
  return await reportPage(deps, id)
}

async function reportPage(deps: AnalysisRoutesDeps, id: number): Promise<Response> {
  return new Response(await deps.reader.run(renderRun, id), { headers: PAGE_HEADERS })
}

function runIdOf(text: string | undefined): number {
  return requirePathNumber(text, 'analysis')
}
