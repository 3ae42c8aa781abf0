import { hostname } from 'node:os'

import type { Config } from '../config/config.js'
import { readCredentials } from '../config/values/credentials.js'
import type { ReadSecret } from '../config/values/secret.js'
import { toError } from '../errors/app-error.js'
import { authHeaders } from '../lib/outbound/credentials.js'
import type { Exchange } from '../http/exchange/exchange.js'
import type { Logger } from '../lib/logger.js'
import { packageVersion } from '../lib/package-root.js'
import type { Runner } from '../store/ports/operation.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { InTrace, Telemetry } from '../telemetry/telemetry.js'
import type { OnStop } from './close-parts.js'
import type { Answering } from './open-servers.js'
import type { openStore } from './store/open-store.js'
import { readPem } from './files/read-pem.js'

const MS_PER_SECOND = 1000
/** Minimum time between two log lines about uploads that fail. */
const REPORT_INTERVAL_MS = 60_000

interface TelemetryParts {
  readonly readSecret: ReadSecret
  readonly logger: Logger
  readonly onStop: OnStop
}

/**
 * Starts to send traces and metrics of this process. Undefined if no collector is configured; the
 * libraries are then not loaded. Throws `invalid` for a file that cannot be read.
 */
export async function openTelemetry(
  { telemetry, store }: Config,
  { readSecret, logger, onStop }: TelemetryParts,
): Promise<Telemetry | undefined> {
  const { endpoint, credentials, intervalSeconds, tlsCa, ...chosen } = telemetry
  if (endpoint === undefined) return undefined
  let reportedAtMs = -REPORT_INTERVAL_MS
  const module = await import('../telemetry/open-telemetry.js')
  const opened = module.openTelemetry({
    ...{ endpoint, ...chosen },
    intervalMs: intervalSeconds * MS_PER_SECOND,
    headers: authHeaders(readCredentials(credentials, readSecret)),
    ca: readPem('telemetry.tlsCa', tlsCa),
    version: packageVersion(),
    instance: store.replica ?? hostname(),
    failed: (error) => {
      if (performance.now() - reportedAtMs < REPORT_INTERVAL_MS) return
      reportedAtMs = performance.now()
      logger.warn({ endpoint, error: toError(error).message }, 'the collector receives no traces or metrics')
    },
  })
  onStop('telemetry', opened.close)
  return opened
}

/** Traces all requests but some. */
export function traceUnless(
  telemetry: Telemetry | undefined,
  isExempt: (exchange: Exchange) => boolean,
): Answering['trace'] {
  if (telemetry?.tracing === undefined) return undefined
  const { traceRequest } = telemetry.tracing
  return (exchange, answer) => (isExempt(exchange) ? answer() : traceRequest(exchange, answer))
}

type OpenStore = typeof openStore

/** What records work, and the store with a span for each operation. */
interface TracedStore {
  readonly store: ServiceStore
  readonly telemetry: Telemetry | undefined
  readonly inTrace: InTrace
}

/** Opens the store. Its operations are traced if a collector is configured. */
export async function openTracedStore(
  config: Config,
  open: OpenStore,
  parts: Parameters<OpenStore>[1] & TelemetryParts,
): Promise<TracedStore> {
  const telemetry = await openTelemetry(config, parts)
  const store = await open(config, parts)
  parts.onStop('store', store.close)
  if (telemetry?.tracing === undefined)
    return { store, telemetry, inTrace: (_name, _attributes, work) => work() }
  const { inSpan, inTrace, traceparent } = telemetry.tracing
  const traced = <Context>(runner: Runner<Context>): Runner<Context> => ({
    run: async (operation, args) => {
      const cause = traceparent()
      return inSpan(`store ${operation.name}`, {}, () => runner.run(operation, args, cause))
    },
  })
  return {
    store: { ...store, writer: traced(store.writer), reader: traced(store.reader) },
    telemetry,
    inTrace,
  }
}
