import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { fill, indexAllText } from '../trail/store.js'
import { SERVICE_OPERATIONS } from '../../test/support/store-operations.js'

const SLOW_SECONDS = 30
const SLOW_PAUSE_MS = 20

/** What a reader of an export got. */
export interface Exported {
  readonly megabytes: number
  readonly seconds: number
}

/** Fills a store with this many records of 2 KB, findable by all columns and words. */
export async function fillTrail(dataDir: string, records: number): Promise<void> {
  const store = await openServiceStore({ dataDir, operations: SERVICE_OPERATIONS })
  await fill(store, 0, records, 0)
  await indexAllText(store)
  await store.close()
}

/** Reads a whole export with bodies as fast as it comes. */
export function readFast(url: string): Promise<Exported> {
  return readExport(url, 0, Infinity)
}

/** Reads one piece at a time with a pause after it, and goes away after a while. */
export function readSlowly(url: string): Promise<Exported> {
  return readExport(url, SLOW_PAUSE_MS, SLOW_SECONDS)
}

async function readExport(url: string, pauseMs: number, maxSeconds: number): Promise<Exported> {
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1000
  let bytes = 0
  const response = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
    request(`${url}/audit/export?bodies=true`, resolve).on('error', reject).end()
  })
  for await (const piece of response) {
    bytes += piece.length
    if (seconds() > maxSeconds) break
    if (pauseMs > 0) await sleep(pauseMs)
  }
  return { megabytes: bytes / 1e6, seconds: seconds() }
}
