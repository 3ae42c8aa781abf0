import type { ServerResponse } from 'node:http'

import { ask } from '../http-client.js'
import { respondJson, startLoopbackServer } from '../loopback-server.js'
import type { SeenRequest } from '../loopback-server.js'

const SCRAPE_MS = 1000
/** How long a series has the value of its last sample, as in Prometheus. */
const LOOKBACK_SECONDS = 300
const SAMPLE = /^(?<series>\w+\{[^}]*\}) (?<value>\S+)$/gm
const QUERY = /^avg\((?<series>\w+\{[^}]*\})\)$/

interface Sample {
  readonly atSeconds: number
  readonly value: number
}

/** A replacement if Prometheus is not installed: the parts of its API that the demo uses. */
interface SmallPrometheus {
  readonly url: string
  readonly stop: () => Promise<void>
}

/**
 * Reads the figures of a program every second, and answers range queries of the form
 * `avg(name{labels})` about them.
 */
export async function startSmallPrometheus(target: string): Promise<SmallPrometheus> {
  const series = new Map<string, Sample[]>()
  const scrape = async (): Promise<void> => {
    const { text } = await ask(target, { path: '/metrics' })
    for (const { groups = {} } of text.matchAll(SAMPLE)) {
      const name = groups['series'] ?? ''
      const samples = series.get(name) ?? []
      series.set(name, [...samples, { atSeconds: Date.now() / 1000, value: Number(groups['value']) }])
    }
  }
  await scrape()
  const timer = setInterval(() => void scrape().catch(() => undefined), SCRAPE_MS)
  const server = await startLoopbackServer((request, response) => answer(request, response, series))
  return {
    url: server.origin,
    stop: async () => {
      clearInterval(timer)
      await server.close()
    },
  }
}

function answer(request: SeenRequest, response: ServerResponse, series: ReadonlyMap<string, Sample[]>): void {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost')
  const parameters = request.method === 'POST' ? new URLSearchParams(request.body) : searchParams
  const name = QUERY.exec(parameters.get('query') ?? '')?.groups?.['series']
  if (pathname !== '/api/v1/query_range' || name === undefined) {
    const error = 'this small server answers /api/v1/query_range for avg(name{labels}) alone'
    respondJson(response, 400, { status: 'error', errorType: 'bad_data', error })
    return
  }
  const [start = 0, end = 0, step = 1] = ['start', 'end', 'step'].map((key) => Number(parameters.get(key)))
  const values = rangeOf(series.get(name) ?? [], { start, end, step })
  const result = values.length === 0 ? [] : [{ metric: {}, values }]
  respondJson(response, 200, { status: 'success', data: { resultType: 'matrix', result } })
}

/** The value at each step: that of the last sample before it. All in seconds. */
export function rangeOf(
  samples: readonly Sample[],
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
): [number, string][] {
  const values: [number, string][] = []
  for (let at = start; at <= end; at += step) {
    const sample = samples.findLast(({ atSeconds }) => atSeconds <= at)
    if (sample !== undefined && at - sample.atSeconds < LOOKBACK_SECONDS)
      values.push([at, String(sample.value)])
  }
  return values
}
