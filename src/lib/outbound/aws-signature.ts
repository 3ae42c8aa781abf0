import { createHash, createHmac } from 'node:crypto'
import { compareStrings } from '../text/compare-strings.js'

export interface AwsCredentials {
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  readonly service: string
  /** Empty if there is none. */
  readonly sessionToken: string
}

/** The parts of a URL that are signed. */
interface SignedUrl {
  /** Includes the port, if any. */
  readonly host: string
  readonly escapedPath: string
  /** In the form in which it is sent. */
  readonly query: string
}

interface SignedRequest {
  readonly method: string
  readonly url: SignedUrl
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | Uint8Array
}

interface SigningOptions {
  /** Signing time in nanoseconds since the epoch. */
  readonly timeNs: bigint
  readonly signsPayload: boolean
}

/** Headers that a proxy may change. */
const UNSIGNED_HEADERS = new Set(['authorization', 'user-agent', 'x-amzn-trace-id'])
/** Services that require the hash of the body in a header. */
const HASHED_BODY_SERVICES = new Set(['s3', 'glacier'])
const ALGORITHM = 'AWS4-HMAC-SHA256'

/**
 * Returns the headers that AWS signature version 4 adds to a request, in OPA's form (no spaces
 * between the fields).
 */
export function signatureHeaders(
  request: SignedRequest,
  credentials: AwsCredentials,
  options: SigningOptions,
): Map<string, string> {
  const timestamp = basicTimestamp(options.timeNs)
  const bodyHash = options.signsPayload ? sha256(request.body) : 'UNSIGNED-PAYLOAD'
  const added = new Map([
    ['host', request.url.host],
    ['x-amz-date', timestamp],
  ])
  if (HASHED_BODY_SERVICES.has(credentials.service)) added.set('x-amz-content-sha256', bodyHash)
  if (credentials.sessionToken !== '') added.set('x-amz-security-token', credentials.sessionToken)

  const signed = headersToSign(added, request.headers)
  const signedNames = signed.map(([name]) => name).join(';')
  const canonical = canonicalRequest(request, signed, signedNames, bodyHash)
  const date = timestamp.slice(0, 8)
  const scope = `${date}/${credentials.region}/${credentials.service}/aws4_request`
  const toSign = [ALGORITHM, timestamp, scope, sha256(canonical)].join('\n')
  const signature = hmac(signingKey(credentials, date), toSign).toString('hex')
  const credential = `Credential=${credentials.accessKey}/${scope}`
  return added.set(
    'Authorization',
    `${ALGORITHM} ${credential},SignedHeaders=${signedNames},Signature=${signature}`,
  )
}

function headersToSign(
  added: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, string>,
): [name: string, value: string][] {
  const signed = new Map(added)
  for (const [name, value] of own) {
    const lowerCase = name.toLowerCase()
    if (!UNSIGNED_HEADERS.has(lowerCase)) signed.set(lowerCase, value)
  }
  return [...signed].sort(([a], [b]) => compareStrings(a, b))
}

function canonicalRequest(
  request: SignedRequest,
  signed: readonly [name: string, value: string][],
  signedNames: string,
  bodyHash: string,
): string {
  const { method, url } = request
  const headerLines = signed.map(([name, value]) => `${name}:${value}`)
  return [method, url.escapedPath, url.query, ...headerLines, '', signedNames, bodyHash].join('\n')
}

function signingKey(credentials: AwsCredentials, date: string): Buffer {
  const parts = [date, credentials.region, credentials.service, 'aws4_request']
  return parts.reduce(hmac, Buffer.from(`AWS4${credentials.secretKey}`))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** `20151228T140825Z`. */
function basicTimestamp(timeNs: bigint): string {
  const seconds = (timeNs - (((timeNs % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)) / 1_000_000_000n
  const iso = new Date(Number(seconds) * 1000).toISOString()
  return `${iso.slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}
