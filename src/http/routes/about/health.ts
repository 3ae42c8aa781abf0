import { z } from 'zod'

import { locationNames, publicDetail, type Policies, type PublicNames } from '../../../rego/index.js'
import { sendJson } from '../../exchange/json-answer.js'
import type { Exchange } from '../../exchange/exchange.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** Maximum warnings in a response, since probes read it every few seconds. */
const MAX_WARNINGS = 100

/** A component of the service in `/health?plugins`. */
export interface HealthPlugin {
  readonly name: string
  readonly isUp: () => boolean
  /** Why it is not up, without private details. */
  readonly problem?: () => string | undefined
  /** A problem although it is up, without private details. */
  readonly warning?: () => string | undefined
}

export interface HealthRoutesDeps {
  readonly policies: Policies
  readonly plugins: readonly HealthPlugin[]
}

/**
 * Common properties of probes. They are direct routes: clients send probes over the connections
 * they use for decisions, and Hono slows down such a connection permanently.
 */
const PROBE = { method: 'GET', roles: 'anyone', handler: 'health', isProbe: true } as const
const { directRoute } = routesOf<HealthRoutesDeps>()

/** A flag: `true` or empty. */
const Switch = z.string().optional()
const HealthQuery = z.looseObject({
  bundles: Switch.describe('Shows the loaded policies; on if empty or true.'),
  bundle: Switch.describe('Same as `bundles`.'),
  plugins: Switch.describe('Shows the components of the service; on if empty or true.'),
  'exclude-plugin': z.string().optional().describe('A component to ignore; repeatable.'),
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
 * `GET /health`: 200 as long as the process responds. `?bundles` shows the loaded policies, their
 * warnings, and the failure of the last reload; it stays 200, since the last good policies serve.
 * `?plugins` is 500 while a component is not up.
 */
export const healthRoutes = [
  directRoute({
    ...PROBE,
    path: '/health',
    summary: 'Health of the service, its policies and its components',
    query: HealthQuery,
    answers: { 200: json('The service responds.', Health), 500: json('A component is not up.', Health) },
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

/** Anyone may read this, so paths of the server are hidden. */
function describePolicies({ current, activatedAt, failure, locations }: Policies): object {
  const names = locationNames(locations)
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

/** Returns the states of components by name. */
export function describePlugins(plugins: readonly HealthPlugin[]): Record<string, DescribedPlugin> {
  const described = statesOf(plugins).map(({ name, state, message }): readonly [string, DescribedPlugin] => [
    name,
    message === undefined ? { state } : { state, message },
  ])
  return Object.fromEntries(described)
}

/** A component in `plugins`. */
interface DescribedPlugin {
  readonly state: PluginState['state']
  readonly message?: string
}

/** A component with a state of OPA's plugins. `WARN` counts as up. */
export interface PluginState {
  readonly name: string
  readonly state: 'OK' | 'WARN' | 'NOT_READY'
  readonly message: string | undefined
}

/** Returns the states of components. */
export function statesOf(plugins: readonly HealthPlugin[]): readonly PluginState[] {
  return plugins.map(({ name, isUp, problem, warning }) => {
    if (!isUp()) return { name, state: 'NOT_READY', message: problem?.() }
    const message = warning?.()
    return { name, state: message === undefined ? 'OK' : 'WARN', message }
  })
}

/** Components that do not affect responses. */
const IN_THE_BACKGROUND: ReadonlySet<string> = new Set(['decision_logs', 'registry'])
const RETRY_AFTER_SECONDS = '1'

const Alive = z.object({ status: z.literal('alive') })
const Ready = z.object({ status: z.literal('ready') })
const NotReady = z.object({ status: z.literal('not ready'), plugins: z.looseObject({}) })
const ALIVE = { 200: json('It does.', Alive) }
/** Probes for load balancers and restarts. */
export const probeRoutes = [
  directRoute({
    ...PROBE,
    path: '/livez',
    summary: 'Liveness probe; restart the process if it fails',
    answers: ALIVE,
    answerOn: (_, exchange) => sendJson(exchange, { status: 'alive' }),
  }),
  directRoute({
    ...PROBE,
    path: '/readyz',
    summary: 'Readiness probe; route requests elsewhere if it fails',
    answers: {
      200: json('It can.', Ready),
      503: json('Components that are down, with the reasons.', NotReady),
    },
    answerOn: ({ plugins }, exchange) => answerReadiness(exchange, plugins),
  }),
]

/** Has no dependencies, so every worker process serves it. */
export const failOpenRoute = routesOf<unknown>().directRoute({
  ...PROBE,
  path: '/v1/opa/failOpen',
  // Some releases of the stage skip the policy unless the status is 200.
  summary: "Whether policies can be evaluated, as the orchestrator's policy stage checks first",
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
