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

/** Clients for the hosts that policies may ask: only one that is named as loopback may be there. */
export class RequestClients {
  readonly #settings: RequestSettings
  readonly #options: OutboundClientOptions
  readonly #known = new Map<boolean, OutboundClient>()

  constructor(settings: RequestSettings, options: OutboundClientOptions) {
    this.#settings = settings
    // A limit of its own would end requests that a policy gives longer, as if the other side had failed.
    this.#options = { connectTimeoutMs: settings.timeoutSeconds * MS_PER_SECOND, ...options }
  }

  /** Sends a request. Raises an OutboundError where there is no response. */
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

/** Undefined where connections are as any other's, and may be shared. */
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

/** Made when they are needed: to name them in an import at the start writes all 140 out, whatever is asked for. */
async function rootCertificates(): Promise<readonly string[]> {
  return (await import('node:tls')).rootCertificates
}
