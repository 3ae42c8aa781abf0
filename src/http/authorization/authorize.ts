import { AppError, toAppError } from '../../errors/app-error.js'
import { locateInput } from '../../lib/json/scan/locate-input.js'
import { scanSpace, scanValue } from '../../lib/json/scan/scan-value.js'
import { certificatesJson } from '../../rego/index.js'
import type { ClientCertificate } from '../exchange/client-certificate.js'
import type { Exchange } from '../exchange/exchange.js'
import { readBody } from '../input/read-body.js'
import { BEARER } from '../pipeline/authenticate.js'
import type { Authorize } from '../pipeline/guarded-routes.js'
import { RELAY_HEADERS } from '../relay/relay-request.js'
import { resolveDataPath, searchParams, yamlToJson } from '../policy/data-query.js'
import type { PolicyContext } from '../policy/decision.js'
import { planFor } from '../policy/plan-cache.js'

/** The parts that the rule for requests needs. */
export type AuthorizationContext = Pick<
  PolicyContext,
  'authorization' | 'policies' | 'evaluations' | 'maxBodyBytes' | 'readYaml' | 'evaluated'
>

/**
 * Creates the check of each request by `policies.authorization`, with the input of OPA's
 * authorization and the `caller`. Undefined if it is off. A request continues if the value is true
 * or an object whose `allowed` is true. Anything else refuses it, also an undefined value, a failed
 * evaluation and an exceeded limit. Raises `invalid` and `too_large` for a body that cannot be read,
 * and `unavailable` if evaluations wait for too long.
 */
export function makeAuthorize(context: AuthorizationContext): Authorize | undefined {
  const { authorization } = context
  if (authorization === undefined) return undefined
  return async (exchange) => {
    const input = await inputOf(context, exchange)
    const { outcome, reason, cause } = await decide(context, authorization, exchange, input)
    context.evaluated('authorization', outcome)
    if (outcome !== 'allow') throw refusal(exchange, reason, cause)
  }
}

interface Ruling {
  readonly outcome: 'allow' | 'deny' | 'undefined' | 'error'
  readonly reason?: string | undefined
  readonly cause?: Error
}

async function decide(
  { policies, evaluations }: AuthorizationContext,
  path: string,
  exchange: Exchange,
  input: Buffer,
): Promise<Ruling> {
  try {
    const text = await evaluations.document(planFor(policies.current, path), input, {
      nowMs: Date.now(),
      caller: exchange.caller.tokenName ?? exchange.remoteAddress,
      isVerdict: true,
      onClientGone: (drop) => exchange.whenGone(drop),
    })
    return text === undefined ? { outcome: 'undefined', cause: undefinedRule(path) } : rulingOf(text)
  } catch (raw) {
    const cause = toAppError(raw)
    // The service is busy, which a retry may find otherwise.
    if (cause.kind === 'unavailable') throw cause
    return { outcome: 'error', cause }
  }
}

function undefinedRule(path: string): Error {
  return new Error(`the rule ${path} of policies.authorization is undefined: load it, and give it a default`)
}

/** The value of the rule as JSON: a boolean, or an object with `allowed` and `reason`. */
function rulingOf(text: string): Ruling {
  if (text === 'true') return { outcome: 'allow' }
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { outcome: 'deny' }
  const { allowed, reason } = value as Readonly<Record<string, unknown>>
  if (allowed === true) return { outcome: 'allow' }
  return { outcome: 'deny', reason: typeof reason === 'string' ? reason : undefined }
}

/** OPA's own routes are refused as OPA refuses them. */
const OPA_ROUTES = /^\/v[01]\//

function refusal(exchange: Exchange, reason?: string, cause?: Error): AppError {
  const { method, target } = exchange
  const message = reason ?? 'request rejected by administrative policy'
  const isOpa = OPA_ROUTES.test(target.path) || (method === 'POST' && target.path === '/')
  return new AppError(isOpa ? 'unauthenticated' : 'forbidden', message, { code: 'unauthorized', cause })
}

async function inputOf(context: AuthorizationContext, exchange: Exchange): Promise<Buffer> {
  const { method, caller, clientCertificate } = exchange
  const { tokenName: name, roles = [], groups = [] } = caller
  const identity = identityOf(exchange)
  const parameters = searchParams(exchange)
  const facts = JSON.stringify({
    method,
    path: pathOf(exchange, parameters),
    params: listsOf(parameters ?? []),
    headers: headersOf(exchange),
    ...(identity !== undefined && { identity }),
    ...(name !== undefined && { caller: { name, roles, groups } }),
  })
  const certificates = await certificatesOf(clientCertificate)
  const body = await bodyOf(context, exchange)
  return Buffer.concat([
    Buffer.from(facts.slice(0, -1)),
    ...(certificates === undefined ? [] : [Buffer.from(`,"client_certificates":${certificates}`)]),
    ...(body === undefined ? [] : [Buffer.from(',"body":'), body]),
    Buffer.from('}'),
  ])
}

