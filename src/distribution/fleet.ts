import { z } from 'zod'

import { writtenName } from '../lib/validation/written-text.js'
import { parseJson } from '../lib/json/text/parse-json.js'
import { MAX_REPORTS, REPORT_KEPT_MS } from '../store/ports/instance-reports.js'
import type { InstanceReport, InstanceReports } from '../store/ports/instance-reports.js'

const MAX_TEXT = 1000
const text = z.string().transform((value) => value.slice(0, MAX_TEXT))
const time = z.string().refine((value) => !Number.isNaN(Date.parse(value)))
const id = writtenName(200)

const BundleStatus = z.object({
  active_revision: text.optional(),
  /** Answers a share of requests. */
  staged_revision: text.optional(),
  last_successful_activation: time.optional(),
  message: text.optional().transform((value) => (value === '' ? undefined : value)),
})
const PluginStatus = z.object({ state: z.string().max(MAX_TEXT), message: text.optional() }).nullable()

/**
 * The members that are read of a status as OPA uploads it. `tidegate` has those that OPA has no
 * member for. Metrics are not stored.
 */
export const InstanceStatus = z.object({
  labels: z.object({ id }).catchall(text),
  bundles: z.record(z.string().max(MAX_TEXT), BundleStatus).default({}),
  discovery: BundleStatus.nullish(),
  plugins: z.record(z.string().max(MAX_TEXT), PluginStatus).default({}),
  tidegate: z
    .object({
      node: text,
      startedAt: time,
      /** The interval of reports, in milliseconds. */
      intervalMs: z.number().positive(),
      lastDecisionAt: time.optional(),
    })
    .optional(),
})
export type InstanceStatus = z.output<typeof InstanceStatus>

/** A bundle of an instance. */
export interface FleetBundle {
  readonly name: string
  readonly revision: string | undefined
  /** The revision that answers a share of requests. */
  readonly stagedRevision: string | undefined
  /** Epoch milliseconds. */
  readonly sinceMs: number | undefined
  /** How long another instance has served a newer revision, in milliseconds; 0 if none does. */
  readonly lagMs: number
  readonly problem: string | undefined
}

/** An instance of the fleet. Times are in epoch milliseconds. */
export interface FleetInstance {
  readonly id: string
  readonly type: 'tidegate' | 'opa'
  readonly version: string | undefined
  readonly labels: Readonly<Record<string, string>>
  /** `lost` if three reports are overdue, `failing` if a component or bundle fails. */
  readonly health: 'ok' | 'failing' | 'lost'
  readonly problem: string | undefined
  readonly reportedMs: number
  readonly reportedBy: string | undefined
  readonly node: string | undefined
  readonly startedMs: number | undefined
  readonly lastDecisionMs: number | undefined
  readonly bundles: readonly FleetBundle[]
}

/** OPA reports after each request for a bundle, at most 2 minutes apart by default. */
const OPA_INTERVAL_MS = 120_000
const MISSED_REPORTS = 3
const FAILING: ReadonlySet<string> = new Set(['NOT_READY', 'ERROR'])

