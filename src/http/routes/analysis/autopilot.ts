import { z } from 'zod'

import { cancelRun, unknownRun } from '../../../analysis/runs/analysis-operations.js'
import { readRegistration } from '../../../analysis/runs/definitions/registration.js'
import { withStageTemplates } from '../../../analysis/runs/definitions/stage-templates.js'
import { registerCanary } from '../../../analysis/runs/register-canary.js'
import { AppError, toAppError } from '../../../errors/app-error.js'
import { baseUrl } from '../../exchange/base-url.js'
import { actorOf } from '../../exchange/caller-of.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { registrationBody } from '../../input/body-reader.js'
import { readPathNumber, textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { CanaryStatusAnswer } from './analysis-answers.js'
import type { AnalysisRoutesDeps } from './analysis-deps.js'
import { templateRoutes } from './templates.js'
import {
  showCanaryStatus,
  unknownCanaryStatus,
  unreadableCanaryStatus,
  withReportUrl,
} from '../../../analysis/runs/canary-status.js'
import type { ShownStatus } from '../../../analysis/runs/canary-status.js'

/** The path of the API specification, which responds with 200 to a plain registration. */
const CONTRACT_PATH = '/autopilot/api/v3/registerCanary'
const REGISTER_PATHS = [
  '/autopilot/registerCanary',
  '/autopilot/api/v1/registerCanary',
  '/autopilot/api/v2/registerCanary',
  CONTRACT_PATH,
  '/autopilot/api/v5/registerCanary',
]
const STATUS_PATHS = [
  '/autopilot/canaries/:id',
  '/autopilot/v5/canaries/:id',
  '/autopilot/api/v1/autopilot/canaries/:id',
  '/autopilot/api/v2/autopilot/canaries/:id',
]
const REGISTERED = {
  ...json(
    'The number of the analysis.',
    z.object({ canaryId: z.int(), warnings: z.array(z.string()).optional() }),
  ),
  headers: {
    Location: "URL of the analysis's status.",
    'x-opsmx-report-token': 'Token of the report link.',
  },
}
const STATUSES = {
  200: json('The status.', CanaryStatusAnswer),
  404: json('Analysis not found: an error with all members of a status.', CanaryStatusAnswer),
  503: json('The status is temporarily unreadable; in the same form.', CanaryStatusAnswer),
}
const CANARY = { id: textOf('The number of the analysis.') }
const COMMON = { roles: ['orchestrator'], handler: 'autopilot', isPolled: true } as const
const { route } = routesOf<AnalysisRoutesDeps>()

/**
 * Routes of the orchestrator's stages and the Argo job: registration, polling, and the templates of
 * the GitOps client.
 */
export const autopilotRoutes = [
  ...REGISTER_PATHS.map(registerRoute),
  ...STATUS_PATHS.flatMap(statusRoutes),
  ...templateRoutes,
]

function registerRoute(path: string): Route<AnalysisRoutesDeps> {
  const isContract = path === CONTRACT_PATH
  return route({
    ...COMMON,
    method: 'POST',
    path,
    summary: 'Start an analysis, for verification stages and the Argo job',
    body: registrationBody,
    answers: {
      ...(isContract && {
        200: { ...REGISTERED, description: 'Response to a plain registration: its number.' },
      }),
      202: REGISTERED,
      409: { description: 'No analysis is defined for the application.' },
    },
    answer: async ({ exchange, body }, deps) => {
      const registration = await withStageTemplates(readRegistration(body), deps.findStageTemplates)
      const run = await registerCanary(deps, registration, actorOf(exchange, deps))
      const told = run.warnings.length > 0 && { warnings: run.warnings }
      return jsonAnswer({ canaryId: run.id, ...told }, isContract && !registration.isFromPlugin ? 200 : 202, {
        Location: `${baseUrl(exchange, deps.orchestratorUrl)}/autopilot/v5/canaries/${run.id}`,
        'x-opsmx-report-token': deps.reportLinks.issue(run, deps.now()),
      })
    },
    failed: (failure) => answerFailedRegistration(failure),
  })
}

/** The Argo job ignores the status and reads the member `error`. */
function answerFailedRegistration(failure: AppError): Response {
  const { status, body, headers } = errorAnswer(failure)
  return jsonAnswer({ ...(JSON.parse(body) as object), error: failure.code }, status, headers)
}

function statusRoutes(path: string): readonly Route<AnalysisRoutesDeps>[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path,
      summary: 'Status of an analysis, polled by the orchestrator',
      params: CANARY,
      answers: STATUSES,
      answer: ({ exchange, params }, deps) => answerCanaryStatus(exchange, deps, params.id),
    }),
    route({
      ...COMMON,
      method: 'DELETE',
      path,
      summary: 'Cancel an analysis, for the orchestrator',
      params: CANARY,
      answers: STATUSES,
      answer: ({ exchange, params }, deps) => cancel(exchange, deps, params.id),
    }),
  ]
}

async function cancel(exchange: Exchange, deps: AnalysisRoutesDeps, id: string): Promise<Response> {
  const runId = readPathNumber(id)
  if (runId !== undefined) {
    await deps.writer.run(cancelRun, { id: runId, actor: actorOf(exchange, deps) })
    deps.forget(runId)
  }
  return answerCanaryStatus(exchange, deps, id)
}

/**
 * Responds with the status of a run. Pollers ignore the HTTP status, so errors have all members.
 */
async function answerCanaryStatus(
  exchange: Exchange,
  deps: AnalysisRoutesDeps,
  id: string,
): Promise<Response> {
  let shown: ShownStatus | undefined
  try {
    const runId = readPathNumber(id)
    shown = runId === undefined ? undefined : await deps.reader.run(showCanaryStatus, runId)
    deps.outage.over()
  } catch (raw) {
    const failure = toAppError(raw)
    exchange.failure = failure
    const { code, message } = failure
    // Pollers must retry whatever went wrong.
    const { status, headers } = errorAnswer(new AppError('unavailable', message, { code, cause: failure }))
    const asStatus = deps.outage.isTooLong(deps.now()) ? unknownCanaryStatus : unreadableCanaryStatus
    return jsonAnswer({ code, message, ...asStatus(id, message) }, status, headers)
  }
  if (shown === undefined) {
    const { code, message } = unknownRun(id)
    return jsonAnswer({ code, message, ...unknownCanaryStatus(id, message) }, 404)
  }
  const { run, status } = shown
  const token = deps.reportLinks.issue(run, deps.now())
  const base = baseUrl(exchange, deps.publicUrl)
  // The orchestrator's UI prepends its own base URL, and the plugins append /fromPlugin/….
  const pages = `${new URL(base).pathname.replace(/\/$/, '')}/ui/plugin-isd/verification`
  const page = `${pages}/${encodeURIComponent(status.application)}/${run.id}/${token}`
  return jsonAnswer(withReportUrl(status, `${base}/analysis/report/${run.id}/${token}`, page))
}
