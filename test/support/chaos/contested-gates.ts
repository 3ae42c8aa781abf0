import { randomUUID } from 'node:crypto'

import { ask, objectOf } from '../http-client.js'
import type { ReceivedCallback } from '../callback-receiver.js'
import { call, triggerGate, UnexpectedAnswer } from './mixed-writes.js'
import type { Caller } from './mixed-writes.js'

type Verdict = 'approved' | 'rejected'

/** The answers of two services about the same gate instances. */
export interface Contested {
  /** The end of each instance as reported to a reviewer. */
  readonly decided: Map<number, Verdict>
  /** Violations, one sentence each. */
  readonly problems: string[]
}

/**
 * One person approves at one service while another rejects at the other, after both services were
 * queried for the same instance.
 */
export async function contestGate(callers: readonly Caller[], contested: Contested): Promise<void> {
  const executionId = randomUUID()
  const triggered = await Promise.allSettled(callers.map((caller) => triggerGate(caller, executionId)))
  raiseUnexpected(triggered)
  const ids = new Set(triggered.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])))
  if (ids.size > 1) contested.problems.push(`${executionId} has the instances ${[...ids].join(' and ')}`)
  const [instance] = ids
  if (instance === undefined) return
  const reviewed = await Promise.allSettled(
    callers.map((caller, index) => review(caller, instance, index === 0 ? 'approve' : 'reject')),
  )
  raiseUnexpected(reviewed)
  const verdicts = reviewed.flatMap((each) =>
    each.status === 'fulfilled' && each.value !== undefined ? [each.value] : [],
  )
  if (verdicts.length > 1) contested.problems.push(`instance ${instance} was both approved and rejected`)
  const [verdict] = verdicts
  if (verdict !== undefined) contested.decided.set(instance, verdict)
}

/**
 * Decisions that differ from the answer to the reviewer, and receivers that were notified of two
 * decisions.
 */
export async function findContestProblems(
  url: string,
  { decided, problems }: Contested,
  received: readonly ReceivedCallback[],
): Promise<string[]> {
  const found = [...problems]
  for (const [id, verdict] of decided) {
    const { status } = objectOf(await ask(url, { path: `/approvalGateInstances/${id}` }))
    if (status !== verdict) found.push(`instance ${id} was ${verdict} and is ${String(status)}`)
  }
  const paths = new Map<number, Set<string>>()
  for (const { body, path } of received) {
    const id = Number(body['approvalGateInstanceId'])
    paths.set(id, (paths.get(id) ?? new Set()).add(path))
  }
  for (const [id, told] of paths) {
    const verdict = decided.get(id)
    if (told.size > 1) found.push(`instance ${id} was told as approved and as rejected`)
    if (verdict !== undefined && !told.has(verdict === 'approved' ? '/yes' : '/no')) {
      found.push(`instance ${id} was ${verdict} and told otherwise`)
    }
  }
  return found
}

/** Undefined if another decision came first. */
async function review(
  caller: Caller,
  instance: number,
  action: 'approve' | 'reject',
): Promise<Verdict | undefined> {
  const path = `/approvalGateInstances/${instance}/review`
  try {
    await call(caller, 'PUT', path, { action, comment: 'as it looks here' }, [200])
    return action === 'approve' ? 'approved' : 'rejected'
  } catch (raw) {
    if (raw instanceof UnexpectedAnswer && raw.status === 409) return undefined
    throw raw
  }
}

/** Ignores only requests left open by a broken connection. */
function raiseUnexpected(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) {
    if (result.status === 'rejected' && result.reason instanceof UnexpectedAnswer) throw result.reason
  }
}
