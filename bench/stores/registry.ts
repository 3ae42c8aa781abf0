import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { requestText } from '../lib/load.js'
import { withLoad, fully, until, withServices } from './steady.js'
import type { Bench } from './steady.js'
import { seededRandom } from '../../test/support/random-bytes.js'
import { generatePipeline } from '../../test/support/generate-pipeline.js'

const MIN_STAGES = 5
const STAGE_COUNTS = 7
const FIRST_MS = 1_750_000_000_000
const SEED = 20_251

/** The list of applications of the storage service as JSON. Always the same. */
export function applicationList(applications: number): Buffer {
  return jsonList(applications, (index) => ({
    name: applicationName(index),
    email: `team-${index % 300}@example.org`,
    description: `Application ${index}`,
    cloudProviders: 'kubernetes',
    createTs: String(FIRST_MS),
    updateTs: String(FIRST_MS + index),
    lastModifiedBy: `person-${index % 200}`,
  }))
}

/** The list of pipelines, 2.4 KB each on average. Always the same. */
export function pipelineList(pipelines: number, applications: number): Buffer {
  const random = seededRandom(SEED)
  return jsonList(pipelines, (index) => {
    const stages = MIN_STAGES + Math.floor(random() * STAGE_COUNTS)
    return {
      ...generatePipeline(stages),
      id: `${hex(random)}-${hex(random)}`,
      name: pipelineName(index),
      application: applicationName(Math.floor(random() * applications)),
      index,
      lastModifiedBy: `person-${index % 200}`,
      updateTs: String(FIRST_MS + index),
    }
  })
}

export function applicationName(index: number): string {
  return `app-${index}`
}

export function pipelineName(index: number): string {
  return `rollout-${index}`
}

/** Generated in pieces, because it exceeds the maximum string length. */
function jsonList(count: number, make: (index: number) => object): Buffer {
  const pieces = Array.from({ length: count }, (_, index) =>
    Buffer.from(`${index === 0 ? '[' : ','}${JSON.stringify(make(index))}`),
  )
  return Buffer.concat([...pieces, Buffer.from(']')])
}

function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

const INTERVAL_SECONDS = 10
const PAGES = 300

/**
 * Reconciliations with a storage service that lists many pipelines, with concurrent decisions and
 * events, and pages of the results.
 */
export async function measureRegistry(bench: Bench): Promise<void> {
  const { applications, pipelines } = bench
  const lists = [applicationList(applications), pipelineList(pipelines, applications)] as const
  const storage = createServer(({ url }, response) => {
    const list = lists[url?.startsWith('/v2/applications') === true ? 0 : 1]
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': String(list.length) })
      .end(list)
  })
  await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
  const storageUrl = `http://127.0.0.1:${(storage.address() as AddressInfo).port}`
  const orchestrator = { storageUrl, reconcileIntervalSeconds: INTERVAL_SECONDS }
  try {
    await withServices(bench, { orchestrator }, async (first, of) => {
      const what = `${applications + pipelines} definitions`
      for (const [nth, name] of [
        `${what} reconciled for the first time`,
        `${what} again, without changes`,
      ].entries()) {
        await withLoad(bench, of(0), name, () =>
          until('a reconciliation', async () => (await reconciled(bench, of)).count > nth),
        )
        const { seconds } = await reconciled(bench, of)
        bench.row(
          '  seconds of all reconciliations; peak MB',
          undefined,
          undefined,
          undefined,
          seconds,
          first.peakMb(),
        )
      }
      const pages: Readonly<Record<string, (index: number) => string>> = {
        'the first page': () => '/pipelines',
        'by name': (index) => `/pipelines?name=${pipelineName((index * 7919) % pipelines)}`,
        'by a name that none has': () => '/pipelines?name=nowhere',
        'of an application': (index) =>
          `/pipelines?application=${applicationName((index * 7919) % applications)}`,
      }
      for (const [name, path] of Object.entries(pages))
        await fully(
          bench,
          `pipelines, ${name}`,
          PAGES,
          (index) => requestText(of(index), { path: path(index) }),
          1,
        )
      await fully(bench, 'pipelines, by cursor to the end', Math.ceil(pipelines / 500), byCursor(of(0)), 1)
    })
  } finally {
    storage.closeAllConnections()
    storage.close()
  }
}

/** Reads one page after the other. */
function byCursor(url: string): () => Promise<void> {
  let cursor = ''
  return async () => {
    const page = JSON.parse(await requestText(url, { path: `/pipelines?limit=500${cursor}` })) as {
      readonly nextCursor?: string
    }
    cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`
  }
}

/** Sum over all services. One of them reconciles at a time. */
async function reconciled(
  { services }: Bench,
  of: (index: number) => string,
): Promise<{ count: number; seconds: number }> {
  const sums = { count: 0, seconds: 0 }
  for (const index of services.keys()) {
    const text = await requestText(of(index), { path: '/metrics' })
    const figure = (name: string): number =>
      Number(new RegExp(`^tidegate_reconciliation${name}(?:\\{\\})? ([\\d.e-]+)$`, 'm').exec(text)?.[1] ?? 0)
    if (figure('s_total\\{result="failure"\\}') > 0) throw new Error('a reconciliation failed: see the log')
    sums.count += figure('s_total\\{result="success"\\}')
    sums.seconds += figure('_duration_seconds_sum')
  }
  return sums
}
