import type { Registry } from 'prom-client'

import type { SourceSet } from '../../distribution/source-set.js'
import type { Policies, Snapshot } from '../../rego/index.js'
import { ScrapedMetrics } from './scraped-metrics.js'

const MS_PER_SECOND = 1000
/** The release of OPA that decisions are compared with (conformance tests). */
const OPA_SEMANTICS = '1.20'

/** What `addPolicyMetrics` reads. */
export interface PolicyMetricsSources {
  readonly version: string
  readonly policies: Pick<Policies, 'current' | 'staged'>
  readonly sources: SourceSet
}

/** Registers the metrics about revisions and sources of policies. */
export function addPolicyMetrics(
  registry: Registry,
  { version, policies, sources }: PolicyMetricsSources,
): void {
  const metrics = new ScrapedMetrics(registry)
  metrics.gauges(
    'tidegate_build_info',
    'Versions of the service and of Node.js, and the OPA whose semantics it has; always 1.',
    ['version', 'node', 'opa'],
    () => [[[version, process.versions.node, OPA_SEMANTICS], 1]],
  )
  metrics.gauges(
    'tidegate_policy_info',
    'The revisions that answer requests, with their share; 1 except during a stage.',
    ['bundle', 'revision'],
    () => sharesOf(policies),
  )
  const each = (read: (source: SourceSet['sources'][number]) => number) => () =>
    sources.polled.map((source) => [source.name, read(source)] as const)
  metrics.counters(
    'tidegate_policy_source_downloads_total',
    'Bundles downloaded, by source.',
    'source',
    each(({ state }) => state.downloads),
  )
  metrics.counters(
    'tidegate_policy_source_failures_total',
    'Failed requests for bundles, by source.',
    'source',
    each(({ state }) => state.failures),
  )
  metrics.gauges(
    'tidegate_policy_source_stale',
    '1 if the source has had no current bundle for staleAfterSeconds.',
    ['source'],
    () => sources.polled.map(({ name, isStale }) => [[name], isStale ? 1 : 0]),
  )
  metrics.gauges(
    'tidegate_policy_source_reached_timestamp_seconds',
    'Time of the last successful request to the source, in seconds since the epoch.',
    ['source'],
    () =>
      sources.polled.flatMap(({ name, state: { reachedMs } }) =>
        reachedMs === undefined ? [] : [[[name], reachedMs / MS_PER_SECOND] as const],
      ),
  )
}

const PERCENT = 100

function sharesOf({
  current,
  staged,
}: Pick<Policies, 'current' | 'staged'>): Iterable<readonly [labels: readonly string[], value: number]> {
  const shares = new Map<string, readonly [readonly string[], number]>()
  const add = ({ sources }: Snapshot, percent: number): void => {
    for (const { name, revision } of sources) {
      const key = JSON.stringify([name, revision])
      shares.set(key, [[name, revision], percent / PERCENT + (shares.get(key)?.[1] ?? 0)])
    }
  }
  const percent = staged?.sharePercent ?? 0
  add(current, PERCENT - percent)
  if (staged !== undefined) add(staged.snapshot, percent)
  return shares.values()
}
