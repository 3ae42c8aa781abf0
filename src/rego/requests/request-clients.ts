import type { AddressPolicy } from '../../lib/outbound/address-policy.js'
import { isLoopbackHost } from '../../lib/outbound/address-policy.js'
import { makeOutboundClient } from '../../lib/outbound/outbound-client.js'
import type {
  OutboundClient,
  OutboundClientOptions,
  OutboundRequest,
  OutboundResponse,
} from '../../lib/outbound/outbound-client.js'
import type { RequestTls } from '../builtins/http/http-request.js'
import type { RequestSettings } from './request-settings.js'

const MS_PER_SECOND = 1000

/** HTTP clients for the allowed hosts. Only hosts allowed as loopback may be loopback. */
export class RequestClients {
  readonly #settings: RequestSettings
  readonly #options: OutboundClientOptions
  readonly #known = new Map<boolean, OutboundClient>()

  constructor(settings: RequestSettings, options: OutboundClientOptions) {
    this.#settings = settings
    // No timeout of its own, which would end requests with a longer timeout in the policy.
    this.#options = { connectTimeoutMs: settings.timeoutSeconds * MS_PER_SECOND, ...options }
  }

  /** Sends a request. Raises an OutboundError without a response. */
  async send(request: OutboundRequest, tls: RequestTls): Promise<OutboundResponse> {
    const policy = this.#policyFor(request.url)
    const special = await specialOptions(tls)
    if (special === undefined) return await this.#clientFor(policy).send(request)
    const client = makeOutboundClient(policy, { ...this.#options, ...special })
    try {
      return await client.send(request)
    } finally {
      await client.close()
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#known.values()].map((client) => client.close()))
  }

  #policyFor(url: string): AddressPolicy {
    const { allowedHosts, allowPrivate } = this.#settings
    return {
      allowedHosts,
      allowPrivate,
      allowLoopback: URL.canParse(url) && isLoopbackHost(new URL(url).hostname),
    }
  }

  #clientFor(policy: AddressPolicy): OutboundClient {
    const known = this.#known.get(policy.allowLoopback)
    if (known !== undefined) return known
    const client = makeOutboundClient(policy, this.#options)
    this.#known.set(policy.allowLoopback, client)
    return client
  }
}

/** Undefined if connections have no special settings and may be shared. */
async function specialOptions(tls: RequestTls): Promise<OutboundClientOptions | undefined> {
  const { ca, usesSystemCertificates, certificate, key, serverName } = tls
  const hasCertificate = certificate !== undefined && key !== undefined
  if (ca === undefined && !hasCertificate && serverName === undefined) return undefined
  return {
    ca: ca === undefined || !usesSystemCertificates ? ca : [...(await rootCertificates()), ca],
    ...(hasCertificate && { cert: certificate, key }),
    servername: serverName,
  }
}

/** Loaded on demand; a static import would load all 140 certificates. */
async function rootCertificates(): Promise<readonly string[]> {
  return (await import('node:tls')).rootCertificates
}
