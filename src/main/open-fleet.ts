import { hostname } from 'node:os'

import type { Config } from '../config/config.js'
import { readSecrets } from '../config/read-secrets.js'
import { MemoryReports, type InstanceStatus } from '../distribution/fleet.js'
import { openServer } from '../distribution/fetching/make-fetch.js'
import type { OpaConfig, OpaStatusUpload } from '../distribution/opa-config/read-opa-config.js'
import { AppError } from '../errors/app-error.js'
import { statusOfInstance } from '../http/routes/about/status.js'
import type { StatusRoutesDeps } from '../http/routes/about/status.js'
import type { FleetRoutesDeps } from '../http/routes/policies/fleet.js'
import { shownUrl } from '../lib/outbound/shown-url.js'
import type { Logger } from '../lib/logger.js'
import type { DecisionReadStore } from '../store/ports/decision-store.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import { packageVersion } from '../lib/package-root.js'
import { readAccess } from './configured-sources.js'
import { repeat } from './timers/repeat.js'

const MS_PER_SECOND = 1000
const LAST_DECISION = { rows: 1, bytes: 1, withInputs: false }
const CONTENT = { 'content-type': 'application/json' }

interface FleetParts {
  readonly config: Config
  readonly logger: Logger
  readonly store: Pick<ServiceStore, 'sharing' | 'now'>
  readonly status: StatusRoutesDeps
  /** The local decision log; undefined if decisions are not stored. */
  readonly decisions: Pick<DecisionReadStore, 'page'> | undefined
  readonly opaStatus: OpaStatusUpload | undefined
}

/** The fleet that this instance belongs to. */
export interface OpenFleet {
  readonly routes: FleetRoutesDeps
  /** Reports the status of this instance periodically. Returns a function that stops it. */
  readonly start: () => () => Promise<void>
}

/** Opens the reports of the fleet: shared by a database, or uploaded to this service. */
export function openFleet({ config, logger, store, status, decisions, opaStatus }: FleetParts): OpenFleet {
  const reports = store.sharing?.reports ?? new MemoryReports(store.now)
  const startedAt = new Date(store.now()).toISOString()
  const intervalMs = config.status.intervalSeconds * MS_PER_SECOND
  const own = async (): Promise<InstanceStatus> => {
    const page = await decisions?.page({}, LAST_DECISION)
    const lastMs = page?.decisions[0]?.timeMs
    const { labels, ...rest } = statusOfInstance(status)
    return {
      ...rest,
      labels: { host: hostname(), ...config.status.labels, ...labels },
      tidegate: {
        ...{ node: process.versions.node, startedAt, intervalMs },
        ...(lastMs !== undefined && { lastDecisionAt: new Date(lastMs).toISOString() }),
      },
    }
  }
  const upload = openUpload(config, opaStatus)
  const report = async (signal: AbortSignal): Promise<void> => {
    const current = await own()
    const { id } = current.labels
    if (store.sharing !== undefined)
      await reports.put({ id, status: JSON.stringify(current), reportedBy: undefined })
    await upload?.send(current, signal)
  }
  const { maxBodyBytes } = config.server
  return {
    routes: { reports, own, now: store.now, maxBodyBytes },
    start: () => {
      if (store.sharing === undefined && upload === undefined) return () => Promise.resolve()
      const repeated = repeat(intervalMs, report, (error) =>
        logger.warn({ error: error.message }, 'the status of this instance was not reported'),
      )
      void repeated.runNow()
      return async () => {
        await repeated.stop()
        await upload?.close()
      }
    },
  }
}

interface StatusParts extends Pick<StatusRoutesDeps, 'policies' | 'sources'> {
  readonly config: Config
  readonly opa: OpaConfig | undefined
}

/** What `/v1/status` and `/v1/config` show. */
export function opaStatus(
  { config, policies, sources, opa }: StatusParts,
  { instanceId }: { readonly instanceId: string },
): Omit<StatusRoutesDeps, 'plugins'> {
  return {
    ...{ policies, sources },
    labels: { ...opa?.labels, id: instanceId, version: packageVersion() },
    keys: describeKeys(config, opa),
    defaultDecision: config.policies.defaultDecision,
  }
}

/** The keys that verify bundles, without the keys themselves. */
function describeKeys(
  { policies: { bundleSigning } }: Config,
  opa: OpaConfig | undefined,
): StatusRoutesDeps['keys'] {
  const own = bundleSigning.keys.map(({ id, algorithm, scope = '' }) => [id, { algorithm, scope }] as const)
  const ofOpa = [...(opa?.keys ?? [])].map(
    ([id, { algorithm, scope }]) => [id, { algorithm, scope }] as const,
  )
  return Object.fromEntries([...ofOpa, ...own])
}

interface Upload {
  /** Raises `unavailable` unless the server accepts it. */
  readonly send: (status: object, signal: AbortSignal) => Promise<void>
  readonly close: () => Promise<void>
}

function openUpload({ status }: Config, opaStatus: OpaStatusUpload | undefined): Upload | undefined {
  const target =
    status.url === undefined
      ? opaStatus
      : {
          url: `${status.url.replace(/\/+$/, '')}/status`,
          access: readAccess(status, readSecrets({ status }, process.env), 'status'),
        }
  if (target === undefined) return undefined
  const { url, access } = target
  const { post, close } = openServer('status', access)
  return {
    close,
    send: async (current, signal) => {
      const answer = await post(url, { body: JSON.stringify(current), content: CONTENT }, signal)
      if (answer.status >= 200 && answer.status < 300) return
      throw new AppError('unavailable', `${shownUrl(url)} responded with ${answer.status} ${answer.reason}`)
    },
  }
}
