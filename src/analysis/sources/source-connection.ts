import { toError } from '../../errors.js'
import { MAX_NESTING, holdsMoreValues, nestsDeeper } from '../../lib/json/nesting.js'
import type { OutboundClient, OutboundRequest, OutboundResponse } from '../../lib/outbound/outbound-client.js'
import { OutboundError } from '../../lib/outbound/outbound-error.js'
import { sendWithRetries } from '../../lib/outbound/send-with-retries.js'
import type { FetchBudget } from '../sources.js'
import { describeRefusal, shorten } from './describe-refusal.js'
import { SMALL_ANSWER_BYTES } from './large-answers.js'
import type { LargeAnswerTurn, LargeAnswers } from './large-answers.js'

/** How one server is asked. */
export interface ConnectionSettings {
  /** As people know it: failures start with it. */
  readonly name: string
  /** A path in it is kept, as with a proxy. */
  readonly url: string
  /** Credentials and the tenant; sent with every request, never shown. */
  readonly headers: Readonly<Record<string, string>>
  readonly requestTimeoutMs: number
  readonly maxResponseBytes: number
}

/** What talks to the network and what time and chance are. */
export interface ConnectionParts {
  readonly client: OutboundClient
  readonly now: () => number
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
  /** Shared by all connections of a look. */
  readonly largeAnswers: LargeAnswers
}

/** The end of a budget. */
export interface Deadline {
  readonly atMs: number
  readonly signal: AbortSignal | undefined
}

export interface SourceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below the URL of the server: `/api/v1/query_range`. */
  readonly path: string
  readonly search?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  readonly json?: unknown
}

/** A JSON answer, or why there is none: a sentence, and the status or the kind of failure where one is to be acted on. */
export type Reply =
  | { readonly isAnswered: true; readonly json: unknown }
  | {
      readonly isAnswered: false
      readonly problem: string
      readonly status?: number | undefined
      readonly isTooLarge: boolean
    }

export interface SourceConnection {
  readonly name: string
  readonly startBudget: (budget: FetchBudget) => Deadline
  /** Never rejects. 429, 5xx and what the network does are tried again as long as the budget lasts. */
  readonly ask: (request: SourceRequest, deadline: Deadline) => Promise<Reply>
}

const ATTEMPTS = 4
/** More than 600,000 points; parsed they take some 200 MB at the worst, as much as a look can spare. */
const MAX_VALUES = 2_500_000

/** Connects to one server. */
export function makeSourceConnection(settings: ConnectionSettings, parts: ConnectionParts): SourceConnection {
  return {
    name: settings.name,
    startBudget: ({ budgetMs, signal }) => ({ atMs: parts.now() + budgetMs, signal }),
    ask: (request, deadline) => ask(request, deadline, settings, parts),
  }
}

async function ask(
  request: SourceRequest,
  { atMs, signal }: Deadline,
  settings: ConnectionSettings,
  { client, now, wait, random, largeAnswers }: ConnectionParts,
): Promise<Reply> {
  const budgetMs = atMs - now()
  if (signal?.aborted === true) return noAnswer(`${settings.name}: the fetch was given up`)
  if (budgetMs <= 0) return noAnswer(`${settings.name}: the time for this fetch is used up`)
  const turn = largeAnswers.open()
  try {
    const retrying = { budgetMs, attempts: ATTEMPTS, now, wait, random }
    const sender = { send: (sent: OutboundRequest) => sendInTurn(client, sent, turn) }
    return readReply(await sendWithRetries(sender, toOutbound(request, settings, signal), retrying), settings)
  } catch (raw) {
    const isTooLarge = raw instanceof OutboundError && raw.reason === 'too_large'
    return noAnswer(`${settings.name}: ${toError(raw).message}`, { isTooLarge })
  } finally {
    turn.end()
  }
}

/** Sends, and reads on beyond what is small only when it is the answer's turn. */
async function sendInTurn(
  client: Pick<OutboundClient, 'send'>,
  request: OutboundRequest,
  turn: LargeAnswerTurn,
): Promise<OutboundResponse> {
  const chunks: Buffer[] = []
  let bytes = 0
  const takeBody = async (chunk: Buffer): Promise<void> => {
    bytes += chunk.length
    if (bytes > SMALL_ANSWER_BYTES) await turn.take()
    chunks.push(chunk)
  }
  const response = await client.send({ ...request, takeBody })
  return chunks.length === 0 ? response : { ...response, body: Buffer.concat(chunks) }
}

function toOutbound(
  { method, path, search, form, json }: SourceRequest,
  settings: ConnectionSettings,
  signal: AbortSignal | undefined,
): OutboundRequest {
  const url = new URL(settings.url)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
  for (const [name, value] of Object.entries(search ?? {})) url.searchParams.set(name, value)
  const content =
    form !== undefined
      ? { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() }
      : json !== undefined
        ? { type: 'application/json', body: JSON.stringify(json) }
        : undefined
  return {
    method,
    url: url.toString(),
    headers: {
      accept: 'application/json',
      ...(content === undefined ? {} : { 'content-type': content.type }),
      ...settings.headers,
    },
    ...(content === undefined ? {} : { body: content.body }),
    timeoutMs: settings.requestTimeoutMs,
    maxResponseBytes: settings.maxResponseBytes,
    signal,
  }
}

function readReply({ status, body }: OutboundResponse, { name }: ConnectionSettings): Reply {
  if (status < 200 || status > 299) return noAnswer(`${name} ${describeRefusal(status, body)}`, { status })
  const text = body.toString()
  // Before it is parsed: a thread that runs out of memory inside of that ends the whole process.
  if (holdsMoreValues(text, MAX_VALUES)) {
    return noAnswer(`${name} answered with more than ${MAX_VALUES} values: narrow the query`, {
      isTooLarge: true,
    })
  }
  if (nestsDeeper(text, MAX_NESTING)) {
    return noAnswer(`${name} answered with JSON that is nested more than ${MAX_NESTING} levels deep`)
  }
  try {
    return { isAnswered: true, json: JSON.parse(text) as unknown }
  } catch {
    const start = shorten(text.slice(0, 200))
    return noAnswer(`${name} answered ${status} with something else than JSON: ${start || 'nothing'}`)
  }
}

function noAnswer(problem: string, { status, isTooLarge = false }: NoAnswerDetails = {}): Reply {
  return { isAnswered: false, problem, status, isTooLarge }
}

interface NoAnswerDetails {
  readonly status?: number
  readonly isTooLarge?: boolean
}
