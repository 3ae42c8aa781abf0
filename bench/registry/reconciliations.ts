import { setTimeout as sleep } from 'node:timers/promises'

import { benchBodies } from '../bodies.js'
import type { RunningBenchServer } from '../servers.js'
import { runSteadily, sendJson } from '../steady-load.js'
import type { Latencies, Step } from '../steady-load.js'
import type { HeldStorage } from './held-storage.js'

const DECISIONS_PER_SECOND = 200
const POLL_MS = 500
const PATIENCE_MS = 300_000

/** What was seen while decisions were asked for at a steady rate. */
export interface Phase {
  readonly name: string
  readonly seconds: number
  readonly decisions: Latencies
  readonly peakMb: number
  readonly cpuSeconds: number
}

/** A phase without a reconciliation; it is asked after all the same, since that costs decisions something too. */
export function measureQuiet(service: RunningBenchServer, url: string, seconds: number): Promise<Phase> {
  return measure('no reconciliation', service, url, async () => {
    for (let waited = 0; waited < seconds * 1000; waited += POLL_MS) {
      await reconciled(url)
      await sleep(POLL_MS)
    }
  })
}

/** A phase from the moment at which a reconciliation may begin to its end. */
export function measureReconciliation(
  name: string,
  service: RunningBenchServer,
  url: string,
  storage: HeldStorage,
): Promise<Phase> {
  return measure(name, service, url, async () => {
    const before = await reconciled(url)
    storage.release()
    for (let waited = 0; (await reconciled(url)) === before; waited += POLL_MS) {
      if (waited > PATIENCE_MS) throw new Error(`${name}: no end within ${PATIENCE_MS / 1000} s`)
      await sleep(POLL_MS)
    }
  })
}

async function measure(
  name: string,
  service: RunningBenchServer,
  url: string,
  pass: () => Promise<void>,
): Promise<Phase> {
  service.resetPeak()
  const cpuBefore = service.cpuSeconds()
  const startedAt = performance.now()
  let hasPassed = false
  const passed = pass().finally(() => {
    hasPassed = true
  })
  const [decisions] = await runSteadily(
    decisionsUntil(url, () => hasPassed),
    DECISIONS_PER_SECOND,
    PATIENCE_MS / 1000,
  )
  await passed
  if (decisions === undefined) throw new Error(`${name}: nothing was decided`)
  const seconds = (performance.now() - startedAt) / 1000
  return {
    name,
    seconds,
    decisions,
    peakMb: service.peakMb(),
    cpuSeconds: service.cpuSeconds() - cpuBefore,
  }
}

function* decisionsUntil(url: string, isOver: () => boolean): Iterable<Step> {
  const pipeline = benchBodies()[1]
  if (pipeline === undefined) throw new Error('no body to decide about')
  const input: unknown = JSON.parse(pipeline.body)
  while (!isOver()) {
    yield {
      kind: 'decision',
      send: async () => {
        await sendJson(url + pipeline.path, 'POST', 'ana', input)
      },
    }
  }
}

async function reconciled(url: string): Promise<number> {
  const text = await sendJson(`${url}/metrics`, 'GET', 'ana')
  const count = (result: string): number =>
    Number(
      new RegExp(`^tidegate_reconciliations_total\\{result="${result}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0,
    )
  if (count('failure') > 0) throw new Error('a reconciliation failed: see the log')
  return count('success')
}
