import { AppError } from '../../../errors/app-error.js'
import { cutText } from '../../../lib/text/shown-text.js'
import type { Scope } from '../../sources.js'
import { MINUTES_RANGE } from './definition.js'

/**
 * The request for one service: the instances of the baseline and of the canary, and the start of
 * the data.
 */
export interface TargetRequest {
  readonly service: string
  readonly baselineStartMs: number | undefined
  readonly canaryStartMs: number | undefined
  readonly metric: SideScopes | undefined
  readonly log: SideScopes | undefined
}

/** The scopes of both sides for metrics or for logs, with the requested template. */
export interface SideScopes {
  readonly baseline: Scope
  readonly canary: Scope
  readonly template: string | undefined
  readonly templateSha1: string | undefined
}

/** Without scopes, those of the definition apply. */
export const NO_SCOPES: SideScopes = {
  baseline: {},
  canary: {},
  template: undefined,
  templateSha1: undefined,
}

/** A registration of any client. Missing members come from the application's definition. */
export interface Registration {
  readonly application: string
  readonly executionId: string | undefined
  readonly owner: string | undefined
  readonly lifetimeMinutes: number | undefined
  readonly intervalMinutes: number | undefined
  readonly lookBack: 'growing' | 'sliding' | undefined
  readonly lookBackMinutes: number | undefined
  readonly delayMinutes: number | undefined
  readonly warmUpMinutes: number | undefined
  readonly marginal: number | undefined
  readonly pass: number | undefined
  /** Empty in a bare registration, which uses the definition's own scopes. */
  readonly targets: readonly TargetRequest[]
  /** The plugins and the Argo job expect 202 and a Location. */
  readonly isFromPlugin: boolean
}

type Members = Readonly<Record<string, unknown>>

/** The range of a number, both ends included. */
interface Range {
  readonly least: number
  readonly most: number
}

const MINUTES_PER_HOUR = 60
const HOURS_RANGE = {
  least: MINUTES_RANGE.least / MINUTES_PER_HOUR,
  most: MINUTES_RANGE.most / MINUTES_PER_HOUR,
}
/** The range of a time for which 0 means absent. */
const OPTIONAL_MINUTES = { least: 0, most: MINUTES_RANGE.most }
const SCORES = { least: 0, most: 100 }
const TIMES = { least: 0, most: 8.64e15 }
/** Maximum number of listed problems of one registration; the others are counted. */
const MAX_NAMED = 50
const MAX_SHOWN = 100
/** Maximum length of names and ids, which are part of indexes, logs and responses. */
export const MAX_TEXT_LENGTH = 2000
/** Members of a service that are not part of its scope (analysis.md, section 5). */
const NOT_SCOPE = new Set(['template', 'templateSha1', 'templateVersion'])

/**
 * Reads a body of registerCanary in any of its forms: bare, of the verification stages, or of the
 * Argo job. Numbers may be strings. Raises `invalid` with every malformed member.
 */
export function readRegistration(body: unknown): Registration {
  if (!isMembers(body)) throw new AppError('invalid', 'the body must be a JSON object with an application')
  const problems: string[] = []
  const reader = new MemberReader(problems)
  const config = membersOf(body['canaryConfig'])
  const analysisConfig = membersOf(config['canaryAnalysisConfig'])
  const application = reader.requiredText(body, 'application')
  const registration: Registration = {
    application,
    executionId: reader.text(body, 'executionId'),
    owner: reader.text(config, 'name'),
    ...readTimes(reader, config, analysisConfig),
    marginal: reader.number(
      membersOf(config['canaryHealthCheckHandler']),
      'minimumCanaryResultScore',
      SCORES,
    ),
    pass: reader.number(membersOf(config['canarySuccessCriteria']), 'canaryResultScore', SCORES),
    targets: reader
      .list(body, 'canaryDeployments')
      .flatMap((deployment) => readDeployment(reader, membersOf(deployment), application)),
    isFromPlugin: 'canaryDeployments' in body || 'isJsonResponse' in body,
  }
  if (problems.length === 0) return registration
  const named = problems.slice(0, MAX_NAMED)
  const rest = problems.length - named.length
  if (rest > 0) named.push(`${rest} more problems are not named`)
  throw new AppError('invalid', `the registration is not valid: ${named.join('; ')}`, {
    details: named.map((message) => ({ code: 'invalid_field', message })),
  })
}

type Times = Pick<
  Registration,
  'lifetimeMinutes' | 'intervalMinutes' | 'lookBack' | 'lookBackMinutes' | 'delayMinutes' | 'warmUpMinutes'
>

