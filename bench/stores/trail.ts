import { statSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'

import { requestText } from '../lib/load.js'
import { withLoad, fully, until, withServices } from './steady.js'
import type { Bench } from './steady.js'
import { generatePipeline } from '../../test/support/generate-pipeline.js'

const APPLICATIONS = 1000
const STAGE_NAMES = ['Deploy', 'Bake', 'Wait', 'Verify', 'Judgment', 'Scale', 'Notify']
const KINDS = ['stage:starting', 'stage:complete', 'task:starting', 'task:complete']
const STATUSES = ['SUCCEEDED', 'RUNNING', 'RUNNING', 'TERMINAL']
const EVENTS_PER_EXECUTION = 32
const FIRST_MS = 1_750_000_000_000
/** Number that gives an event the size of one from the orchestrator's stages, 2 KB. */
const STAGES = 5

export function applicationOf(index: number): string {
  return `app-${index % APPLICATIONS}`
}

export function executionOf(index: number): string {
  return `01J0EXEC${String(Math.floor(index / EVENTS_PER_EXECUTION)).padStart(10, '0')}`
}

/** One in a thousand events contains this word, another one in a thousand the other. */
export function rareWord(index: number): string {
  return `marker${Math.floor(index / 1000)}`
}

/** An event of about 2 KB, the same for the same index except for its id. */
export function makeEvent(index: number): string {
  const [application, executionId, at] = [applicationOf(index), executionOf(index), FIRST_MS + index * 200]
  const type = `orca:${KINDS[index % KINDS.length] ?? ''}`
  const execution = {
    ...generatePipeline(STAGES),
    ...{ type: 'PIPELINE', id: executionId, application, name: `rollout-${index % 300}` },
    ...{
      status: STATUSES[index % STATUSES.length],
      trigger: { type: 'manual', user: `person-${index % 200}` },
    },
    ...{ authentication: { user: `person-${index % 200}` } },
  }
  return JSON.stringify({
    eventId: randomUUID(),
    details: { source: 'orca', type, created: String(at), application, requestHeaders: {} },
    content: {
      context: { cluster: `cluster-${index % 170}`, note: index % 1000 === 7 ? rareWord(index) : 'ordinary' },
      ...{ startTime: at, endTime: at + 900, executionId, stageId: 'stage-2', isSynthetic: false },
      ...{ name: STAGE_NAMES[index % STAGE_NAMES.length], execution },
    },
  })
}

const SEARCHES = 300
/** The minimum of `audit.maxBytes`. */
const MIN_BYTES = 16 * 1024 * 1024
/**
 * Retention starts this long after the start of a service, and removed records leave the file
 * later.
 */
const SLACK = 1.1

/**
 * Fills the trail with events over HTTP, then searches, exports and verifies it. Over SQLite most
 * of it is removed at the end.
 */
export async function measureTrail(bench: Bench): Promise<void> {
  const { events } = bench
  await withServices(bench, {}, async (first, of) => {
    const echo = (index: number): Promise<string> =>
      requestText(of(index), {
        path: '/platform/echo',
        body: makeEvent(index),
        headers: { 'content-type': 'application/json' },
      })
    await fully(bench, 'events of 2 KB kept', events, echo)
    await first.idle()
    const somewhere = (index: number): number => (index * 7919) % events
    const queries: Readonly<Record<string, (index: number) => string>> = {
      'by execution': (index) => `executionId=${executionOf(somewhere(index))}`,
      'by application': (index) => `application=${applicationOf(somewhere(index))}`,
      'by application and status': (index) =>
        `application=${applicationOf(somewhere(index))}&status=TERMINAL`,
      'of a rare word': (index) => `q=${rareWord(somewhere(index))}`,
      'of two frequent words': () => 'q=production%20deploy',
    }
    for (const [name, query] of Object.entries(queries))
      await fully(
        bench,
        `searches ${name}`,
        SEARCHES,
        (index) => requestText(of(index), { path: `/audit?${query(index)}` }),
        1,
      )
    await wholeTrail(bench, 'records exported as NDJSON', of(0), '/audit/export?format=ndjson')
    await wholeTrail(bench, 'records exported as CSV', of(0), '/audit/export?format=csv')
    await wholeTrail(bench, 'records exported with bodies', of(0), '/audit/export?bodies=true')
    await wholeTrail(bench, 'records verified', of(0), '/audit/verify')
  })
  if (bench.services.length === 1) await measureRetention(bench)
}

async function wholeTrail({ row, events }: Bench, what: string, url: string, path: string): Promise<void> {
  const begun = performance.now()
  const response = await fetch(url + path)
  let bytes = 0
  for await (const piece of response.body ?? []) bytes += (piece as Uint8Array).length
  if (!response.ok || bytes === 0) throw new Error(`${path}: ${response.status}`)
  const ms = performance.now() - begun
  row(what, events, (events / ms) * 1000, undefined, undefined, ms)
}

/** Restarts the service with a limit that removes nine tenths of the trail. */
async function measureRetention(bench: Bench): Promise<void> {
  const file = join(bench.directory, 'one', 'data', 'tidegate.db')
  const maxBytes = Math.max(MIN_BYTES, Math.ceil(statSync(file).size / 10))
  await withServices(bench, { audit: { maxBytes } }, async ({ url }) => {
    const isCut = (): boolean => statSync(file).size < maxBytes * SLACK
    await withLoad(bench, url, 'the trail cut to a tenth', () => until('the trail is cut', isCut))
  })
}
