import { z } from 'zod'

import { callerOf } from '../../exchange/caller-of.js'
import type { CallerRecord } from '../../exchange/caller-of.js'
import { jsonAnswer, jsonTextAnswer } from '../../exchange/json-answer.js'
import { json } from '../../pipeline/answer-schemas.js'
import { OPEN_METRICS_TYPE, PLAIN_TYPE } from '../../metrics/open-metrics.js'
import type { MetricTexts } from '../../metrics/open-metrics.js'
import { routesOf } from '../../pipeline/define-routes.js'
export interface AboutRoutesDeps {
  readonly metrics: MetricTexts
  /** The OpenAPI document as JSON text. */
  readonly openApi: () => Promise<string>
  /** Returns the effective configuration without secrets. */
  readonly config: () => object
  /** Reads and applies the configuration again. Raises `invalid` with every problem. */
  readonly reload: (caller: CallerRecord) => Promise<Readonly<z.output<typeof Reloaded>>>
}

const Reloaded = z.object({
  changed: z.array(z.string()).readonly().describe('Keys whose values or secrets changed.'),
  needsRestart: z
    .array(z.string())
    .readonly()
    .describe(
      'Secrets and members of the OPA configuration that changed since the start and need a restart.',
    ),
  durationMs: z.int(),
})

const OPEN_METRICS = 'application/openmetrics-text'

const { route } = routesOf<AboutRoutesDeps>()

/** `GET /openapi.json`, `/configuration` and `/metrics`, and `POST /reload`. */
export const aboutRoutes = [
  route({
    method: 'GET',
    path: '/openapi.json',
    roles: 'anyone',
    handler: 'openapi',
    summary: 'This description of the API',
    answers: { 200: json('An OpenAPI 3.1 document.', z.looseObject({ openapi: z.string() })) },
    answer: async (_, { openApi }) => jsonTextAnswer(await openApi()),
  }),
  route({
    method: 'GET',
    path: '/configuration',
    roles: ['admin'],
    handler: 'configuration',
    summary: 'The effective configuration without secrets',
    answers: {
      200: json('The configuration; hashes of tokens are shortened.', z.record(z.string(), z.unknown())),
    },
    answer: (_, { config }) => jsonAnswer(config()),
  }),
  route({
    method: 'POST',
    path: '/reload',
    roles: ['admin'],
    handler: 'configuration',
    summary: 'Read the configuration again and apply it without a restart',
    answers: { 200: json('What changed.', Reloaded) },
    answer: async ({ exchange }, { reload }) => jsonAnswer(await reload(callerOf(exchange))),
  }),
  route({
    method: 'GET',
    path: '/metrics',
    roles: ['auditor'],
    handler: 'metrics',
    summary: 'Metrics of the service',
    answers: {
      200: { description: 'Prometheus text format or OpenMetrics.', types: ['text/plain', OPEN_METRICS] },
    },
    // Metrics matter most under overload.
    isPolled: true,
    answer: async ({ exchange, prefers }, { metrics }) => {
      const isOpen = prefers('text/plain', OPEN_METRICS) === OPEN_METRICS
      const render = isOpen ? metrics.openMetrics : metrics.plain
      const text = await render(() => exchange.takeTurn(0))
      const type = isOpen ? OPEN_METRICS_TYPE : PLAIN_TYPE
      return new Response(text, { headers: { 'Content-Type': type, Vary: 'Accept' } })
    },
  }),
]
