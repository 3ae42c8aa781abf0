import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import type { Context } from 'hono'
import { z } from 'zod'

import { cancelRun, findTemplate, saveTemplate } from '../../../analysis/runs/analysis-operations.js'
import { readLogTemplate } from '../../../analysis/logs/model/log-template.js'
import { readMetricTemplate } from '../../../analysis/runs/definitions/metric-template.js'
import { readRegistration } from '../../../analysis/runs/definitions/registration.js'
import { registerCanary } from '../../../analysis/runs/register-canary.js'
import { toAppError } from '../../../errors/app-error.js'
import type { AppEnv } from '../../exchange/exchange.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { baseUrl } from '../../exchange/base-url.js'
import { actorOf } from '../../exchange/caller-of.js'
import { errorAnswer } from '../../exchange/error-body.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { parseQuery } from '../../input/parse-query.js'
import { readPathNumber } from '../../input/path-number.js'
import { readSentDocument, readSentRegistration } from '../../input/read-document.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'
import { answerCanaryStatus } from './canary-status-answer.js'

const REGISTER_PATHS = [
  '/registerCanary',
  '/api/v1/registerCanary',
  '/api/v2/registerCanary',
  '/api/v3/registerCanary',
  '/api/v5/registerCanary',
]
/** The path of the contract, where a bare registration is answered with 200. */
const CONTRACT_PATH = '/api/v3/'

const STATUS_PATHS = [
  '/canaries/:id',
  '/v5/canaries/:id',
  '/api/v1/autopilot/canaries/:id',
  '/api/v2/autopilot/canaries/:id',
]

const TemplateQuery = z.looseObject({
  sha1: z
    .string()
    .regex(/^[0-9a-f]{40}$/i)
    .toLowerCase()
    .optional(),
  templateType: z
    .string()
    .toUpperCase()
    .pipe(z.enum(['LOG', 'METRIC'])),
  templateName: z.string().min(1).max(200),
})

/** What the orchestrator's stages and the Argo job call: registration, polling, and the templates of the GitOps client. */
export function autopilotRoutes(authenticate: Authenticate, deps: AnalysisRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use(async (c, next) => {
    c.env.exchange.handler = 'autopilot'
    authenticate(c.env.exchange, ['orchestrator'])
    await next()
  })
  for (const path of REGISTER_PATHS) app.post(path, (c) => register(c, deps))
  for (const path of STATUS_PATHS) {
    app.get(path, (c) => answerCanaryStatus(c.env.exchange, deps, c.req.param('id') ?? ''))
    app.delete(path, (c) => cancel(c, deps, c.req.param('id') ?? ''))
  }
  app.get('/api/v5/external/template', async (c) => {
    const { templateType, templateName, sha1 } = parseQuery(TemplateQuery, c.req.query())
    const found = await deps.reader.run(findTemplate, { type: templateType, name: templateName, sha1 })
    return jsonAnswer(found !== undefined)
  })
  app.post('/api/v5/external/template', (c) => keepTemplate(c, deps))
  return app
}

/** The Argo job looks at no status: what went wrong must stand in `error`, too. */
async function register(c: Context<AppEnv>, deps: AnalysisRoutesDeps): Promise<Response> {
  const { exchange } = c.env
  try {
    const registration = readRegistration(await readSentRegistration(exchange, deps.maxBodyBytes))
    const run = await registerCanary(deps, registration, actorOf(exchange, deps))
    const isBare = c.req.path.includes(CONTRACT_PATH) && !registration.isFromPlugin
    return jsonAnswer({ canaryId: run.id }, isBare ? 200 : 202, {
      Location: `${baseUrl(exchange, deps.publicUrl)}/autopilot/v5/canaries/${run.id}`,
      'x-opsmx-report-token': deps.reportLinks.issue(run, deps.now()),
    })
  } catch (raw) {
    const failure = toAppError(raw)
    exchange.failure = failure
    const { status, body, headers } = errorAnswer(failure)
    return jsonAnswer({ ...(JSON.parse(body) as object), error: failure.code }, status, headers)
  }
}

async function cancel(c: Context<AppEnv>, deps: AnalysisRoutesDeps, id: string): Promise<Response> {
  const runId = readPathNumber(id)
  if (runId !== undefined) {
    await deps.writer.run(cancelRun, { id: runId, actor: actorOf(c.env.exchange, deps) })
    deps.forget(runId)
  }
  return answerCanaryStatus(c.env.exchange, deps, id)
}

/** The client looks at no status: what went wrong must stand in `errorMessage`. */
async function keepTemplate(c: Context<AppEnv>, deps: AnalysisRoutesDeps): Promise<Response> {
  const { templateType, templateName } = parseQuery(TemplateQuery, c.req.query())
  try {
    const { text: body, document } = await readSentDocument(c.env.exchange, deps.maxBodyBytes, 'the template')
    const read = templateType === 'LOG' ? readLogTemplate : readMetricTemplate
    read(document)
    const sha1 = createHash('sha1').update(body).digest('hex')
    await deps.writer.run(saveTemplate, {
      template: { type: templateType, name: templateName, sha1, body, createdMs: deps.now() },
      actor: actorOf(c.env.exchange, deps),
    })
    return jsonAnswer({ status: 'CREATED', sha1 }, 201)
  } catch (raw) {
    const { code, message, kind } = toAppError(raw)
    if (kind !== 'invalid' && kind !== 'too_large') throw raw
    const status = kind === 'invalid' ? 400 : 413
    return jsonAnswer({ code, message, error: 'invalid template', errorMessage: [message] }, status)
  }
}
