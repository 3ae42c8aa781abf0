import { z } from 'zod'

import { checkWebhookSignature, checkWebhookToken, relayWebhook } from '../../../events/relay-webhook.js'
import type { RelayDeps, SigningSecret } from '../../../events/relay-webhook.js'
import { BITBUCKET, GITHUB, GITLAB } from '../../../orchestrator/webhook-request.js'
import type { RepositoryHost } from '../../../orchestrator/webhook-request.js'
import { withLimitMessage } from '../../exchange/body-errors.js'
import { AppError } from '../../../errors/app-error.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import type { BodyReader } from '../../input/body-reader.js'
import { readJsonBytes, readSentJson } from '../../input/read-json-body.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Credential, CredentialName, Route } from '../../pipeline/route.js'

const TITLES = { gitlab: 'GitLab', github: 'GitHub', bitbucket: 'Bitbucket' } as const
/** A push of twenty commits with ten thousand file names is half of this. */
const MAX_DELIVERY_BYTES = 2 * 1024 * 1024

export interface WebhookRoutesDeps extends RelayDeps {
  readonly maxBodyBytes: number
}

type ReadBytes = (exchange: Exchange, limit: number, deps: WebhookRoutesDeps) => Promise<Uint8Array>

/**
 * `POST /webhooks/webhook/gitlab`, `/webhooks/git/github` and `/webhooks/git/bitbucket`: accept a
 * delivery with a valid token or signature and relay it to the gateway. Respond with 200 once the
 * delivery is durable.
 */
export const webhookRoutes = [
  webhookRoute(GITLAB, deliveryBody(readJsonBytes), {
    name: 'gitlabToken',
    check: ({ exchange }, { settings }) => checkWebhookToken(settings, exchange.header('x-gitlab-token')),
  }),
  signedRoute(GITHUB, 'githubSignature', ({ settings }) => ({
    ...{ key: 'orchestrator.githubSecret', header: 'X-Hub-Signature-256' },
    secret: settings.githubSecret,
  })),
  signedRoute(BITBUCKET, 'bitbucketSignature', ({ settings }) => ({
    ...{ key: 'orchestrator.bitbucketSecret', header: 'X-Hub-Signature' },
    secret: settings.bitbucketSecret,
  })),
]

/** The signature covers the body, so it is checked after reading and before parsing it. */
function signedRoute(
  host: RepositoryHost,
  name: CredentialName,
  secretOf: (deps: WebhookRoutesDeps) => SigningSecret,
): Route<WebhookRoutesDeps> {
  const body = deliveryBody(async (exchange, limit, deps) => {
    const bytes = await exchange.readBytes(limit)
    const secret = secretOf(deps)
    checkWebhookSignature(secret, exchange.header(secret.header.toLowerCase()), bytes)
    const body = await readSentJson(exchange, bytes, limit)
    if (bytes.equals(body)) return body
    throw new AppError(
      'invalid',
      'A signed delivery must be UTF-8 without Content-Encoding, since it is relayed unchanged.',
    )
  })
  return webhookRoute(host, body, { name, check: () => undefined })
}

function deliveryBody(read: ReadBytes): BodyReader<WebhookRoutesDeps, Uint8Array> {
  return {
    description: 'The delivery of the repository host.',
    schema: z.unknown(),
    read: (exchange, deps) => {
      const limit = Math.min(deps.maxBodyBytes, MAX_DELIVERY_BYTES)
      const message = `the delivery exceeds ${limit} bytes`
      return withLimitMessage(read(exchange, limit, deps), message)
    },
  }
}

function webhookRoute(
  host: RepositoryHost,
  body: BodyReader<WebhookRoutesDeps, Uint8Array>,
  credential: Credential<WebhookRoutesDeps, object>,
): Route<WebhookRoutesDeps> {
  return routesOf<WebhookRoutesDeps>().route({
    method: 'POST',
    path: host.path,
    credential,
    handler: 'webhooks',
    summary: `Relay a webhook of a ${TITLES[host.name]} repository to the gateway`,
    body,
    answers: {
      200: json('The delivery is durable.', z.object({ eventProcessed: z.literal(true) })),
      404: { description: 'Webhooks of this host are not configured.' },
    },
    answer: async ({ exchange, body: sent }, deps) => {
      const headers = Object.fromEntries(host.headers.map((name) => [name, exchange.header(name)]))
      await relayWebhook(deps, host, { body: sent, headers }, callerOf(exchange).origin)
      return jsonAnswer({ eventProcessed: true })
    },
  })
}
