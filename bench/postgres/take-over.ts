import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresSettings } from '../../src/store/postgres/engine/postgres-settings.js'
import { BENCH_GATE, triggerBody } from '../gates/fill-store.js'
import { sendJson } from '../steady-load.js'
import { startReplica } from './services.js'

const PATIENCE_MS = 60_000

/**
 * How long after the end by SIGKILL of the service that had a callback under way another one sends it, in milliseconds. Raises when
 * that does not come within a minute, or under another id.
 */
export async function takeOverMs(settings: PostgresSettings, directory: string): Promise<number> {
  const ids: string[] = []
  let isAnswering = false
  const receiver = createServer((request, response) => {
    ids.push(String(request.headers['webhook-id']))
    request.resume().on('end', () => {
      if (isAnswering) response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const dying = await startReplica(settings, directory, 'dying')
  const staying = await startReplica(settings, directory, 'staying')
  try {
    const gate = `${dying.url}/approvalGates/${BENCH_GATE.id}/trigger`
    const answer = await sendJson(gate, 'POST', 'ana', triggerBody(`take-over-${Date.now()}`, callbackUrl))
    const { id } = JSON.parse(answer) as { id: number }
    await sendJson(`${dying.url}/approvalGateInstances/${id}/review`, 'PUT', 'bo', {
      action: 'approve',
      comment: 'x',
    })
    await untilSeen(ids, 1)
    const killedAt = performance.now()
    await dying.kill()
    isAnswering = true
    await untilSeen(ids, 2)
    if (new Set(ids).size !== 1) throw new Error(`it came under several ids: ${ids.join(', ')}`)
    return performance.now() - killedAt
  } finally {
    await dying.kill()
    await staying.stop()
    receiver.closeAllConnections()
    receiver.close()
  }
}

async function untilSeen(ids: readonly string[], count: number): Promise<void> {
  const startedAt = performance.now()
  while (ids.length < count) {
    if (performance.now() - startedAt > PATIENCE_MS)
      throw new Error(`${ids.length} of ${count} callbacks came`)
    await sleep(5)
  }
}
