import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { authHeaders } from '../lib/outbound/credentials.js'
import { inTemporaryDirectoryBelow } from '../lib/temporary-directory.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { checkList, readList } from './read-list.js'
import type { ListFile, ListKind } from './read-list.js'
import { isSuccess, refused } from './refusal.js'

/** A list as it was downloaded, not checked yet. */
export interface DownloadedList extends ListFile {
  /** By our clock, in milliseconds, just before the list was asked for: later changes may not be in it. */
  readonly listedAt: number
}

/** All pipelines or all applications. */
export interface Listing {
  /** As in `DownloadedList`. */
  readonly listedAt: number
  readonly count: number
  /** One after the other; may be gone through several times. */
  readonly definitions: () => AsyncIterable<Definition>
}

/**
 * Downloads all pipelines or applications and gives `use` the temporary file in which they wait, so that they take no memory
 * however many there are; it is removed afterwards. Raises `unavailable` where there is no whole answer.
 */
export async function withDownloadedList<T>(
  connection: OrchestratorConnection,
  kind: ListKind,
  use: (list: DownloadedList) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return inTemporaryDirectoryBelow(connection.temporaryFolder, async (directory) => {
    const path = join(directory, `${kind}.json`)
    const listedAt = await downloadList(connection, kind, path, signal)
    return use({ kind, path, listedAt, maxDefinitionBytes: connection.settings.maxDefinitionBytes })
  })
}

/**
 * Reads all pipelines or applications and gives them to `use`, which is called only when the whole list has come and every entry
 * is an object. Raises `unavailable` for a wrong answer and for none.
 */
export async function withListing<T>(
  connection: OrchestratorConnection,
  kind: ListKind,
  use: (listing: Listing) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return withDownloadedList(
    connection,
    kind,
    async (list) => {
      const count = await checkList(list)
      return use({ listedAt: list.listedAt, count, definitions: () => readList(list) })
    },
    signal,
  )
}

/** Where lists are (contract 4.8); without `restricted=false` only what the caller may read is listed. */
const PATHS: Readonly<Record<ListKind, string>> = {
  pipelines: '/pipelines?restricted=false',
  applications: '/v2/applications?restricted=false',
}

/**
 * Writes what the storage service answers for a list into a new file, readable by this user only, as it comes: whether it is a
 * list is for `checkList` to say. Returns the time by our clock, in milliseconds, just before it was asked for: later changes may not
 * be in it. Raises `unavailable` where there is no whole answer.
 */
async function downloadList(
  { settings, client, now }: OrchestratorConnection,
  kind: ListKind,
  path: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    const listedAt = now()
    const response = await client.send({
      method: 'GET',
      url: `${settings.storageUrl}${PATHS[kind]}`,
      headers: { accept: 'application/json', ...authHeaders(settings.storageCredentials) },
      timeoutMs: settings.listTimeoutMs,
      maxResponseBytes: settings.maxListBytes,
      signal,
      takeBody: async (chunk) => {
        await file.write(chunk)
      },
    })
    if (!isSuccess(response)) throw refused(`read all ${kind}`, response)
    return listedAt
  } finally {
    await file.close()
  }
}
