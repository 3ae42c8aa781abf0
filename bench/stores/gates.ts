import { setTimeout as sleep } from 'node:timers/promises'

import { startReceiver } from '../../test/support/callback-receiver.js'
import { requestText, runSteadily } from '../lib/load.js'
import type { Step } from '../lib/load.js'
import { withLoad, fully, steady, until, withServices } from './steady.js'
import type { Bench } from './steady.js'

const GATE = { id: 7, name: 'Release', application: 'shop' }
/** Instances of this gate expire after a minute. */
const SHORT_GATE = { ...GATE, id: 8, name: 'Short', timeToLiveMinutes: 1 }
const [MINUTE_MS, WARM_UP_SECONDS] = [60_000, 2]
const GATES = { gates: { definitions: [GATE, SHORT_GATE] } }
const ANA = { 'x-spinnaker-user': 'ana' }
const BO = { 'x-spinnaker-user': 'bo' }

/**
 * Triggers, statuses and reviews at the maximum and at a steady rate, and instances that expire
 * during other work.
 */
export async function measureGates(bench: Bench): Promise<void> {
  const { instances, rate, seconds, row } = bench
  const receiver = await startReceiver()
  const ids: number[] = []
  await withServices(bench, GATES, async (first, of) => {
    await fully(bench, 'gates triggered', instances, async (index) => {
      ids.push(await trigger(of(index), GATE.id, `filled-${index}`, receiver.url))
    })
    await fully(bench, 'statuses', instances, (index) => status(of(index), ids[index] ?? 0))
    const steps = (name: string): Iterable<Step> => endlessSteps(name, of, ids, receiver.url)
    await runSteadily(steps('first'), rate, WARM_UP_SECONDS)
    steady(bench, `at ${rate} a second`, await runSteadily(steps('bench'), rate, seconds))
    const [begun, before] = [performance.now(), receiver.received.length]
    await fully(bench, 'reviews', instances, (index) => approve(of(index), ids[index] ?? 0))
    await until('callbacks are sent', () => receiver.received.length >= before + instances)
    const ms = performance.now() - begun
    row(
      'callbacks from the first review to the last',
      instances,
      (instances / ms) * 1000,
      undefined,
      undefined,
      ms,
    )
    for (let index = 0; index < instances; index += 1)
      ids[index] = await trigger(of(index), SHORT_GATE.id, `short-${index}`, receiver.url)
    await first.idle()
  })
  await sleep(MINUTE_MS)
  await withServices(bench, GATES, async ({ url }) => {
    const left = receiver.received.length + instances
    await withLoad(bench, url, `${instances} gates expire, with their callbacks`, () =>
      until('callbacks of expired instances', () => receiver.received.length >= left),
    )
  })
  await receiver.close()
}

async function trigger(url: string, gate: number, executionId: string, callbackUrl: string): Promise<number> {
  const value = {
    ...{ approvalCallbackURL: callbackUrl, rejectionCallbackURL: callbackUrl, executionId },
    ...{ toolConnectorParameters: '', imageIds: 'registry.example.org/shop:1.2.3', connectorType: 'JIRA' },
  }
  const text = await requestText(url, { path: `/approvalGates/${gate}/trigger`, value, headers: ANA })
  return (JSON.parse(text) as { id: number }).id
}

function status(url: string, id: number): Promise<string> {
  return requestText(url, { path: `/approvalGateInstances/${id}/status`, headers: ANA })
}

function approve(url: string, id: number): Promise<string> {
  const value = { action: 'approve', comment: 'looks good' }
  return requestText(url, { path: `/approvalGateInstances/${id}/review`, method: 'PUT', value, headers: BO })
}

/**
 * Trigger, status and review in turn. The status is that of another instance, so that it waits for
 * neither.
 */
function* endlessSteps(
  name: string,
  of: (index: number) => string,
  ids: readonly number[],
  callbackUrl: string,
): Iterable<Step> {
  for (let index = 0; ; index += 1) {
    let id: Promise<number> | undefined
    const send = (): Promise<number> => (id = trigger(of(index), GATE.id, `${name}-${index}`, callbackUrl))
    yield { kind: 'triggers', send }
    yield { kind: 'statuses', send: () => status(of(index), ids[index % ids.length] ?? 0) }
    yield { kind: 'reviews', send: async () => approve(of(index), (await id) ?? 0) }
  }
}

/**
 * Time from the SIGKILL of the service that was sending a callback until another sends it with the
 * same id.
 */
export async function measureTakeOver(bench: Bench): Promise<void> {
  if (bench.services.length < 2) return
  for (let round = 1; round <= bench.rounds; round += 1) {
    const receiver = await startReceiver()
    receiver.keepWaiting(true)
    const [dying, staying] = [
      await bench.start(`dying-${round}`, GATES),
      await bench.start(`staying-${round}`, GATES),
    ]
    try {
      await approve(dying.url, await trigger(dying.url, GATE.id, `take-over-${round}`, receiver.url))
      await until('the callback comes', () => receiver.received.length === 1)
      const killedAt = performance.now()
      await dying.end('SIGKILL')
      receiver.keepWaiting(false)
      await until('another sends it', () => receiver.received.length === 2)
      if (new Set(receiver.received.map(({ webhookId }) => webhookId)).size !== 1)
        throw new Error('it came under two ids')
      bench.row(
        'a callback of a killed service from another',
        1,
        undefined,
        undefined,
        undefined,
        performance.now() - killedAt,
      )
    } finally {
      await dying.end('SIGKILL')
      await staying.end()
      await receiver.close()
    }
  }
}
