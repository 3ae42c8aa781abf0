import { z } from 'zod'

import type { ErrorDetail } from '../../../errors/app-error.js'
import { publicNames, type Policies, type PublicNames } from '../../../rego/index.js'
import { sendJson } from '../../exchange/json-answer.js'
import type { Exchange } from '../../exchange/exchange.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** Findings that an answer holds; a probe must not read megabytes every few seconds. */
const MAX_WARNINGS = 100

/** A part of the service whose state `/health?plugins` shows. */
export interface HealthPlugin {
  readonly name: string
  readonly isUp: () => boolean
  /** What is wrong while it is not up, safe to show to anyone. */
  readonly problem?: () => string | undefined
  /** What someone should look into though it is up, safe to show to anyone. */
  readonly warning?: () => string | undefined
}

export interface HealthRoutesDeps {
  readonly policies: Policies
  readonly plugins: readonly HealthPlugin[]
}

/** What all that probes ask has in common. Callers send it over the connections on which they ask for decisions: through the web application, those would be read more slowly for good. */
export const PROBE = { method: 'GET', roles: 'anyone', handler: 'health', isProbe: true } as const
const { directRoute } = routesOf<HealthRoutesDeps>()

/** `true` or an empty text. */
const Switch = z.string().optional()
const HealthQuery = z.looseObject({
  bundles: Switch.describe('Shows what serves; on where it is empty or true.'),
  bundle: Switch.describe('The same as `bundles`.'),
  plugins: Switch.describe('Shows the parts of the service; on where it is empty or true.'),
  'exclude-plugin': z.string().optional().describe('A part that does not count; may come more than once.'),
})
const Health = z.object({
  error: z.string().optional(),
  bundles: z
    .looseObject({
      revision: z.string(),
      activatedAt: Time,
      sources: z.array(z.looseObject({ name: z.string(), revision: z.string() })),
    })
    .optional(),
  plugins: z
    .record(
      z.string(),
      z.object({ state: z.enum(['OK', 'WARN', 'NOT_READY']), message: z.string().optional() }),
    )
    .optional(),
})

/**
 * `GET /health`: 200 as long as the process answers. `?bundles` shows what serves, what is wrong with it though it loads, and the failure of the last reload,
 * if any: it stays 200, since the last good policies serve. `?plugins` is 500 while a part is not up.
 */
export const healthRoutes = [
  directRoute({
    ...PROBE,
    path: '/health',
    summary: 'Whether the service, its policies and its parts are well',
    query: HealthQuery,
    answers: { 200: json('The service answers.', Health), 500: json('A part is not up.', Health) },
    answerOn: (deps, exchange) => answerHealth(exchange, deps),
  }),
]

function answerHealth(exchange: Exchange, { policies, plugins }: HealthRoutesDeps): void {
  const query = new URLSearchParams(exchange.target.query)
  const excluded = query.getAll('exclude-plugin')
  const watched = isOn(query, 'plugins') ? plugins.filter(({ name }) => !excluded.includes(name)) : []
  const body = {
    ...(isOn(query, 'bundles') || isOn(query, 'bundle') ? { bundles: describePolicies(policies) } : {}),
    ...(watched.length > 0 ? { plugins: describePlugins(watched) } : {}),
  }
  if (watched.every(({ isUp }) => isUp())) sendJson(exchange, body)
  else sendJson(exchange, { error: 'one or more plugins are not up', ...body }, 500)
}

function isOn(query: URLSearchParams, name: string): boolean {
  return ['', 'true'].includes(query.get(name) ?? 'false')
}

/** Anyone may ask: no path of the server is shown. */
function describePolicies({ current, activatedAt, failure, locations }: Policies): object {
  const names = publicNames(locations.directories, locations.bundles)
  const warnings = current.warnings.slice(0, MAX_WARNINGS).map((warning) => publicDetail(warning, names))
  return {
    revision: current.revision,
    activatedAt: activatedAt.toISOString(),
    sources: current.sources,
    ...(current.warnings.length === 0 ? {} : { warnings }),
    ...(current.warnings.length <= MAX_WARNINGS ? {} : { warningCount: current.warnings.length }),
    ...(failure === undefined ? {} : { failure: describeFailure(failure, names) }),
  }
}

function describeFailure({ at, error }: NonNullable<Policies['failure']>, names: PublicNames): object {
  const errors = error.details.map((detail) => publicDetail(detail, names))
  return { at: at.toISOString(), code: error.code, message: names.text(error.message), errors }
}

function publicDetail({ location, ...detail }: ErrorDetail, names: PublicNames): ErrorDetail {
  const told = { ...detail, message: names.text(detail.message) }
  return location === undefined
    ? told
    : { ...told, location: { ...location, file: names.file(location.file) } }
}

/** How parts stand, by their names. */
export function describePlugins(plugins: readonly HealthPlugin[]): object {
  return Object.fromEntries(plugins.map((plugin) => [plugin.name, describePlugin(plugin)]))
}

/** The states of OPA's plugins, of which `WARN` is up. */
function describePlugin({ isUp, problem, warning }: HealthPlugin): object {
  if (isUp()) {
    const remark = warning?.()
    return remark === undefined ? { state: 'OK' } : { state: 'WARN', message: remark }
  }
  const message = problem?.()
  return { state: 'NOT_READY', ...(message !== undefined && { message }) }
}

/** Parts without which callers get all their answers. */
const IN_THE_BACKGROUND: ReadonlySet<string> = new Set(['decision_logs', 'registry'])
const RETRY_AFTER_SECONDS = '1'

const Alive = z.object({ status: z.literal('alive') })
const Ready = z.object({ status: z.literal('ready') })
const NotReady = z.object({ status: z.literal('not ready'), plugins: z.looseObject({}) })
const ALIVE = { 200: json('It does.', Alive) }
/** What programs ask before they send anything, or to know whether the process is to be started anew. */
export const probeRoutes = [
  directRoute({
    ...PROBE,
    path: '/livez',
    summary: 'Whether the process answers; if not, it is to be started anew',
    answers: ALIVE,
    answerOn: (_, exchange) => sendJson(exchange, { status: 'alive' }),
  }),
  directRoute({
    ...PROBE,
    path: '/readyz',
    summary: 'Whether all can be done that callers wait for; if not, requests are to go elsewhere',
    answers: {
      200: json('It can.', Ready),
      503: json('Something cannot: which parts are down, and why.', NotReady),
    },
    answerOn: ({ plugins }, exchange) => answerReadiness(exchange, plugins),
  }),
]

/** It depends on nothing, so that each process that decides answers it. */
export const failOpenRoute = routesOf<unknown>().directRoute({
  ...PROBE,
  path: '/v1/opa/failOpen',
  // Of some releases the stage goes on without asking any policy where the answer is not 200.
  summary: "Whether policies can be asked, as the orchestrator's policy stage asks first",
  answers: ALIVE,
  answerOn: (_, exchange) => sendJson(exchange, { status: 'alive' }),
})

function answerReadiness(exchange: Exchange, plugins: readonly HealthPlugin[]): void {
  const down = plugins.filter(({ name, isUp }) => !IN_THE_BACKGROUND.has(name) && !isUp())
  if (down.length === 0) {
    sendJson(exchange, { status: 'ready' })
    return
  }
  const body = { status: 'not ready', plugins: describePlugins(down) }
  sendJson(exchange, body, 503, { 'Retry-After': RETRY_AFTER_SECONDS })
}
