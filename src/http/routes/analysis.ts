import { Hono } from 'hono'
import { z } from 'zod'

import {
  cancelRun,
  deleteDefinition,
  findDefinition,
  findLook,
  findRun,
  listDefinitions,
  listRuns,
  undefinedAnalysis,
  unknownRun,
} from '../../analysis/runs/analysis-operations.js'
import { defineAnalysis } from '../../analysis/runs/define-analysis.js'
import { readRegistration } from '../../analysis/runs/registration.js'
import { registerCanary } from '../../analysis/runs/register-canary.js'
import { showRun, summariseRun } from '../../analysis/runs/show-run.js'
import { AppError } from '../../errors.js'
import type { AppEnv } from '../app-env.js'
import type { Authenticate } from '../authenticate.js'
import { callerOf } from '../caller-of.js'
import { jsonAnswer } from '../json-answer.js'
import { parseQuery } from '../parse-query.js'
import { readJsonBytes } from '../read-json-body.js'
import type { Exchange } from '../exchange.js'
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

const DataQuery = z.strictObject({ look: z.coerce.number().int().min(1).optional() })

/** Analyses for people and for the command line: definitions, runs, reports and the data that a replay needs. */
export function analysisRoutes(authenticate: Authenticate, deps: AnalysisRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
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
    const registration = readRegistration(await readDocument(c.env.exchange, deps))
    const id = await registerCanary(deps, registration, actorOf(c.env.exchange, deps))
    return jsonAnswer({ id }, 201, { Location: `/analysis/${id}` })
  })
  app.get('/:id', async (c) => {
    return jsonAnswer(await showRun(deps.reader, toRunId(c.req.param('id'))))
  })
  app.get('/:id/data', async (c) => {
    const { look } = parseQuery(DataQuery, c.req.query())
    return jsonAnswer(await lookData(deps, toRunId(c.req.param('id')), look))
  })
  app.post('/:id/cancel', async (c) => {
    const id = toRunId(c.req.param('id'))
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
        definition: JSON.parse(definition) as unknown,
      })),
    })
  })
  app.get('/applications/:application', async (c) => {
    const application = c.req.param('application')
    const found = await deps.reader.run(findDefinition, application)
    if (found === undefined) throw undefinedAnalysis(application)
    return jsonAnswer(JSON.parse(found.definition))
  })
  app.put('/applications/:application', async (c) => {
    const document = await readDocument(c.env.exchange, deps)
    const actor = actorOf(c.env.exchange, deps)
    const application = c.req.param('application')
    return jsonAnswer(await defineAnalysis(deps, { application, document, origin: 'api' }, actor))
  })
  app.delete('/applications/:application', async (c) => {
    const application = c.req.param('application')
    await deps.writer.run(deleteDefinition, { application, actor: actorOf(c.env.exchange, deps) })
    return jsonAnswer({ application, deleted: true })
  })
}

/** A look with its data, the last one where none is named. */
async function lookData(deps: AnalysisRoutesDeps, id: number, asked: number | undefined): Promise<object> {
  const run = await deps.reader.run(findRun, id)
  if (run === undefined) throw unknownRun(id)
  const look = asked ?? run.looksDone
  const found = await deps.reader.run(findLook, { id, look })
  if (found === undefined) {
    throw new AppError(
      'not_found',
      `analysis ${id} has no look ${look}: it has taken ${run.looksDone} of ${run.looks}`,
    )
  }
  return {
    id,
    look,
    plan: JSON.parse(run.plan) as unknown,
    report: JSON.parse(found.report) as unknown,
    data: JSON.parse(found.data) as unknown,
  }
}

async function readDocument(exchange: Exchange, deps: AnalysisRoutesDeps): Promise<unknown> {
  return JSON.parse(Buffer.from(await readJsonBytes(exchange, deps.maxBodyBytes)).toString())
}

function actorOf(
  exchange: Exchange,
  deps: AnalysisRoutesDeps,
): { nowMs: number; user: string | undefined; origin: string } {
  return { nowMs: deps.now(), ...callerOf(exchange) }
}

function toRunId(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new AppError('invalid', `the number of an analysis is a whole number, not "${text}"`)
}
