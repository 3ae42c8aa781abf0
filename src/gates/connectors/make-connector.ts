import { toError, AppError } from '../../errors/app-error.js'
import { MAX_NESTING, holdsMoreValues, nestsDeeper } from '../../lib/json/scan/nesting.js'
import { authHeaders } from '../../lib/outbound/credentials.js'
import type { OutboundResponse } from '../../lib/outbound/outbound-client.js'
import { sendWithRetries } from '../../lib/outbound/send-with-retries.js'
import { readBySchema } from '../../lib/validation/read-by-schema.js'
import type {
  Connector,
  ConnectorAccount,
  ConnectorRequest,
  Evidence,
  FetchContext,
} from './tool/connectors.js'
import { ParameterReader } from './tool/parameter-reader.js'
import type { Lookup, ReadJson, Tool } from './tool/tool.js'

/** Highest number of lookups for one request. */
const MAX_LOOKUPS = 50
/** Highest number of concurrent lookups for one request. */
const MAX_CONCURRENT_LOOKUPS = 4
/** Highest length of the evidence as JSON, since it is stored with the instance. */
const MAX_OUTPUT_LENGTH = 256 * 1024

/** The results, and a sentence for each missing one. */
interface Findings {
  readonly output: readonly object[]
  readonly problems: readonly string[]
  readonly isTruncated?: boolean
}

/** Makes a connector for an account of a tool. */
export function makeConnector(tool: Tool, account: ConnectorAccount): Connector {
  const { name, connectorType } = account
  return {
    account: name,
    connectorTypes: connectorType === undefined ? tool.connectorTypes : [connectorType.toUpperCase()],
    fetch: async (request, context) => {
      const findings = await gather(tool, account, request, context).then(limitOutput).catch(toFindings)
      return toEvidence(request.connectorType, name, findings, context.now())
    },
  }
}

async function gather(
  tool: Tool,
  account: ConnectorAccount,
  request: ConnectorRequest,
  context: FetchContext,
): Promise<Findings> {
  const parameters = new ParameterReader(request.parameters)
  const lookups = tool.lookups(parameters, account.url)
  if (parameters.problems.length > 0) return { output: [], problems: parameters.problems }
  const read = makeJsonReader(account, context)
  const found = await mapLimited(lookups.slice(0, MAX_LOOKUPS), MAX_CONCURRENT_LOOKUPS, (each) =>
    lookUp(each, read),
  )
  const isTruncated = lookups.length > MAX_LOOKUPS
  const excess = `${lookups.length} were requested, and only the first ${MAX_LOOKUPS} were looked up`
  return {
    output: found.flatMap(({ output }) => output),
    problems: [...found.flatMap(({ problems }) => problems), ...(isTruncated ? [excess] : [])],
    isTruncated,
  }
}

async function lookUp({ subject, fetch }: Lookup, read: ReadJson): Promise<Findings> {
  try {
    return { output: await fetch(read), problems: [] }
  } catch (raw) {
    const { problems } = toFindings(raw)
    return { output: [], problems: problems.map((problem) => `${subject}: ${problem}`) }
  }
}

function toFindings(raw: unknown): Findings {
  return { output: [], problems: [toError(raw).message] }
}

function limitOutput(findings: Findings): Findings {
  let length = 0
  const output = findings.output.filter((item) => {
    length += JSON.stringify(item).length
    return length <= MAX_OUTPUT_LENGTH
  })
  if (output.length === findings.output.length) return findings
  const problem = `the response is too long to store: it has ${output.length} of ${findings.output.length} entries`
  return { output, problems: [...findings.problems, problem], isTruncated: true }
}

function toEvidence(connectorType: string, account: string, findings: Findings, fetchedAt: number): Evidence {
  const { output, problems, isTruncated = false } = findings
  return {
    connectorType,
    account,
    state: problems.length === 0 ? 'fetched' : 'failed',
    fetchedAt,
    output,
    ...(problems.length === 0 ? {} : { error: problems.join('; ') }),
    ...(isTruncated ? { truncated: true } : {}),
  }
}

/**
 * Maps values with an asynchronous function, at most `limit` at a time. Results are in the order of
 * the values.
 */
async function mapLimited<T, R>(
  values: readonly T[],
  limit: number,
  map: (value: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const queue = values.entries()
  const work = async (): Promise<void> => {
    for (const [index, value] of queue) results[index] = await map(value)
  }
  await Promise.all(Array.from({ length: Math.min(limit, values.length) }, work))
  return results
}

/** Low, since the document is parsed on the thread that decides. */
const MAX_VALUES = 200_000
const ANSWER = { name: 'the answer of the tool', code: 'unexpected_answer' }

/** Makes a reader of JSON from an account, within its limits and the remaining time. */
function makeJsonReader(account: ConnectorAccount, context: FetchContext): ReadJson {
  return async (schema, url) => {
    const response = await ask(account, context, url)
    if (response.status !== 200) throw failure(statusText(response.status, account))
    return readBySchema(schema, parse(response), ANSWER)
  }
}

async function ask(account: ConnectorAccount, context: FetchContext, url: string): Promise<OutboundResponse> {
  const { deadlineMs, now, wait, random, signal } = context
  const budgetMs = deadlineMs - now()
  if (budgetMs <= 0) throw failure('the time ran out before the request')
  const headers = {
    accept: 'application/json',
    // Required by GitHub.
    'user-agent': 'tidegate',
    ...authHeaders(account.credentials),
  }
  const { client, timeoutMs, maxResponseBytes, attempts } = account
  const request = { method: 'GET', url, headers, timeoutMs, maxResponseBytes, signal } as const
  return sendWithRetries(client, request, { budgetMs, attempts, now, wait, random })
}

function statusText(status: number, { name, attempts }: ConnectorAccount): string {
  if (status === 401 || status === 403) {
    return `the tool rejects the account ${name} (${status}): check its credentials and rights`
  }
  if (status === 404) return 'there is none, or the account may not see it (404)'
  if (status === 429 || status >= 500) {
    return `the tool is busy or failing (${status}), after up to ${attempts} attempts`
  }
  if (status >= 300 && status < 400) {
    return `the tool redirects to another address (${status}), which is not followed: check the URL of the account ${name}`
  }
  return `the tool answered with status ${status}`
}

function parse({ headers, body }: OutboundResponse): unknown {
  const text = body.toString('utf8')
  if (holdsMoreValues(text, MAX_VALUES) || nestsDeeper(text, MAX_NESTING)) {
    throw failure(
      `the tool answered with more than ${MAX_VALUES} values, or nested more than ${MAX_NESTING} levels deep`,
    )
  }
  try {
    return JSON.parse(text)
  } catch {
    const type = headers['content-type']?.split(';')[0] ?? 'content without a type'
    throw failure(`the tool answered with ${type} that is not JSON: check the URL of the account`)
  }
}

function failure(sentence: string): AppError {
  return new AppError('unavailable', sentence)
}
