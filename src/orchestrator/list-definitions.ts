import { join } from 'node:path'

import { inTemporaryDirectoryBelow } from '../lib/temporary-directory.js'
import type { OrchestratorConnection } from './connection.js'
import type { Definition } from './definition.js'
import { downloadList } from './download-list.js'
import { checkList, readList } from './read-list.js'
import type { ListFile, ListKind } from './read-list.js'

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
