import { authHeaders } from '../lib/outbound/credentials.js'
import type { OrchestratorSettings } from './settings.js'

/** A delivery of a repository host, as it came. */
export interface WebhookDelivery {
  readonly body: Uint8Array
  /** Those of the delivery; only what describes it goes on. Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** What says what a delivery is; everything else that came with it, credentials above all, stays here. */
export const DELIVERY_HEADERS: readonly string[] = [
  'content-type',
  'idempotency-key',
  'x-gitlab-event',
  'x-gitlab-event-uuid',
  'x-gitlab-instance',
  'x-gitlab-webhook-uuid',
]

/** Where a delivery is passed on to (contract 4.8), and the headers that go along. Without secrets, so that it may be kept. */
export function toWebhookRequest(
  { gateUrl }: Pick<OrchestratorSettings, 'gateUrl'>,
  { headers }: Pick<WebhookDelivery, 'headers'>,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const forwarded = DELIVERY_HEADERS.map((name) => [name, headers[name]] as const).filter(
    (header): header is [string, string] => header[1] !== undefined,
  )
  return {
    url: `${gateUrl}/webhooks/webhook/gitlab`,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(forwarded) },
  }
}

/** The headers that join a delivery when it is sent: credentials for the gateway, and the secret token. */
export function webhookCredentials({
  gateCredentials,
  webhookToken,
}: Pick<OrchestratorSettings, 'gateCredentials' | 'webhookToken'>): Readonly<Record<string, string>> {
  return {
    ...authHeaders(gateCredentials),
    ...(webhookToken !== undefined && { 'x-gitlab-token': webhookToken.reveal() }),
  }
}
