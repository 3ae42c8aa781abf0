import { z } from 'zod'

import type { InstanceStatus } from '../../../distribution/fleet.js'
import type { PolicySource } from '../../../distribution/policy-source.js'
import type { SourceSet } from '../../../distribution/source-set.js'
import { locationNames, type Policies, type PublicNames, type Snapshot } from '../../../rego/index.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { describePlugins } from './health.js'
import type { HealthPlugin } from './health.js'

const MS_PER_SECOND = 1000

export type InstanceLabels = Readonly<Record<string, string>> & { readonly id: string }

export interface StatusRoutesDeps {
  readonly policies: Policies
  readonly sources: SourceSet
  readonly plugins: readonly HealthPlugin[]
  /** Labels of the instance, with `id` and `version` as in OPA. */
  readonly labels: InstanceLabels
  readonly keys: Readonly<Record<string, { readonly algorithm: string; readonly scope: string }>>
  readonly defaultDecision: string
}

const Labels = z.record(z.string(), z.string())
const BundleStatus = z.object({
  name: z.string(),
  active_revision: z.string().optional(),
  staged_revision: z.string().optional().describe('Revision that answers a share of requests.'),
  last_request: Time.optional(),
  last_successful_request: Time.optional(),
  last_successful_download: Time.optional(),
  last_successful_activation: Time.optional(),
  code: z.string().optional(),
  message: z.string().optional(),
  type: z.literal('snapshot'),
})
const Status = z.object({
  labels: Labels,
  bundles: z.record(z.string(), BundleStatus),
  discovery: BundleStatus.optional().describe('The discovery bundle of the configuration of OPA.'),
  plugins: z.record(z.string(), z.unknown()).describe('As `plugins` of `/health?plugins`.'),
})
const Shown = z.object({
  labels: Labels,
  bundles: z.record(z.string(), z.looseObject({ resource: z.string() })),
  discovery: z.looseObject({ resource: z.string() }).optional(),
  keys: z.record(z.string(), z.object({ algorithm: z.string(), scope: z.string() })),
  default_decision: z.string(),
})

const { route } = routesOf<StatusRoutesDeps>()
const COMMON = { method: 'GET', roles: ['auditor'], handler: 'policies' } as const

/** `GET /v1/status` and `GET /v1/config`, in the shapes of OPA. */
export const statusRoutes = [
  route({
    ...COMMON,
    path: '/v1/status',
    summary: 'Status of bundles and components, as OPA reports it',
    answers: { 200: json('The status.', z.object({ result: Status })) },
    answer: (_, deps) => {
      const { sources, policies } = deps
      const names = locationNames(policies.locations)
      const bundles = sources.sources.map(
        (source) =>
          [source.name, { ...statusOf(source, names), ...stagedOf(source.name, policies) }] as const,
      )
      return jsonAnswer({ result: { ...statusOfInstance(deps), bundles: Object.fromEntries(bundles) } })
    },
  }),
  route({
    ...COMMON,
    path: '/v1/config',
    summary: 'The sources, keys and labels in use, as OPA shows its configuration; without secrets',
    answers: { 200: json('The configuration.', z.object({ result: Shown })) },
    answer: (_, { labels, sources, keys, defaultDecision }) => {
      const bundles = sources.sources.map(({ name, settings }) => [name, configOf(settings)] as const)
      return jsonAnswer({
        result: {
          ...{ labels, bundles: Object.fromEntries(bundles), keys },
          ...(sources.discovery !== undefined && { discovery: configOf(sources.discovery.settings) }),
          default_decision: `/${defaultDecision.replace(/^\//, '')}`,
        },
      })
    },
  }),
]

/** Returns the status that an instance reports, with all directories and bundles that serve. */
export function statusOfInstance({ labels, policies, sources, plugins }: StatusRoutesDeps): Pick<
  InstanceStatus,
  'bundles' | 'discovery' | 'plugins'
> & {
  labels: InstanceLabels
} {
  const names = locationNames(policies.locations)
  const activatedAt = policies.activatedAt.toISOString()
  const bundles = new Map<string, InstanceStatus['bundles'][string]>()
  for (const { name, revision } of policies.current.sources)
    bundles.set(name, {
      active_revision: revision,
      last_successful_activation: activatedAt,
      message: undefined,
      ...stagedOf(name, policies),
    })
  for (const source of sources.sources)
    bundles.set(source.name, {
      ...{ message: undefined, ...statusOf(source, names) },
      ...stagedOf(source.name, policies),
    })
  return {
    labels,
    bundles: Object.fromEntries(bundles),
    ...(sources.discovery !== undefined && {
      discovery: { message: undefined, ...statusOf(sources.discovery, names) },
    }),
    plugins: describePlugins(plugins),
  }
}

function stagedOf(
  name: string,
  { current, staged }: Pick<Policies, 'current' | 'staged'>,
): { staged_revision?: string } {
  const revisionIn = (snapshot: Snapshot | undefined): string | undefined =>
    snapshot?.sources.find((source) => source.name === name)?.revision
  const revision = revisionIn(staged?.snapshot)
  return revision === undefined || revision === revisionIn(current) ? {} : { staged_revision: revision }
}

function statusOf({ name, serving, state }: PolicySource, names: PublicNames): z.output<typeof BundleStatus> {
  const problem = state.fetchError ?? state.activationError
  return {
    name,
    ...(serving !== undefined && { active_revision: serving.revision }),
    ...timeOf('last_request', state.requestedMs),
    ...timeOf('last_successful_request', state.reachedMs),
    ...timeOf('last_successful_download', state.downloadedMs),
    ...timeOf('last_successful_activation', serving?.activatedMs),
    ...(problem !== undefined && { code: 'bundle_error', message: names.text(problem.message) }),
    type: 'snapshot',
  }
}

function timeOf<Name extends string>(name: Name, ms: number | undefined): Partial<Record<Name, string>> {
  if (ms === undefined) return {}
  const member: Partial<Record<string, string>> = { [name]: new Date(ms).toISOString() }
  return member
}

function configOf({ place, minDelayMs, maxDelayMs, longPollMs }: PolicySource['settings']): object {
  return {
    resource: place,
    polling: {
      min_delay_seconds: minDelayMs / MS_PER_SECOND,
      max_delay_seconds: maxDelayMs / MS_PER_SECOND,
      ...(longPollMs > 0 && { long_polling_timeout_seconds: longPollMs / MS_PER_SECOND }),
    },
  }
}
