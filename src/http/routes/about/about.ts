import type { Registry } from 'prom-client'
import { z } from 'zod'

import { jsonAnswer, jsonTextAnswer } from '../../exchange/json-answer.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** What the service says of itself. */
export interface AboutRoutesDeps {
  readonly version: string
  readonly metrics: Pick<Registry, 'metrics' | 'contentType'>
  /** The description of the API, as JSON text. */
  readonly openApi: () => string
}

const { route } = routesOf<AboutRoutesDeps>()

/** `GET /`, `/openapi.json` and `/metrics`: what this is, what can be asked, and the figures in Prometheus's text format. */
export const aboutRoutes = [
  route({
    method: 'GET',
    path: '/',
    roles: 'anyone',
    handler: 'about',
    summary: 'Name and version of the service',
    answers: {
      200: json('Name and version.', z.object({ service: z.literal('tidegate'), version: z.string() })),
    },
    answer: (_, { version }) => jsonAnswer({ service: 'tidegate', version }),
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    roles: 'anyone',
    handler: 'openapi',
    summary: 'This description of the API',
    answers: { 200: json('An OpenAPI 3.1 document.', z.looseObject({ openapi: z.string() })) },
    answer: (_, { openApi }) => jsonTextAnswer(openApi()),
  }),
  route({
    method: 'GET',
    path: '/metrics',
    roles: ['auditor'],
    handler: 'metrics',
    summary: 'The figures of the service',
    answers: { 200: { description: "Prometheus's text format.", types: ['text/plain'] } },
    answer: async (_, { metrics }) =>
      new Response(await metrics.metrics(), { headers: { 'Content-Type': metrics.contentType } }),
  }),
]
