import { createHash } from 'node:crypto'

import { z } from 'zod'

import { parseJson } from '../../lib/json/text/parse-json.js'
import { AppError } from '../../errors/app-error.js'
import type { OutboundClient, OutboundResponse } from '../../lib/outbound/outbound-client.js'
import type { FetchBundle } from './fetch-bundle.js'
import { MAX_BUNDLE_BYTES, refusal } from './http-bundle.js'

/** Media types of OCI images (OCI image specification 1.1), as the policy CLI and ORAS push them. */
const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'
const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar+gzip'
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
const MAX_REFUSAL_BYTES = 4096
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
const UNAUTHORIZED = 401

const Manifest = z.object({
  layers: z.array(z.object({ mediaType: z.string(), digest: z.string().regex(/^sha256:[\da-f]{64}$/) })),
})
/** The answer of a token server (distribution specification, "Token Authentication"). */
const TokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() })

export interface OciSettings {
  /** The registry. */
  readonly url: string
  readonly repository: string
  /** A tag or a digest. */
  readonly reference: string
  /** Sent to the registry and to its token server, never shown. */
  readonly headers: Readonly<Record<string, string>>
  /** The token server, if it is not at the registry's address. */
  readonly tokenServer?: string | undefined
  readonly timeoutMs: number
}

export interface OciClients {
  readonly registry: OutboundClient
  /** Follows the redirects of blobs to the storage of a registry, without credentials. */
  readonly storage: OutboundClient
}

/**
 * Fetches the bundle of an image in a registry. The version is the digest of its manifest, and the
 * layer must have the digest that the manifest names.
 */
export function fetchFromRegistry(settings: OciSettings, clients: OciClients): FetchBundle {
  let token: string | undefined
  const base = `${settings.url.replace(/\/+$/, '')}/v2/${settings.repository}`
  const send = async (path: string, signal: AbortSignal, maxBytes: number): Promise<OutboundResponse> => {
    const request = (headers: Readonly<Record<string, string>>): Promise<OutboundResponse> =>
      clients.registry.send({
        ...{ method: 'GET', url: `${base}${path}`, timeoutMs: settings.timeoutMs, signal },
        ...{ maxResponseBytes: maxBytes, maxRefusalBytes: MAX_REFUSAL_BYTES },
        headers: { ...headers, accept: path.startsWith('/manifests') ? MANIFEST_TYPE : '*/*' },
      })
    const authorized = (): Readonly<Record<string, string>> =>
      token === undefined ? settings.headers : { ...settings.headers, authorization: `Bearer ${token}` }
    const response = await request(authorized())
    const challenge = response.headers['www-authenticate']
    // Other challenges, such as Basic, are for the credentials that were sent.
    if (response.status !== UNAUTHORIZED || !/^Bearer\b/i.test(challenge ?? '')) return response
    token = await requestToken(challenge ?? '', settings, clients.registry, signal)
    return await request(authorized())
  }
  return async ({ known, signal }) => {
    const manifest = await send(`/manifests/${settings.reference}`, signal, MAX_DOCUMENT_BYTES)
    if (manifest.status !== 200) throw refusal(base, manifest)
    const version = digestOf(manifest.body)
    if (settings.reference.startsWith('sha256:') && settings.reference !== version)
      throw new AppError('unavailable', `${base} sent another manifest than ${settings.reference}`)
    if (version === known) return { isChanged: false, isLongPoll: false }
    const digest = layerOf(base, manifest.body)
    const blob = await followOnce(
      await send(`/blobs/${digest}`, signal, MAX_BUNDLE_BYTES),
      settings,
      clients,
      signal,
    )
    if (blob.status !== 200) throw refusal(base, blob)
    if (digestOf(blob.body) !== digest)
      throw new AppError('unavailable', `${base} sent a layer with another digest than ${digest}`)
    return { isChanged: true, bytes: blob.body, version, isLongPoll: false }
  }
}

function layerOf(base: string, body: Buffer): string {
  const { layers } = Manifest.safeParse(parseJson(body.toString())).data ?? { layers: [] }
  const bundles = layers.filter(({ mediaType }) => mediaType === LAYER_TYPE)
  const [only] = bundles
  if (only !== undefined && bundles.length === 1) return only.digest
  throw new AppError(
    'unavailable',
    `the image at ${base} has ${bundles.length} layers of type ${LAYER_TYPE}, where a policy bundle has one`,
  )
}

/** The content is checked by its digest, so that it may come from any public address. */
async function followOnce(
  response: OutboundResponse,
  { timeoutMs }: OciSettings,
  { storage }: OciClients,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const location = response.headers['location']
  if (!REDIRECTS.includes(response.status) || location === undefined) return response
  return await storage.send({
    ...{ method: 'GET', url: location, timeoutMs, signal },
    ...{ maxResponseBytes: MAX_BUNDLE_BYTES, maxRefusalBytes: MAX_REFUSAL_BYTES },
  })
}

/**
 * Requests a token as the registry's challenge says, at the registry's address or that of the
 * configured token server only, because the request has the credentials.
 */
async function requestToken(
  challenge: string,
  { url, tokenServer, headers, timeoutMs }: OciSettings,
  client: OutboundClient,
  signal: AbortSignal,
): Promise<string> {
  const parameters = new Map(
    [...challenge.matchAll(/(?<name>\w+)="(?<value>[^"]*)"/g)].map(({ groups }) => [
      groups?.['name'] ?? '',
      groups?.['value'] ?? '',
    ]),
  )
  const realm = parameters.get('realm') ?? ''
  const allowed = [url, ...(tokenServer === undefined ? [] : [tokenServer])].map((one) => new URL(one).origin)
  if (!URL.canParse(realm) || !allowed.includes(new URL(realm).origin)) {
    const named = URL.canParse(realm) ? new URL(realm).origin : 'no address'
    throw new AppError(
      'unavailable',
      `${url} refuses the credentials and names ${named} as its token server: set tokenServer if that is right`,
    )
  }
  const target = new URL(realm)
  for (const name of ['service', 'scope']) {
    const value = parameters.get(name)
    if (value !== undefined) target.searchParams.set(name, value)
  }
  const response = await client.send({
    ...{ method: 'GET', url: target.href, headers, timeoutMs, signal },
    ...{ maxResponseBytes: MAX_DOCUMENT_BYTES, maxRefusalBytes: MAX_REFUSAL_BYTES },
  })
  const { token, access_token: access } =
    TokenAnswer.safeParse(parseJson(response.body.toString())).data ?? {}
  const found = token ?? access
  if (response.status === 200 && found !== undefined) return found
  throw refusal(target.origin, response)
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
