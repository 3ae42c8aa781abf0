import { randomUUID } from 'node:crypto'

import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'

/** The acknowledged requests of a service, which must remain true. */
export interface Promised {
  readonly events: Set<string>
  /** The execution of each gate instance, by its number. */
  readonly instances: Map<number, string>
  readonly approved: Set<number>
  /** The application's analyses. */
  readonly analyses: Set<number>
  /** The names of gates, by their numbers. */
  readonly gates: Map<number, string>
  /** Policy decisions promise nothing durable: how many were answered. */
  decisions: number
}

export function noPromises(): Promised {
  return {
    events: new Set(),
    instances: new Map(),
    approved: new Set(),
    analyses: new Set(),
    gates: new Map(),
    decisions: 0,
  }
}

/** How many durable writes have been acknowledged. */
export function durableWrites({ events, instances, approved, analyses, gates }: Promised): number {
  return events.size + instances.size + approved.size + analyses.size + gates.size
}

export interface Caller {
  readonly url: string
  readonly callbackUrl: string
  readonly dispatcher: Dispatcher
  readonly promised: Promised
}

const PIPELINE = { name: 'wait', application: 'shop', stages: [{ type: 'wait', refId: '1', waitTime: 30 }] }
const JSON_HEADERS = { 'content-type': 'application/json' }

/** The kinds of requests, each with how often it is sent. */
const WRITES: readonly { readonly share: number; readonly send: (caller: Caller) => Promise<void> }[] = [
  { share: 0.35, send: sendEvent },
  { share: 0.3, send: approveGate },
  { share: 0.2, send: decide },
  { share: 0.1, send: defineGate },
  { share: 0.05, send: registerCanary },
]

/**
 * Sends requests of every kind one after another until `isOver` says so, or the connection breaks;
 * `random` gives numbers from 0 to 1. Returns the error that the connection broke with. Raises for
 * an answer that must not be.
 */
export async function writeUntil(
  target: Omit<Caller, 'dispatcher'>,
  random: () => number,
  isOver: () => boolean,
): Promise<Error | undefined> {
  const dispatcher = new Agent({ connections: 1, pipelining: 1 })
  try {
    while (!isOver()) await sendWrite({ ...target, dispatcher }, random)
    return undefined
  } catch (raw) {
    if (raw instanceof UnexpectedAnswer) throw raw
    return raw instanceof Error ? raw : new Error(String(raw))
  } finally {
    await dispatcher.destroy()
  }
}

/**
 * Sends one request of any kind. Throws for an unexpected response, and rethrows connection errors.
 */
export function sendWrite(caller: Caller, random: () => number): Promise<void> {
  return pickWrite(random()).send(caller)
}

function pickWrite(point: number): (typeof WRITES)[number] {
  let from = 0
  const found = WRITES.find(({ share }) => (from += share) > point)
  const [first] = WRITES
  if (first === undefined) throw new Error('no kinds of writes')
  return found ?? first
}

/** An answer that a sound service never gives. */
export class UnexpectedAnswer extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/**
 * Sends a request; returns the body of its answer. Raises `UnexpectedAnswer` for another status
 * than those expected.
 */
export async function call(
  { url, dispatcher }: Caller,
  method: 'POST' | 'PUT',
  path: string,
  body: object,
  expected: readonly number[],
): Promise<Record<string, unknown>> {
  const headers = { ...JSON_HEADERS, 'x-spinnaker-user': method === 'PUT' ? 'bo' : 'ana' }
  const answer = await request(url + path, { method, headers, body: JSON.stringify(body), dispatcher })
  const text = await answer.body.text()
  if (!expected.includes(answer.statusCode)) {
    throw new UnexpectedAnswer(`${method} ${path}: ${answer.statusCode} ${text}`, answer.statusCode)
  }
  return JSON.parse(text) as Record<string, unknown>
}

async function sendEvent(caller: Caller): Promise<void> {
  const eventId = randomUUID()
  const details = { type: 'orca:task:complete', application: 'shop', created: String(Date.now()) }
  const content = { executionId: eventId, filler: 'x'.repeat(500) }
  await call(caller, 'POST', '/platform/echo', { eventId, details, content }, [200])
  caller.promised.events.add(eventId)
}

async function approveGate(caller: Caller): Promise<void> {
  const executionId = randomUUID()
  const instance = await triggerGate(caller, executionId)
  const review = { action: 'approve', comment: 'looks right' }
  await call(caller, 'PUT', `/approvalGateInstances/${instance}/review`, review, [200])
  caller.promised.approved.add(instance)
}

/** Triggers the gate for an execution; returns the number of the instance. */
export async function triggerGate(caller: Caller, executionId: string): Promise<number> {
  const trigger = {
    executionId,
    approvalCallbackURL: `${caller.callbackUrl}/yes`,
    rejectionCallbackURL: `${caller.callbackUrl}/no`,
    toolConnectorParameters: '',
    imageIds: '',
    connectorType: '',
  }
  const { id } = await call(caller, 'POST', '/approvalGates/7/trigger', trigger, [200])
  caller.promised.instances.set(Number(id), executionId)
  return Number(id)
}

async function decide(caller: Caller): Promise<void> {
  await call(caller, 'POST', '/v1/staticPolicy/eval', { input: { new: PIPELINE } }, [200, 401])
  caller.promised.decisions += 1
}

async function defineGate(caller: Caller): Promise<void> {
  const name = `gate ${randomUUID()}`
  const { id } = await call(caller, 'POST', '/approvalGates', { name, application: 'shop' }, [201])
  caller.promised.gates.set(Number(id), name)
}

async function registerCanary(caller: Caller): Promise<void> {
  const body = { application: 'shop', canaryConfig: { name: 'ana' } }
  const { canaryId } = await call(caller, 'POST', '/autopilot/api/v3/registerCanary', body, [200, 202])
  caller.promised.analyses.add(Number(canaryId))
}
