import { authHeaders } from '../lib/outbound/credentials.js'
import type { OrchestratorSettings } from './settings.js'

/** A repository host whose webhooks are relayed. */
export interface RepositoryHost {
  readonly name: 'gitlab' | 'github' | 'bitbucket'
  /** Path here and at the gateway. */
  readonly path: string
  /**
   * Relayed headers, which describe the delivery. All others, credentials in particular, are
   * dropped.
   */
  readonly headers: readonly string[]
  /** Headers with the sender's delivery id, the same in repeats. The first present one is used. */
  readonly ids: readonly string[]
  readonly event: string
}

/** Contract 4.8. The gateway reads no source from this type. */
export const GITLAB: RepositoryHost = {
  name: 'gitlab',
  path: '/webhooks/webhook/gitlab',
  headers: [
    ...['content-type', 'idempotency-key', 'x-gitlab-event', 'x-gitlab-event-uuid', 'x-gitlab-instance'],
    'x-gitlab-webhook-uuid',
  ],
  ids: ['idempotency-key'],
  event: 'x-gitlab-event',
}
/**
 * The signatures are relayed: triggers of the orchestrator may verify them with the same secret.
 */
export const GITHUB: RepositoryHost = {
  name: 'github',
  path: '/webhooks/git/github',
  headers: [
    ...['content-type', 'x-github-delivery', 'x-github-event', 'x-github-hook-id'],
    ...['x-hub-signature', 'x-hub-signature-256'],
  ],
  ids: ['x-github-delivery'],
  event: 'x-github-event',
}
/** Cloud sends `X-Request-UUID`, Data Center `X-Request-Id`. */
export const BITBUCKET: RepositoryHost = {
  name: 'bitbucket',
  path: '/webhooks/git/bitbucket',
  headers: [
    'content-type',
    'x-event-key',
    'x-hook-uuid',
    'x-request-uuid',
    'x-request-id',
    'x-hub-signature',
  ],
  ids: ['x-request-uuid', 'x-request-id'],
  event: 'x-event-key',
}

/** A delivery of a repository host. */
export interface WebhookDelivery {
  readonly body: Uint8Array
  /** Headers of the delivery, with names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/**
 * Returns the target and headers of a relayed delivery, without secrets, so that it may be stored.
 */
export function toWebhookRequest(
  { gateUrl }: Pick<OrchestratorSettings, 'gateUrl'>,
  host: RepositoryHost,
  { headers }: Pick<WebhookDelivery, 'headers'>,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const forwarded = host.headers
    .map((name) => [name, headers[name]] as const)
    .filter((header): header is [string, string] => header[1] !== undefined)
  return {
    url: `${gateUrl}${host.path}`,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(forwarded) },
  }
}

/**
 * Returns headers to add when a delivery is sent: credentials of the gateway, and for GitLab's path
 * its secret token.
 */
export function webhookCredentials(
  { gateCredentials, webhookToken }: Pick<OrchestratorSettings, 'gateCredentials' | 'webhookToken'>,
  url: string,
): Readonly<Record<string, string>> {
  const isGitlab = url.endsWith(GITLAB.path)
  return {
    ...authHeaders(gateCredentials),
    ...(isGitlab && webhookToken !== undefined && { 'x-gitlab-token': webhookToken.reveal() }),
  }
}