/** The token, or the subject of a trusted client certificate. */
function identityOf(exchange: Exchange): string | undefined {
  const { token } = BEARER.exec(exchange.header('authorization') ?? '')?.groups ?? {}
  if (token !== undefined) return token
  const certificate = exchange.clientCertificate
  return certificate === undefined || certificate.problem !== undefined
    ? undefined
    : subjectText(certificate.subject)
}

/** The order in which Go prints the parts of a subject. */
const SUBJECT_PARTS = ['serialNumber', 'CN', 'postalCode', 'street', 'ST', 'L', 'OU', 'O', 'C']
/** Go's names of parts. */
const SUBJECT_NAMES: Readonly<Record<string, string>> = {
  serialNumber: 'SERIALNUMBER',
  postalCode: 'POSTALCODE',
  street: 'STREET',
}

/** Returns a subject as Go does (RFC 2253): `CN=client1,O=acme`. */
function subjectText(subject: ClientCertificate['subject']): string {
  const rank = (type: string): number => SUBJECT_PARTS.indexOf(type) + 1 || SUBJECT_PARTS.length + 1
  return Object.entries(subject)
    .toSorted(([first], [second]) => rank(first) - rank(second))
    .map(([type, values]) =>
      values.map((value) => `${SUBJECT_NAMES[type] ?? type}=${escapeValue(value)}`).join('+'),
    )
    .join(',')
}

function escapeValue(value: string): string {
  return value.replace(/[,+"\\<>;]|^[# ]| $/g, (character) => `\\${character}`)
}

/** Connections have many requests, and each certificate is read once. */
const readCertificates = new WeakMap<ClientCertificate, Promise<string>>()

/** Returns the client certificate in a list, with the members of Go's structure. */
function certificatesOf(certificate: ClientCertificate | undefined): Promise<string> | undefined {
  if (certificate?.der === undefined || certificate.problem !== undefined) return undefined
  const known = readCertificates.get(certificate) ?? certificatesJson(certificate.der)
  readCertificates.set(certificate, known)
  return known
}

/**
 * Returns the decoded segments, which are those that routes see: an escaped slash separates nothing.
 * The data path that a gateway names in the query replaces its literal path.
 */
function pathOf({ handler, target: { path } }: Exchange, parameters: URLSearchParams | undefined): string[] {
  const prefix = NAMING_DOCUMENTS.get(handler)
  const rest = prefix !== undefined && path.startsWith(prefix) ? path.slice(prefix.length) : undefined
  const real = rest === undefined ? path : `${prefix}${resolveDataPath(rest, parameters)}`
  return real.slice(1).split('/').map(decodeSegment)
}

/** The handlers whose document the query can name, with what precedes it in their paths. */
const NAMING_DOCUMENTS: ReadonlyMap<string, string> = new Map([
  ['v1/data', '/v1/data/'],
  ['v1/batch/data', '/v1/batch/data/'],
])

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Go keeps these outside of the headers. */
const HIDDEN_HEADERS: ReadonlySet<string> = new Set([
  ...RELAY_HEADERS,
  ...['host', 'transfer-encoding', 'trailer'],
])

function headersOf({ rawHeaders }: Exchange): Record<string, string[]> {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    if (!HIDDEN_HEADERS.has(name.toLowerCase())) pairs.push([canonicalName(name), value])
  }
  return listsOf(pairs)
}

/** Returns a header name as Go spells it: `x-FOO-bar` is `X-Foo-Bar`. */
function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())
}

function listsOf(pairs: Iterable<readonly [string, string]>): Record<string, string[]> {
  const lists = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    const known = lists.get(name)
    if (known === undefined) lists.set(name, [value])
    else known.push(value)
  }
  return Object.fromEntries(lists)
}

/** The routes of OPA whose authorization sees the body, and the other routes that decide. */
const WITH_BODY: ReadonlySet<string> = new Set([
  'v0/data',
  'v1/data',
  'index',
  'v1/batch/data',
  'v1/staticPolicy',
  'access/v1/evaluation',
  'access/v1/evaluations',
])

/** Returns the body as one JSON document; undefined if the policy sees none. */
async function bodyOf(context: AuthorizationContext, exchange: Exchange): Promise<Uint8Array | undefined> {
  const { method, handler } = exchange
  if (method !== 'POST' || !WITH_BODY.has(handler)) return undefined
  const body = await yamlToJson(context, exchange, await readBody(exchange, context.maxBodyBytes))
  const start = scanSpace(body, 0)
  if (start === body.length) return undefined
  const end = scanValue(body, start)
  if (scanSpace(body, end) !== body.length)
    throw new AppError('invalid', 'the body has more than one JSON document: send one')
  // The policy and the route must see the same input.
  if (handler === 'v1/data') locateInput(body, true)
  return body.subarray(start, end)
}
