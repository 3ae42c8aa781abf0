import { ask, objectOf } from '../http-client.js'
import type { ReceivedCallback } from '../callback-receiver.js'
import { waitUntil } from '../wait-until.js'
import type { Promised } from './mixed-writes.js'

/**
 * The broken promises of a service, one sentence each. Empty if it kept all of them exactly once.
 */
export async function findBrokenPromises(
  url: string,
  promised: Promised,
  received: readonly ReceivedCallback[],
): Promise<string[]> {
  return [
    ...(await chainProblems(url)),
    ...(await eventProblems(url, promised)),
    ...(await instanceProblems(url, promised)),
    ...(await gateProblems(url, promised)),
    ...(await analysisProblems(url, promised)),
    ...(await callbackProblems(promised, received)),
  ]
}

async function chainProblems(url: string): Promise<string[]> {
  const { isIntact, intact, problems } = objectOf(await ask(url, { path: '/audit/verify' }))
  return (isIntact ?? intact) === true ? [] : [`the chain is broken: ${JSON.stringify(problems)}`]
}

/** Each acknowledged event once, and none twice. */
async function eventProblems(url: string, { events }: Promised): Promise<string[]> {
  const counts = new Map<string, number>()
  const { text } = await ask(url, { path: '/audit/export?format=ndjson' })
  for (const line of text.trim().split('\n')) {
    const { eventId } = JSON.parse(line) as { eventId?: string }
    if (eventId !== undefined) counts.set(eventId, (counts.get(eventId) ?? 0) + 1)
  }
  return [
    ...[...events].filter((id) => !counts.has(id)).map((id) => `event ${id} is lost`),
    ...[...counts]
      .filter(([, count]) => count > 1)
      .map(([id, count]) => `event ${id} is kept ${count} times`),
  ]
}

async function instanceProblems(url: string, { instances, approved }: Promised): Promise<string[]> {
  const problems: string[] = []
  for (const [id, executionId] of instances) {
    const found = objectOf(await ask(url, { path: `/approvalGateInstances/${id}` }))
    if (found['executionId'] !== executionId) problems.push(`instance ${id} is not that of ${executionId}`)
    else if (approved.has(id) && found['status'] !== 'approved')
      problems.push(`the approval of instance ${id} is lost: ${String(found['status'])}`)
  }
  return problems
}

async function gateProblems(url: string, { gates }: Promised): Promise<string[]> {
  const problems: string[] = []
  for (const [id, name] of gates) {
    const found = objectOf(await ask(url, { path: `/approvalGates/${id}` }))
    if (found['name'] !== name) problems.push(`gate ${id} is not called ${name}`)
  }
  return problems
}

async function analysisProblems(url: string, { analyses }: Promised): Promise<string[]> {
  const problems: string[] = []
  for (const id of analyses) {
    const { status } = await ask(url, { path: `/analysis/${id}` })
    if (status !== 200) problems.push(`analysis ${id} is lost: ${status}`)
  }
  return problems
}

/** Each approval is reported in the end, always under one webhook-id. */
async function callbackProblems(
  { approved }: Promised,
  received: readonly ReceivedCallback[],
): Promise<string[]> {
  const idsByInstance = (): Map<number, Set<string>> => {
    const ids = new Map<number, Set<string>>()
    for (const { body, webhookId } of received) {
      const instance = Number(body['approvalGateInstanceId'])
      ids.set(instance, (ids.get(instance) ?? new Set()).add(webhookId))
    }
    return ids
  }
  const isToldOf = (told: Map<number, Set<string>>): boolean => [...approved].every((id) => told.has(id))
  const told = await waitUntil(
    () => (isToldOf(idsByInstance()) ? idsByInstance() : undefined),
    () => '',
  ).catch(() => idsByInstance())
  return [
    ...[...approved].filter((id) => !told.has(id)).map((id) => `the callback of instance ${id} never came`),
    ...[...told].filter(([, ids]) => ids.size > 1).map(([id]) => `instance ${id} was told twice`),
  ]
}
