import { z } from 'zod'

import { Secret } from '../../../lib/outbound/credentials.js'
import { wholeAnswer, wholeText } from '../answers/answer-reading.js'
import type { Deadline, SourceConnection, SourceRequest, SignRequest } from '../answers/source-connection.js'
import type { AwsKeys, AwsKeysFrom } from '../answers/source-settings.js'
import { signatureHeaders } from '../../../lib/outbound/aws-signature.js'
import { compareStrings } from '../../../lib/text/compare-strings.js'

const TOKEN_PATH = '/latest/api/token'
const ROLES_PATH = '/latest/meta-data/iam/security-credentials/'
const SESSION_SECONDS = '21600'
/** The name of one role, in the answer that lists them. */
const ROLE = /^[\w+=,.@-]+$/
const STS_VERSION = '2011-06-15'
const MS_PER_SECOND = 1000

/** Answer of instances and containers; that of containers has no `Code`. */
const RoleAnswer = z.object({
  Code: z.literal('Success').optional(),
  AccessKeyId: z.string().min(1),
  SecretAccessKey: z.string().min(1),
  Token: z.string().min(1),
  Expiration: z.iso.datetime({ offset: true }),
})
/** Answer of STS, in its JSON form for clients that accept JSON; the expiry is in seconds. */
const Assumed = z.object({
  AssumeRoleWithWebIdentityResponse: z.object({
    AssumeRoleWithWebIdentityResult: z.object({
      Credentials: z.object({
        AccessKeyId: z.string().min(1),
        SecretAccessKey: z.string().min(1),
        SessionToken: z.string().min(1),
        Expiration: z.union([z.number(), z.iso.datetime({ offset: true })]),
      }),
    }),
  }),
})

/** A temporary access key. */
interface TemporaryKeys extends AwsKeys {
  readonly untilMs: number
}

/**
 * The access key of the role of an instance, a container or a service account. An error message if
 * there is none.
 */
export async function fetchAwsKeys(
  from: AwsKeysFrom,
  connection: SourceConnection,
  deadline: Deadline,
): Promise<TemporaryKeys | string> {
  switch (from.type) {
    case 'instance-role':
      return await instanceKeys(from, connection, deadline)
    case 'container-role':
      return await requestKeys(containerRequest(from), connection, deadline)
    case 'web-identity':
      return await assumedKeys(from, connection, deadline)
  }
}

/**
 * Uses only version 2 of the protocol: a session comes first, which a request smuggled to a server
 * cannot open.
 */
async function instanceKeys(
  { role }: Extract<AwsKeysFrom, { type: 'instance-role' }>,
  connection: SourceConnection,
  deadline: Deadline,
): Promise<TemporaryKeys | string> {
  const opening = { 'x-aws-ec2-metadata-token-ttl-seconds': SESSION_SECONDS }
  const opened = await connection.send(
    { method: 'PUT', path: TOKEN_PATH, headers: opening },
    deadline,
    wholeText,
  )
  if (!opened.isAnswered) {
    // Amazon answers containers of an instance only with a hop limit of 2 or more.
    return opened.status === undefined
      ? `${opened.problem} (from a container only where the hop limit of the instance is 2 or more)`
      : opened.problem
  }
  const headers = { 'x-aws-ec2-metadata-token': opened.answer.trim() }
  const listed =
    role === undefined
      ? await connection.send({ method: 'GET', path: ROLES_PATH, headers }, deadline, wholeText)
      : ({ isAnswered: true, answer: role } as const)
  if (!listed.isAnswered) {
    return listed.status === 404
      ? `${connection.name}: the instance has no role: attach an instance profile`
      : listed.problem
  }
  const name = listed.answer.trim().split('\n', 1)[0] ?? ''
  if (!ROLE.test(name)) return `${connection.name}: the instance names no role`
  return await requestKeys({ method: 'GET', path: `${ROLES_PATH}${name}`, headers }, connection, deadline)
}

function containerRequest({ token }: Extract<AwsKeysFrom, { type: 'container-role' }>): SourceRequest {
  return { method: 'GET', path: '', ...(token && { headers: { authorization: token.reveal().trim() } }) }
}

