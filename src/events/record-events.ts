import { toAppError } from '../errors/app-error.js'
import type { ErrorDetail, ErrorKind } from '../errors/app-error.js'
import { asBuffer } from '../lib/bytes.js'
import { redactSecrets } from '../lib/redaction/redact.js'
import type { AuditEntry, AuditReceipt } from '../store/ports/audit-store.js'
import type { Transaction, WriteOperation } from '../store/ports/transaction.js'
import type { EventEndpoint, OrchestratorEvent } from './orchestrator-event.js'
import { readEvent } from './read-event.js'
import { readRunsChunk } from './read-runs.js'
import { keepWebhook } from './relay-webhook.js'

/** Body of a request with an event. */
export interface ReceivedBody {
  readonly endpoint: EventEndpoint
  readonly body: Uint8Array
  /** Epoch milliseconds. */
  readonly receivedMs: number
  readonly origin: string | undefined
}

/** Why a body is refused: the parts of an AppError, which cross a thread. */
export interface Refusal {
  readonly kind: ErrorKind
  readonly code: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
}

export type Intake = AuditReceipt | { readonly refusal: Refusal }

/** Kind of audit data without a type. */
const UNTYPED = 'audit.data'

/**
 * Stores the events of some bodies, each once and without secrets, and queues those that change the
 * registry. An unreadable body is refused alone, with nothing of it stored.
 */
export const recordEvents: WriteOperation<readonly ReceivedBody[], readonly Intake[]> = {
  name: 'events.record',
  apply: async (transaction, bodies) => {
    const taken: Intake[] = []
    for (const body of bodies) {
      const read = readEntry(body)
      taken.push('refusal' in read ? read : await keep(transaction, read))
    }
    return taken
  },
}

interface ReadEntry {
  readonly entry: AuditEntry
  readonly isWaiting: boolean
}

async function keep(
  { audit, eventQueue }: Transaction,
  { entry, isWaiting }: ReadEntry,
): Promise<AuditReceipt> {
  const receipt = await audit.append(entry)
  if (receipt.isNew && isWaiting) await eventQueue.add(receipt.seq)
  return receipt
}

function readEntry(received: ReceivedBody): ReadEntry | { readonly refusal: Refusal } {
  try {
    const event = readEvent(asBuffer(received.body), received.endpoint, received.receivedMs)
    return { entry: toEntry(event, received.origin), isWaiting: mayChangeRegistry(event) }
  } catch (raw) {
    const { kind, code, message, details } = toAppError(raw)
    return { refusal: { kind, code, message, details } }
  }
}

function toEntry(event: OrchestratorEvent, origin: string | undefined): AuditEntry {
  const { stage } = event
  return {
    timeMs: event.occurredAt,
    source: 'event',
    kind: event.kind ?? UNTYPED,
    application: event.application,
    pipeline: event.pipeline,
    executionId: event.executionId,
    stage: stage?.name ?? stage?.refId ?? stage?.type,
    user: event.user,
    status: event.status,
    origin,
    eventId: event.eventId,
    body: redactSecrets(event.body).text,
  }
}

/** Only finished orchestrations change definitions. */
function mayChangeRegistry({ kind }: OrchestratorEvent): boolean {
  return kind === 'orca:orchestration:complete' || kind === 'orca:orchestration:failed'
}

/** Read operations of events. */
export const eventReads = [readRunsChunk] as const
export const eventWrites = [recordEvents, keepWebhook] as const
