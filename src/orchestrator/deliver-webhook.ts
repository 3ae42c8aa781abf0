import type { OutboundClient, OutboundRequest } from '../lib/outbound/outbound-client.js'
import { authHeaders } from '../lib/outbound/credentials.js'
import { isSuccess, refused } from './refusal.js'
import type { OrchestratorSettings } from './settings.js'

/** A delivery of a repository host, as it came. */
export interface WebhookDelivery {
  readonly body: Uint8Array
  /** Those of the delivery; only what describes it goes on. Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** What says what a delivery is; everything else that came with it, credentials above all, stays here. */
const FORWARDED: readonly string[] = [
  'content-type',
  'idempotency-key',
  'x-gitlab-event',
  'x-gitlab-event-uuid',
  'x-gitlab-instance',
  'x-gitlab-webhook-uuid',
]
const MAX_RESPONSE_BYTES = 1024 * 1024

type WebhookSettings = Pick<
  OrchestratorSettings,
  'gateUrl' | 'gateCredentials' | 'webhookToken' | 'timeoutMs'
>

/** The request that passes a delivery on to the gateway, with the secret token (contract 4.8). */
export function toWebhookRequest(
  settings: WebhookSettings,
  { body, headers }: WebhookDelivery,
): OutboundRequest {
  const forwarded = FORWARDED.map((name) => [name, headers[name]] as const).filter(
    (header): header is [string, string] => header[1] !== undefined,
  )
  return {
    method: 'POST',
    url: `${settings.gateUrl}/webhooks/webhook/gitlab`,
    headers: {
      'content-type': 'application/json',
      ...Object.fromEntries(forwarded),
      ...authHeaders(settings.gateCredentials),
      ...(settings.webhookToken === undefined ? {} : { 'x-gitlab-token': settings.webhookToken.reveal() }),
    },
    body,
    timeoutMs: settings.timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  }
}

/** Passes a delivery on, once. Raises `unavailable` or what the gateway's refusal means; `OutboundError` where it does not answer. */
export async function deliverWebhook(
  client: OutboundClient,
  settings: WebhookSettings,
  delivery: WebhookDelivery,
): Promise<void> {
  const response = await client.send(toWebhookRequest(settings, delivery))
  if (!isSuccess(response)) throw refused('deliver a webhook', response)
}
