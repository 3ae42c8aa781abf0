import { createHash } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'

import { HISTORY_MINUTES, latencies } from './analysis-files.js'
import { analysisIn, FILE_ANALYSIS } from './file-analysis.js'
import { ask, objectOf, postJson } from './http-client.js'
import type { Answered } from './http-client.js'
import { startTidegate } from './tidegate-process.js'
import type { TidegateProcess } from './tidegate-process.js'
import { waitUntil } from './wait-until.js'
import { makeWorkspace } from './workspace.js'

export const PUBLIC_URL = 'https://tidegate.example.org/base'

const MINUTE_MS = 60_000
/** Response times of the versions in the files, in milliseconds. `flaky` has gaps. */
const LEVELS = { stable: 100, healthy: 100, slow: 300 }

const token = (name: string, roles: readonly string[]): object => ({
  ...{ name, roles },
  sha256: createHash('sha256').update(`token-of-${name}`).digest('hex'),
})

/** The headers of the bearer of a token. */
export function as(name: string): Record<string, string> {
  return { authorization: `Bearer token-of-${name}` }
}

/** The built program with files to analyse, and `shop` and `quiet` defined in its configuration. */
export function useAnalysisService() {
  const workspace = makeWorkspace()
  let tidegate: TidegateProcess
  beforeAll(async () => {
    workspace.write({
      'policies/release.rego': 'package release\n\nallow := true\n',
      'definitions/shop.json': JSON.stringify(FILE_ANALYSIS),
      'definitions/quiet.yaml': 'metrics:\n  source: gone\n  template: app-metric\n',
      ...Object.fromEntries(
        Object.entries(LEVELS).map(([version, level]) => [`data/${version}.csv`, latencies(level)]),
      ),
    })
    tidegate = await startTidegate({
      workspace,
      config: {
        server: { publicUrl: `${PUBLIC_URL}/` },
        auth: {
          tokens: [token('orca', ['orchestrator']), token('root', ['admin']), token('eve', ['auditor'])],
        },
        analysis: analysisIn(workspace.path),
      },
    })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })
  const url = (): string => tidegate.url
  return { url, ...makeRequests(url) }
}

function makeRequests(url: () => string) {
  const get = (path: string, name = 'orca', headers: Record<string, string> = {}): Promise<Answered> =>
    ask(url(), { path, headers: { ...as(name), ...headers } })
  const post = (path: string, body: unknown, name = 'orca'): Promise<Answered> =>
    postJson(url(), path, body, as(name))
  const send = (method: string, path: string, body?: unknown, name = 'root'): Promise<Answered> =>
    ask(url(), {
      ...{ method, path },
      headers: { 'content-type': 'application/json', ...as(name) },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  /** The status as the orchestrator polls it, once the run has ended. */
  const ended = (id: number): Promise<Record<string, unknown>> =>
    waitUntil(
      async () => {
        const status = objectOf(await get(`/autopilot/canaries/${id}`))
        return (status['status'] as { complete: boolean }).complete ? status : undefined
      },
      () => `analysis ${id} does not end`,
    )
  return { get, post, send, ended }
}

/** A registration for a past period, so that its only interval is judged immediately. */
export function pastCanary(version: string, application = 'shop'): Record<string, unknown> {
  const startMs = Date.now() - (HISTORY_MINUTES - 20) * MINUTE_MS
  return {
    application,
    isJsonResponse: true,
    executionId: `execution-${version}`,
    canaryConfig: { lifetimeMinutes: '60', name: 'ana' },
    canaryDeployments: [{ canaryStartTimeMs: String(startMs), canary: { metric: { shop: { version } } } }],
  }
}
