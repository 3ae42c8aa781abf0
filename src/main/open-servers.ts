import type { Config } from '../config/config.js'
import { requiresCredentials } from '../config/sections/auth.js'
import type { ServedAddress } from '../config/sections/served-addresses.js'
import { makeServerLimits, startServer } from '../http/server.js'
import type { RunningServer, ServerLimits } from '../http/server.js'
import { makeRequestHandler } from '../http/transport/handle-request.js'
import type { RequestHandlerOptions } from '../http/transport/handle-request.js'
import type { TlsSettings } from '../http/transport/tls/tls-settings.js'
import type { Logger } from '../lib/logger.js'
import { hostOfAddress, isLocalAddress } from '../config/sections/listen-address.js'
import type { ListenAddress } from '../config/sections/listen-address.js'
import { makeAdmission, makeIsKnownHost } from '../http/pipeline/admit-request.js'
import type { Admission } from '../http/pipeline/admit-request.js'
import type { ServerTls } from '../http/transport/tls/secure-listener.js'

/** Probes and monitoring need few connections. */
const MAX_HEALTH_CONNECTIONS = 256
const OCTAL = 8

export type Answering = Pick<RequestHandlerOptions, 'find' | 'application' | 'finished' | 'trace'>

interface ServersOptions {
  readonly config: Config
  readonly logger: Logger
  /** Number of processes that share the limits of the service. */
  readonly processes: number
  readonly tls: () => TlsSettings | undefined
}

/**
 * Starts the servers of one process, which share their capacity. Servers for probes have their own,
 * so that load elsewhere cannot block probes.
 */
export class Servers {
  /** Shared capacity of the servers that serve everything. */
  readonly limits: ServerLimits
  readonly #options: ServersOptions
  readonly #failed: ReturnType<typeof logHandshakes>
  readonly #running: RunningServer[] = []
  readonly #admissions: { readonly address: ListenAddress; admit: Admission['admit'] }[] = []
  #config: Config

  constructor(options: ServersOptions) {
    this.#options = options
    const { config, processes, logger } = options
    this.#config = config
    this.limits = makeServerLimits(maxBodyBytesOf(config), processes)
    this.#failed = logHandshakes(logger)
  }

  get urls(): string[] {
    return this.#running.map(({ url }) => url)
  }

  /**
   * Starts to serve at an address, or at the listener of another process of the service. Throws
   * `unavailable`.
   */
  async start(
    { address, serves, isTls }: ServedAddress,
    answering: Answering,
    listener?: RunningServer['listener'],
  ): Promise<RunningServer> {
    const { tls } = this.#options
    const admission = { address, ...openAdmission(this.#config, address) }
    this.#admissions.push(admission)
    const admit: Admission['admit'] = (exchange) => admission.admit(exchange)
    const settings = isTls ? tls() : undefined
    const server = await startServer(makeRequestHandler({ ...answering, admit }), {
      listenOn: listener ?? address,
      socketMode: parseInt(this.#config.server.socketMode, OCTAL),
      limits: serves === 'all' ? this.limits : makeServerLimits(0, 1, MAX_HEALTH_CONNECTIONS),
      ...(settings !== undefined && { tls: { settings, failed: this.#failed } }),
    })
    this.#running.push(server)
    return server
  }

  /** Admits requests by another configuration from now on. */
  follow(config: Config): void {
    this.#config = config
    for (const each of this.#admissions) each.admit = openAdmission(config, each.address).admit
  }

  /** Switches all TLS servers to another certificate for new connections. */
  renewTls(settings: TlsSettings): void {
    for (const server of this.#running) server.renewTls(settings)
  }

  async stop(drainMs: number): Promise<void> {
    await Promise.all(this.#running.map((server) => server.stop(drainMs)))
  }
}

/** The largest body that any route accepts. */
function maxBodyBytesOf({ server, audit }: Config): number {
  return Math.max(server.maxBodyBytes, audit.maxBodyBytes)
}

/**
 * Returns the admission check of an address. Without tokens, a service on loopback accepts its own
 * host names only. Beyond loopback its names are unknown, so `server.allowedHosts` must list them.
 */
function openAdmission({ server, auth }: Config, address: ListenAddress): Admission {
  const { publicUrl, orchestratorUrl, allowedHosts } = server
  const urls = [publicUrl, orchestratorUrl].filter((url) => url !== undefined)
  const needsCredentials = requiresCredentials(auth)
  const arePeopleKnownAnyway = auth.certificates.length > 0 || auth.proxy !== undefined
  return makeAdmission({
    isKnownHost: makeIsKnownHost({ listenHost: hostOfAddress(address), urls, allowedHosts }),
    needsKnownHost: allowedHosts.length > 0 || (!needsCredentials && isLocalAddress(address)),
    // Browsers send a client certificate, and proxies a name, for any page.
    isOpen: !needsCredentials || arePeopleKnownAnyway || auth.openToOrchestrator,
    publicUrl,
  })
}

const PAUSE_MS = 10_000

/** Logs failed TLS handshakes, at most one every 10 seconds with the number since the last. */
function logHandshakes(logger: Logger): ServerTls['failed'] {
  let unreported = 0
  let lastMs = -Infinity
  return (error, remoteAddress) => {
    const now = performance.now()
    unreported += 1
    if (now - lastMs < PAUSE_MS) return
    logger.warn(
      { error: 'code' in error ? String(error.code) : error.message, remoteAddress, count: unreported },
      'TLS handshake with a client failed',
    )
    lastMs = now
    unreported = 0
  }
}
