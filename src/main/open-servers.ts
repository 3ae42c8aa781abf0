import type { Config } from '../config/config.js'
import type { ServedAddress } from '../config/sections/served-addresses.js'
import { makeServerRoom, startServer } from '../http/server.js'
import type { RunningServer, ServerRoom } from '../http/server.js'
import { makeRequestHandler } from '../http/transport/handle-request.js'
import type { RequestHandlerOptions } from '../http/transport/handle-request.js'
import type { TlsSettings } from '../http/transport/tls/tls-settings.js'
import type { Logger } from '../lib/logger.js'
import { hostOfAddress, isLocalAddress } from '../config/sections/listen-address.js'
import type { ListenAddress } from '../config/sections/listen-address.js'
import { makeAdmission } from '../http/pipeline/admit-request.js'
import type { Admission } from '../http/pipeline/admit-request.js'
import { makeIsKnownHost } from '../http/pipeline/known-hosts.js'
import type { ServerTls } from '../http/transport/tls/secure-listener.js'

/** Probes and monitoring are few. */
const MAX_HEALTH_CONNECTIONS = 256
const OCTAL = 8

/** What answers the requests that come at an address. */
export type Answering = Pick<RequestHandlerOptions, 'find' | 'application' | 'finished'>

interface ServersOptions {
  readonly config: Config
  readonly logger: Logger
  /** How many processes share the bounds of the service. */
  readonly processes: number
  /** The certificate that serves now. */
  readonly tls: () => TlsSettings | undefined
}

/** Starts the servers of one process, which share their room; one that answers probes has its own, so that these are answered whoever else calls. */
export class Servers {
  /** What all take in together that serve everything. */
  readonly room: ServerRoom
  readonly #options: ServersOptions
  readonly #failed: ReturnType<typeof logHandshakes>
  readonly #running: RunningServer[] = []

  constructor(options: ServersOptions) {
    this.#options = options
    const { config, processes, logger } = options
    this.room = makeServerRoom(maxBodyBytesOf(config), processes)
    this.#failed = logHandshakes(logger)
  }

  get urls(): string[] {
    return this.#running.map(({ url }) => url)
  }

  /** Starts to answer at an address, or at what another process of the service listens on for it. Raises `unavailable`. */
  async start(
    { address, serves, isTls }: ServedAddress,
    answering: Answering,
    listener?: RunningServer['listener'],
  ): Promise<RunningServer> {
    const { config, tls } = this.#options
    const { admit } = openAdmission(config, address)
    const settings = isTls ? tls() : undefined
    const server = await startServer(makeRequestHandler({ ...answering, admit }), {
      listenOn: listener ?? address,
      socketMode: parseInt(config.server.socketMode, OCTAL),
      room: serves === 'all' ? this.room : makeServerRoom(0, 1, MAX_HEALTH_CONNECTIONS),
      ...(settings !== undefined && { tls: { settings, failed: this.#failed } }),
    })
    this.#running.push(server)
    return server
  }

  /** Has all that speak TLS use another certificate for new connections. */
  renewTls(settings: TlsSettings): void {
    for (const server of this.#running) server.renewTls(settings)
  }

  async stop(drainMs: number): Promise<void> {
    await Promise.all(this.#running.map((server) => server.stop(drainMs)))
  }
}

/** The largest body that any route takes. */
function maxBodyBytesOf({ server, audit }: Config): number {
  return Math.max(server.maxBodyBytes, audit.maxBodyBytes)
}

/**
 * Which requests are let in at an address. Without tokens a service on loopback answers to its own names only; beyond loopback nobody can say by which
 * names of a cluster it is asked, so that there the list must be configured.
 */
function openAdmission({ server, auth }: Config, address: ListenAddress): Admission {
  const { publicUrl, orchestratorUrl, allowedHosts } = server
  const urls = [publicUrl, orchestratorUrl].filter((url) => url !== undefined)
  const hasCertificates = auth.certificates.length > 0
  const asksForCredentials = auth.tokens.length > 0 || hasCertificates
  return makeAdmission({
    isKnownHost: makeIsKnownHost({ listenHost: hostOfAddress(address), urls, allowedHosts }),
    needsKnownHost: allowedHosts.length > 0 || (!asksForCredentials && isLocalAddress(address)),
    // A browser shows a certificate of its own accord, whichever page asks.
    isOpen: !asksForCredentials || hasCertificates || auth.openToOrchestrator,
    publicUrl,
  })
}

const PAUSE_MS = 10_000

/** Logs callers with whom there was no agreement on keys; of many, one every few seconds with how many there were. */
function logHandshakes(logger: Logger): ServerTls['failed'] {
  let untold = 0
  let lastMs = -Infinity
  return (error, remoteAddress) => {
    const now = performance.now()
    untold += 1
    if (now - lastMs < PAUSE_MS) return
    logger.warn(
      { error: 'code' in error ? String(error.code) : error.message, remoteAddress, count: untold },
      'a caller and the service could not agree on TLS',
    )
    lastMs = now
    untold = 0
  }
}
