import { createHash, timingSafeEqual } from 'node:crypto'

import { AppError } from '../errors/app-error.js'
import { asBuffer } from '../lib/bytes.js'
import { toWebhookRequest } from '../orchestrator/webhook-request.js'
import type { WebhookDelivery } from '../orchestrator/webhook-request.js'
import type { OrchestratorSettings } from '../orchestrator/settings.js'
import type { OutboxMessage } from '../store/ports/outbox-store.js'
import type { Writer, WriteOperation } from '../store/ports/transaction.js'
import { redactSecrets } from '../lib/redaction/redact.js'

/** A delivery that has been checked. */
export interface ReceivedWebhook {
  readonly message: OutboxMessage
  /** The sender's own id of the delivery, the same in repeats. */
  readonly deliveryId: string | undefined
  readonly event: string
  readonly origin: string | undefined
}

/** Keeps a delivery and what passes it on, in one transaction; false for a repeat of one that was stored before. */
export const keepWebhook: WriteOperation<ReceivedWebhook, boolean> = {
  name: 'webhooks.keep',
  apply: async ({ audit, outbox }, { message, deliveryId, event, origin }) => {
    const { isNew } = await audit.append({
      timeMs: message.createdMs,
      source: 'webhook',
      kind: `webhook.${event}`,
      origin,
      eventId: deliveryId === undefined ? undefined : `gitlab:${deliveryId}`,
      body: redactSecrets(Buffer.from(message.body)).text,
    })
    if (isNew) await outbox.enqueue(message)
    return isNew
  },
}

export interface RelayDeps {
  readonly settings: OrchestratorSettings
  readonly writer: Writer
  /** In milliseconds since the epoch. */
  readonly now: () => number
  /** Tells the sender that something may be due. */
  readonly wakeOutbox: () => void
}

/** Takes a delivery of the repository host whose token was checked. */
export async function relayWebhook(
  { settings, writer, now, wakeOutbox }: RelayDeps,
  delivery: WebhookDelivery,
  origin: string,
): Promise<void> {
  // What is secret joins the message only when it is sent.
  const { url, headers } = toWebhookRequest(settings, delivery)
  const body = asBuffer(delivery.body)
  const isNew = await writer.run(keepWebhook, {
    message: { topic: 'webhook.relay', url, headers, body: body.toString(), createdMs: now() },
    deliveryId: delivery.headers['idempotency-key'],
    event: eventName(delivery.headers['x-gitlab-event']),
    origin,
  })
  if (isNew) wakeOutbox()
}

/**
 * Raises `forbidden` for a wrong token, `not_found` while none is configured. Digests are of one length, so that the time taken tells
 * nothing about the token.
 */
export function checkWebhookToken(
  { webhookToken }: OrchestratorSettings,
  presented: string | undefined,
): void {
  if (webhookToken === undefined) {
    throw new AppError('not_found', 'webhooks are not taken: set orchestrator.webhookToken')
  }
  if (presented !== undefined && timingSafeEqual(digest(presented), digest(webhookToken.reveal()))) return
  throw new AppError('forbidden', 'X-Gitlab-Token is missing or wrong: it must be orchestrator.webhookToken')
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** `Merge Request Hook` is `merge_request`. */
function eventName(header: string | undefined): string {
  const words = (header ?? 'received').toLowerCase().replace(/\s+hook$/, '')
  return words.replaceAll(/[^a-z0-9]+/g, '_')
}
