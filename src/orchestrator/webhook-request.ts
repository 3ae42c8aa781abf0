import { authHeaders } from '../lib/outbound/credentials.js'
import type { OrchestratorSettings } from './settings.js'

/** A host of repositories whose webhooks are taken. */
export interface RepositoryHost {
  readonly name: 'gitlab' | 'github' | 'bitbucket'
  /** Where it posts, and where the gateway takes it. */
  readonly path: string
  /** The headers that say what a delivery is. Everything else that comes with it, credentials above all, stays here. */
  readonly headers: readonly string[]
  /** The header with the sender's own id of a delivery, the same in repeats: the first that is there. */
  readonly ids: readonly string[]
  readonly event: string
}

/** Contract 4.8; the gateway reads nothing of the source in this type. */
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
/** The signatures go along: triggers of the orchestrator may check them by the same secret. */
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
/** Cloud says `X-Request-UUID`, Data Center `X-Request-Id`. */
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

/** A delivery of a repository host, as it came. */
export interface WebhookDelivery {
  readonly body: Uint8Array
  /** Those of the delivery; only what describes it goes on. Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** Where a delivery is passed on to, and the headers that go along. Without secrets, so that it may be kept. */
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

/** The headers that join a delivery when it is sent: credentials for the gateway, and to GitLab's path its secret token. */
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
