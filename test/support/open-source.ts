import type { LogLine } from '../../src/canary/logs/model/types.js'
import { makeSources } from '../../src/analysis/sources/make-sources.js'
import type { AnalysisSource } from '../../src/analysis/sources/make-sources.js'
import type { SourceSettings } from '../../src/analysis/sources/answers/source-settings.js'
import type {
  FetchBudget,
  InstancesAnswer,
  InstancesQuery,
  LineData,
  LinesAnswer,
  LinesQuery,
  SeriesAnswer,
  SeriesQuery,
} from '../../src/analysis/sources.js'
import { makeOutboundClient } from '../../src/lib/outbound/outbound-client.js'
import { startLoopbackServer } from './loopback-server.js'
import type { LoopbackServer, Respond } from './loopback-server.js'

/** The settings that a test cares for; the rest is as configured by default, with small pages. */
type SomeSettings = { readonly type: SourceSettings['type'] } & Readonly<Record<string, unknown>>

/** An answer with its lines as people write them. */
export type ReadLines = Omit<LinesAnswer, 'lines'> & { readonly lines: readonly LogLine[] }

export interface OpenSource {
  readonly fetchSeries: (query: Partial<SeriesQuery>, budget?: FetchBudget) => Promise<SeriesAnswer>
  readonly fetchInstances: (query: Partial<InstancesQuery>) => Promise<InstancesAnswer>
  readonly fetchLines: (query: Partial<LinesQuery>, budget?: FetchBudget) => Promise<ReadLines>
  /** The waits of the source between attempts, in ms. They take no time. */
  readonly waits: readonly number[]
  readonly close: () => Promise<void>
}

/** 2026-11-21T06:00:00Z, a whole minute. */
export const START_MS = 1_795_240_800_000
export const MINUTE_MS = 60_000

const BUDGET: FetchBudget = { budgetMs: 20_000 }

/** A source over a real client, whose waits take no time. A defect in it fails the test. */
export function openSource(settings: SomeSettings): OpenSource {
  const client = makeOutboundClient({ allowLoopback: true, allowPrivate: true })
  const waits: number[] = []
  let clockMs = START_MS
  const source = makeOne(complete(settings), {
    ...{ client, signInClient: client },
    // Budgets use a monotonic clock with an arbitrary start.
    now: () => clockMs - START_MS,
    timeOfDay: () => clockMs,
    wait: (ms) => {
      waits.push(ms)
      clockMs += ms
      return Promise.resolve()
    },
    random: () => 1,
    reportDefect: (error) => {
      throw error
    },
  })
  return {
    fetchSeries: (query, budget = BUDGET) =>
      source.metrics!.fetchSeries(
        { ...window(10), query: 'up', scope: {}, stepMs: MINUTE_MS, ...query },
        budget,
      ),
    fetchInstances: (query) =>
      source.instances!.fetchInstances(
        { ...window(10), query: 'up', scope: {}, stepMs: MINUTE_MS, label: 'pod', ...query },
        BUDGET,
      ),
    fetchLines: async (query, budget = BUDGET) => {
      const asked = { ...window(10), query: '{app="web"}', scope: {}, ...query }
      const answer = await source.logs!.fetchLines(asked, budget)
      return { ...answer, lines: [...answer.lines].map((line) => toLogLine(line, asked.startMs)) }
    },
    waits,
    close: () => client.close(),
  }
}

function toLogLine([sinceMs, text]: LineData, startMs: number): LogLine {
  return { atMs: sinceMs === null ? Number.NaN : startMs + sinceMs, text }
}

type ServedSettings = Readonly<Record<string, unknown>>

/**
 * Sources over loopback servers, for one test file. `path` of the settings is appended to the
 * origin.
 */
interface ServedSources {
  readonly open: (
    respond: Respond,
    settings?: ServedSettings | ((origin: string) => ServedSettings),
  ) => Promise<{ source: OpenSource; server: LoopbackServer }>
  readonly closeAll: () => Promise<void>
}

export function makeServedSources(type: SourceSettings['type']): ServedSources {
  const opened: { close: () => Promise<void> }[] = []
  return {
    open: async (respond, settings = {}) => {
      const server = await startLoopbackServer(respond)
      const { path = '', ...rest } = typeof settings === 'function' ? settings(server.origin) : settings
      const source = openSource({ type, url: `${server.origin}${String(path)}`, ...rest })
      opened.push(source, server)
      return { source, server }
    },
    closeAll: async () => {
      for (const one of opened.splice(0)) await one.close()
    },
  }
}

/** A stretch of time from `START_MS` on. */
export function window(minutes: number): { startMs: number; endMs: number } {
  return { startMs: START_MS, endMs: START_MS + minutes * MINUTE_MS }
}

function makeOne(settings: SourceSettings, parts: Parameters<typeof makeSources>[1]): AnalysisSource {
  return makeSources([settings], parts).get(settings.name)!
}

function complete(settings: SomeSettings): SourceSettings {
  const defaults = {
    name: 'main',
    timeoutSeconds: 5,
    maxResponseBytes: 1024 * 1024,
    maxPoints: 50_000,
    maxLines: 1000,
    maxBytes: 1024 * 1024,
    pageLines: 3,
    timeField: '@timestamp',
    messageField: 'message',
    maxFileBytes: 1024 * 1024,
  }
  return { ...defaults, ...settings } as unknown as SourceSettings
}