async function requestKeys(
  request: SourceRequest,
  connection: SourceConnection,
  deadline: Deadline,
): Promise<TemporaryKeys | string> {
  const reply = await connection.send(request, deadline, wholeAnswer)
  if (!reply.isAnswered) return reply.problem
  const credentials = RoleAnswer.safeParse(reply.answer).data
  if (credentials === undefined) return noKeys(connection)
  return keysOf({ ...credentials, SessionToken: credentials.Token })
}

async function assumedKeys(
  { roleArn, sessionName, token }: Extract<AwsKeysFrom, { type: 'web-identity' }>,
  connection: SourceConnection,
  deadline: Deadline,
): Promise<TemporaryKeys | string> {
  const form = {
    ...{ Action: 'AssumeRoleWithWebIdentity', Version: STS_VERSION },
    ...{ RoleArn: roleArn, RoleSessionName: sessionName, WebIdentityToken: token.reveal().trim() },
  }
  const reply = await connection.send({ method: 'POST', path: '/', form }, deadline, wholeAnswer)
  if (!reply.isAnswered) return reply.problem
  const assumed = Assumed.safeParse(reply.answer).data?.AssumeRoleWithWebIdentityResponse
  return assumed === undefined
    ? noKeys(connection)
    : keysOf(assumed.AssumeRoleWithWebIdentityResult.Credentials)
}

function keysOf(credentials: {
  readonly AccessKeyId: string
  readonly SecretAccessKey: string
  readonly SessionToken: string
  readonly Expiration: string | number
}): TemporaryKeys {
  const { Expiration: end } = credentials
  return {
    accessKeyId: credentials.AccessKeyId,
    secretAccessKey: new Secret(credentials.SecretAccessKey),
    sessionToken: new Secret(credentials.SessionToken),
    untilMs: typeof end === 'number' ? end * MS_PER_SECOND : Date.parse(end),
  }
}

function noKeys({ name }: SourceConnection): string {
  return `${name}: the answer holds no access key with its secret, token and end`
}

const NS_PER_MS = 1_000_000n

/**
 * Signs requests with version 4 of Amazon's signatures, at the time of the request, for a service
 * by its signing name.
 */
export function signForAws(
  { accessKeyId, secretAccessKey, sessionToken }: AwsKeys,
  { region, service }: { readonly region: string; readonly service: string },
  now: () => number,
): SignRequest {
  return ({ method, url, headers, body }) => {
    const signed = signatureHeaders(
      {
        ...{ method, body, headers: new Map(Object.entries(headers)) },
        url: {
          host: url.host,
          escapedPath: canonicalPath(url.pathname, service),
          query: canonicalQuery(url),
        },
      },
      {
        ...{ region, service, accessKey: accessKeyId, secretKey: secretAccessKey.reveal() },
        sessionToken: sessionToken?.reveal() ?? '',
      },
      { timeNs: BigInt(Math.floor(now())) * NS_PER_MS, signsPayload: true },
    )
    // The client writes the host itself.
    signed.delete('host')
    return Object.fromEntries([...signed].map(([name, value]) => [name.toLowerCase(), value]))
  }
}

/**
 * Escaped as the signature needs it: URLs leave characters such as `=`, `+` and `@` as they are. S3
 * signs the name of the object; the other services escape the path as it is sent once more.
 */
function canonicalPath(path: string, service: string): string {
  return path
    .split('/')
    .map((segment) => awsEscape(service.startsWith('s3') ? unescapePart(segment) : segment))
    .join('/')
}

/** Sorted, and each name with `=`. */
function canonicalQuery({ search }: URL): string {
  if (search === '') return ''
  const pairs = search
    .slice(1)
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=')
      const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
      return `${awsEscape(unescapePart(name))}=${awsEscape(unescapePart(value))}`
    })
  return pairs.sort(compareStrings).join('&')
}

/** A stray `%` stands for itself. */
function unescapePart(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped)
    } catch {
      return escaped
    }
  })
}

/** Escapes all characters but letters, digits, `-`, `.`, `_` and `~`. */
function awsEscape(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
