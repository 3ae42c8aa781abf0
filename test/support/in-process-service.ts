import { compareList } from '../../src/events/registry/compare-list.js'
import { registryReads } from '../../src/events/registry/registry-operations.js'
import { evaluateInterval } from '../../src/analysis/runs/evaluate-interval.js'
import { tryQueries } from '../../src/analysis/runs/intervals/try-queries.js'
import type { AnalysisSource } from '../../src/analysis/sources/make-sources.js'
import { makeSources } from '../../src/analysis/sources/make-sources.js'
import type { Config } from '../../src/config/config.js'
import { loadConfig } from '../../src/config/load-config.js'
import { readSourceCredentials } from '../../src/config/sections/analysis-sources.js'
import { readSecrets } from '../../src/config/read-secrets.js'
import { wait } from '../../src/lib/outbound/back-off.js'
import { makeLogger } from '../../src/lib/logger.js'
import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import { startService } from '../../src/main/start-service.js'
import type { ServiceThreads } from '../../src/main/start-service.js'
import { openReader } from '../../src/main/store/open-store.js'
import { operationRegistry } from '../../src/store/ports/operation.js'
import type { Readers } from '../../src/store/ports/readers.js'
import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { openWriter } from './decisions.js'
import { SERVICE_OPERATIONS } from './store-operations.js'

/**
 * The threads of a service, replaced by functions on the calling thread that run from the sources
 * without a build.
 */
const ON_THE_CALLING_THREAD: ServiceThreads = {
  openStore: ({ dataDir }) => openServiceStore({ dataDir, operations: SERVICE_OPERATIONS }),
  openDecisionWriter: openWriter,
  evaluateInterval: (config, request, { reportDefect, askRule }) =>
    withSources(config, reportDefect, (sources) => evaluateInterval(request, sources, Date.now, askRule)),
  tryQueries: (config, plan, { reportDefect, askRule }) =>
    withSources(config, reportDefect, (sources) => tryQueries(plan, sources, Date.now, askRule)),
  compare: (location) => async (list, take) => {
    const { reader, close } = await openReader(location, operationRegistry<Readers>(registryReads))
    return await compareList(list, reader, take).finally(close)
  },
}

function withSources<Result>(
  { analysis }: Pick<Config, 'analysis'>,
  reportDefect: (message: string) => void,
  ask: (sources: ReadonlyMap<string, AnalysisSource>) => Promise<Result>,
): Promise<Result> {
  const client = makeOutboundClient(analysis)
  const credentials = readSourceCredentials(analysis.sources, readSecrets({ analysis }, process.env))
  const sources = makeSources(credentials, {
    ...{ client, signInClient: client, now: Date.now, timeOfDay: Date.now, wait, random: Math.random },
    reportDefect: ({ message }) => reportDefect(message),
  })
  return ask(sources).finally(() => client.close())
}

/** A service that runs in this process. */
interface InProcessService {
  readonly url: string
  /** Reads the configuration file again. */
  readonly reload: () => Promise<unknown>
  /** All that it has logged so far. */
  readonly logText: () => string
  readonly stop: () => Promise<readonly string[]>
}

/** Starts the whole service from the sources with a configuration file. */
export async function startInProcess(configFile: string): Promise<InProcessService> {
  const read = (): Config => {
    const loaded = loadConfig({ file: configFile, env: {} })
    return { ...loaded, server: { ...loaded.server, workers: 1 } }
  }
  const config = read()
  let text = ''
  const write = (line: string): void => void (text += line)
  const logger = makeLogger(config.log, { write })
  const { url, reload, stop } = await startService(config, logger, ON_THE_CALLING_THREAD, read)
  return { url, reload: () => reload({ user: undefined, origin: 'test' }), logText: () => text, stop }
}
