import { expect, it } from 'vitest'

import { applyRetention } from '../../src/audit/apply-retention.js'
import { checkChain, exportChunk } from '../../src/audit/audit-operations.js'
import { ExportEnd } from '../../src/audit/export-trail.js'
import { exportTrail } from '../../src/audit/export-trail.js'
import { verifyTrail } from '../../src/audit/verify-trail.js'
import { EXPORT_FORMATS } from '../../src/store/ports/audit-export.js'
import type { AuditFilter } from '../../src/store/ports/audit-store.js'
import type { Reader } from '../../src/store/ports/readers.js'
import { appendAll, entry } from '../support/filled-trail.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'

const open = useServiceStore()

let last = 0

async function append({ writer }: TestStore, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => entry((last += 1), { user: 'ana' }))
  await writer.run(appendAll, events)
}

/** Removes all records that are there. */
async function removeAll({ writer, lookups, maintenance }: TestStore): Promise<number> {
  const { seq } = await lookups.audit.end()
  const recordedMs = (await lookups.audit.find(seq))?.recordedMs ?? 0
  return await applyRetention({
    ...{ writer, maintenance, audit: lookups.audit, signer: undefined },
    now: () => 1_800_000_000_000,
    written: () => undefined,
    removalTime: () => recordedMs + 1000,
    maxAgeMs: 500,
    maxBytes: undefined,
    pause: () => Promise.resolve(),
    signal: new AbortController().signal,
  })
}

/** A reader before whose operation of this name, the time given, something is done. */
function interrupted(reader: Reader, name: string, time: number, act: () => Promise<unknown>): Reader {
  let times = 0
  return {
    run: async (operation, args) => {
      if (operation.name === name) {
        times += 1
        if (times === time) await act()
      }
      return await reader.run(operation, args)
    },
  }
}

it.each([0, 30])(
  'a trail whose beginning is removed while it is verified is intact: %i more',
  async (more) => {
    const store = await open()
    await append(store, 60)
    const reader = interrupted(store.reader, checkChain.name, 1, async () => {
      expect(await removeAll(store)).toBe(60)
      await append(store, more)
    })
    expect(await verifyTrail({ reader })).toMatchObject({
      ...{ isIntact: true, problems: [], startsAfterSeq: 60, checked: more },
    })
  },
)

it.each(
  EXPORT_FORMATS.flatMap((format) =>
    [{}, { user: 'ana' }].map((filter) => [format, filter] satisfies [string, AuditFilter]),
  ),
)(
  'the last line of an export tells what is in it while records are removed: %s, %j',
  async (format, filter) => {
    const store = await open()
    await append(store, 450)
    // With bodies a chunk has 200 records.
    const reader = interrupted(store.reader, exportChunk.name, 2, async () => {
      await removeAll(store)
      await append(store, 7)
    })
    const end = new ExportEnd()
    const chunks: Uint8Array[] = []
    for await (const chunk of exportTrail(reader, { filter, format, withBodies: true })) {
      end.pass(chunk)
      chunks.push(chunk)
    }
    const rows =
      Buffer.concat(chunks)
        .toString()
        .match(/^(?:\{"seq":)?\d+,/gm) ?? []
    expect(rows).toHaveLength(end.records ?? -1)
    expect(new Set(rows).size).toBe(207)
  },
)
