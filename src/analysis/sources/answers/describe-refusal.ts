import { z } from 'zod'

import { redactWords } from '../../../lib/redaction/redact-text.js'
import { describeMarkup } from './describe-markup.js'

const MAX_SHOWN = 300

/**
 * `{status: "error", errorType, error}`: Prometheus, and Loki in places; with its own description
 * from servers of OAuth tokens.
 */
const RangeError = z.object({
  errorType: z.string().optional(),
  error: z.string(),
  error_description: z.string().optional(),
})
/**
 * `{error: {type, reason, root_cause}, status}` of Elasticsearch and OpenSearch, `{error: {code,
 * message}}` of Azure, and `{error: {code, status, message}}` of Google.
 */
const ErrorObject = z.object({
  error: z.object({
    type: z.string().optional(),
    reason: z.string().nullish(),
    root_cause: z.array(z.object({ reason: z.string().nullish() })).optional(),
    code: z.union([z.string(), z.number()]).optional(),
    status: z.string().optional(),
    message: z.string().optional(),
  }),
})
/**
 * Amazon's services with a JSON protocol name the kind of error next to its message, which some of
 * them capitalize.
 */
const Message = z
  .object({ __type: z.string().optional(), message: z.string().optional(), Message: z.string().optional() })
  .refine(({ message, Message: other, __type: kind }) => (message ?? other ?? kind) !== undefined)
/** Amazon's older services, for requests with JSON as format. */
const NamedError = z.object({ Error: z.object({ Code: z.string(), Message: z.string().optional() }) })
/** Datadog: strings, or objects in the form of JSON:API. */
const ErrorList = z.object({
  errors: z
    .array(z.union([z.string(), z.object({ title: z.string().optional(), detail: z.string().nullish() })]))
    .min(1),
})
/** Splunk. */
const MessageList = z.object({
  messages: z.array(z.object({ type: z.string().optional(), text: z.string() })).min(1),
})

/** Advice for an error of Amazon with status 400. */
const HINTS: Readonly<Record<string, string>> = {
  UnrecognizedClientException: 'see accessKeyId and sessionToken',
  InvalidClientTokenId: 'see accessKeyId and sessionToken',
  InvalidSignatureException: 'see secretAccessKey, region and the clock of this machine',
  SignatureDoesNotMatch: 'see secretAccessKey, region and the clock of this machine',
  ExpiredTokenException: 'the session has ended: give a new sessionToken',
  AccessDeniedException: 'the access key may not do this: see its permissions',
  AccessDenied: 'see roleArn and the principals in its trust policy',
  InvalidIdentityToken: 'see the token and the identity provider of the account',
  ResourceNotFoundException: 'see the requested name and the region',
}

/** The reason of a server that refused, as the end of a sentence: one line of bounded length. */
export function describeRefusal(status: number, body: Buffer): string {
  const text = body.subarray(0, 64 * 1024).toString()
  const reason = reasonIn(text)
  const message = shorten(reason ?? describeMarkup(text)?.description ?? text)
  const start = `answered ${status}${hint(status, reason !== undefined)}`
  return message === '' ? start : `${start}: ${message}`
}

/** Advice for a status. If the API itself gave a reason, that names the missing thing. */
function hint(status: number, hasReason: boolean): string {
  if (status === 401 || status === 403) return ' (see its credentials)'
  if (status === 429) return ' (too many requests)'
  if ((status === 404 || status === 405) && !hasReason) return ' (its API is not there: see its url)'
  return status >= 300 && status < 400 ? ' (redirects are not followed: configure the final URL)' : ''
}

/** The reason in a refusal in JSON. */
function reasonIn(text: string): string | undefined {
  const json = tryParse(text)
  const range = RangeError.safeParse(json)
  if (range.success) {
    const { errorType, error, error_description: description } = range.data
    return [errorType, error, description].filter(Boolean).join(': ')
  }
  const object = ErrorObject.safeParse(json)
  if (object.success) return describeErrorObject(object.data.error)
  const list = ErrorList.safeParse(json)
  if (list.success) return list.data.errors.map(describeListed).join('; ')
  const messages = MessageList.safeParse(json)
  if (messages.success) return messages.data.messages.map(({ text: message }) => message).join('; ')
  const named = NamedError.safeParse(json)
  if (named.success) {
    const { Code: code, Message: message } = named.data.Error
    return describeMessage({ __type: code, message })
  }
  const message = Message.safeParse(json)
  return message.success ? describeMessage(message.data) : undefined
}

function describeErrorObject(error: z.output<typeof ErrorObject>['error']): string {
  const { type, reason, root_cause: rootCauses = [], code, status, message } = error
  const causes = rootCauses.flatMap((cause) => cause.reason ?? [])
  return [type ?? status ?? code, causes[0] ?? reason ?? message].filter(Boolean).join(': ')
}

function describeListed(error: z.output<typeof ErrorList>['errors'][number]): string {
  return typeof error === 'string' ? error : [error.title, error.detail].filter(Boolean).join(': ')
}

function describeMessage({ __type: type, message, Message: other }: z.output<typeof Message>): string {
  const kind = type?.replace(/^.*#/, '')
  const hinted = kind === undefined ? undefined : HINTS[kind]
  return `${[kind, message ?? other].filter(Boolean).join(': ')}${hinted === undefined ? '' : ` (${hinted})`}`
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One line without control characters and without secrets, since servers repeat the request. */
export function shorten(text: string): string {
  const line = redactWords(text)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}
