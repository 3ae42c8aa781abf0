import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { parse } from 'yaml'
import type { z } from 'zod'

import { AppError, toError } from '../../errors/app-error.js'
import { pathText } from '../../lib/text/path-text.js'
import { isJwsAlgorithm, readBundleKey, type BundleKey } from '../../rego/index.js'
import { placeOf } from '../fetching/bundle-location.js'
import type { BundleLocation, ServerAccess } from '../fetching/bundle-location.js'
import type { SourceDefinition } from '../source-definition.js'
import { accessOf } from './service-access.js'
import { mergeDiscovered } from './merge-discovered.js'
import { OpaConfigFile, unsupportedMembers } from './opa-config-schema.js'
import type { OpaBundle, OpaPolling, OpaService } from './opa-config-schema.js'

const MS_PER_SECOND = 1000
/** OPA's defaults of `polling`, in seconds. */
const [MIN_DELAY_SECONDS, MAX_DELAY_SECONDS] = [60, 120]
/** OPA has no stale bundles; these are stale after several missed polls. */
const STALE_POLLS = 5

/** What a configuration file of OPA says about policies. */
export interface OpaConfig {
  readonly sources: readonly SourceDefinition[]
  readonly keys: ReadonlyMap<string, BundleKey>
  readonly labels: Readonly<Record<string, string>>
  readonly defaultDecision: string | undefined
  /** The rule for `policies.authorization: basic`. */
  readonly authorizationDecision: string | undefined
  /** The rules that mask and drop decisions. */
  readonly maskDecision: string | undefined
  readonly dropDecision: string | undefined
  readonly status: OpaStatusUpload | undefined
  /** The bundle with the rest of the configuration. */
  readonly discovery: OpaDiscovery | undefined
  /** The paths of members that have no effect here. */
  readonly unsupported: readonly string[]
}

/** A bundle whose document at `decision` adds to the configuration. */
export interface OpaDiscovery {
  readonly definition: SourceDefinition
  /** The path in `data`; empty for all of it. */
  readonly decision: string
}

/** Where the status is uploaded. */
export interface OpaStatusUpload {
  readonly url: string
  readonly access: ServerAccess
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads a configuration file of OPA (YAML or JSON) with its `${NAME}` replaced by environment
 * variables. Throws one `invalid` with every problem, also for credentials that are not supported,
 * because requests without them would be refused. `discovered` is the document of the discovery
 * bundle, if it is known: it adds what the file does not have.
 */
export function readOpaConfig(file: string, env: Environment, discovered?: unknown): OpaConfig {
  const boot = parseFile(file, env)
  const value = discovered === undefined ? boot : mergeDiscovered(boot, discovered)
  const parsed = OpaConfigFile.safeParse(value ?? {})
  if (!parsed.success) throw problemsIn(file, parsed.error.issues.map(issueText))
  const { labels, keys, bundles, default_decision: defaultDecision } = parsed.data
  const { default_authorization_decision: authorizationDecision } = parsed.data
  const services = servicesByName(parsed.data)
  const problems: string[] = []
  const attempt = <T>(path: string, read: () => T): T[] => {
    try {
      return [read()]
    } catch (raw) {
      problems.push(`${path}: ${toError(raw).message}`)
      return []
    }
  }
  const sources = Object.entries(bundles).flatMap(([name, bundle]) =>
    attempt(`bundles.${name}`, () => definitionOf(name, bundle, services, env)),
  )
  const bundleKeys = Object.entries(keys).flatMap(([id, key]) =>
    attempt(`keys.${id}`, () => [id, readKey(id, key)] as const),
  )
  const [discovery] = attempt('discovery', () => discoveryOf(parsed.data, services, env))
  const [status] = attempt('status', () => statusUpload(parsed.data, services, env))
  if (problems.length > 0) throw problemsIn(file, problems)
  const unsupported = unsupportedMembers(value)
  const { mask_decision: maskDecision, drop_decision: dropDecision } = parsed.data.decision_logs ?? {}
  const decisions = { defaultDecision, authorizationDecision, maskDecision, dropDecision }
  return { sources, keys: new Map(bundleKeys), labels, ...decisions, status, discovery, unsupported }
}

function parseFile(file: string, env: Environment): unknown {
  try {
    const text = readFileSync(file, 'utf8')
    return parse(text.replaceAll(/\$\{(?<name>[^}]*)\}/g, (_, name: string) => env[name.trim()] ?? ''))
  } catch (raw) {
    throw new AppError('invalid', `read ${file}: ${toError(raw).message}`, { cause: raw })
  }
}

function problemsIn(file: string, problems: readonly string[]): AppError {
  return new AppError('invalid', `the OPA configuration ${file} cannot be used`, {
    code: 'invalid_configuration',
    details: problems.map((message) => ({ code: 'invalid_configuration', message })),
  })
}

function issueText({ path, message }: z.core.$ZodIssue): string {
  return `${pathText(path)}: ${message}`
}

