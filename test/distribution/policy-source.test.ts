import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { BundleFolder } from '../../src/distribution/bundle-folder.js'
import type { FetchBundle } from '../../src/distribution/fetching/fetch-bundle.js'
import { PolicySource } from '../../src/distribution/policy-source.js'
import { AppError } from '../../src/errors/app-error.js'
import { instantClock } from '../support/instant-clock.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)
let made = 0

const SETTINGS = {
  name: 'main',
  place: 'http://here',
  minDelayMs: 30_000,
  maxDelayMs: 60_000,
  longPollMs: 0,
  staleAfterMs: 900_000,
  staleIsNotReady: false,
}
const away = new AppError('unavailable', 'no server')
const unchanged = { isChanged: false, isLongPoll: false } as const

function bundle(text: string, isLongPoll = false): Awaited<ReturnType<FetchBundle>> {
  return { isChanged: true, bytes: Buffer.from(text), version: `"${text}"`, isLongPoll }
}

/** A source whose requests are answered by a list; after the last one it waits for the stop. */
function sourceOf(answers: readonly (Awaited<ReturnType<FetchBundle>> | AppError)[], settings = SETTINGS) {
  const clock = instantClock(1_000_000)
  const left = [...answers]
  const reports: string[] = []
  /** The pauses until the last answer of the list was handled. */
  const waits: number[] = []
  const asked: { readonly known: string | undefined; readonly waitMs: number }[] = []
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const folder = new BundleFolder(join(workspace.path, `source-${made++}`), 'http://here')
  const source: PolicySource = new PolicySource(settings, {
    ...clock,
    folder,
    fetch: ({ known, waitMs, signal }) => {
      asked.push({ known, waitMs })
      const next = left.shift()
      if (next instanceof AppError) return Promise.reject(next)
      if (next !== undefined) return Promise.resolve(next)
      end()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(away)))
    },
    activate: async () => {
      if (source.candidate !== undefined) await source.accept(source.candidate, 'r')
    },
    failed: (_, { message }) => reports.push(message),
  })
  const run = async (): Promise<void> => {
    source.start()
    await ended
    waits.push(...clock.waits)
    await source.stop()
  }
  return { source, clock, waits, folder, asked, reports, run }
}

describe('a source of policies', () => {
  test('is polled between the shortest and the longest delay, at random', async () => {
    const { waits, asked, run } = sourceOf([bundle('1'), unchanged, bundle('2')])
    await run()
    expect(waits).toEqual([45_000, 45_000, 45_000])
    expect(asked.map(({ known }) => known)).toEqual([undefined, '"1"', '"1"', '"2"'])
  })

  test('is asked to wait for a change only once it says that it can', async () => {
    const { waits, asked, run } = sourceOf([bundle('1', true), bundle('2', true)], {
      ...SETTINGS,
      longPollMs: 30_000,
    })
    await run()
    expect(asked.map(({ waitMs }) => waitMs)).toEqual([30_000, 30_000, 30_000])
    // A server that answers immediately is asked once a second.
    expect(waits.every((ms) => ms > 0 && ms <= 1000)).toBe(true)
  })

  test('that fails is asked after growing pauses up to the longest delay, and reported once', async () => {
    const { waits, reports, source, run } = sourceOf(Array.from({ length: 9 }, () => away))
    await run()
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    expect(reports).toEqual(['no server'])
    expect(source.state).toMatchObject({ failures: 9, fetchError: away })
  })

  test('is stale after the configured time without an answer, however often it is asked', async () => {
    const { source, clock, run } = sourceOf([bundle('1'), away])
    await run()
    expect(source.isStale).toBe(false)
    clock.pass(SETTINGS.staleAfterMs)
    expect(source.isStale).toBe(true)
  })

  test('is not waited for longer than a start may take', async () => {
    const { source, clock } = sourceOf(Array.from({ length: 99 }, () => away))
    await expect(source.fetchFirst(60_000)).rejects.toMatchObject({
      code: 'no_bundle',
      message: 'the source main gave no bundle: no server',
    })
    expect(clock.waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(60_000)
  })
})

describe('kept bundles', () => {
  test('are read again with their version, without one for another server, and not when damaged', async () => {
    const { folder, run } = sourceOf([bundle('1'), bundle('2')])
    await run()
    const path = join(workspace.path, `source-${made - 1}`)
    const again = new BundleFolder(path, 'http://here')
    await again.read()
    expect(again.kept).toEqual(folder.kept)
    expect(again.kept.map(({ version }) => version)).toEqual(['"2"', '"1"'])
    const elsewhere = new BundleFolder(path, 'http://there')
    await elsewhere.read()
    expect(elsewhere.kept.map(({ version }) => version)).toEqual([undefined, undefined])
    writeFileSync(again.fileOf(again.kept[0]?.digest ?? ''), 'damaged')
    const damaged = new BundleFolder(path, 'http://here')
    await damaged.read()
    expect(damaged.kept.map(({ version }) => version)).toEqual(['"1"'])
  })

  test('are removed except the last five, and with them what never served', async () => {
    const { folder, run } = sourceOf(Array.from({ length: 8 }, (_, at) => bundle(String(at))))
    await run()
    expect(folder.kept).toHaveLength(5)
    const path = join(workspace.path, `source-${made - 1}`)
    expect(readdirSync(path)).toHaveLength(6)
    await folder.store(Buffer.from('never served'))
    await new BundleFolder(path, 'http://here').read()
    expect(readdirSync(path)).toHaveLength(6)
  })
})
