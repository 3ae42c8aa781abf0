import { toError } from '../../errors/app-error.js'
import type {
  Connector,
  ConnectorAccount,
  ConnectorRequest,
  Evidence,
  FetchContext,
} from './tool/connectors.js'
import { ParameterReader } from './tool/parameter-reader.js'
import { makeJsonReader } from './tool/read-json.js'
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
export async function mapLimited<T, R>(
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
