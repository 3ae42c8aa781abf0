import { createHmac } from 'node:crypto'

import { AppError } from '../errors/app-error.js'
import { asBuffer } from '../lib/bytes.js'
import { toWebhookRequest } from '../orchestrator/webhook-request.js'
import type { RepositoryHost, WebhookDelivery } from '../orchestrator/webhook-request.js'
import type { Secret } from '../lib/outbound/credentials.js'
import { isSameText } from '../lib/text/same-text.js'
import type { OrchestratorSettings } from '../orchestrator/settings.js'
import type { OutboxMessage } from '../store/ports/outbox-store.js'
import type { Writer, WriteOperation } from '../store/ports/transaction.js'
import { redactSecrets } from '../lib/redaction/redact.js'

/** A verified delivery. */
export interface ReceivedWebhook {
  readonly message: OutboxMessage
  /** Host and the host's delivery id, the same in repeats. */
  readonly deliveryId: string | undefined
  readonly event: string
  readonly origin: string | undefined
}

/**
 * Stores a delivery and its message to the gateway in one transaction. Returns false for a repeated
 * delivery.
 */
export const keepWebhook: WriteOperation<ReceivedWebhook, boolean> = {
  name: 'webhooks.keep',
  apply: async ({ audit, outbox }, { message, deliveryId, event, origin }) => {
    const { isNew } = await audit.append({
      timeMs: message.createdMs,
      source: 'webhook',
      kind: `webhook.${event}`,
      origin,
      eventId: deliveryId,
      body: redactSecrets(Buffer.from(message.body)).text,
    })
    if (isNew) await outbox.enqueue(message)
    return isNew
  },
}

export interface RelayDeps {
  readonly settings: OrchestratorSettings
  readonly writer: Writer
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Wakes the sender of the outbox. */
  readonly wakeOutbox: () => void
}

/** Relays a delivery whose token or signature was verified. */
export async function relayWebhook(
  { settings, writer, now, wakeOutbox }: RelayDeps,
  host: RepositoryHost,
  delivery: WebhookDelivery,
  origin: string,
): Promise<void> {
  // Secrets are added when the message is sent.
  const { url, headers } = toWebhookRequest(settings, host, delivery)
  const body = asBuffer(delivery.body)
  const id = host.ids.map((name) => delivery.headers[name]).find((value) => value !== undefined)
  const isNew = await writer.run(keepWebhook, {
    message: { topic: 'webhook.relay', url, headers, body: body.toString(), createdMs: now() },
    deliveryId: id === undefined ? undefined : `${host.name}:${id}`,
    event: eventName(delivery.headers[host.event]),
    origin,
  })
  if (isNew) wakeOutbox()
}

/** Raises `forbidden` for a wrong token, and `not_found` if none is configured. */
export function checkWebhookToken(
  { webhookToken }: OrchestratorSettings,
  presented: string | undefined,
): void {
  if (webhookToken === undefined) throw notTaken('orchestrator.webhookToken')
  if (presented !== undefined && isSameText(presented, webhookToken.reveal())) return
  throw new AppError('forbidden', 'X-Gitlab-Token is missing or wrong: it must be orchestrator.webhookToken')
}

/** Secret for signatures, with its configuration key and the header of the signature. */
export interface SigningSecret {
  readonly secret: Secret | undefined
  readonly key: string
  readonly header: string
}

/**
 * Raises `forbidden` for a missing or wrong signature of the exact bytes: `sha256=` and the
 * HMAC-SHA-256 in hex, as GitHub and Bitbucket send it. Raises `not_found` if no secret is
 * configured.
 */
export function checkWebhookSignature(
  { secret, key, header }: SigningSecret,
  presented: string | undefined,
  body: Uint8Array,
): void {
  if (secret === undefined) throw notTaken(key)
  const expected = `sha256=${createHmac('sha256', secret.reveal()).update(body).digest('hex')}`
  if (presented !== undefined && isSameText(presented, expected)) return
  throw new AppError(
    'forbidden',
    `${header} is missing or wrong: the delivery must be signed with ${key}, and arrive unchanged`,
  )
}

function notTaken(key: string): AppError {
  return new AppError('not_found', `webhooks of this host are not accepted: set ${key}`)
}

/** Turns `Merge Request Hook` into `merge_request`. */
function eventName(header: string | undefined): string {
  const words = (header ?? 'received').toLowerCase().replace(/\s+hook$/, '')
  return words.replaceAll(/[^a-z0-9]+/g, '_')
}