/** Returns the instances of a fleet by their last reports, sorted by id. */
export function describeFleet(reports: readonly InstanceReport[], nowMs: number): FleetInstance[] {
  const read = reports.flatMap((report) => {
    const status = InstanceStatus.safeParse(parseJson(report.status))
    return status.success ? [{ report, status: status.data }] : []
  })
  const newest = newestRevisions(read.map(({ status }) => status))
  return read
    .map(({ report, status }) => describeInstance(report, status, { newest, nowMs }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The revision of a bundle that an instance activated last, and when one did so first. */
interface NewestRevision {
  readonly revision: string
  readonly activatedMs: number
  readonly firstMs: number
}

/** Does not depend on the order of the reports, nor do equal times. */
function newestRevisions(statuses: readonly InstanceStatus[]): ReadonlyMap<string, NewestRevision> {
  const activations = statuses.flatMap(({ bundles }) =>
    Object.entries(bundles).flatMap(
      ([bundle, { active_revision: revision, last_successful_activation: at }]) => {
        const activatedMs = msOf(at)
        return revision === undefined || activatedMs === undefined ? [] : { bundle, revision, activatedMs }
      },
    ),
  )
  const ofBundles = Map.groupBy(activations, ({ bundle }) => bundle)
  return new Map([...ofBundles].map(([bundle, own]) => [bundle, newestOf(own)]))
}

function newestOf(activations: readonly Omit<NewestRevision, 'firstMs'>[]): NewestRevision {
  const revisions = [...Map.groupBy(activations, ({ revision }) => revision)].map(([revision, own]) => {
    const times = own.map(({ activatedMs }) => activatedMs)
    return { revision, activatedMs: Math.max(...times), firstMs: Math.min(...times) }
  })
  return revisions.reduce((a, b) => {
    if (a.activatedMs !== b.activatedMs) return a.activatedMs > b.activatedMs ? a : b
    return a.revision > b.revision ? a : b
  })
}

function describeInstance(
  { reportedMs, reportedBy }: InstanceReport,
  { labels, bundles, discovery, plugins, tidegate }: InstanceStatus,
  { newest, nowMs }: { readonly newest: ReadonlyMap<string, NewestRevision>; readonly nowMs: number },
): FleetInstance {
  const { id: name, version, ...others }: Readonly<Record<string, string>> & { readonly id: string } = labels
  const described = Object.entries(bundles).map(([bundle, status]) => {
    const last = newest.get(bundle)
    const isBehind = last !== undefined && last.revision !== status.active_revision
    return {
      name: bundle,
      revision: status.active_revision,
      stagedRevision: status.staged_revision,
      sinceMs: msOf(status.last_successful_activation),
      lagMs: isBehind ? Math.max(0, nowMs - last.firstMs) : 0,
      problem: status.message,
    }
  })
  const failing = Object.entries(plugins).find(([, plugin]) => FAILING.has(plugin?.state ?? ''))
  const ofPlugin = failing && `${failing[0]}: ${failing[1]?.message ?? failing[1]?.state ?? ''}`
  const ofBundle = described.find((bundle) => bundle.problem !== undefined)?.problem
  const problem = ofBundle ?? discovery?.message ?? ofPlugin
  const isLost = nowMs - reportedMs > MISSED_REPORTS * (tidegate?.intervalMs ?? OPA_INTERVAL_MS)
  return {
    ...{ id: name, version, labels: others, problem, reportedMs, reportedBy, bundles: described },
    type: tidegate === undefined ? 'opa' : 'tidegate',
    health: isLost ? 'lost' : problem === undefined ? 'ok' : 'failing',
    node: tidegate?.node,
    startedMs: msOf(tidegate?.startedAt),
    lastDecisionMs: msOf(tidegate?.lastDecisionAt),
  }
}

/** OPA reports the year 1 for what never happened. */
function msOf(at: string | undefined): number | undefined {
  const ms = at === undefined ? 0 : Date.parse(at)
  return ms > 0 ? ms : undefined
}

/** Reports to a single service, in memory. */
export class MemoryReports implements InstanceReports {
  readonly #reports = new Map<string, InstanceReport>()
  readonly #now: () => number

  /** `now` is in epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  put(report: Omit<InstanceReport, 'reportedMs'>): Promise<void> {
    const reportedMs = this.#now()
    // The newest is the last.
    this.#reports.delete(report.id)
    this.#reports.set(report.id, { ...report, reportedMs })
    for (const [key, { reportedMs: atMs }] of this.#reports)
      if (this.#reports.size > MAX_REPORTS || atMs < reportedMs - REPORT_KEPT_MS) this.#reports.delete(key)
      else break
    return Promise.resolve()
  }

  list(): Promise<readonly InstanceReport[]> {
    const oldestMs = this.#now() - REPORT_KEPT_MS
    return Promise.resolve([...this.#reports.values()].filter(({ reportedMs }) => reportedMs >= oldestMs))
  }
}
