import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { authHeaders } from '../lib/outbound/credentials.js'
import { inTemporaryDirectoryBelow } from '../lib/temporary-directory.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { checkList, readList } from './read-list.js'
import type { ListFile, ListKind } from './read-list.js'
import { isSuccess, refused } from './refusal.js'

/** A downloaded list that was not checked yet. */
export interface DownloadedList extends ListFile {
  /**
   * Time just before the request, by our clock, in epoch milliseconds. Later changes may be
   * missing.
   */
  readonly listedAt: number
}

/** All pipelines or all applications. */
export interface Listing {
  /** See `DownloadedList`. */
  readonly listedAt: number
  readonly count: number
  /** Iterates over the definitions. May be called several times. */
  readonly definitions: () => AsyncIterable<Definition>
}

/**
 * Downloads all pipelines or applications to a temporary file and passes it to `use`, so that they
 * take no memory. Removes the file afterwards. Raises `unavailable` without a complete response.
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
 * Reads all pipelines or applications and passes them to `use`, once the whole list is present and
 * every entry is an object. Raises `unavailable` for a wrong or missing response.
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

/**
 * Paths of lists (contract 4.8). Without `restricted=false`, only definitions that the caller may
 * read are listed.
 */
const PATHS: Readonly<Record<ListKind, string>> = {
  pipelines: '/pipelines?restricted=false',
  applications: '/v2/applications?restricted=false',
}

/**
 * Downloads a list into a new file that only this user can read. `checkList` checks its content.
 * Returns the time just before the request, by our clock, in epoch milliseconds. Raises
 * `unavailable` without a complete response.
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
