import { holdsMoreValues } from '../../../lib/json/scan/nesting.js'
import { isRecord } from '../../../lib/validation/record.js'
import type { ConnectorParameters, ConnectorRequest } from './connectors.js'

/** Requests of a trigger to connectors, and its unusable parts. */
export interface ParsedConnectorParameters {
  readonly requests: readonly ConnectorRequest[]
  /** One sentence per problem. */
  readonly problems: readonly string[]
}

type Parsed = ParsedConnectorParameters

/** Parameter of a plain identifier, by tool. */
const PLAIN_PARAMETERS: Readonly<Record<string, string>> = {
  JIRA: 'jira_ticket_no',
  SERVICENOW: 'number',
  SONARQUBE: 'projectKey',
  JENKINS: 'buildId',
  GIT: 'commitId',
  GITHUB: 'commitId',
  GITLAB: 'commitId',
  BITBUCKET: 'commitId',
}
const OTHER_PLAIN_PARAMETER = 'id'
const MAX_REQUESTS = 50
const MAX_PROBLEMS = 50
/** Highest number of values in a JSON text, which counts as one value of its body. */
const MAX_VALUES = 10_000
const FIELD = 'toolConnectorParameters'

/**
 * Parses all forms of `toolConnectorParameters`: the plugins' array of `{connectorType,
 * parameters}`, its JSON text, a single object, or a plain identifier for the `connectorType` of
 * the body.
 */
export function parseConnectorParameters(value: unknown, connectorType?: unknown): ParsedConnectorParameters {
  const { requests, problems: found } = parseAny(value, typeText(connectorType), FIELD)
  const problems = found.slice(0, MAX_PROBLEMS)
  if (found.length > MAX_PROBLEMS) problems.push(`${found.length - MAX_PROBLEMS} more are not named`)
  if (requests.length > MAX_REQUESTS) {
    problems.push(
      `${FIELD} has ${requests.length} requests, of which only the first ${MAX_REQUESTS} are used`,
    )
  }
  return { requests: requests.slice(0, MAX_REQUESTS), problems }
}

/** Splits a text on commas, trims the parts and drops empty ones. */
export function splitOnCommas(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

function parseAny(value: unknown, type: string | undefined, where: string): Parsed {
  if (value === undefined || value === null) return none()
  if (Array.isArray(value)) {
    return together(value.map((element, index) => parseElement(element, type, `${where}[${index}]`)))
  }
  if (isRecord(value)) return parseObject(value, type, where)
  return typeof value === 'string' && /^\s*[[{]/.test(value)
    ? parseJson(value, type, where)
    : parsePlain(value, type, where)
}

function parseElement(element: unknown, type: string | undefined, where: string): Parsed {
  return Array.isArray(element)
    ? unusable(`${where} is an array within an array`)
    : parseAny(element, type, where)
}

function parseJson(text: string, type: string | undefined, where: string): Parsed {
  if (holdsMoreValues(text, MAX_VALUES)) return unusable(`${where} holds more than ${MAX_VALUES} values`)
  try {
    return parseAny(JSON.parse(text), type, where)
  } catch {
    return unusable(`${where} starts like JSON but is malformed`)
  }
}

function parsePlain(value: unknown, type: string | undefined, where: string): Parsed {
  const values = textsOf(value)?.flatMap(splitOnCommas)
  if (values === undefined) return unusable(`${where} is neither an object nor an identifier`)
  if (values.length === 0) return none()
  if (type === undefined) return unusable(`${where} has no connectorType`)
  const name = PLAIN_PARAMETERS[type] ?? OTHER_PLAIN_PARAMETER
  return { requests: [{ connectorType: type, parameters: { [name]: values } }], problems: [] }
}

/** Parses `{connectorType, parameters}` or bare parameters. */
function parseObject(value: Record<string, unknown>, outerType: string | undefined, where: string): Parsed {
  const { connectorType, parameters, ...others } = value
  const type = typeText(connectorType) ?? outerType
  if (type === undefined) return unusable(`${where} has no connectorType`)
  const given = parameters ?? others
  if (Array.isArray(given)) {
    const parsed = given.map((each, index) => parseOne(each, type, `${where}.parameters[${index}]`))
    return together(parsed)
  }
  return parseOne(given, type, parameters === undefined ? where : `${where}.parameters`)
}

/**
 * Parses one set of parameters. Several sets of a connector stay separate, since a job belongs to
 * its build.
 */
function parseOne(given: unknown, type: string, where: string): Parsed {
  if (!isRecord(given)) return parseElement(given, type, where)
  const entries = Object.entries(given).map(([name, value]) => ({ name, values: valuesOf(value) }))
  const wrong = entries.filter(({ values }) => values === undefined)
  const parameters: ConnectorParameters = Object.fromEntries(
    entries.map(({ name, values }) => [name, values ?? []]),
  )
  return {
    requests: [{ connectorType: type, parameters }],
    problems: wrong.map(({ name }) => `${where}.${name} is neither a text nor a list of texts`),
  }
}

/** Splits the elements of an array on commas, but not a single text. */
function valuesOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return textsOf(value)
  const texts = value.map((element) => textsOf(element)?.flatMap(splitOnCommas))
  return texts.every((each) => each !== undefined) ? texts.flat() : undefined
}

/** Returns one text, or none for null and blanks; undefined for a non-scalar. */
function textsOf(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return []
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  if (typeof value !== 'string') return undefined
  return value.trim() === '' ? [] : [value.trim()]
}

function typeText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().toUpperCase() : undefined
}

function together(parts: readonly Parsed[]): Parsed {
  return {
    requests: parts.flatMap(({ requests }) => requests),
    problems: parts.flatMap(({ problems }) => problems),
  }
}

function none(): Parsed {
  return { requests: [], problems: [] }
}

function unusable(problem: string): Parsed {
  return { requests: [], problems: [problem] }
}
