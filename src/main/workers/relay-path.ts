import { join } from 'node:path'

import { makeTemporaryDirectory } from '../../lib/temporary-directory.js'
import { SHORT_FOLDER, shortFolderOf, temporaryFolderOf } from '../files/temporary-folder.js'

/** The longest path of a socket in bytes (sockaddr_un, macOS; Linux has four more); of a longer one the end is left out without a word. */
const MOST_PATH_BYTES = 103
const NAME = 'relay'

/** Where the main process listens for its workers, and the folder that was made for that alone. */
export interface RelayPath {
  readonly path: string
  readonly ownFolder: string | undefined
}

/**
 * The path in a folder of the data directory that only this service may enter; where that is too long, in a new folder among the temporary files of
 * the service. Raises what making it raises.
 */
export async function relayPathIn(folder: string, dataDir: string): Promise<RelayPath> {
  const path = join(folder, NAME)
  if (isShort(path)) return { path, ownFolder: undefined }
  const temporary = temporaryFolderOf(dataDir)
  const ownFolder =
    temporary !== undefined && isShort(join(temporary, 'tidegate-XXXXXX', NAME))
      ? await makeTemporaryDirectory(temporary)
      : await makeTemporaryDirectory(shortFolderOf(dataDir), SHORT_FOLDER)
  return { path: join(ownFolder, NAME), ownFolder }
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= MOST_PATH_BYTES
}
