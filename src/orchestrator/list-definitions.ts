import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '../errors.js'
import { ArraySplitter } from '../lib/json/array-splitter.js'
import { MAX_NESTING, nestsDeeper } from '../lib/json/nesting.js'
import { authHeaders } from '../lib/outbound/credentials.js'
import { isRecord } from '../lib/record.js'
import { inTemporaryDirectory } from '../lib/temporary-directory.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { isSuccess, parseJson, refused } from './refusal.js'

/** What can be listed, and where (contract 4.8); without `restricted=false` only what the caller may read is listed. */
const PATHS = {
  pipelines: '/pipelines?restricted=false',
  applications: '/v2/applications?restricted=false',
} as const

/** All pipelines or all applications. */
export interface Listing {
  /** By our clock, in milliseconds, just before the list was asked for: later changes may not be in it. */
  readonly listedAt: number
  readonly count: number
  /** One after the other; may be gone through several times. */
  readonly definitions: () => AsyncIterable<Definition>
}

/**
 * Reads all pipelines or applications and gives them to `use`, which is called only when the whole list has come and every entry
 * is an object: half an answer is an error. The list waits in a temporary file, so that it takes no memory however long it is.
 * Raises `unavailable` for a wrong answer and for none.
 */
export async function withListing<T>(
  connection: OrchestratorConnection,
  what: keyof typeof PATHS,
  use: (listing: Listing) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return inTemporaryDirectory(async (directory) => {
    const file = join(directory, `${what}.json`)
    const { maxDefinitionBytes } = connection.settings
    const listedAt = connection.now()
    const count = await download(connection, what, file, signal)
    return use({ listedAt, count, definitions: () => readDefinitions(file, maxDefinitionBytes) })
  })
}

/** Gives the number of definitions, each of which was parsed. */
async function download(
  { settings, client }: OrchestratorConnection,
  what: keyof typeof PATHS,
  path: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  const splitter = new ArraySplitter(settings.maxDefinitionBytes)
  let count = 0
  try {
    const response = await client.send({
      method: 'GET',
      url: `${settings.storageUrl}${PATHS[what]}`,
      headers: { accept: 'application/json', ...authHeaders(settings.storageCredentials) },
      timeoutMs: settings.listTimeoutMs,
      maxResponseBytes: settings.maxListBytes,
      signal,
      takeBody: async (chunk) => {
        count += splitter.push(chunk).map(parseDefinition).length
        await file.write(chunk)
      },
    })
    if (!isSuccess(response)) throw refused(`read all ${what}`, response)
    splitter.end()
    return count
  } catch (error) {
    throw asWrongAnswer(what, error)
  } finally {
    await file.close()
  }
}

async function* readDefinitions(file: string, maxDefinitionBytes: number): AsyncGenerator<Definition> {
  const splitter = new ArraySplitter(maxDefinitionBytes)
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    yield* splitter.push(chunk).map(parseDefinition)
  }
}

function parseDefinition(json: Buffer): Definition {
  const text = json.toString()
  if (nestsDeeper(text, MAX_NESTING)) {
    throw new AppError('invalid', `the list has an entry that is nested more than ${MAX_NESTING} levels deep`)
  }
  const value = parseJson(text)
  if (isRecord(value)) return value
  throw new AppError('invalid', 'the list has an entry that is no JSON object')
}

/** A list that cannot be read is no fault of whoever asked for it. */
function asWrongAnswer(what: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'invalid_parameter') return error
  return new AppError('unavailable', `read all ${what}: ${error.message}; nothing was changed`, {
    code: 'orchestrator_answer_unusable',
    cause: error,
  })
}
