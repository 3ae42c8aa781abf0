import type { Respond } from '../../../support/loopback-server.js'
import { respondJson } from '../../../support/loopback-server.js'
import { START_MS } from '../../../support/open-source.js'

type Values = readonly (readonly [number, string])[]

/** An answer of a range query: the values of each series, `[unix seconds, "value"]`. */
export function matrix(...series: readonly Values[]): object {
  const result = series.map((values, index) => ({ metric: { __name__: 'up', pod: `web-${index}` }, values }))
  return { status: 'success', data: { resultType: 'matrix', result } }
}

/** Answers with these values from `START_MS` on, one a minute. */
export function answering(values: readonly string[], more: object = {}): Respond {
  const pairs = values.map((value, index) => [START_MS / 1000 + index * 60, value] as const)
  return answeringJson(200, { ...matrix(pairs), ...more })
}

/** Answers with this JSON. */
export function answeringJson(status: number, body: unknown): Respond {
  return (_, response) => respondJson(response, status, body)
}

/** Answers with this text. */
export function answeringText(status: number, body: string): Respond {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
  }
}