function readTimes(reader: MemberReader, config: Members, analysisConfig: Members): Times {
  const hours = reader.number(config, 'lifetimeHours', HOURS_RANGE)
  const minutes = (members: Members, name: string): number | undefined =>
    reader.number(members, name, OPTIONAL_MINUTES)
  const interval =
    minutes(config, 'interval') ??
    minutes(analysisConfig, 'canaryAnalysisIntervalMins') ??
    minutes(config, 'canaryAnalysisIntervalMins')
  const lookBack = minutes(config, 'lookbackMins') ?? minutes(analysisConfig, 'lookbackMins')
  return {
    lifetimeMinutes:
      reader.number(config, 'lifetimeMinutes', MINUTES_RANGE) ??
      (hours === undefined ? undefined : hours * MINUTES_PER_HOUR),
    intervalMinutes: interval === 0 ? undefined : interval,
    lookBack: reader.oneOf(config, 'lookBackType', ['growing', 'sliding'] as const),
    lookBackMinutes: lookBack === 0 ? undefined : lookBack,
    delayMinutes: minutes(config, 'delay'),
    warmUpMinutes: minutes(analysisConfig, 'beginCanaryAnalysisAfterMins'),
  }
}

/**
 * One target for each service that either side names for metrics or for logs. Without services, the
 * given times are those of the application as defined.
 */
function readDeployment(reader: MemberReader, deployment: Members, application: string): TargetRequest[] {
  const baselineStartMs = reader.number(deployment, 'baselineStartTimeMs', TIMES)
  const canaryStartMs = reader.number(deployment, 'canaryStartTimeMs', TIMES)
  const sides = { baseline: membersOf(deployment['baseline']), canary: membersOf(deployment['canary']) }
  const scopesOf = (kind: 'log' | 'metric', service: string): SideScopes | undefined => {
    const services = membersOf(sides.canary[kind])
    if (!Object.hasOwn(services, service)) return undefined
    const canary = services[service]
    const members = membersOf(canary)
    return {
      // Logs may be analysed without a baseline scope of their own.
      baseline: readScope(membersOf(membersOf(sides.baseline[kind])[service])),
      canary: readScope(members),
      template: reader.text(members, 'template'),
      templateSha1: reader.text(members, 'templateSha1'),
    }
  }
  const services = new Set(
    (['metric', 'log'] as const).flatMap((kind) => Object.keys(membersOf(sides.canary[kind]))),
  )
  if (services.size === 0 && (baselineStartMs ?? canaryStartMs) !== undefined) {
    return [{ service: application, baselineStartMs, canaryStartMs, metric: NO_SCOPES, log: NO_SCOPES }]
  }
  return [...services].map((service) => ({
    service,
    baselineStartMs,
    canaryStartMs,
    metric: scopesOf('metric', service),
    log: scopesOf('log', service),
  }))
}

/** `{"${ns},${pod}": "shop,canary"}` is two variables; all other members are one each. */
function readScope(service: Members): Scope {
  const scope: Record<string, string> = {}
  for (const [names, given] of Object.entries(service)) {
    if (NOT_SCOPE.has(names) || (typeof given !== 'string' && typeof given !== 'number')) continue
    const variables = names.split(',').map((name) => name.trim().replace(/^\$\{(.*)\}$/, '$1'))
    const values = variables.length === 1 ? [String(given)] : String(given).split(',')
    variables.forEach((variable, index) => {
      scope[variable] = values[index]?.trim() ?? ''
    })
  }
  return scope
}

/** Reads members leniently and collects what cannot be read. */
class MemberReader {
  readonly #problems: string[]

  constructor(problems: string[]) {
    this.#problems = problems
  }

  text(members: Members, name: string): string | undefined {
    const value = members[name]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value === 'string' && value.length > MAX_TEXT_LENGTH) {
      this.#problems.push(`${name} has more than ${MAX_TEXT_LENGTH} characters`)
      return undefined
    }
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    this.#problems.push(`${name} must be text`)
    return undefined
  }

  requiredText(members: Members, name: string): string {
    const found = this.#problems.length
    const text = this.text(members, name)?.trim()
    if (text) return text
    if (this.#problems.length === found) this.#problems.push(`${name} is missing`)
    return ''
  }

  number(members: Members, name: string, { least, most }: Range): number | undefined {
    const given = members[name]
    const value = typeof given === 'string' ? given.trim() : given
    if (value === undefined || value === null || value === '') return undefined
    const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
    if (number >= least && number <= most) return number
    this.#problems.push(
      `${name} must be a number from ${least} to ${most}, not ${cutText(JSON.stringify(given), MAX_SHOWN)}`,
    )
    return undefined
  }

  list(members: Members, name: string): readonly unknown[] {
    const given = members[name] ?? []
    if (Array.isArray(given)) return given
    this.#problems.push(`${name} must be a list`)
    return []
  }

  oneOf<T extends string>(members: Members, name: string, allowed: readonly T[]): T | undefined {
    const text = this.text(members, name)?.toLowerCase()
    if (text === undefined) return undefined
    const found = allowed.find((each) => each === text)
    if (found === undefined) this.#problems.push(`${name} must be one of ${allowed.join(', ')}`)
    return found
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {}
}
