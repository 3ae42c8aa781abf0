import type { Config } from '../../config/config.js'
import type { ServedAddress } from '../../config/sections/served-addresses.js'
import { makeServerLimits, startServer } from '../../http/server.js'
import type { RunningServer, ServerLimits } from '../../http/server.js'
import { makeRequestHandler } from '../../http/transport/handle-request.js'
import type { RequestHandlerOptions } from '../../http/transport/handle-request.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import type { Logger } from '../../lib/logger.js'
import { openAdmission } from './open-admission.js'
import { logHandshakes } from './log-handshakes.js'

/** Probes and monitoring are few. */
const MAX_HEALTH_CONNECTIONS = 256
const OCTAL = 8

/** What answers the requests that come at an address. */
export type Answering = Pick<RequestHandlerOptions, 'find' | 'application' | 'finished'>

export interface ServersOptions {
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
  readonly room: ServerLimits
  readonly #options: ServersOptions
  readonly #failed: ReturnType<typeof logHandshakes>
  readonly #running: RunningServer[] = []

  constructor(options: ServersOptions) {
    this.#options = options
    const { config, processes, logger } = options
    this.room = makeServerLimits(maxBodyBytesOf(config), processes)
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
      limits: serves === 'all' ? this.room : makeServerLimits(0, 1, MAX_HEALTH_CONNECTIONS),
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
