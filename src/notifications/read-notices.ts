import { isRecord } from '../lib/validation/record.js'
import { readExecutionFacts } from '../events/execution-facts.js'
import { isOpen } from '../store/ports/gate-instance.js'
import type { AuditHead } from '../store/ports/audit-store.js'
import type { ReadOperation, Readers } from '../store/ports/readers.js'
import { oneLine } from './notice.js'
import type { Notice, NotifiedEvent } from './notice.js'

export interface NoticesQuery {
  readonly afterSeq: number
  /** Highest number of records to read. */
  readonly limit: number
  /** Records stored before this time are skipped, in epoch milliseconds. */
  readonly fromMs: number
  /** Records of other events are skipped. */
  readonly events: readonly NotifiedEvent[]
}

export interface Notices {
  readonly notices: readonly Notice[]
  /** The last record that was read. */
  readonly throughSeq: number
  readonly isMore: boolean
}

const MAX_STORED = 1000

type Facts = Readonly<Record<string, unknown>>

/** Returns the notices of the records after a position of the trail. */
export const readNotices: ReadOperation<NoticesQuery, Notices> = {
  name: 'notifications.read',
  apply: async (readers, { afterSeq, limit, fromMs, events }) => {
    const heads = await readers.audit.headsAfter(afterSeq, limit)
    const wanted = heads.flatMap((head) => {
      const event = eventOf(head)
      return event !== undefined && events.includes(event) && head.recordedMs >= fromMs
        ? [{ head, event }]
        : []
    })
    const bodies = await readers.audit.bodies(wanted.map(({ head }) => head.seq))
    const notices: Notice[] = []
    for (const [index, { head, event }] of wanted.entries()) {
      const notice = await noticeOf(readers, event, head, bodies[index])
      if (notice !== undefined) notices.push(notice)
    }
    return { notices, throughSeq: heads.at(-1)?.seq ?? afterSeq, isMore: heads.length === limit }
  },
}

const EVENTS: Readonly<Record<string, NotifiedEvent>> = {
  'gate.activated': 'gate.activated',
  // The gate's policy did not decide.
  'gate.left_to_people': 'gate.activated',
  'gate.reminded': 'gate.reminded',
  'gate.expiring': 'gate.expiring',
  'gate.approved': 'gate.decided',
  'gate.rejected': 'gate.decided',
  'gate.canceled': 'gate.decided',
  'gate.expired': 'gate.decided',
  'exception.expiring': 'exception.expiring',
}

/** Clients can send events with any kind, so the source counts, too. */
function eventOf({ kind, source, status }: AuditHead): NotifiedEvent | undefined {
  if (source === 'policy' && kind === 'policy.decision')
    return status === 'deny' ? 'policy.denied' : undefined
  return source === 'gate' || source === 'policy' ? EVENTS[kind] : undefined
}

async function noticeOf(
  readers: Readers,
  event: NotifiedEvent,
  head: AuditHead,
  body: Uint8Array | undefined,
): Promise<Notice | undefined> {
  const facts = body && factsIn(body)
  if (facts === undefined) return undefined
  if (event === 'policy.denied') return await denialNotice(readers, head, facts)
  if (event === 'exception.expiring') return exceptionNotice(head, facts)
  return await gateNotice(readers, event, head, facts)
}

function factsIn(body: Uint8Array): Facts | undefined {
  try {
    const facts: unknown = JSON.parse(Buffer.from(body).toString())
    return isRecord(facts) ? facts : undefined
  } catch {
    return undefined
  }
}

/** Undefined for an instance that no longer waits, and before its gate's policy was evaluated. */
async function gateNotice(
  { gates }: Readers,
  event: NotifiedEvent,
  head: AuditHead,
  facts: Facts,
): Promise<Notice | undefined> {
  const instance = await gates.findInstance(Number(facts['instance']))
  if (instance === undefined) return undefined
  const gate = await gates.findGate(instance.gateId)
  const isDecided = event === 'gate.decided'
  if (!isDecided && !isOpen(instance.state)) return undefined
  if (head.kind === 'gate.activated' && gate?.policy !== undefined) return undefined
  return {
    event,
    timeMs: head.timeMs,
    subject: `notification:gate-instance:${instance.id}`,
    path: `/ui/approvals/${instance.id}`,
    gate: instance.gateName,
    groups: gate?.approvers.groups,
    application: instance.application,
    pipeline: gate?.pipeline,
    execution: instance.executionId,
    user: isDecided ? textIn(facts, 'decidedBy') : instance.triggeredBy,
    state: head.status,
    comment: isDecided ? textIn(facts, 'comment') : undefined,
    expiresMs: isDecided ? undefined : instance.expiresMs,
  }
}

async function denialNotice(readers: Readers, head: AuditHead, facts: Facts): Promise<Notice> {
  const { application, executionId } = head
  const execution =
    executionId === undefined ? undefined : await readExecutionFacts.apply(readers, executionId)
  const reasons = Array.isArray(facts['result']) ? (facts['result'] as unknown[]) : []
  const decision = textIn(facts, 'decisionId') ?? ''
  return {
    event: 'policy.denied',
    timeMs: head.timeMs,
    subject: `notification:decision:${decision}`,
    path: `/ui/decisions/${encodeURIComponent(decision)}`,
    application: shortened(application),
    pipeline: shortened(execution?.pipeline),
    execution: shortened(executionId),
    policy: shortened(textIn(facts, 'path')),
    comment: shortened(reasons.filter((reason) => typeof reason === 'string').join('; ') || undefined),
    count: 1,
  }
}

/** Denials are stored until their message is due. */
function shortened(text: string | undefined): string | undefined {
  return text === undefined ? undefined : oneLine(text, MAX_STORED)
}

function exceptionNotice(head: AuditHead, facts: Facts): Notice {
  const until = Date.parse(textIn(facts, 'until') ?? '')
  return {
    event: 'exception.expiring',
    timeMs: head.timeMs,
    subject: `notification:exception:${String(facts['exception'])}`,
    path: '/ui/policies',
    application: head.application,
    pipeline: head.pipeline,
    policy: textIn(facts, 'package'),
    user: textIn(facts, 'owner'),
    comment: textIn(facts, 'reason'),
    expiresMs: Number.isNaN(until) ? undefined : until,
  }
}

function textIn(facts: Facts, name: string): string | undefined {
  const value = facts[name]
  return typeof value === 'string' ? value : undefined
}
