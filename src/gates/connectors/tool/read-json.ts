import { AppError } from '../../../errors/app-error.js'
import { MAX_NESTING, holdsMoreValues, nestsDeeper } from '../../../lib/json/scan/nesting.js'
import { authHeaders } from '../../../lib/outbound/credentials.js'
import type { OutboundResponse } from '../../../lib/outbound/outbound-client.js'
import { sendWithRetries } from '../../../lib/outbound/send-with-retries.js'
import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import type { ConnectorAccount, FetchContext } from './connectors.js'
import type { ReadJson } from './tool.js'

/** Low, since the document is parsed on the thread that decides. */
const MAX_VALUES = 200_000
const ANSWER = { name: 'the answer of the tool', code: 'unexpected_answer' }

/** Makes a reader of JSON from an account, within its limits and the remaining time. */
export function makeJsonReader(account: ConnectorAccount, context: FetchContext): ReadJson {
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