function servicesByName({ services }: OpaConfigFile): ReadonlyMap<string, OpaService> {
  const named = Array.isArray(services)
    ? services.map((service) => [service.name ?? '', service] as const)
    : Object.entries(services)
  return new Map(named)
}

function readKey(id: string, { key, algorithm, scope }: OpaConfigFile['keys'][string]): BundleKey {
  if (!isJwsAlgorithm(algorithm)) throw new AppError('invalid', `the algorithm ${algorithm} is unknown`)
  return { algorithm, key: readBundleKey(id, algorithm, key), scope }
}

function definitionOf(
  name: string,
  { service: named, resource, polling, signing }: OpaBundle,
  services: ReadonlyMap<string, OpaService>,
  env: Environment,
): SourceDefinition {
  const location = locationOf(resource ?? `bundles/${name}`, named, services, env)
  return {
    name,
    place: placeOf(location),
    ...timesOf(polling),
    staleIsNotReady: false,
    location,
    demand: {
      isRequired: signing !== undefined,
      keyId: signing?.keyid,
      scope: signing?.scope,
      excludedFiles: signing?.exclude_files ?? [],
    },
  }
}

function discoveryOf(
  { discovery }: OpaConfigFile,
  services: ReadonlyMap<string, OpaService>,
  env: Environment,
): OpaDiscovery | undefined {
  if (discovery === undefined || discovery === null) return undefined
  const { name, prefix, resource = name && `${prefix}/${name}`, decision = name ?? '' } = discovery
  if (resource === undefined) throw new AppError('invalid', 'resource is missing')
  const definition = definitionOf('discovery', { ...discovery, resource }, services, env)
  return { definition, decision: decision.replaceAll('.', '/') }
}

/** OPA uploads to `/status/PARTITION` of a service, or to `resource`. */
function statusUpload(
  { status }: OpaConfigFile,
  services: ReadonlyMap<string, OpaService>,
  env: Environment,
): OpaStatusUpload | undefined {
  if (status === undefined || status === null) return undefined
  const service = findService(status.service, services)
  const path = status.resource ?? `status/${status.partition_name}`
  const url = `${service.url.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`.replace(/\/$/, '')
  return { url, access: accessOf(service, env) }
}

function locationOf(
  resource: string,
  named: string | undefined,
  services: ReadonlyMap<string, OpaService>,
  env: Environment,
): BundleLocation {
  if (resource.startsWith('file:')) return { type: 'file', path: fileURLToPath(resource) }
  const service = findService(named, services)
  if (service.type === 'oci') return imageOf(resource, service, env)
  if (service.type !== undefined && service.type !== '')
    throw new AppError('invalid', `services of type ${service.type} are not supported`)
  const url = `${service.url.replace(/\/+$/, '')}/${resource.replace(/^\/+/, '')}`
  return { type: 'http', url, access: accessOf(service, env) }
}

/** Without a name it is the only service, as in OPA. */
function findService(named: string | undefined, services: ReadonlyMap<string, OpaService>): OpaService {
  const [only] = services.size === 1 ? services.values() : []
  const service = named === undefined ? only : services.get(named)
  if (service !== undefined) return service
  throw new AppError('invalid', named === undefined ? 'it names no service' : `there is no service ${named}`)
}

/** OPA names images with their registry: `ghcr.io/team/policies:1.0`. */
function imageOf(resource: string, service: OpaService, env: Environment): BundleLocation {
  const { host } = new URL(service.url)
  const path = resource.startsWith(`${host}/`) ? resource.slice(host.length + 1) : resource
  const { repository = path, reference = 'latest' } =
    /^(?<repository>[^@:]+)(?:[@:](?<reference>.+))?$/.exec(path)?.groups ?? {}
  return { type: 'oci', url: service.url, repository, reference, access: accessOf(service, env) }
}

function timesOf({
  min_delay_seconds: min,
  max_delay_seconds: max,
  long_polling_timeout_seconds: longPoll = 0,
}: OpaPolling): Pick<SourceDefinition, 'minDelayMs' | 'maxDelayMs' | 'longPollMs' | 'staleAfterMs'> {
  if ((min === undefined) !== (max === undefined))
    throw new AppError('invalid', 'polling needs both min_delay_seconds and max_delay_seconds')
  const [minSeconds, maxSeconds] = [min ?? MIN_DELAY_SECONDS, max ?? MAX_DELAY_SECONDS]
  if (minSeconds > maxSeconds)
    throw new AppError('invalid', 'min_delay_seconds of polling is greater than max_delay_seconds')
  return {
    minDelayMs: minSeconds * MS_PER_SECOND,
    maxDelayMs: maxSeconds * MS_PER_SECOND,
    longPollMs: longPoll * MS_PER_SECOND,
    staleAfterMs: STALE_POLLS * Math.max(maxSeconds, longPoll) * MS_PER_SECOND,
  }
}
