import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, describe, expect, it } from 'vitest'
import { exportTrail } from '../../src/audit/export-trail.js'
import { verifyTrail } from '../../src/audit/verify-trail.js'
import { openReader } from '../../src/store/sqlite/threads/connect.js'
import { readOperations } from '../../src/threads/read-operations.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'
import { waitUntil } from '../support/wait-until.js'

const CHAINS = 2
const ROUNDS_PER_CHAIN = 25
const CALLERS = 12
/** Of the time from the first acknowledgement of a round to the kill. */
const LONGEST_MS = 60

const opened: Workspace[] = []
afterAll(() => {
  for (const workspace of opened) workspace.remove()
})

/** Events until the service is killed; `sent` and `acknowledged` collect their ids. */
async function callUntilKilled(
  url: string,
  sent: Set<string>,
  acknowledged: Set<string>,
  isOver: () => boolean,
): Promise<void> {
  const dispatcher = new Agent()
  while (!isOver()) {
    const eventId = randomUUID()
    sent.add(eventId)
    const path = Math.random() < 0.5 ? '/platform/echo' : '/auditservice/v1/echo/events/data'
    const details = { type: 'orca:task:complete', application: 'shop', created: String(Date.now()) }
    const body = JSON.stringify({
      eventId,
      details,
      content: { executionId: eventId, filler: 'x'.repeat(500) },
    })
    try {
      const headers = { 'content-type': 'application/json' }
      const response = await request(url + path, { method: 'POST', headers, body, dispatcher })
      await response.body.dump()
      if (response.statusCode === 200) acknowledged.add(eventId)
    } catch {
      // The service was killed in the middle: nothing was promised.
      break
    }
  }
  await dispatcher.destroy()
}

async function killRepeatedly(
  workspace: Workspace,
): Promise<{ sent: Set<string>; acknowledged: Set<string> }> {
  const sent = new Set<string>()
  const acknowledged = new Set<string>()
  for (let round = 0; round < ROUNDS_PER_CHAIN; round += 1) {
    const service = await startTidegate({ workspace, config: { log: { level: 'info' } } })
    let isKilled = false
    const callers = Array.from({ length: CALLERS }, () =>
      callUntilKilled(service.url, sent, acknowledged, () => isKilled),
    )
    const before = acknowledged.size
    await waitUntil(
      () => acknowledged.size > before || undefined,
      () => 'no event is acknowledged',
    )
    await sleep(Math.random() * LONGEST_MS)
    await service.end('SIGKILL')
    isKilled = true
    await Promise.all(callers)
  }
  return { sent, acknowledged }
}

/** How often each event is in the trail. */
async function eventCounts(dataDir: string): Promise<Map<string, number>> {
  const { reader, close } = openReader(dataDir, readOperations)
  const counts = new Map<string, number>()
  try {
    const verification = await verifyTrail({ reader })
    expect(verification).toMatchObject({ isIntact: true, problems: [] })
    for await (const lines of exportTrail(reader, { filter: {}, format: 'ndjson', withBodies: false })) {
      for (const line of Buffer.from(lines).toString().trim().split('\n')) {
        const { eventId } = JSON.parse(line) as { eventId?: string }
        // The last line is no record.
        if (eventId === undefined) continue
        counts.set(eventId, (counts.get(eventId) ?? 0) + 1)
      }
    }
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(verification.checked)
    return counts
  } finally {
    await close()
  }
}

describe('a service that is killed while events arrive', () => {
  it('has every event that it acknowledged, once, in a chain that verifies, after 50 kills', async () => {
    const chains = Array.from({ length: CHAINS }, async () => {
      const workspace = makeWorkspace()
      opened.push(workspace)
      workspace.write({ 'policies/tiny.rego': 'package tiny\n\ndeny := set()\n' })
      const { sent, acknowledged } = await killRepeatedly(workspace)
      const counts = await eventCounts(join(workspace.path, 'data'))
      expect(acknowledged.size).toBeGreaterThan(ROUNDS_PER_CHAIN)
      expect([...acknowledged].filter((id) => counts.get(id) !== 1)).toEqual([])
      expect([...counts].filter(([id, count]) => count > 1 || !sent.has(id))).toEqual([])
    })
    await Promise.all(chains)
  }, 180_000)
})
